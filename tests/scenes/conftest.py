"""Random scenes of two to five things, drawn so that every relation comes up; not plausible ones."""

import random
from typing import NamedTuple

import pytest

from gnomon.lexicon.relations import lexicon
from gnomon.scenes.relations import facts
from gnomon.scenes.scenes import Placed, Scene, Viewer
from gnomon.scenes.things import Thing, things

NAMES = sorted(things())


def draw_scene(seed: int) -> Scene:
    rng = random.Random(seed)
    ground = Placed(
        id="b",
        thing=rng.choice(NAMES),
        at=(0.0, 0.0, rng.choice([0.0, 0.0, 0.0, 0.7])),
        turn=_turn(rng),
        scale=rng.choice([1.0, 1.0, 1.5]),
        group=rng.choice(["", "", "pair"]),
    )
    subject = _beside(rng, "a", ground, rng.choice([ground.thing, *rng.sample(NAMES, 3)]))
    if rng.random() < 0.5:
        subject = _resting(rng, "a", ground) or subject
    others = [_beside(rng, f"c{n}", ground, rng.choice(NAMES)) for n in range(rng.randrange(4))]
    angle = rng.uniform(-3, 3)
    return Scene(
        things=(subject, ground, *others),
        viewer=Viewer(eye=(angle, -6.0, 2.0), at=(0.0, rng.uniform(-5, 5), 0.3)),
        links=(("a", "b"),) if rng.random() < 0.2 else (),
    )


def _turn(rng: random.Random) -> float:
    return rng.choice([0, 90, 180, 270, 3, rng.uniform(-180, 180)])


def _beside(rng: random.Random, id: str, ground: Placed, name: str) -> Placed:
    reach = (max(things()[name].size) + max(things()[ground.thing].size)) * ground.scale
    way = rng.choice([0.1, 0.4, 0.52, 0.7, 1.5, 5.0])
    spread = rng.choice([0.0, 0.05, 1.0])
    x, y = way * rng.choice([-1, 1]), way * spread * rng.uniform(-1, 1)
    if rng.random() < 0.5:
        x, y = y, x
    return Placed(
        id=id,
        thing=name,
        at=(x * reach, y * reach, rng.choice([0.0, 0.0, 0.0, 1.2])),
        turn=_turn(rng),
        scale=rng.choice([1.0, 1.0, 1.2]),
        group=rng.choice(["", "ring", "pair"]),
    )


def _resting(rng: random.Random, id: str, ground: Placed) -> Placed | None:
    thing: Thing = things()[ground.thing]
    room = rng.choice([thing.top, thing.cavity])
    if rng.random() < 0.3 and thing.beneath:
        return Placed(id=id, thing=rng.choice(NAMES), at=ground.at, turn=_turn(rng), scale=0.3)
    if room is None:
        return None
    height = room.height if room is thing.top else room.floor
    x = ground.at[0] + rng.choice([0, 0.1, -0.3]) * room.size[0]
    y = ground.at[1] + rng.choice([0, 0.1, -0.3]) * room.size[1]
    return Placed(
        id=id,
        thing=rng.choice(NAMES),
        at=(x, y, ground.at[2] + height * ground.scale),
        turn=_turn(rng),
        scale=rng.choice([0.1, 0.5, 1.0]),
    )


@pytest.fixture(scope="session")
def random_scene():
    return draw_scene


class Laws(NamedTuple):
    """What the lexicon says holds in every scene, as pairs of relations and single ones."""

    converse: list[tuple[str, str]]
    symmetric: list[str]
    excluded: list[tuple[str, str]]
    implied: list[tuple[str, str]]


def scene_laws() -> Laws:
    found = Laws([], [], [], [])
    for name, relation in lexicon().shown.items():
        for other in (relation.converse.always, relation.converse.scenes):
            if other:
                found.converse.append((name, other))
        if relation.symmetric:
            found.symmetric.append(name)
        found.excluded.extend((name, other) for other in relation.excludes)
        found.implied.extend((name, other) for other in relation.implies)
    return found


LAWS = scene_laws()


def laws_broken_by(scene: Scene, first: str, second: str) -> list[str]:
    """The laws of the lexicon that two things of a scene break."""
    there, back = facts(scene, first, second), facts(scene, second, first)
    broken = []
    for relation, converse in LAWS.converse:
        if there[relation].truth != back[converse].truth:
            broken.append(f"{relation} is the converse of {converse}")
    for relation in LAWS.symmetric:
        if there[relation].truth != back[relation].truth:
            broken.append(f"{relation} is symmetric")
    for ways in (there, back):
        for relation, other in LAWS.excluded:
            if ways[relation].truth and ways[other].truth:
                broken.append(f"{relation} excludes {other}")
        for relation, other in LAWS.implied:
            if ways[relation].truth and not ways[other].truth:
                broken.append(f"{relation} implies {other}")
    return broken


@pytest.fixture(scope="session")
def laws():
    return LAWS


@pytest.fixture(scope="session")
def broken_laws():
    return laws_broken_by

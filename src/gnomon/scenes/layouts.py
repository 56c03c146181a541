"""Where the things of a contrast are: beside, on, in or beneath one another, linked, in rings.

A layout proposes an arrangement, as the viewer will see it, in which a relation may be true;
whether it is, and whether the arrangement can be, is decided elsewhere.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from math import hypot
from typing import Literal, NamedTuple

import msgspec

from gnomon.lexicon.relations import OpposedPair
from gnomon.scenes.bodies import Body, Pair
from gnomon.scenes.placing import ANYONE
from gnomon.scenes.poses import GAPS, beside, cluster, flush, proposal, resting, ring
from gnomon.scenes.scenes import Placed, Scene
from gnomon.scenes.things import Thing, thing_named

Frames = Literal["clear", "probe"]
Place = Literal["indoors", "outdoors"]
FAR_GAPS = (4.6, 4.3, 4.6)  # of the mean diagonal
TURNS = (0, 180, 90, 270, 0, 180, 45, 315)  # of the ground, to the viewer


class Dials(NamedTuple):
    """What can be set about the pictures of a contrast."""

    distractors: int = 1  # other things, about which nothing is asked
    visible: float = 0.6  # the least share of a thing that must be seen
    least: float = 0.004  # the least share of the picture that each of the two fills
    distance: float = 1.0  # of the viewer; at 1 the things fill the picture


class Roles(NamedTuple):
    """The ids of the things that a caption speaks of; several for a group."""

    subjects: tuple[str, ...]
    grounds: tuple[str, ...]


class Arrangement(NamedTuple):
    """Things in their places, before anybody looks."""

    things: list[Placed]
    links: tuple[tuple[str, str], ...] = ()


class Task(NamedTuple):
    """What both pictures of a contrast share."""

    contrast: OpposedPair
    subject: Thing
    ground: Thing
    roles: Roles
    stage: str
    colours: dict[str, str]
    others: tuple[str, ...]
    place: Place
    look: int
    frames: Frames
    dials: Dials


def scene_of(arrangement: Arrangement, task: Task) -> Scene:
    """An arrangement as a scene, with nobody in particular looking."""
    return Scene(
        things=tuple(arrangement.things),
        links=arrangement.links,
        viewer=ANYONE,
        place=task.place,
        look=task.look,
    )


def pair_of(scene: Scene, task: Task) -> Pair:
    """The first subject and the first ground."""
    subject = Body(scene.placed(task.roles.subjects[0]))
    return Pair(subject, Body(scene.placed(task.roles.grounds[0])), scene)


def _beside_one_another(rng: random.Random, task: Task, true: str) -> Arrangement:
    """The subject by the ground: on, in, beneath or beside it."""
    fixed, moved = task.ground, task.subject
    if task.contrast.swapped:
        fixed, moved = moved, fixed
    turn = rng.choice(TURNS) + rng.gauss(0, 6)
    base = Placed(id=fixed.name, thing=fixed.name, at=(0.0, 0.0, 0.0), turn=turn % 360)
    if "closed sides" in task.contrast.needs and rng.random() < 0.5:
        return Arrangement([base, flush(rng, moved.name, moved, base)])
    if rng.random() < 0.25 and (task.frames == "probe" or true.startswith("far")):
        return Arrangement([base, beside(rng, moved.name, moved, base, FAR_GAPS)])
    return Arrangement([base, proposal(rng, moved.name, moved, base, GAPS)])


def _stacked(rng: random.Random, task: Task, true: str) -> Arrangement:
    """One thing on a stage, the other one beneath it."""
    stage = thing_named(task.stage)
    turn = rng.choice((0, 180, 20, 340)) + rng.gauss(0, 6)
    base = Placed(id=stage.name, thing=stage.name, at=(0.0, 0.0, 0.0), turn=turn % 360)
    upper, lower = task.subject, task.ground
    if true not in ("above", "over"):
        upper, lower = lower, upper
    assert stage.top is not None
    on_top = resting(rng, upper.name, upper, base, stage.top, stage.top.height)
    x, y = on_top.at[0], on_top.at[1]
    turn = base.turn + rng.choice((0, 90, 180, 270))
    below = Placed(id=lower.name, thing=lower.name, at=(x, y, 0.0), turn=turn % 360)
    return Arrangement([base, on_top, below])


def _linked(rng: random.Random, task: Task, true: str) -> Arrangement:
    """Two things beside one another, with a rope or without."""
    turn = rng.choice(TURNS) + rng.gauss(0, 6)
    ground = task.ground
    base = Placed(id=ground.name, thing=ground.name, at=(0.0, 0.0, 0.0), turn=turn % 360)
    other = beside(rng, task.subject.name, task.subject, base, (0.4, 0.6, 0.8))
    links = ((task.subject.name, ground.name),) if true != "detached from" else ()
    return Arrangement([base, other], links)


def _ringed(rng: random.Random, task: Task, true: str) -> Arrangement:
    """Several of one kind around the other thing, or close together and far from it."""
    several, one, ids = task.subject, task.ground, task.roles.subjects
    if len(ids) == 1:
        several, one, ids = task.ground, task.subject, task.roles.grounds
    middle = Placed(id=one.name, thing=one.name, at=(0.0, 0.0, 0.0), turn=rng.uniform(0, 360))
    if true.startswith("far"):
        size, own = hypot(*several.size[:2]), hypot(*one.size[:2])
        members = cluster(rng, ids, several, 3.0 * (size + own) + 1.2 * size)
    else:
        members = ring(rng, ids, several, one)
    grouped = [msgspec.structs.replace(member, group="group") for member in members]
    return Arrangement([middle, *grouped])


LAYOUTS: dict[str, Callable[[random.Random, Task, str], Arrangement]] = {
    "pair": _beside_one_another,
    "stacked": _stacked,
    "linked": _linked,
    "ring": _ringed,
}

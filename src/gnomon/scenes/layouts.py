"""How contrasts are laid out, and where a viewer stands who sees what is asked about."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import cos, hypot, radians, sin
from typing import Literal, NamedTuple

import msgspec

from gnomon.lexicon.relations import OpposedPair
from gnomon.lexicon.things import thing_words
from gnomon.scenes import placing
from gnomon.scenes.bodies import Body, BodyPair, angle, minus
from gnomon.scenes.pictures import SURVEY_SIZE, survey, viewer_of
from gnomon.scenes.scenes import Placed, Scene
from gnomon.scenes.things import Thing, thing_named

Frames = Literal["clear", "probe"]
Place = Literal["indoors", "outdoors"]
FAR_GAPS = (4.6, 4.3, 4.6)  # of the mean diagonal
TURNS = (0, 180, 90, 270, 0, 180, 45, 315)  # of the ground, to the viewer


class ContrastOptions(NamedTuple):
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


class LayoutTask(NamedTuple):
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
    dials: ContrastOptions


def scene_of(arrangement: Arrangement, task: LayoutTask) -> Scene:
    """An arrangement as a scene, with nobody in particular looking."""
    return Scene(
        things=tuple(arrangement.things),
        links=arrangement.links,
        viewer=placing.ANYONE,
        place=task.place,
        look=task.look,
    )


def pair_of(scene: Scene, task: LayoutTask) -> BodyPair:
    """The first subject and the first ground."""
    subject = Body(scene.placed(task.roles.subjects[0]))
    return BodyPair(subject, Body(scene.placed(task.roles.grounds[0])), scene)


def _beside_one_another(rng: random.Random, task: LayoutTask, true: str) -> Arrangement:
    """The subject by the ground: on, in, beneath or beside it."""
    fixed, moved = task.ground, task.subject
    if task.contrast.swapped:
        fixed, moved = moved, fixed
    turn = rng.choice(TURNS) + rng.gauss(0, 6)
    base = Placed(id=fixed.name, thing=fixed.name, at=(0.0, 0.0, 0.0), turn=turn % 360)
    if "closed sides" in task.contrast.needs and rng.random() < 0.5:
        return Arrangement([base, placing.flush(rng, moved.name, moved, base)])
    if rng.random() < 0.25 and (task.frames == "probe" or true.startswith("far")):
        return Arrangement([base, placing.beside(rng, moved.name, moved, base, FAR_GAPS)])
    return Arrangement([base, placing.proposal(rng, moved.name, moved, base, placing.GAPS)])


def _stacked(rng: random.Random, task: LayoutTask, true: str) -> Arrangement:
    """One thing on a stage, the other one beneath it."""
    stage = thing_named(task.stage)
    turn = rng.choice((0, 180, 20, 340)) + rng.gauss(0, 6)
    base = Placed(id=stage.name, thing=stage.name, at=(0.0, 0.0, 0.0), turn=turn % 360)
    upper, lower = task.subject, task.ground
    if true not in ("above", "over"):
        upper, lower = lower, upper
    assert stage.top is not None
    on_top = placing.resting(rng, upper.name, upper, base, stage.top, stage.top.height)
    x, y = on_top.at[0], on_top.at[1]
    turn = base.turn + rng.choice((0, 90, 180, 270))
    below = Placed(id=lower.name, thing=lower.name, at=(x, y, 0.0), turn=turn % 360)
    return Arrangement([base, on_top, below])


def _linked(rng: random.Random, task: LayoutTask, true: str) -> Arrangement:
    """Two things beside one another, with a rope or without."""
    turn = rng.choice(TURNS) + rng.gauss(0, 6)
    ground = task.ground
    base = Placed(id=ground.name, thing=ground.name, at=(0.0, 0.0, 0.0), turn=turn % 360)
    other = placing.beside(rng, task.subject.name, task.subject, base, (0.4, 0.6, 0.8))
    links = ((task.subject.name, ground.name),) if true != "detached from" else ()
    return Arrangement([base, other], links)


def _ringed(rng: random.Random, task: LayoutTask, true: str) -> Arrangement:
    """Several of one kind around the other thing, or close together and far from it."""
    several, one, ids = task.subject, task.ground, task.roles.subjects
    if len(ids) == 1:
        several, one, ids = task.ground, task.subject, task.roles.grounds
    middle = Placed(id=one.name, thing=one.name, at=(0.0, 0.0, 0.0), turn=rng.uniform(0, 360))
    if true.startswith("far"):
        size, own = hypot(*several.size[:2]), hypot(*one.size[:2])
        members = placing.cluster(rng, ids, several, 3.0 * (size + own) + 1.2 * size)
    else:
        members = placing.ring(rng, ids, several, one)
    grouped = [msgspec.structs.replace(member, group="group") for member in members]
    return Arrangement([middle, *grouped])


LAYOUTS: dict[str, Callable[[random.Random, LayoutTask, str], Arrangement]] = {
    "pair": _beside_one_another,
    "stacked": _stacked,
    "linked": _linked,
    "ring": _ringed,
}


# From an arrangement to what somebody sees: other things are added, and a viewer is found.
#
# The whole is turned before anybody looks, so that floors lie differently in every picture.


MOST_VIEWS = 3  # that are tried for one arrangement
MOST_PLACES = 30  # that are tried for one more thing
SEEN_AT_ALL = 0.3  # share of a thing that must be seen although nothing is asked about it
SEEN_INSIDE = 0.5  # share of a thing that is in, on or beneath the other one, or one of a group
SEEN_FROM_ABOVE = {"long axes", "wide top"}  # needs of contrasts that a low view would hide
FACE = 110.0  # degrees off the line of sight, from which on a face can be seen
PROFILE = 35.0  # the same for where a thing looks


def look_at(rng: random.Random, arrangement: Arrangement, task: LayoutTask) -> Scene | None:
    """The arrangement with other things, turned, and with a viewer who sees what matters."""
    full = _with_others(rng, arrangement, task)
    if full is None:
        return None
    low, high = _heights(arrangement, task)
    for _ in range(MOST_VIEWS):
        around = rng.uniform(-180, 180)
        placed = [_turned(each, around) for each in full.things]
        viewer = viewer_of(
            placed,
            around=around,
            above=rng.uniform(low, high),
            angle=rng.uniform(34, 46),
            distance=task.dials.distance,
        )
        scene = msgspec.structs.replace(scene_of(full, task), things=tuple(placed), viewer=viewer)
        if _shows_sides(scene, task) and _is_seen(scene, task):
            return scene
    return None


def _shows_sides(scene: Scene, task: LayoutTask) -> bool:
    """Whether the sides show that matter.

    They are the fronts by which things are known, those that a relation is about, and the seam
    between two things that touch.
    """
    ahead = minus(scene.viewer.at[:2], scene.viewer.eye[:2])
    if "closed sides" in task.contrast.needs:
        off = angle(pair_of(scene, task).offset, ahead)
        if not PROFILE <= off <= 180 - PROFILE:
            return False
    faced: set[str] = set()
    if "front" in task.contrast.needs:
        faced.update(task.roles.subjects)
    if "front of ground" in task.contrast.needs:
        faced.update(task.roles.grounds)
    for placed in scene.things:
        off = angle(Body(placed).front, ahead)  # 180 if it looks at the viewer
        if placed.thing in thing_words().faces and off < FACE:
            return False
        if placed.id in faced and off < PROFILE and task.frames == "clear":
            return False
    return True


def _with_others(
    rng: random.Random, arrangement: Arrangement, task: LayoutTask
) -> Arrangement | None:
    placed = []
    for each in arrangement.things:
        placed.append(msgspec.structs.replace(each, colour=task.colours[each.thing]))
    reach = max(max(abs(each.at[0]), abs(each.at[1])) for each in placed)
    for name in task.others:
        found = _other(rng, name, placed, reach, task)
        if found is None:
            return None
        placed.append(found)
    return Arrangement(placed, arrangement.links)


def _other(
    rng: random.Random, name: str, placed: list[Placed], reach: float, task: LayoutTask
) -> Placed | None:
    """One more thing, on the ground and clear of the rest."""
    thing = thing_named(name)
    span = reach + max(task.subject.size[0], task.ground.size[0]) + thing.size[0]
    for _ in range(MOST_PLACES):
        candidate = Placed(
            id=name,
            thing=name,
            at=(rng.uniform(-span, span), rng.uniform(-0.3 * span, span), 0.0),
            turn=rng.uniform(0, 360),
            colour=task.colours[name],
        )
        scene = Scene(things=(*placed, candidate), viewer=placing.ANYONE)
        body = Body(candidate)
        gaps = [BodyPair(body, Body(each), scene).plan_gap for each in placed]
        if min(gaps) > 0.15 * body.diagonal and placing.is_free(candidate, placed, scene):
            return candidate
    return None


def _heights(arrangement: Arrangement, task: LayoutTask) -> tuple[float, float]:
    """How high the viewer looks from, in degrees: into what is hollow, beneath what has legs."""
    scene = scene_of(arrangement, task)
    bodies = [Body(each) for each in arrangement.things]
    for first in bodies:
        for second in bodies:
            if first is second:
                continue
            pair = BodyPair(first, second, scene)
            if pair.is_in:
                return 36.0, 52.0
            if pair.is_beneath:
                return 8.0, 18.0
    if task.contrast.layout == "ring" or SEEN_FROM_ABOVE & set(task.contrast.needs):
        return 28.0, 42.0
    return 16.0, 34.0


def _turned(placed: Placed, angle: float) -> Placed:
    """A thing after the whole scene was turned about the origin."""
    x, y, z = placed.at
    way = radians(angle)
    at = (x * cos(way) - y * sin(way), x * sin(way) + y * cos(way), z)
    return msgspec.structs.replace(placed, at=at, turn=(placed.turn + angle) % 360)


def _is_seen(scene: Scene, task: LayoutTask) -> bool:
    """Whether both things can be recognised, and the others are seen at all."""
    seen = survey(scene, SURVEY_SIZE)
    asked = {*task.roles.subjects, *task.roles.grounds}
    pair = pair_of(scene, task)
    close = pair.rests or pair.nested
    for number, placed in enumerate(scene.things, start=1):
        share = int((seen.mask == number).sum()) / seen.mask.size
        needed, least = task.dials.visible, task.dials.least
        if close or placed.group:
            needed = min(needed, SEEN_INSIDE)
        if placed.group:
            least /= 2
        if "front" in task.contrast.needs:
            least *= 2  # where something looks is harder to see than what it is
        if placed.id in asked:
            if share < least or seen.visible[placed.id] < needed:
                return False
        elif seen.visible[placed.id] < SEEN_AT_ALL:
            return False
    return True

"""How contrasts are laid out, and where a viewer stands who sees what is asked about."""

import random
from collections.abc import Callable, Sequence
from itertools import permutations
from math import atan2, cos, degrees, hypot, radians, sin, tan
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from gnomon.lexicon.relations import OpposedPair, thing_words
from gnomon.scenes import pictures, placing
from gnomon.scenes.bodies import Body, BodyPair, angle, minus
from gnomon.scenes.scenes import Placed, Scene, Viewer
from gnomon.scenes.solids import camera_of, project
from gnomon.scenes.things import Thing, thing_named

Frames = Literal["clear", "probe"]
Place = Literal["indoors", "outdoors"]
FAR_GAPS = (4.6, 4.3, 4.6)  # of the mean diagonal
FAR_FROM_RING = (5.0, 5.5)  # the same between the middles of two things
CLEAR_GAPS = (0.15, 0.3, 0.5, 0.8)
TURNS = (0, 180, 90, 270, 0, 180, 45, 315)  # of the ground, to the viewer


class ContrastOptions(NamedTuple):
    """What can be set about the pictures of a contrast."""

    distractors: int = 6  # at most so many other things, and at least half as many
    visible: float = 0.6  # the least share of a thing that must be seen
    least: float = 0.004  # the least share of the picture that each of the two fills
    distance: float = 1.0  # of the viewer; at 2 everything is half as large


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
    stand_in: str  # what stands where something else does in the other picture; empty for nothing
    place: Place
    look: int
    frames: Frames
    dials: ContrastOptions


def scene_of(arrangement: Arrangement, task: LayoutTask) -> Scene:
    """An arrangement as a scene, with nobody in particular looking."""
    coloured = []
    for placed in arrangement.things:
        coloured.append(msgspec.structs.replace(placed, colour=task.colours[placed.thing]))
    return Scene(
        things=tuple(coloured),
        links=arrangement.links,
        viewer=placing.ANYONE,
        place=task.place,
        look=task.look,
    )


def pair_of(scene: Scene, task: LayoutTask) -> BodyPair:
    """The first subject and the first ground."""
    subject = Body(scene.placed(task.roles.subjects[0]))
    return BodyPair(subject, Body(scene.placed(task.roles.grounds[0])), scene)


def _beside_one_another(
    rng: random.Random, task: LayoutTask, turn: float, true: str
) -> Arrangement:
    """The subject by the ground: on, in, beneath or beside it."""
    fixed, moved = task.ground, task.subject
    if task.contrast.swapped:
        fixed, moved = moved, fixed
    base = Placed(id=fixed.name, thing=fixed.name, at=(0.0, 0.0, 0.0), turn=turn)
    if "closed sides" in task.contrast.needs and rng.random() < 0.5:
        return Arrangement([base, placing.flush(rng, moved.name, moved, base)])
    if rng.random() < 0.25 and true.startswith("far"):
        return Arrangement([base, placing.beside(rng, moved.name, moved, base, FAR_GAPS)])
    gaps: Sequence[float] = placing.GAPS
    if task.frames == "probe":
        gaps = CLEAR_GAPS
    elif "long axes" in task.contrast.needs:  # which nobody compares across a room
        gaps = placing.SHORT_GAPS
    return Arrangement([base, placing.proposal(rng, moved.name, moved, base, gaps)])


def _stacked(rng: random.Random, task: LayoutTask, turn: float, true: str) -> Arrangement:
    """One thing on a stage, the other one beneath it."""
    stage = thing_named(task.stage)
    base = Placed(id=stage.name, thing=stage.name, at=(0.0, 0.0, 0.0), turn=turn)
    upper, lower = task.subject, task.ground
    if true not in ("above", "over"):
        upper, lower = lower, upper
    assert stage.top is not None
    on_top = placing.resting(rng, upper.name, upper, base, stage.top, stage.top.height)
    x, y = on_top.at[0], on_top.at[1]
    turn = base.turn + rng.choice((0, 90, 180, 270))
    below = Placed(id=lower.name, thing=lower.name, at=(x, y, 0.0), turn=turn % 360)
    return Arrangement([base, on_top, below])


def _linked(rng: random.Random, task: LayoutTask, turn: float, true: str) -> Arrangement:
    """Two things beside one another, with a rope or without."""
    ground = task.ground
    base = Placed(id=ground.name, thing=ground.name, at=(0.0, 0.0, 0.0), turn=turn)
    other = placing.beside(rng, task.subject.name, task.subject, base, (0.4, 0.6, 0.8))
    links = ((task.subject.name, ground.name),) if true != "detached from" else ()
    return Arrangement([base, other], links)


def _ringed(rng: random.Random, task: LayoutTask, turn: float, true: str) -> Arrangement:
    """Several of one kind, in both pictures alike: around the other thing, or far from it."""
    several, one, ids = task.subject, task.ground, task.roles.subjects
    if len(ids) == 1:
        several, one, ids = task.ground, task.subject, task.roles.grounds
    members = placing.ring(random.Random(turn), ids, several, one)
    middle = Placed(id=one.name, thing=one.name, at=(0.0, 0.0, 0.0), turn=turn)
    if true.startswith("far"):
        diagonal = (Body(middle).diagonal + Body(members[0]).diagonal) / 2
        far = hypot(*members[0].at[:2]) + rng.uniform(*FAR_FROM_RING) * diagonal
        way = radians(rng.choice((0, 180)) + rng.uniform(-30, 30))
        at = (far * cos(way), far * sin(way), 0.0)
        middle = msgspec.structs.replace(middle, at=at)
    grouped = [msgspec.structs.replace(member, group="group") for member in members]
    return Arrangement([middle, *grouped])


# Each puts what stays at the origin, turned as told, so that both pictures have it in one place.
LAYOUTS: dict[str, Callable[[random.Random, LayoutTask, float, str], Arrangement]] = {
    "pair": _beside_one_another,
    "stacked": _stacked,
    "linked": _linked,
    "ring": _ringed,
}


def with_stand_in(
    first: Arrangement, second: Arrangement, task: LayoutTask
) -> tuple[Arrangement, Arrangement] | None:
    """Both with one more thing, which stands where the thing that moves does in the other picture.

    So the same places are filled in both, and only what fills them tells near from far. None if
    there is no room for it.
    """
    if not task.stand_in:
        return first, second
    moves = [a.id for a, b in zip(first.things, second.things, strict=True) if a != b]
    if len(moves) != 1:
        return None
    found = []
    for arrangement, other in ((first, second), (second, first)):
        free = next(placed for placed in other.things if placed.id == moves[0])
        added = Placed(id=task.stand_in, thing=task.stand_in, at=free.at, turn=free.turn)
        filled = Arrangement([*arrangement.things, added], arrangement.links)
        if not placing.is_free(added, arrangement.things, scene_of(filled, task)):
            return None
        found.append(filled)
    return found[0], found[1]


# From two arrangements to what one viewer sees of each: other things are added, and they are the
# same in both pictures, as are the viewer, the wall and what stays.
#
# The whole is turned before anybody looks, so that floors lie differently in every quad.


MOST_VIEWS = 12  # that are tried for one pair of arrangements
MOST_PLACES = 30  # that are tried for one more thing
ANGLES = (16.0, 40.0)  # degrees that a viewer sees
PAST = (0.0, 2.5)  # how far beside the things others would be, in diagonals of the largest
ALIKE = 1.25  # how many times as wide or as high a thing may be in one picture as in the other
FILLED = 0.6  # share of its box that a thing may be expected to fill
ALIKE_IN_ALL = 1.1  # the same for all things together
AHEAD = (0.75, 1.8)  # where other things stand, the middle being at 1
ASIDE = 0.85  # of the way to the edge of the picture
EYE_LEVEL = (3.0, 10.0)  # degrees above the horizon
SEEN_AT_ALL = 0.3  # share of a thing that must be seen although nothing is asked about it
SEEN_INSIDE = 0.5  # share of a thing that is in, on or beneath the other one, or one of a group
SEEN_FROM_ABOVE = {"long axes", "wide top"}  # needs of contrasts that a low view would hide
FACE = 110.0  # degrees off the line of sight, from which on a face can be seen
PROFILE = 35.0  # the same for where a thing looks
LEAST_ROPE = 0.001  # share of the picture that a rope fills


def look_at(
    rng: random.Random, first: Arrangement, second: Arrangement, task: LayoutTask
) -> tuple[Scene, Scene] | None:
    """Both arrangements, with the same other things, before one viewer who sees what matters."""
    for _ in range(MOST_VIEWS):
        around = rng.uniform(-180, 180)
        things = [[_turned(each, around) for each in one.things] for one in (first, second)]
        asked = [*things[0], *things[1]]
        viewer = pictures.viewer_of(
            [*asked, *_aside(rng, asked, task)],
            around=around,
            above=_height(rng, (first, second), task),
            angle=rng.uniform(*ANGLES),
            distance=task.dials.distance,
        )
        if not _is_promising(viewer, things[0], things[1], task):
            continue
        others = _others(rng, viewer, asked, task)
        if others is None:
            continue
        camera = camera_of(viewer)
        scenes = []
        for arrangement, placed in zip((first, second), things, strict=True):
            scene = scene_of(Arrangement([*placed, *others], arrangement.links), task)
            scenes.append(msgspec.structs.replace(scene, viewer=viewer))
        wall = max(pictures.wall_distance(scene, camera) for scene in scenes)
        both = [msgspec.structs.replace(scene, wall=wall) for scene in scenes]
        if not all(_shows_sides(scene, task) for scene in both):
            continue
        one = _seen_well(both[0], task)
        if one is None:
            continue
        other = _seen_well(both[1], task)
        if other is not None and _are_alike(one, other, task):
            return both[0], both[1]
    return None


def _aside(rng: random.Random, asked: list[Placed], task: LayoutTask) -> list[Placed]:
    """The same things elsewhere: a viewer who had to see them, too, looks past the asked ones."""
    if task.contrast.layout == "ring":  # they need all the room
        return []
    way = rng.uniform(0, 360)
    far = rng.uniform(*PAST) * max(Body(each).diagonal for each in asked)
    x, y = far * cos(radians(way)), far * sin(radians(way))
    moved = []
    for each in asked:
        at = (each.at[0] + x, each.at[1] + y, each.at[2])
        moved.append(msgspec.structs.replace(each, at=at))
    return moved


def _are_alike(
    first: pictures.PictureSurvey, second: pictures.PictureSurvey, task: LayoutTask
) -> bool:
    """Whether a thing is about as wide and as high in both pictures: its size must tell nothing.

    The same holds for a group and, if there are others, for what all things fill together.
    """
    for ids in task.roles:
        if not _is_as_large(_sides(first, ids), _sides(second, ids), ALIKE):
            return False
    if not (task.others or task.stand_in):
        return True
    every = list(first.boxes)
    return _is_as_large(_sides(first, every), _sides(second, every), ALIKE_IN_ALL)


def _sides(seen: pictures.PictureSurvey, ids: Sequence[str]) -> tuple[int, int]:
    """Width and height of the box around some things that are seen."""
    boxes = np.array([seen.boxes[id] for id in ids if seen.boxes[id] is not None])
    left, top = boxes[:, :2].min(axis=0)
    right, bottom = boxes[:, 2:].max(axis=0)
    return int(right - left), int(bottom - top)


def _is_as_large(first: tuple[float, float], second: tuple[float, float], most: float) -> bool:
    for one, other in zip(first, second, strict=True):
        if max(one, other) > most * min(one, other):
            return False
    return True


def _is_promising(
    viewer: Viewer, first: list[Placed], second: list[Placed], task: LayoutTask
) -> bool:
    """Whether things as nobody hides them are large enough and alike: worth a survey."""
    camera = camera_of(viewer)
    ids = {*task.roles.subjects, *task.roles.grounds}
    before: dict[str, tuple[float, float]] = {}
    for placed in (*first, *second):
        if placed.id not in ids:
            continue
        columns, rows, _ = project(camera, np.array(pictures.corners_of([placed])), 1, 1)
        sides = float(np.ptp(columns)), float(np.ptp(rows))
        if FILLED * sides[0] * sides[1] < _least_share(placed, task):
            return False
        if not _is_as_large(sides, before.get(placed.id, sides), ALIKE):
            return False
        before[placed.id] = sides
    return True


def _least_share(placed: Placed, task: LayoutTask) -> float:
    """The share of the picture that a thing must fill."""
    least = task.dials.least
    if placed.group:
        least /= 2
    if "front" in task.contrast.needs:
        least *= 2  # where something looks is harder to see than what it is
    return least


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


def _others(
    rng: random.Random, viewer: Viewer, asked: list[Placed], task: LayoutTask
) -> list[Placed] | None:
    """Other things on the ground before a viewer; none if there is no room."""
    found: list[Placed] = []
    for name in task.others:
        other = _other(rng, name, viewer, [*asked, *found])
        if other is None:
            return None
        found.append(other)
    return found


def _other(rng: random.Random, name: str, viewer: Viewer, placed: list[Placed]) -> Placed | None:
    """One more thing, on the ground and clear of the rest wherever it is."""
    x, y = minus(viewer.at[:2], viewer.eye[:2])
    to_viewer = degrees(atan2(-x, y))
    spread = 180.0
    if name in thing_words().faces:
        spread = 180 - FACE
    for _ in range(MOST_PLACES):
        ahead = rng.uniform(*AHEAD)
        aside = ahead * rng.uniform(-ASIDE, ASIDE) * tan(radians(viewer.angle / 2))
        at = (viewer.eye[0] + ahead * x + aside * y, viewer.eye[1] + ahead * y - aside * x, 0.0)
        turn = (to_viewer + rng.uniform(-spread, spread)) % 360
        candidate = Placed(id=name, thing=name, at=at, turn=turn)
        scene = Scene(things=(*placed, candidate), viewer=placing.ANYONE)
        body = Body(candidate)
        gaps = [BodyPair(body, Body(each), scene).plan_gap for each in placed]
        if min(gaps) > 0.15 * body.diagonal and placing.is_free(candidate, placed, scene):
            return candidate
    return None


def _height(
    rng: random.Random, arrangements: tuple[Arrangement, Arrangement], task: LayoutTask
) -> float:
    """How high the viewer looks from, in degrees: into what is hollow, beneath what has legs."""
    low, high = 12.0, 34.0
    if task.contrast.layout == "ring" or SEEN_FROM_ABOVE & set(task.contrast.needs):
        low, high = 28.0, 42.0
    elif rng.random() < 0.35:
        low, high = EYE_LEVEL
    for arrangement in arrangements:
        scene = scene_of(arrangement, task)
        for first, second in permutations(arrangement.things, 2):
            pair = BodyPair(Body(first), Body(second), scene)
            if pair.is_in:
                low, high = 36.0, 52.0
            elif pair.is_beneath:
                low, high = 8.0, 18.0
    return rng.uniform(low, high)


def _turned(placed: Placed, angle: float) -> Placed:
    """A thing after the whole scene was turned about the origin."""
    x, y, z = placed.at
    way = radians(angle)
    at = (x * cos(way) - y * sin(way), x * sin(way) + y * cos(way), z)
    return msgspec.structs.replace(placed, at=at, turn=(placed.turn + angle) % 360)


def _seen_well(scene: Scene, task: LayoutTask) -> pictures.PictureSurvey | None:
    """The survey of a scene, if both things can be recognised and the others are seen at all."""
    seen = pictures.survey(scene, pictures.SURVEY_SIZE)
    asked = {*task.roles.subjects, *task.roles.grounds}
    pair = pair_of(scene, task)
    close = pair.rests or pair.nested
    for number, placed in enumerate(scene.things, start=1):
        share = int((seen.mask == number).sum()) / seen.mask.size
        needed = task.dials.visible
        if close or placed.group:
            needed = min(needed, SEEN_INSIDE)
        if placed.id in asked:
            if share < _least_share(placed, task) or seen.visible[placed.id] < needed:
                return None
        elif seen.visible[placed.id] < SEEN_AT_ALL:
            return None
    if scene.links and seen.rope_share < LEAST_ROPE:
        return None
    if scene.links and seen.rope_visible < task.dials.visible:
        return None
    return seen

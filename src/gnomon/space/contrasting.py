"""Two scenes of the same things for a contrast: each of two statements is true of one of them.

Things are put as the viewer will see them, then the whole is turned, and a viewer is found who sees
what is asked about. What is clear is clear in every frame; a probe wants the frames to differ.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from math import cos, radians, sin
from typing import Literal, NamedTuple

import msgspec

from gnomon.space.bodies import Body, Pair, angle, minus
from gnomon.space.contrasts import Contrast, contrast_file, stages_for
from gnomon.space.pictures import survey
from gnomon.space.placing import ANYONE
from gnomon.space.poses import GAPS, beside, cluster, flush, proposal, resting, ring
from gnomon.space.relations import decide
from gnomon.space.scenes import Placed, Scene
from gnomon.space.standing import impossibilities, is_free
from gnomon.space.things import Thing, thing_named, things
from gnomon.space.viewing import SURVEY_SIZE, viewer_of

Frames = Literal["clear", "probe"]
Place = Literal["indoors", "outdoors"]
MOST_POSES = 500  # that are tried for one scene
MOST_VIEWS = 3  # that are tried for one arrangement
MOST_SCENES = 6  # arrangements that are tried for one picture
SEEN_AT_ALL = 0.3  # share of a thing that must be seen although nothing is asked about it
SEEN_INSIDE = 0.5  # share of a thing that is in, on or beneath the other one, or one of a group
FACE = 110.0  # degrees off the line of sight, from which on a face can be seen
PROFILE = 35.0  # the same for where a thing looks
FAR_GAPS = (*GAPS, 4.3, 4.6)  # of the mean diagonal
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


class Contrasted(NamedTuple):
    """Two scenes: of the first one only the first relation is true, of the second the second."""

    scenes: tuple[Scene, Scene]
    roles: Roles


class Arrangement(NamedTuple):
    """Things in their places, before anybody looks."""

    things: list[Placed]
    links: tuple[tuple[str, str], ...] = ()


class _Task(NamedTuple):
    """What both pictures of a contrast share."""

    contrast: Contrast
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


def contrasted(
    rng: random.Random,
    contrast: Contrast,
    subject: str,
    ground: str,
    dials: Dials,
    frames: Frames = "clear",
) -> Contrasted | None:
    """Two scenes that set a contrast of two things, or none if they are not found soon."""
    task = _task(rng, contrast, subject, ground, dials, frames)
    if task is None:
        return None
    first = _picture(rng, task, contrast.first, contrast.second)
    if first is None:
        return None
    second = _picture(rng, task, contrast.second, contrast.first)
    if second is None:
        return None
    return Contrasted((first, second), task.roles)


def truth_in(
    scene: Scene, roles: Roles, relation: str, frame: Literal["agreed", "viewer", "own"] = "agreed"
) -> bool | None:
    """Whether a relation holds between all things of the two roles; none if that is not clear."""
    found = set()
    asked = [relation]
    if frame == "agreed" and relation in contrast_file().clear_by:
        asked.append(contrast_file().clear_by[relation])
    for subject in roles.subjects:
        for ground in roles.grounds:
            for word in asked:
                found.add(decide(scene, subject, word, ground, frame=frame).truth)
    return found.pop() if len(found) == 1 else None


def _shows(scene: Scene, task: _Task, true: str, false: str) -> bool:
    """Whether one relation is true of a scene and another one false.

    In a probe that is so for the viewer, and the other way round by the ground's own front.
    """
    if task.contrast.apart and _is_close(_pair_of(scene, task)):
        return False
    if task.frames == "clear":
        if truth_in(scene, task.roles, true) is not True:
            return False
        return truth_in(scene, task.roles, false) is False
    for relation, expected in ((true, True), (false, False)):
        if truth_in(scene, task.roles, relation, "viewer") is not expected:
            return False
        if truth_in(scene, task.roles, relation, "own") is expected:
            return False
        if truth_in(scene, task.roles, relation, "own") is None:
            return False
    return True


def _pair_of(scene: Scene, task: _Task) -> Pair:
    """The first subject and the first ground."""
    subject = Body(scene.placed(task.roles.subjects[0]))
    return Pair(subject, Body(scene.placed(task.roles.grounds[0])), scene)


def _is_close(pair: Pair) -> bool:
    """Whether one of two things is on, in or beneath the other one."""
    return pair.rests or pair.nested


def _task(
    rng: random.Random,
    contrast: Contrast,
    subject: str,
    ground: str,
    dials: Dials,
    frames: Frames,
) -> _Task | None:
    stage = ""
    if contrast.layout == "stacked":
        stages = stages_for(subject, ground)
        if not stages:
            return None
        stage = rng.choice(stages)
    names = [name for name in (subject, ground, stage) if name]
    place = _place(rng, names)
    others = _others(rng, names, place, dials.distractors)
    colours = {}
    for name in (*names, *others):
        colours[name] = rng.choice(("", *thing_named(name).colours))
    return _Task(
        contrast,
        thing_named(subject),
        thing_named(ground),
        _roles(contrast, subject, ground),
        stage,
        colours,
        others,
        place,
        rng.randrange(1000),
        frames,
        dials,
    )


def _place(rng: random.Random, names: Sequence[str]) -> Place:
    """Where things go together; anywhere if all of them are found in both places."""
    for name in names:
        place = thing_named(name).place
        if place != "both":
            return place
    return rng.choice(("indoors", "outdoors"))


def _roles(contrast: Contrast, subject: str, ground: str) -> Roles:
    if contrast.layout != "ring":
        return Roles((subject,), (ground,))
    several = 2 if contrast.first == "between" else 4
    numbers = range(1, several + 1)
    if "several" in contrast.needs:
        return Roles(tuple(f"{subject} {n}" for n in numbers), (ground,))
    return Roles((subject,), tuple(f"{ground} {n}" for n in numbers))


def _others(rng: random.Random, names: Sequence[str], place: str, count: int) -> tuple[str, ...]:
    """Things that go with the others and cannot be taken for one of them."""
    asked = [thing_named(name) for name in names]
    kinds = {thing.kind for thing in asked}
    largest = max(max(thing.size) for thing in asked)
    found = []
    for thing in things().values():
        fits = 0.25 * largest <= max(thing.size) <= 0.9 * largest
        if thing.place in (place, "both") and thing.kind not in kinds and fits:
            found.append(thing.name)
    rng.shuffle(found)
    return tuple(found[:count])


def _picture(rng: random.Random, task: _Task, true: str, false: str) -> Scene | None:
    """A scene in which one relation is true and another one false, and both things are seen."""
    arrange = LAYOUTS[task.contrast.layout]
    tries = MOST_POSES
    for _ in range(MOST_SCENES):
        while tries > 0:
            tries -= 1
            arrangement = arrange(rng, task, true)
            scene = _scene(arrangement, task)
            if _shows(scene, task, true, false) and not impossibilities(scene):
                break
        else:
            return None
        seen = _looked_at(rng, arrangement, task)
        if seen is not None and _shows(seen, task, true, false):
            return seen
    return None


def _scene(arrangement: Arrangement, task: _Task) -> Scene:
    return Scene(
        things=tuple(arrangement.things),
        links=arrangement.links,
        viewer=ANYONE,
        place=task.place,
        look=task.look,
    )


# Layouts: where the things of a task are, if `true` is to hold.


def _beside_one_another(rng: random.Random, task: _Task, true: str) -> Arrangement:
    """The subject by the ground: on, in, beneath or beside it."""
    fixed, moved = task.ground, task.subject
    if task.contrast.swapped:
        fixed, moved = moved, fixed
    turn = rng.choice(TURNS) + rng.gauss(0, 6)
    base = Placed(id=fixed.name, thing=fixed.name, at=(0.0, 0.0, 0.0), turn=turn % 360)
    if "closed sides" in task.contrast.needs and rng.random() < 0.5:
        return Arrangement([base, flush(rng, moved.name, moved, base)])
    if rng.random() < 0.25 and (task.frames == "probe" or true.startswith("far")):
        return Arrangement([base, beside(rng, moved.name, moved, base, FAR_GAPS[-3:])])
    return Arrangement([base, proposal(rng, moved.name, moved, base, GAPS)])


def _stacked(rng: random.Random, task: _Task, true: str) -> Arrangement:
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


def _linked(rng: random.Random, task: _Task, true: str) -> Arrangement:
    """Two things beside one another, with a rope or without."""
    turn = rng.choice(TURNS) + rng.gauss(0, 6)
    ground = task.ground
    base = Placed(id=ground.name, thing=ground.name, at=(0.0, 0.0, 0.0), turn=turn % 360)
    other = beside(rng, task.subject.name, task.subject, base, (0.4, 0.6, 0.8))
    links = ((task.subject.name, ground.name),) if true != "detached from" else ()
    return Arrangement([base, other], links)


def _ringed(rng: random.Random, task: _Task, true: str) -> Arrangement:
    """Several of one kind around the other thing, or close together and far from it."""
    several, one, ids = task.subject, task.ground, task.roles.subjects
    if len(ids) == 1:
        several, one, ids = task.ground, task.subject, task.roles.grounds
    middle = Placed(id=one.name, thing=one.name, at=(0.0, 0.0, 0.0), turn=rng.uniform(0, 360))
    if true.startswith("far"):
        size = (several.size[0] ** 2 + several.size[1] ** 2) ** 0.5
        own = (one.size[0] ** 2 + one.size[1] ** 2) ** 0.5
        members = cluster(rng, ids, several, 3.0 * (size + own) + 1.2 * size)
    else:
        members = ring(rng, ids, several, one)
    grouped = [msgspec.structs.replace(member, group="group") for member in members]
    return Arrangement([middle, *grouped])


LAYOUTS: dict[str, Callable[[random.Random, _Task, str], Arrangement]] = {
    "pair": _beside_one_another,
    "stacked": _stacked,
    "linked": _linked,
    "ring": _ringed,
}


# From an arrangement to what somebody sees.


def _looked_at(rng: random.Random, arrangement: Arrangement, task: _Task) -> Scene | None:
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
        scene = msgspec.structs.replace(_scene(full, task), things=tuple(placed), viewer=viewer)
        if _shows_sides(scene, task) and _is_seen(scene, task):
            return scene
    return None


def _shows_sides(scene: Scene, task: _Task) -> bool:
    """Whether the sides show that matter.

    They are the fronts by which things are known, those that a relation is about, and the seam
    between two things that touch.
    """
    ahead = minus(scene.viewer.at[:2], scene.viewer.eye[:2])
    if "closed sides" in task.contrast.needs:
        off = angle(_pair_of(scene, task).offset, ahead)
        if not PROFILE <= off <= 180 - PROFILE:
            return False
    faced: set[str] = set()
    if "front" in task.contrast.needs:
        faced.update(task.roles.subjects)
    if "front of ground" in task.contrast.needs:
        faced.update(task.roles.grounds)
    for placed in scene.things:
        off = angle(Body(placed).front, ahead)  # 180 if it looks at the viewer
        if placed.thing in contrast_file().faces and off < FACE:
            return False
        if placed.id in faced and off < PROFILE and task.frames == "clear":
            return False
    return True


def _with_others(rng: random.Random, arrangement: Arrangement, task: _Task) -> Arrangement | None:
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
    rng: random.Random, name: str, placed: list[Placed], reach: float, task: _Task
) -> Placed | None:
    """One more thing, on the ground and clear of the rest."""
    thing = thing_named(name)
    span = reach + max(task.subject.size[0], task.ground.size[0]) + thing.size[0]
    for _ in range(30):
        candidate = Placed(
            id=name,
            thing=name,
            at=(rng.uniform(-span, span), rng.uniform(-0.3 * span, span), 0.0),
            turn=rng.uniform(0, 360),
            colour=task.colours[name],
        )
        scene = Scene(things=(*placed, candidate), viewer=ANYONE)
        body = Body(candidate)
        gaps = [Pair(body, Body(each), scene).plan_gap for each in placed]
        if min(gaps) > 0.15 * body.diagonal and is_free(candidate, placed, scene):
            return candidate
    return None


def _heights(arrangement: Arrangement, task: _Task) -> tuple[float, float]:
    """How high the viewer looks from, in degrees: into what is hollow, beneath what has legs."""
    scene = _scene(arrangement, task)
    bodies = [Body(each) for each in arrangement.things]
    for first in bodies:
        for second in bodies:
            if first is second:
                continue
            pair = Pair(first, second, scene)
            if pair.is_in:
                return 36.0, 52.0
            if pair.is_beneath:
                return 8.0, 18.0
    if task.contrast.layout == "ring" or "long axes" in task.contrast.needs:
        return 28.0, 42.0
    return 16.0, 34.0


def _turned(placed: Placed, angle: float) -> Placed:
    """A thing after the whole scene was turned about the origin."""
    x, y, z = placed.at
    way = radians(angle)
    at = (x * cos(way) - y * sin(way), x * sin(way) + y * cos(way), z)
    return msgspec.structs.replace(placed, at=at, turn=(placed.turn + angle) % 360)


def _is_seen(scene: Scene, task: _Task) -> bool:
    """Whether both things can be recognised, and the others are seen at all."""
    seen = survey(scene, SURVEY_SIZE)
    asked = {*task.roles.subjects, *task.roles.grounds}
    close = _is_close(_pair_of(scene, task))
    for number, placed in enumerate(scene.things, start=1):
        share = int((seen.mask == number).sum()) / seen.mask.size
        needed, least = task.dials.visible, task.dials.least
        if close or placed.group:
            needed = min(needed, SEEN_INSIDE)
        if placed.group:
            least /= 2
        if placed.id in asked:
            if share < least or seen.visible[placed.id] < needed:
                return False
        elif seen.visible[placed.id] < SEEN_AT_ALL:
            return False
    return True

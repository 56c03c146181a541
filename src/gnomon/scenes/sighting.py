"""From an arrangement to what somebody sees: other things are added, and a viewer is found.

The whole is turned before anybody looks, so that floors lie differently in every picture.
"""

from __future__ import annotations

import random
from math import cos, radians, sin

import msgspec

from gnomon.lexicon.things import thing_words
from gnomon.scenes.bodies import Body, Pair, angle, minus
from gnomon.scenes.layouts import Arrangement, Task, pair_of, scene_of
from gnomon.scenes.pictures import survey
from gnomon.scenes.placing import ANYONE
from gnomon.scenes.scenes import Placed, Scene
from gnomon.scenes.standing import is_free
from gnomon.scenes.things import thing_named
from gnomon.scenes.viewing import SURVEY_SIZE, viewer_of

MOST_VIEWS = 3  # that are tried for one arrangement
MOST_PLACES = 30  # that are tried for one more thing
SEEN_AT_ALL = 0.3  # share of a thing that must be seen although nothing is asked about it
SEEN_INSIDE = 0.5  # share of a thing that is in, on or beneath the other one, or one of a group
SEEN_FROM_ABOVE = {"long axes", "wide top"}  # needs of contrasts that a low view would hide
FACE = 110.0  # degrees off the line of sight, from which on a face can be seen
PROFILE = 35.0  # the same for where a thing looks


def look_at(rng: random.Random, arrangement: Arrangement, task: Task) -> Scene | None:
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


def _shows_sides(scene: Scene, task: Task) -> bool:
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


def _with_others(rng: random.Random, arrangement: Arrangement, task: Task) -> Arrangement | None:
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
    rng: random.Random, name: str, placed: list[Placed], reach: float, task: Task
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
        scene = Scene(things=(*placed, candidate), viewer=ANYONE)
        body = Body(candidate)
        gaps = [Pair(body, Body(each), scene).plan_gap for each in placed]
        if min(gaps) > 0.15 * body.diagonal and is_free(candidate, placed, scene):
            return candidate
    return None


def _heights(arrangement: Arrangement, task: Task) -> tuple[float, float]:
    """How high the viewer looks from, in degrees: into what is hollow, beneath what has legs."""
    scene = scene_of(arrangement, task)
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
    if task.contrast.layout == "ring" or SEEN_FROM_ABOVE & set(task.contrast.needs):
        return 28.0, 42.0
    return 16.0, 34.0


def _turned(placed: Placed, angle: float) -> Placed:
    """A thing after the whole scene was turned about the origin."""
    x, y, z = placed.at
    way = radians(angle)
    at = (x * cos(way) - y * sin(way), x * sin(way) + y * cos(way), z)
    return msgspec.structs.replace(placed, at=at, turn=(placed.turn + angle) % 360)


def _is_seen(scene: Scene, task: Task) -> bool:
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

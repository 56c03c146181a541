"""Two scenes of the same things for a contrast: each of two statements is true of one of them.

Things are put as the viewer will see them, then the whole is turned, and a viewer is found who sees
what is asked about. What is clear is clear in every frame; a probe wants the frames to differ.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from typing import Literal, NamedTuple

from gnomon.lexicon.relations import OpposedPair, lexicon
from gnomon.scenes.contrasts import stages_for
from gnomon.scenes.layouts import LAYOUTS, Dials, Frames, Place, Roles, Task, pair_of, scene_of
from gnomon.scenes.relations import decide
from gnomon.scenes.scenes import Scene
from gnomon.scenes.sighting import look_at
from gnomon.scenes.standing import impossibilities
from gnomon.scenes.things import thing_named, things

MOST_POSES = 500  # that are tried for one scene
MOST_SCENES = 6  # arrangements that are tried for one picture


class Contrasted(NamedTuple):
    """Two scenes: of the first one only the first relation is true, of the second the second."""

    scenes: tuple[Scene, Scene]
    roles: Roles


def contrasted(
    rng: random.Random,
    contrast: OpposedPair,
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
    clear_by = lexicon().relations[relation].clear_by
    if frame == "agreed" and clear_by:
        asked.append(clear_by)
    for subject, ground, word in product(roles.subjects, roles.grounds, asked):
        found.add(decide(scene, subject, word, ground, frame=frame).truth)
    return found.pop() if len(found) == 1 else None


def _shows(scene: Scene, task: Task, true: str, false: str) -> bool:
    """Whether one relation is true of a scene and another one false.

    In a probe that is so for the viewer, and the other way round by the ground's own front.
    """
    pair = pair_of(scene, task)
    if task.contrast.apart and (pair.rests or pair.nested):
        return False
    if task.frames == "clear":
        if truth_in(scene, task.roles, true) is not True:
            return False
        return truth_in(scene, task.roles, false) is False
    for relation, expected in ((true, True), (false, False)):
        if truth_in(scene, task.roles, relation, "viewer") is not expected:
            return False
        if truth_in(scene, task.roles, relation, "own") is not (not expected):
            return False
    return True


def _task(
    rng: random.Random,
    contrast: OpposedPair,
    subject: str,
    ground: str,
    dials: Dials,
    frames: Frames,
) -> Task | None:
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
    return Task(
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


def _roles(contrast: OpposedPair, subject: str, ground: str) -> Roles:
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


def _picture(rng: random.Random, task: Task, true: str, false: str) -> Scene | None:
    """A scene in which one relation is true and another one false, and both things are seen."""
    arrange = LAYOUTS[task.contrast.layout]
    tries = MOST_POSES
    for _ in range(MOST_SCENES):
        while tries > 0:
            tries -= 1
            arrangement = arrange(rng, task, true)
            scene = scene_of(arrangement, task)
            if _shows(scene, task, true, false) and not impossibilities(scene):
                break
        else:
            return None
        seen = look_at(rng, arrangement, task)
        if seen is not None and _shows(seen, task, true, false):
            return seen
    return None

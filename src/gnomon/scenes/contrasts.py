"""Two scenes of the same things, of which opposed relations are true: which things, and how."""

import random
from collections.abc import Callable, Sequence
from functools import cache
from itertools import permutations, product
from math import hypot
from typing import Literal, NamedTuple

from gnomon.lexicon.relations import OpposedPair, lexicon, thing_words
from gnomon.scenes import layouts
from gnomon.scenes.placing import impossibilities, may_hold
from gnomon.scenes.relations import decide
from gnomon.scenes.scenes import Scene
from gnomon.scenes.things import Cavity, Thing, Top, thing_named, things

ROOM = 0.95  # of a top, a cavity or the room beneath that a thing may fill
WIDE = 3.0  # how much wider than a thing a top is on which edge and middle are told apart
WHOLE_TOP = 0.55  # share of a thing's plan that its top takes up, so that its middle is the top's
TALL = 3.0  # how much higher than wide a thing must be for that
HUGE = 5.0  # metres; what is longer leaves nothing else to be seen beside it
AS_LARGE = (0.6, 1.15)  # how large what stands in for a thing is, against that thing
GRADES = ("a", "b", "c")


def opposed_pairs() -> tuple[OpposedPair, ...]:
    """The contrasts of the lexicon, in the order in which seeds take them."""
    return lexicon().contrasts


@cache
def pairs_for(contrast: OpposedPair) -> tuple[tuple[str, str], ...]:
    """The things, subject and ground, of which both relations of a contrast can be asked.

    >>> ("cat", "box") in pairs_for(OpposedPair("in", "next to", needs=("in",), ratio=5))
    True
    """
    found = []
    for subject, ground in permutations(things().values(), 2):
        if _go_together(subject, ground, contrast.ratio) and _has_needs(contrast, subject, ground):
            found.append((subject.name, ground.name))
    return tuple(found)


def _go_together(subject: Thing, ground: Thing, ratio: float) -> bool:
    if {subject.place, ground.place} == {"indoors", "outdoors"}:
        return False
    first, second = max(subject.size), max(ground.size)
    if max(first, second) > HUGE:
        return False
    return max(first, second) <= ratio * min(first, second)


def _has_needs(contrast: OpposedPair, subject: Thing, ground: Thing) -> bool:
    if contrast.second.startswith("far") and (_is_tall(subject) or _is_tall(ground)):
        return False
    return all(NEEDS[need](subject, ground) for need in contrast.needs)


def _fits(thing: Thing, room: Top | Cavity | None) -> bool:
    """Whether a thing may plausibly be there, and has room."""
    if room is None or not may_hold(room, thing):
        return False
    return max(thing.size[:2]) <= ROOM * max(room.size) and _narrow(thing) <= ROOM * min(room.size)


def _fits_beneath(thing: Thing, cover: Thing) -> bool:
    if not cover.beneath or thing.size[2] > ROOM * cover.beneath:
        return False
    longer = max(thing.size[:2]) <= ROOM * max(cover.size[:2])
    return longer and _narrow(thing) <= ROOM * min(cover.size[:2])


def _is_tall(thing: Thing) -> bool:
    """Whether it is much higher than wide: far is told by widths, and would look near."""
    return thing.size[2] > TALL * max(thing.size[:2])


def _narrow(thing: Thing) -> float:
    return min(thing.size[0], thing.size[1])


def _has_wide_top(thing: Thing, ground: Thing) -> bool:
    """Whether edge and middle of the ground's top can be told apart, and are its own.

    The middle of what is higher than wide, or of an appliance, is inside it.
    """
    top = ground.top
    if top is None or WIDE * _narrow(thing) > min(top.size):
        return False
    if ground.kind == "appliance" or top.height > _narrow(ground):
        return False
    return top.size[0] * top.size[1] >= WHOLE_TOP * ground.size[0] * ground.size[1]


def has_clear_front(thing: Thing) -> bool:
    """Whether nobody disputes where its front is."""
    return thing.name in thing_words().fronts


def _have_closed_sides(subject: Thing, ground: Thing) -> bool:
    closed = subject.solid and ground.solid
    return closed and "outdoors" not in (subject.place, ground.place)


def stages_for(first: str, second: str) -> list[str]:
    """What one of two things can stand on while the other one is beneath it, either way round."""
    one, two = things()[first], things()[second]
    found = []
    for stage in things().values():
        both_on = _fits(one, stage.top) and _fits(two, stage.top)
        if both_on and _fits_beneath(one, stage) and _fits_beneath(two, stage):
            found.append(stage.name)
    return found


NEEDS: dict[str, Callable[[Thing, Thing], bool]] = {
    "on": lambda a, b: _fits(a, b.top),
    "in": lambda a, b: _fits(a, b.cavity),
    "holds": lambda a, b: _fits(b, a.cavity),
    "beneath": _fits_beneath,
    "wide top": _has_wide_top,
    "front": lambda a, b: has_clear_front(a),
    "front of ground": lambda a, b: has_clear_front(b),
    "moves": lambda a, b: a.moves,
    "ground moves": lambda a, b: b.moves,
    "living": lambda a, b: a.living,
    "furniture": lambda a, b: b.kind == "furniture",
    "long axes": lambda a, b: bool(a.long and b.long),
    "closed sides": _have_closed_sides,
    "smaller": lambda a, b: max(a.size[:2]) <= 0.8 * max(b.size[:2]),
    "several": lambda a, b: a.name in thing_words().plurals,
    "several grounds": lambda a, b: b.name in thing_words().plurals,
}


# Two scenes of the same things for a contrast: each of two statements is true of one of them.
#
# Things are put as the viewer will see them, then the whole is turned, and a viewer is found who
# sees what is asked about. What is clear is clear in every frame; a probe wants the frames to
# differ.


MOST_POSES = 150  # that are tried for one arrangement
MOST_SCENES = 20  # pairs of arrangements that are tried for two things


class Contrasted(NamedTuple):
    """Two scenes: of the first one only the first relation is true, of the second the second."""

    scenes: tuple[Scene, Scene]
    roles: layouts.Roles


def contrasted(
    rng: random.Random,
    contrast: OpposedPair,
    subject: str,
    ground: str,
    dials: layouts.ContrastOptions,
    frames: layouts.Frames = "clear",
) -> Contrasted | None:
    """Two scenes that set a contrast of two things, or none if they are not found soon."""
    task = _task(rng, contrast, subject, ground, dials, frames)
    if task is None:
        return None
    for _ in range(MOST_SCENES):
        turn = (rng.choice(layouts.TURNS) + rng.gauss(0, 6)) % 360
        first = _arranged(rng, task, turn, contrast.first, contrast.second)
        if first is None:
            continue
        second = _arranged(rng, task, turn, contrast.second, contrast.first)
        if second is None:
            continue
        both = layouts.with_stand_in(first, second, task)
        if both is None:
            continue
        seen = layouts.look_at(rng, *both, task)
        if seen is None:
            continue
        shown = _shows(seen[0], task, contrast.first, contrast.second)
        if shown and _shows(seen[1], task, contrast.second, contrast.first):
            return Contrasted(seen, task.roles)
    return None


def truth_in(
    scene: Scene,
    roles: layouts.Roles,
    relation: str,
    frame: Literal["agreed", "viewer", "own"] = "agreed",
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


def _shows(scene: Scene, task: layouts.LayoutTask, true: str, false: str) -> bool:
    """Whether one relation is true of a scene and another one false.

    In a probe that is so for the viewer, and the other way round by the ground's own front.
    """
    pair = layouts.pair_of(scene, task)
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
    dials: layouts.ContrastOptions,
    frames: layouts.Frames,
) -> layouts.LayoutTask | None:
    stage = ""
    if contrast.layout == "stacked":
        stages = stages_for(subject, ground)
        if not stages:
            return None
        stage = rng.choice(stages)
    names = [name for name in (subject, ground, stage) if name]
    place = _place(rng, names)
    least = (dials.distractors + 1) // 2
    count = rng.randint(least, dials.distractors)
    others = _others(rng, names, place)
    stand_in = ""
    if count and contrast.second.startswith("far"):
        moves = ground if "several" in contrast.needs else subject
        fitting = [name for name in others if _may_stand_in(thing_named(name), thing_named(moves))]
        if not fitting or len(others) < least:
            return None
        stand_in = fitting[0]
        others.remove(stand_in)
        count -= 1
    colours = {}
    for name in (*names, stand_in, *others[:count]):
        if name:
            colours[name] = rng.choice(("", *thing_named(name).colours))
    return layouts.LayoutTask(
        contrast,
        thing_named(subject),
        thing_named(ground),
        _roles(contrast, subject, ground),
        stage,
        colours,
        tuple(others[:count]),
        stand_in,
        place,
        rng.randrange(1000),
        frames,
        dials,
    )


def _place(rng: random.Random, names: Sequence[str]) -> layouts.Place:
    """Where things go together; anywhere if all of them are found in both places."""
    for name in names:
        place = thing_named(name).place
        if place != "both":
            return place
    return rng.choice(("indoors", "outdoors"))


def _roles(contrast: OpposedPair, subject: str, ground: str) -> layouts.Roles:
    if contrast.layout != "ring":
        return layouts.Roles((subject,), (ground,))
    several = 2 if contrast.first == "between" else 4
    numbers = range(1, several + 1)
    if "several" in contrast.needs:
        return layouts.Roles(tuple(f"{subject} {n}" for n in numbers), (ground,))
    return layouts.Roles((subject,), tuple(f"{ground} {n}" for n in numbers))


def _others(rng: random.Random, names: Sequence[str], place: str) -> list[str]:
    """Things that go with the others and cannot be taken for one of them, in a random order."""
    asked = [thing_named(name) for name in names]
    kinds = {thing.kind for thing in asked}
    largest = max(max(thing.size) for thing in asked)
    found = []
    for thing in things().values():
        fits = 0.25 * largest <= max(thing.size) <= 0.9 * largest
        if thing.place in (place, "both") and thing.kind not in kinds and fits:
            found.append(thing.name)
    rng.shuffle(found)
    return found


def _may_stand_in(thing: Thing, moves: Thing) -> bool:
    """Whether a thing fills about as much as another one, whichever way it is turned."""
    wide = hypot(*thing.size[:2]) / hypot(*moves.size[:2])
    high = thing.size[2] / moves.size[2]
    low, most = AS_LARGE
    is_alike = low <= wide <= most and low <= high <= 1 / low
    return is_alike and thing.name not in thing_words().faces


def _arranged(
    rng: random.Random, task: layouts.LayoutTask, turn: float, true: str, false: str
) -> layouts.Arrangement | None:
    """An arrangement in which one relation is true and another one false, if it is found soon."""
    arrange = layouts.LAYOUTS[task.contrast.layout]
    for _ in range(MOST_POSES):
        arrangement = arrange(rng, task, turn, true)
        scene = layouts.scene_of(arrangement, task)
        if _shows(scene, task, true, false) and not impossibilities(scene):
            return arrangement
    return None

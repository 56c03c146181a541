"""Which relations oppose one another, and which things can show it (data/lexicon)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import permutations

from gnomon.lexicon.relations import OpposedPair
from gnomon.lexicon.things import thing_words
from gnomon.scenes.standing import may_hold
from gnomon.scenes.things import Cavity, Thing, Top, things

ROOM = 0.95  # of a top, a cavity or the room beneath that a thing may fill
WIDE = 3.0  # how much wider than a thing a top is on which edge and middle are told apart
WHOLE_TOP = 0.7  # share of a thing's plan that its top takes up, so that its middle is the top's
HUGE = 5.0  # metres; what is longer leaves nothing else to be seen beside it
GRADES = ("a", "b", "c")


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


def _narrow(thing: Thing) -> float:
    return min(thing.size[0], thing.size[1])


def _has_wide_top(thing: Thing, ground: Thing) -> bool:
    """Whether edge and middle of the ground's top can be told apart, and are its own."""
    top = ground.top
    if top is None or WIDE * _narrow(thing) > min(top.size):
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

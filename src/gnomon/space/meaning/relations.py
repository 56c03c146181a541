"""Relations as formulas over boxes: each meaning of the lexicon is made of these.

A relation takes the story, the moments of its clause and the things it relates. It is written here
once; the prover hands it to a solver, and witnesses and scenes are held against it by numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from gnomon.space.meaning.formulas import FALSE, TRUE, Flag, Formula, Term, every, some
from gnomon.space.meaning.stories import AXES, MOMENTS, WINDS, Story, When

Relation = Callable[..., Formula]
RELATIONS: dict[str, Relation] = {}
PLAN = ("x", "y")
TURNS = {"front": 0, "right": 1, "behind": 2, "left": 3}  # quarter turns to the right


def relation(function: Relation) -> Relation:
    """Make a function known to the lexicon under its own name."""
    RELATIONS[function.__name__.rstrip("_")] = function
    return function


# In, on, under, touching.


@relation
def inside(story: Story, when: When, a: str, b: str) -> Formula:
    """All of A is in B."""
    story.holding.add(b)
    return story.within(a, b, when.at)


@relation
def outside(story: Story, when: When, a: str, b: str) -> Formula:
    """No part of A is in B, not even at its edge."""
    story.holding.add(b)
    return story.disjoint(a, b, when.at, strictly=True)


@relation
def straddles(story: Story, when: When, a: str, b: str) -> Formula:
    """A is partly in B."""
    return ~story.disjoint(a, b, when.at) & ~story.within(a, b, when.at)


def _overlap(story: Story, when: When, a: str, b: str) -> Formula:
    """A and B are in one column."""
    parts = []
    for axis in PLAN:
        parts.append(story.low(a, axis, when.at) < story.high(b, axis, when.at))
        parts.append(story.low(b, axis, when.at) < story.high(a, axis, when.at))
    return every(parts)


@relation
def on(story: Story, when: When, a: str, b: str) -> Formula:
    """A begins where B ends, in one column."""
    meet = story.low(a, "z", when.at).same(story.high(b, "z", when.at))
    return meet & _overlap(story, when, a, b)


@relation
def under(story: Story, when: When, a: str, b: str) -> Formula:
    """A ends below the underside of B, in one column."""
    room = story.high(a, "z", when.at) <= story.underside(b, when.at)
    return room & _overlap(story, when, a, b)


@relation
def touching(story: Story, when: When, a: str, b: str) -> Formula:
    """No gap is between A and B, and neither is in the other."""
    return _gap_at_most(story, when, a, b, Term()) & story.disjoint(a, b, when.at)


# Near and far.


def _gap_at_most(story: Story, when: When, a: str, b: str, limit: Term) -> Formula:
    parts = []
    for axis in AXES:
        for left, right in ((a, b), (b, a)):
            gap = story.low(right, axis, when.at) - story.high(left, axis, when.at)
            parts.append(gap <= limit)
    return every(parts)


@relation
def beside(story: Story, when: When, a: str, b: str) -> Formula:
    """A is within a step of B."""
    return _gap_at_most(story, when, a, b, story.length("step"))


@relation
def near(story: Story, when: When, a: str, b: str) -> Formula:
    """A is near B."""
    return _gap_at_most(story, when, a, b, story.length("near"))


@relation
def far(story: Story, when: When, a: str, b: str) -> Formula:
    """A is far from B."""
    return ~_gap_at_most(story, when, a, b, story.length("far"))


@relation
def miles_off(story: Story, when: When, a: str, b: str) -> Formula:
    """A is many miles from B."""
    return ~_gap_at_most(story, when, a, b, story.length("mile") * 2)


@relation
def gap(story: Story, when: When, a: str, b: str) -> Formula:
    """There is some room between A and B."""
    return ~_gap_at_most(story, when, a, b, Term())


def _offsets(story: Story, at: int, a: str, b: str) -> list[Term]:
    """From B to A along each axis of the plan, both ways; the largest is their distance."""
    found = []
    for axis in PLAN:
        offset = story.middle(a, axis, at) - story.middle(b, axis, at)
        found += [offset, offset * -1]
    return found


@relation
def miles(story: Story, when: When, a: str, b: str, sign: str, number: float) -> Formula:
    """A is exactly, less or more than a number of miles from B, from centre to centre."""
    length = story.length("mile") * number
    offsets = _offsets(story, when.at, a, b)
    most = every(offset <= length for offset in offsets)
    if sign == "more":
        return ~most
    if sign == "less":
        return every(offset < length for offset in offsets)
    return most & some(offset.same(length) for offset in offsets)


def _shorter(these: list[Term], those: list[Term]) -> Formula:
    """The largest of these offsets is less than the largest of those."""
    ways = []
    for that in those:
        ways.append(every(this < that for this in these))
    return some(ways)


@relation
def closer(story: Story, when: When, a: str, b: str, c: str, d: str) -> Formula:
    """A is closer to B than C is to D."""
    return _shorter(_offsets(story, when.at, a, b), _offsets(story, when.at, c, d))


@relation
def equally_far(story: Story, when: When, a: str, b: str, c: str) -> Formula:
    """A is as far from B as from C."""
    nearer = closer(story, when, a, b, a, c)
    return ~nearer & ~closer(story, when, a, c, a, b)


@relation
def approaching(story: Story, when: When, a: str, b: str) -> Formula:
    """A is closer to B after than before."""
    then, since = _offsets(story, when.before, a, b), _offsets(story, when.after, a, b)
    return _shorter(since, then)


# Directions.


def _beyond(story: Story, at: int, a: str, b: str, axis: str, sign: int) -> Formula:
    """A is farther along an axis than B: its centre, or all of it."""
    if sign < 0:
        a, b = b, a
    if story.reading.whole:
        return story.low(a, axis, at) >= story.high(b, axis, at)
    return story.middle(a, axis, at) > story.middle(b, axis, at)


def _straight(story: Story, at: int, a: str, b: str, axis: str, sign: int) -> Formula:
    """A is farther along an axis than B and exactly in line with it."""
    level = []
    for other in PLAN:
        if other != axis:
            level.append(story.middle(a, other, at).same(story.middle(b, other, at)))
    return every([_beyond(story, at, a, b, axis, sign), *level])


def _direction(name: str, axis: str, sign: int) -> None:
    def plain(story: Story, when: When, a: str, b: str) -> Formula:
        return _beyond(story, when.at, a, b, axis, sign)

    def due(story: Story, when: When, a: str, b: str) -> Formula:
        return _straight(story, when.at, a, b, axis, sign)

    RELATIONS[name] = plain
    RELATIONS[f"due_{name}"] = due


for _name, (_axis, _sign) in zip(("north", "east", "south", "west"), WINDS, strict=True):
    _direction(_name, _axis, _sign)
_direction("above", "z", 1)
_direction("below", "z", -1)
_direction("left", "x", -1)
_direction("right", "x", 1)
_direction("ahead", "y", 1)  # along a queue, a road, the rows of a bus
_direction("after", "y", -1)


@relation
def level(story: Story, when: When, a: str, b: str) -> Formula:
    """A and B are on one floor."""
    return story.middle(a, "z", when.at).same(story.middle(b, "z", when.at))


@relation
def abreast(story: Story, when: When, a: str, b: str) -> Formula:
    """A and B are in one row of seats."""
    return story.middle(a, "y", when.at).same(story.middle(b, "y", when.at))


# Fronts and points of view.


def _faced(
    story: Story, headings: list[Formula], turn: int, place: Callable[[str, int], Formula]
) -> Formula:
    """Whatever the heading, something holds of the wind that is so many turns from it."""
    parts = []
    for wind, heading in enumerate(headings):
        axis, sign = WINDS[(wind + turn) % 4]
        parts.append(heading.implies(place(axis, sign)))
    return every(parts)


def _on_side(story: Story, at: int, a: str, b: str, side: str, *, straight: bool) -> Formula:
    """A is on a side of B: by B's own front if it has one, else for the viewer."""
    place = _straight if straight else _beyond
    if story.is_a(b, "fronted") and not story.reading.viewer:
        headings = story.heading(b, at)
        return _faced(story, headings, TURNS[side], lambda x, s: place(story, at, a, b, x, s))
    axis, sign = {"front": ("y", -1), "behind": ("y", 1), "left": ("x", -1), "right": ("x", 1)}[side]
    return place(story, at, a, b, axis, sign)


@relation
def front(story: Story, when: When, a: str, b: str) -> Formula:
    """A is in front of B."""
    return _on_side(story, when.at, a, b, "front", straight=False)


@relation
def behind(story: Story, when: When, a: str, b: str) -> Formula:
    """A is behind B."""
    return _on_side(story, when.at, a, b, "behind", straight=False)


@relation
def on_left(story: Story, when: When, a: str, b: str) -> Formula:
    """A is to the left of B, by B's own front if it has one."""
    return _on_side(story, when.at, a, b, "left", straight=False)


@relation
def on_right(story: Story, when: When, a: str, b: str) -> Formula:
    """A is to the right of B, by B's own front if it has one."""
    return _on_side(story, when.at, a, b, "right", straight=False)


@relation
def straight_(story: Story, when: When, a: str, b: str, side: str) -> Formula:
    """A is exactly on a side of B, by B's own front."""
    headings = story.heading(b, when.at)
    return _faced(
        story, headings, TURNS[side], lambda x, s: _straight(story, when.at, a, b, x, s)
    )


@relation
def facing(story: Story, when: When, a: str, b: str) -> Formula:
    """B is straight ahead of A."""
    return straight_(story, when, b, a, "front")


@relation
def heads(story: Story, when: When, a: str, wind: str) -> Formula:
    """A faces a wind."""
    winds = ("north", "east", "south", "west")
    return story.heading(a, when.at)[winds.index(wind)]


@relation
def turned(story: Story, when: When, a: str, *quarters: int) -> Formula:
    """A has turned on the spot by one of these numbers of quarters to the right."""
    then, since = story.heading(a, when.before), story.heading(a, when.after)
    ways = []
    for quarter, wind in product(quarters, range(4)):
        ways.append(then[wind] & since[(wind + quarter) % 4])
    stays = []
    for axis in PLAN:
        place = story.middle(a, axis, when.before)
        stays.append(place.same(story.middle(a, axis, when.after)))
    return every([some(ways), *stays])


@relation
def same_heading(story: Story, when: When, a: str, b: str, quarters: int = 0) -> Formula:
    """A faces where B does, or so many quarters to the right of it."""
    own, other = story.heading(a, when.at), story.heading(b, when.at)
    ways = []
    for wind in range(4):
        ways.append(other[wind] & own[(wind + quarters) % 4])
    return some(ways)


@relation
def sees(story: Story, when: When, p: str, a: str) -> Formula:
    """A is somewhere ahead of P."""
    headings = story.heading(p, when.at)
    return _faced(story, headings, 0, lambda x, s: _beyond(story, when.at, a, p, x, s))


@relation
def seen(story: Story, when: When, p: str, a: str, side: str, b: str) -> Formula:
    """For P, who looks at both, A is on a side of B; what is nearer is in front."""
    for thing in (a, b):
        story.assume(sees(story, when, p, thing))
    turn = {"front": 2, "behind": 0}.get(side, TURNS[side])
    headings = story.heading(p, when.at)
    return _faced(story, headings, turn, lambda x, s: _beyond(story, when.at, a, b, x, s))


# Between.


def _in_order(low: Term, middle: Term, high: Term) -> Formula:
    rising = (low < middle) & (middle < high)
    falling = (high < middle) & (middle < low)
    return rising | falling


def _not_past(low: Term, middle: Term, high: Term) -> Formula:
    rising = (low <= middle) & (middle <= high)
    falling = (high <= middle) & (middle <= low)
    return rising | falling


def _between(story: Story, at: int, a: str, b: str, c: str, *, in_line: bool) -> Formula:
    ways = []
    for axis in AXES:
        places = [story.middle(name, axis, at) for name in (b, a, c)]
        parts = [_in_order(*places)]
        for other in AXES:
            if other == axis:
                continue
            low, middle, high = (story.middle(name, other, at) for name in (b, a, c))
            if in_line:
                parts += [middle.same(low), middle.same(high)]
            else:
                parts.append(_not_past(low, middle, high))
        ways.append(every(parts))
    return some(ways)


@relation
def between(story: Story, when: When, a: str, b: str, c: str) -> Formula:
    """A is between B and C, in one row with them."""
    return _between(story, when.at, a, b, c, in_line=not story.reading.loose)


@relation
def exactly_between(story: Story, when: When, a: str, b: str, c: str) -> Formula:
    """A is between B and C and exactly in line with them, as long as the story lasts."""
    parts = []
    for at in MOMENTS:
        parts.append(_between(story, at, a, b, c, in_line=True))
    return every(parts)


@relation
def halfway(story: Story, when: When, a: str, b: str, c: str) -> Formula:
    """A is in the middle between B and C, which are apart."""
    parts = []
    for axis in AXES:
        ends = story.middle(b, axis, when.at) + story.middle(c, axis, when.at)
        parts.append((story.middle(a, axis, when.at) * 2).same(ends))
    return every(parts) & _between(story, when.at, a, b, c, in_line=False)


@relation
def in_line(story: Story, when: When, *names: str) -> Formula:
    """All stand in one straight row, each in a place of its own."""
    ways = []
    for axis in AXES:
        parts: list[Formula] = []
        for other in AXES:
            if other != axis:
                places = [story.middle(name, other, when.at) for name in names]
                parts += [place.same(places[0]) for place in places[1:]]
        ways.append(every(parts))
    return some(ways)


# Sides of what divides a place.


@relation
def near_side(story: Story, when: When, a: str, b: str) -> Formula:
    """A is on this side of B."""
    return story.middle(a, "y", when.at) < story.middle(b, "y", when.at)


@relation
def far_side(story: Story, when: When, a: str, b: str) -> Formula:
    """A is on the other side of B."""
    return story.middle(a, "y", when.at) > story.middle(b, "y", when.at)


@relation
def same_side(story: Story, when: When, a: str, b: str, c: str) -> Formula:
    """A and B are on one side of C."""
    both_near = near_side(story, when, a, c) & near_side(story, when, b, c)
    return both_near | (far_side(story, when, a, c) & far_side(story, when, b, c))


@relation
def across(story: Story, when: When, a: str, b: str, c: str) -> Formula:
    """A and B are on opposite sides of C."""
    one_way = near_side(story, when, a, c) & far_side(story, when, b, c)
    return one_way | (far_side(story, when, a, c) & near_side(story, when, b, c))


# Change.


@relation
def rises(story: Story, when: When, a: str) -> Formula:
    """A is higher after than before."""
    return story.middle(a, "z", when.after) > story.middle(a, "z", when.before)


@relation
def sinks(story: Story, when: When, a: str) -> Formula:
    """A is lower after than before."""
    return story.middle(a, "z", when.after) < story.middle(a, "z", when.before)


@relation
def floors_up(story: Story, when: When, a: str, number: int) -> Formula:
    """A has gone up by a number of floors, all in all."""
    way = story.length("floor") * number
    return story.middle(a, "z", when.after).same(story.middle(a, "z", when.before) + way)


@relation
def stays(story: Story, when: When, a: str) -> Formula:
    """A is after where it was before."""
    parts = []
    for axis in AXES:
        place = story.middle(a, axis, when.before)
        parts.append(place.same(story.middle(a, axis, when.after)))
    return every(parts)


@relation
def heading_for(story: Story, when: When, a: str, b: str, way: str) -> Formula:
    """A moves along a straight line towards or away from B, and does not reach it."""
    ways = []
    for axis, sign in WINDS:
        ahead = []
        for at in (when.before, when.after):
            ahead.append(_straight(story, at, b, a, axis, sign))
        start, end = story.middle(a, axis, when.before), story.middle(a, axis, when.after)
        forward = end > start if sign > 0 else end < start
        if way == "away":
            forward = end < start if sign > 0 else end > start
        ways.append(every([*ahead, forward]))
    return some(ways)


# Seats around a table, and statements that are not analysed.


@relation
def seats_to(story: Story, when: When, a: str, b: str, *steps: int) -> Formula:
    """A sits one of these numbers of seats to the right of B, of six."""
    own, other = story.seat(a), story.seat(b)
    ways = []
    for step, seat in product(steps, range(6)):
        ways.append(other[seat] & own[(seat + step) % 6])
    return some(ways)


@relation
def fact(story: Story, when: When, *words: str) -> Formula:
    """A statement about things that geometry does not analyse; at any moment the same."""
    return Flag(" ".join(words))


@relation
def nothing(story: Story, when: When, *names: str) -> Formula:
    """Nothing is said of where anything is."""
    return TRUE


@relation
def elsewhere(story: Story, when: When, a: str) -> Formula:
    """A is at none of the places and things of the story."""
    parts = []
    for name in story.named(a):
        if story.is_a(name, "ground"):
            parts.append(~beside(story, when, a, name))
    return every(parts)


@relation
def never(story: Story, when: When) -> Formula:
    """What cannot be."""
    return FALSE

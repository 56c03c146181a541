"""What changes: rising, turning, approaching, crossing, carrying."""

from __future__ import annotations

from itertools import product

from gnomon.proofs.meaning.formulas import Formula, every, some
from gnomon.proofs.meaning.relations.contact import PLAN, inside, outside
from gnomon.proofs.meaning.relations.directions import exactly_beyond, far_side, near_side
from gnomon.proofs.meaning.relations.registry import relation
from gnomon.proofs.meaning.stories import AXES, WINDS, Story, When


@relation
def rises(story: Story, when: When, a: str) -> Formula:
    """A is higher after than before."""
    return story.middle(a, "z", when.after) > story.middle(a, "z", when.before)


@relation
def sinks(story: Story, when: When, a: str) -> Formula:
    """A is lower after than before."""
    return story.middle(a, "z", when.after) < story.middle(a, "z", when.before)


@relation
def floors(story: Story, when: When, a: str, *numbers: int) -> Formula:
    """A has gone up by some floors, and down by those that count as negative."""
    way = story.length("floor") * sum(numbers)
    return story.middle(a, "z", when.after).same(story.middle(a, "z", when.before) + way)


@relation
def at_floor(story: Story, when: When, a: str, number: int) -> Formula:
    """A is on a floor of a number."""
    return story.middle(a, "z", when.at).same(story.length("floor") * number)


@relation
def above_floor(story: Story, when: When, a: str, number: int) -> Formula:
    """A is higher than a floor of a number."""
    return story.middle(a, "z", when.at) > story.length("floor") * number


@relation
def veers(story: Story, when: When, a: str, *quarters: int) -> Formula:
    """A has turned on the way by one of these numbers of quarters to the right."""
    then, since = story.heading(a, when.before), story.heading(a, when.after)
    ways = []
    for quarter, wind in product(quarters, range(4)):
        ways.append(then[wind] & since[(wind + quarter) % 4])
    return some(ways)


@relation
def turned(story: Story, when: When, a: str, *quarters: int) -> Formula:
    """A has turned on the spot by one of these numbers of quarters to the right."""
    stays_put = []
    for axis in PLAN:
        place = story.middle(a, axis, when.before)
        stays_put.append(place.same(story.middle(a, axis, when.after)))
    return every([veers(story, when, a, *quarters), *stays_put])


@relation
def changes_side(story: Story, when: When, a: str, b: str) -> Formula:
    """A has crossed B an odd number of times."""
    then, since = when._replace(at=when.before), when._replace(at=when.after)
    there = near_side(story, then, a, b) & far_side(story, since, a, b)
    return there | (far_side(story, then, a, b) & near_side(story, since, a, b))


@relation
def keeps_side(story: Story, when: When, a: str, b: str) -> Formula:
    """A has crossed B an even number of times."""
    then, since = when._replace(at=when.before), when._replace(at=when.after)
    near = near_side(story, then, a, b) & near_side(story, since, a, b)
    return near | (far_side(story, then, a, b) & far_side(story, since, a, b))


@relation
def carried_over(story: Story, when: When, a: str, b: str, c: str) -> Formula:
    """A goes from B to C with what is in it; everything else stays where it is."""
    then, since = when._replace(at=when.before), when._replace(at=when.after)
    parts = [inside(story, then, a, b), inside(story, since, a, c)]
    for name in story.named(a):
        if story.is_a(name, "fixed", "person"):
            continue
        along = inside(story, since, name, a)
        parts.append(inside(story, then, name, a).implies(along))
        parts.append(outside(story, then, name, a).implies(stays(story, when, name)))
    return every(parts)


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
            ahead.append(exactly_beyond(story, at, b, a, axis, sign))
        start, end = story.middle(a, axis, when.before), story.middle(a, axis, when.after)
        forward = end > start if sign > 0 else end < start
        if way == "away":
            forward = end < start if sign > 0 else end > start
        ways.append(every([*ahead, forward]))
    return some(ways)

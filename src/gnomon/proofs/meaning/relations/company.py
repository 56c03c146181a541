"""Relations of change and of all who are there: turns, motion, first and last, floors, seats."""

from itertools import product

from gnomon.proofs.meaning.formulas import TRUE, Formula, Proposition, every, quantity, some
from gnomon.proofs.meaning.relations.contact import (
    PLAN,
    beside,
    far,
    inside,
    outside,
    relation,
    resting,
)
from gnomon.proofs.meaning.relations.directions import beyond, exactly_beyond, far_side, near_side
from gnomon.proofs.meaning.stories import AXES, WINDS, Story, When

# What changes: rising, turning, approaching, crossing, carrying.


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


@relation
def seats_to(story: Story, when: When, a: str, b: str, *steps: int) -> Formula:
    """A sits one of these numbers of seats to the right of B, of six."""
    own, other = story.seat(a), story.seat(b)
    ways = []
    for step, seat in product(steps, range(6)):
        ways.append(other[seat] & own[(seat + step) % 6])
    return some(ways)


@relation
def seats_right(story: Story, when: When, a: str, b: str, number: int) -> Formula:
    """A sits a number of seats to the right of B."""
    return seats_to(story, when, a, b, number)


@relation
def seats_left(story: Story, when: When, a: str, b: str, number: int) -> Formula:
    """A sits a number of seats to the left of B."""
    return seats_to(story, when, a, b, -number)


@relation
def fact(story: Story, when: When, *words: str) -> Formula:
    """A statement about things that geometry does not analyse; at any moment the same."""
    return Proposition(" ".join(words))


@relation
def mutual(story: Story, when: When, a: str, word: str, b: str) -> Formula:
    """A fact that geometry does not analyse, and that is said of either thing alike."""
    first, second = sorted((a, b))
    return fact(story, when, first, word, second)


@relation
def nothing(story: Story, when: When, *names: str) -> Formula:
    """Nothing is said of where anything is."""
    return TRUE


def _others(story: Story, a: str, *kinds: str) -> list[str]:
    """All but A who are of one of the kinds."""
    return [name for name in story.named(a) if story.is_a(name, *kinds)]


@relation
def elsewhere(story: Story, when: When, a: str) -> Formula:
    """A is at none of the places and things of the story."""
    grounds = _others(story, a, "ground")
    return every(~beside(story, when, a, name) for name in grounds)


@relation
def elsewhere_built(story: Story, when: When, a: str, b: str) -> Formula:
    """A is in B, a building that none of the story's own buildings (or else rooms) belongs to."""
    own = _others(story, a, "building") or _others(story, a, "room")
    apart = every(outside(story, when, name, b) for name in own if name != b)
    return inside(story, when, a, b) & apart


@relation
def gone(story: Story, when: When, a: str) -> Formula:
    """A is at none of the places and things of the story any more."""
    return elsewhere(story, when, a)


@relation
def remote(story: Story, when: When, a: str) -> Formula:
    """A is far from everybody else."""
    return every(far(story, when, a, name) for name in _others(story, a, "living"))


@relation
def outdoors(story: Story, when: When, a: str) -> Formula:
    """A is in none of the buildings and rooms."""
    walled = _others(story, a, "building", "room")
    return every(outside(story, when, a, name) for name in walled)


@relation
def loose(story: Story, when: When, a: str) -> Formula:
    """A is in nothing that can be carried."""
    return every(outside(story, when, a, name) for name in _others(story, a, "hollow"))


@relation
def nothing_in(story: Story, when: When, a: str) -> Formula:
    """Nothing is in A, be it named or not; it may be in or beside others itself."""
    story.holding.add(a)
    bears = story.is_a(a, "furniture", "legged")
    parts = []
    for name in ("anything", *story.named(a)):
        if story.is_a(name, "fixed"):
            continue
        out = story.disjoint(name, a, when.at) | story.within(a, name, when.at)
        if story.is_a(a, "legged"):
            out |= story.high(name, "z", when.at) <= story.underside(a, when.at)
        parts.append(out & ~resting(story, when, name, a) if bears else out)
    return every(parts)


@relation
def everything_in(story: Story, when: When, a: str) -> Formula:
    """Everything that can be carried is in A."""
    parts = []
    for name in story.named(a):
        if not story.is_a(name, "fixed", "living"):
            parts.append(inside(story, when, name, a))
    return every(parts)


@relation
def all_but(story: Story, when: When, a: str, b: str, word: str) -> Formula:
    """A is in B and is not of a sort that everything else in B is of."""
    parts = [inside(story, when, a, b), ~fact(story, when, a, word)]
    for name in story.named(a, b):
        parts.append(inside(story, when, name, b).implies(fact(story, when, name, word)))
    return every(parts)


@relation
def in_one(story: Story, when: When, a: str, b: str, kind: str) -> Formula:
    """A and B are in one room, city or country: one of the story, or one that it does not name."""
    ways, others = [], []
    for name in story.named(a, b):
        if story.is_a(name, kind):
            ways.append(inside(story, when, a, name) & inside(story, when, b, name))
            others.append(outside(story, when, a, name) & outside(story, when, b, name))
    unnamed = every([*others, Proposition(f"{a} and {b} are in one other {kind}")])
    return some([*ways, unnamed])


@relation
def leads(story: Story, when: When, a: str) -> Formula:
    """A is the first in a row of people."""
    return every(beyond(story, when.at, a, name, "y", 1) for name in _others(story, a, "person"))


@relation
def brings_up_the_rear(story: Story, when: When, a: str) -> Formula:
    """A is the last in a row of people."""
    return every(beyond(story, when.at, a, name, "y", -1) for name in _others(story, a, "person"))


def _keeps_order(story: Story, when: When, a: str, sign: int) -> Formula:
    parts = []
    for name in _others(story, a, "vehicle", "living"):
        then = beyond(story, when.before, a, name, "y", sign)
        parts.append(then.implies(beyond(story, when.after, a, name, "y", sign)))
    return every(parts)


@relation
def falls_back(story: Story, when: When, a: str) -> Formula:
    """A stays behind all those that it was behind."""
    return _keeps_order(story, when, a, -1)


@relation
def pulls_ahead(story: Story, when: When, a: str) -> Formula:
    """A stays ahead of all those that it was ahead of."""
    return _keeps_order(story, when, a, 1)


@relation
def same_floor(story: Story, when: When, a: str, b: str) -> Formula:
    """A and B are on one floor of a building."""
    return story.floor(a, when.at).same(story.floor(b, when.at))


@relation
def on_floor(story: Story, when: When, a: str, number: int) -> Formula:
    """A is on a floor of a number."""
    return story.floor(a, when.at).same(number)


@relation
def count(
    story: Story, when: When, noun: str, rest: str, limit: str, number: float, total: float = 0
) -> Formula:
    """Of things of a sort, so many are somewhere; the total, if it is given, is that of all."""
    those = quantity(f"number of {noun} {rest}")
    story.assume(those >= 0)
    if total:
        story.assume(those <= total)
    if limit == "exactly":
        return those.same(number)
    return those >= number if limit == "least" else those <= number


@relation
def ranked(story: Story, when: When, a: str, number: int) -> Formula:
    """A is in a place of a number in a row of people."""
    place = quantity("one place")
    story.assume(place > 0)
    return story.middle(a, "y", when.at).same(place * -number)


@relation
def below_top(story: Story, when: When, a: str, number: int) -> Formula:
    """A is so many floors below the top floor."""
    return story.floor(a, when.at).same(quantity("the top floor") - number)

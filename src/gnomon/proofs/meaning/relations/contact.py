"""In, on, under, touching; at the edge and in the middle; at the top and at the foot."""

from __future__ import annotations

from gnomon.proofs.meaning.formulas import Formula, Term, every, some
from gnomon.proofs.meaning.relations.registry import relation
from gnomon.proofs.meaning.stories import Story, When

PLAN = ("x", "y")


@relation
def inside(story: Story, when: When, a: str, b: str) -> Formula:
    """All of A is in B."""
    story.holding.add(b)
    story.same_floor_if_inside(a, b, when.at)
    within = story.within(a, b, when.at)
    if story.may_have_legs(b):  # what is under a thing is not in it
        within &= story.low(a, "z", when.at) >= story.underside(b, when.at)
    return within


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
    """A ends below the underside of B, in one column; between its legs, if B has any."""
    story.sheltering.add(b)
    room = story.high(a, "z", when.at) <= story.underside(b, when.at)
    if story.is_a(b, "legged"):
        room &= story.low(a, "z", when.at) >= story.low(b, "z", when.at)
    return room & _overlap(story, when, a, b)


@relation
def touching(story: Story, when: When, a: str, b: str) -> Formula:
    """No gap is between A and B, and neither is in the other."""
    return gap_at_most(story, when, a, b, Term()) & story.disjoint(a, b, when.at)


def gap_at_most(story: Story, when: When, a: str, b: str, limit: Term) -> Formula:
    """Along no axis are A and B farther apart."""
    return story.close(a, b, when.at, limit)


@relation
def gap(story: Story, when: When, a: str, b: str) -> Formula:
    """There is some room between A and B."""
    return ~gap_at_most(story, when, a, b, Term())


@relation
def in_middle(story: Story, when: When, a: str, b: str) -> Formula:
    """A is in B and farther from every edge than the width of its rim."""
    story.holding.add(b)
    rim = story.length("rim")
    parts = []
    for axis in PLAN:
        parts.append(story.low(a, axis, when.at) >= story.low(b, axis, when.at) + rim)
        parts.append(story.high(a, axis, when.at) <= story.high(b, axis, when.at) - rim)
    return every(parts)


@relation
def at_edge(story: Story, when: When, a: str, b: str) -> Formula:
    """A is at B, and within its rim."""
    at = gap_at_most(story, when, a, b, story.length("step"))
    rim = story.length("rim")
    ways = []
    for axis in PLAN:
        ways.append(story.low(a, axis, when.at) < story.low(b, axis, when.at) + rim)
        ways.append(story.high(a, axis, when.at) > story.high(b, axis, when.at) - rim)
    return at & some(ways)


@relation
def at_top(story: Story, when: When, a: str, b: str) -> Formula:
    """A begins where B ends."""
    return story.low(a, "z", when.at).same(story.high(b, "z", when.at))


@relation
def at_foot(story: Story, when: When, a: str, b: str) -> Formula:
    """A begins where B begins."""
    return story.low(a, "z", when.at).same(story.low(b, "z", when.at))


@relation
def reaches(story: Story, when: When, a: str, b: str) -> Formula:
    """A is in B if one can be in it, else at it."""
    if story.is_unknown(b) or story.is_a(b, "room", "city", "country", "hollow"):
        return inside(story, when, a, b)
    return gap_at_most(story, when, a, b, story.length("step"))

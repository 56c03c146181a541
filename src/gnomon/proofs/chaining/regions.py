"""Inside, outside, touching, near and far of areas: what containers pass on to what is in them.

What is inside an area is outside of whatever the area is outside of, and far from whatever it is
far from; what is near a thing is not far from whatever contains that thing. Arrangements are sets
of whole numbers: the places on a line that an area covers.
"""

from __future__ import annotations

from itertools import product

from gnomon.proofs.chaining.facts import Fact, Story, Verdict, things_of

Covered = dict[int, set[int]]
INSIDE, CONTAINS = "inside", "contains"
OUTSIDE, TOUCHING, NEAR, FAR = "outside", "touching", "near", "far"
APART = (OUTSIDE, TOUCHING, NEAR, FAR)  # they share no place
SITE = 1000  # from one place of interest to the next
OVERLAPPING = "overlapping"  # said of no story, but of arrangements that refute "outside"
GAPS = {OVERLAPPING: 0, TOUCHING: 1, NEAR: 5}  # between two areas, in the arrangements made here
MOST_NEAR, LEAST_FAR = 10, 100  # gaps that count as near and as far


class Regions:
    """The logic of containment and distance."""

    def verdict(self, story: Story, question: Fact) -> Verdict:
        """Whether a consistent story says yes, says no or leaves the question open."""
        if self.model(story, question, true=False) is None:
            return "yes"
        if self.model(story, question, true=True) is None:
            return "no"
        return "cannot tell"

    def model(self, story: Story, question: Fact, *, true: bool) -> Covered | None:
        """An arrangement in which the story holds and the question does (or not), if any.

        Areas share places, or are near, only where they must. So if the one that is made breaks a
        fact, every other one does.
        """
        found = _arranged([*story, *_added(question, true)], question)
        if self.holds(question, found) != true:
            return None
        if not all(self.holds(fact, found) for fact in story):
            return None
        return found

    def holds(self, fact: Fact, model: Covered) -> bool:
        """Whether a fact is true in an arrangement, by looking at the places."""
        one, two = model[fact.first], model[fact.second]
        if fact.relation == INSIDE:
            return one < two
        if fact.relation == CONTAINS:
            return one > two
        gap = min(abs(here - there) for here, there in product(one, two))
        if fact.relation == TOUCHING:
            return gap == 1
        if fact.relation == NEAR:
            return 0 < gap <= MOST_NEAR
        if fact.relation == FAR:
            return gap >= LEAST_FAR
        return gap > 0


def _added(question: Fact, true: bool) -> list[Fact]:
    """What to add to a story so that the question becomes true, or false."""
    positive = question.relation not in (OUTSIDE, FAR)
    if positive and true:
        return [question]
    if positive or true:
        return []  # areas are apart and far, and not inside one another, unless they must be
    relation = NEAR if question.relation == FAR else OVERLAPPING
    return [Fact(relation, question.first, question.second)]


def _arranged(facts: Story, question: Fact) -> Covered:
    """The least that each area covers: a place of its own, and what the facts ask for."""
    things = things_of((*facts, question))
    covered = {thing: {SITE * number} for number, thing in enumerate(things)}
    site = SITE * len(things)
    for fact in facts:
        gap = GAPS.get(fact.relation)
        if gap is not None:
            covered[fact.first].add(site)
            covered[fact.second].add(site + gap)
            site += SITE
    _fill(covered, _containers(facts))
    return covered


def _containers(facts: Story) -> list[tuple[int, int]]:
    """Pairs of an area and one that it is inside of."""
    found = []
    for fact in facts:
        if fact.relation == INSIDE:
            found.append((fact.first, fact.second))
        elif fact.relation == CONTAINS:
            found.append((fact.second, fact.first))
    return found


def _fill(covered: Covered, containers: list[tuple[int, int]]) -> None:
    """Let areas cover what is inside them."""
    grown = True
    while grown:
        grown = False
        for inner, outer in containers:
            if not covered[inner] <= covered[outer]:
                covered[outer] |= covered[inner]
                grown = True

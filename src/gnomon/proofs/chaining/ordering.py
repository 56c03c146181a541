"""Directions and containment of points or boxes: an exact logic of "less than" on each axis.

A relation is a list of bounds, each an order of two ends of things on one axis. A story is then a
graph whose arcs lead from the lesser to the greater end; something follows if there is a path, and
is ruled out if it would close a cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from gnomon.proofs.chaining.facts import Fact, Story, Verdict, things_of

AXES = ("x", "y", "z")
End = tuple[int, str, str]  # a thing, an axis, and "low" or "high"
Arrangement = dict[End, int]


class Bound(NamedTuple):
    """An end of one thing is less than an end of another, or at most as great."""

    lesser: str  # "first" or "second": whose end it is
    lesser_end: str
    greater_end: str
    axis: str
    strict: bool = True


class Arc(NamedTuple):
    """The end that it leads to is greater, or at least as great."""

    to: End
    strict: bool


Bounds = tuple[Bound, ...]
Arcs = dict[End, list[Arc]]


@dataclass(frozen=True)
class Ordering:
    """Relations by their bounds; points have one end on each axis, boxes have two."""

    relations: Mapping[str, Bounds]
    boxes: bool = False

    def verdict(self, story: Story, question: Fact) -> Verdict:
        """Whether a consistent story says yes, says no or leaves the question open."""
        arcs = self._arcs(story, question)
        asked = list(self._asked(question))
        if all(_follows(arcs, low, arc) for low, arc in asked):
            return "yes"
        return "cannot tell" if _fits(arcs, asked) else "no"

    def model(self, story: Story, question: Fact, *, true: bool) -> Arrangement | None:
        """An arrangement in which the story holds and the question does (or not), if any."""
        arcs = self._arcs(story, question)
        asked = list(self._asked(question))
        if true:
            return _arranged(arcs, asked)
        for low, arc in asked:  # one bound that fails is enough
            found = _arranged(arcs, [(arc.to, Arc(low, not arc.strict))])
            if found is not None:
                return found
        return None

    def holds(self, fact: Fact, model: Arrangement) -> bool:
        """Whether a fact is true in an arrangement, by looking at its numbers."""
        for low, arc in self._asked(fact):
            if model[low] > model[arc.to] or (arc.strict and model[low] == model[arc.to]):
                return False
        return True

    def _arcs(self, story: Story, question: Fact) -> Arcs:
        found: Arcs = {}
        for fact in story:
            for low, arc in self._asked(fact):
                found.setdefault(low, []).append(arc)
        if self.boxes:
            self._add_insides((*story, question), found)
        return found

    def _add_insides(self, facts: Story, arcs: Arcs) -> None:
        """Every box begins before it ends."""
        for thing, axis in product(things_of(facts), AXES):
            arcs.setdefault((thing, axis, "low"), []).append(Arc((thing, axis, "high"), True))

    def _asked(self, fact: Fact) -> Iterable[tuple[End, Arc]]:
        """The arcs that a fact says are there."""
        for bound in self.relations[fact.relation]:
            one, two = fact.first, fact.second
            if bound.lesser == "second":
                one, two = two, one
            greater = (two, bound.axis, bound.greater_end)
            yield (one, bound.axis, bound.lesser_end), Arc(greater, bound.strict)


def _follows(arcs: Arcs, low: End, arc: Arc) -> bool:
    if arc.to == low:
        return not arc.strict
    found = _reached(arcs, low).get(arc.to)
    return found is not None and (found or not arc.strict)


def _fits(arcs: Arcs, added: Iterable[tuple[End, Arc]]) -> bool:
    """Whether arcs can be added to a consistent story without a cycle that is strict somewhere."""
    whole = {end: list(found) for end, found in arcs.items()}
    for low, arc in added:
        whole.setdefault(low, []).append(arc)
        back = _reached(whole, arc.to).get(low)
        if back or (back is not None and arc.strict):
            return False
    return True


def _reached(arcs: Arcs, start: End) -> dict[End, bool]:
    """The ends that are at least as great as one, and whether they are greater."""
    best = {start: False}
    waiting = [start]
    while waiting:
        end = waiting.pop()
        for arc in arcs.get(end, ()):
            strict = best[end] or arc.strict
            known = best.get(arc.to)
            if known is None or (strict and not known):
                best[arc.to] = strict
                waiting.append(arc.to)
    return best


def _arranged(arcs: Arcs, added: Iterable[tuple[End, Arc]]) -> Arrangement | None:
    """Whole numbers for all ends: each the least that the ends before it allow."""
    extra = list(added)
    if not _fits(arcs, extra):
        return None
    whole = [(low, arc) for low, found in arcs.items() for arc in found]
    whole += extra
    place: Arrangement = {}
    for low, arc in whole:
        place[low] = place[arc.to] = 0
    for _ in range(len(place) + 1):
        moved = False
        for low, arc in whole:
            least = place[low] + arc.strict
            if place[arc.to] < least:
                place[arc.to] = least
                moved = True
        if not moved:
            return place
    return None

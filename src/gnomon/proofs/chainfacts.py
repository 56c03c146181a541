"""Facts of chains, and what follows from them: orders and regions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, NamedTuple, Protocol, TypeVar

# A story is a list of facts; a question is a fact that may follow, be ruled out or stay open.


Verdict = Literal["yes", "no", "cannot tell"]
VERDICTS: tuple[Verdict, ...] = ("yes", "no", "cannot tell")


class ChainFact(NamedTuple):
    """A relation of one thing to another; things are numbers."""

    relation: str
    first: int
    second: int

    @property
    def turned(self) -> ChainFact:
        """The same words with the two things exchanged: another fact."""
        return ChainFact(self.relation, self.second, self.first)


Story = Sequence[ChainFact]


def things_of(facts: Story) -> list[int]:
    """Every thing that facts are about."""
    found: set[int] = set()
    for fact in facts:
        found |= {fact.first, fact.second}
    return sorted(found)


Model = TypeVar("Model")


class Logic(Protocol[Model]):
    """Decides exactly what follows from stories of one family of relations.

    A model is an arrangement of the things, in which each fact is true or false.
    """

    def verdict(self, story: Story, question: ChainFact) -> Verdict:
        """Whether a consistent story says yes, says no or leaves the question open."""

    def model(self, story: Story, question: ChainFact, *, true: bool) -> Model | None:
        """An arrangement in which the story holds and the question does (or not), if any."""

    def holds(self, fact: ChainFact, model: Model) -> bool:
        """Whether a fact is true in an arrangement, by looking at it alone."""


def core(logic: Logic[Model], story: Story, question: ChainFact) -> list[ChainFact] | None:
    """The facts without which the verdict is lost, if they give it by themselves.

    Then they are the only smallest proof. None if there are several proofs, or nothing follows.
    """
    found = logic.verdict(story, question)
    if found == "cannot tell":
        return None
    needed = []
    for place, fact in enumerate(story):
        others = [*story[:place], *story[place + 1 :]]
        if logic.verdict(others, question) != found:
            needed.append(fact)
    if logic.verdict(needed, question) != found:
        return None
    return needed


def is_open(logic: Logic[Model], story: Story, question: ChainFact) -> bool:
    """Whether two arrangements show that the question is open: both have every fact, one has it."""
    for true in (True, False):
        found = logic.model(story, question, true=true)
        if found is None:
            return False
        if logic.holds(question, found) != true:
            return False
        if not all(logic.holds(fact, found) for fact in story):
            return False
    return True


# Directions and containment of points or boxes: an exact logic of "less than" on each axis.
#
# A relation is a list of bounds, each an order of two ends of things on one axis. A story is then
# a graph whose arcs lead from the lesser to the greater end; something follows if there is a
# path, and is ruled out if it would close a cycle.


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

    def verdict(self, story: Story, question: ChainFact) -> Verdict:
        """Whether a consistent story says yes, says no or leaves the question open."""
        arcs = self._arcs(story, question)
        asked = list(self._asked(question))
        if all(_follows(arcs, low, arc) for low, arc in asked):
            return "yes"
        return "cannot tell" if _fits(arcs, asked) else "no"

    def model(self, story: Story, question: ChainFact, *, true: bool) -> Arrangement | None:
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

    def holds(self, fact: ChainFact, model: Arrangement) -> bool:
        """Whether a fact is true in an arrangement, by looking at its numbers."""
        for low, arc in self._asked(fact):
            if model[low] > model[arc.to] or (arc.strict and model[low] == model[arc.to]):
                return False
        return True

    def _arcs(self, story: Story, question: ChainFact) -> Arcs:
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

    def _asked(self, fact: ChainFact) -> Iterable[tuple[End, Arc]]:
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


# Inside, outside, touching, near and far of areas: what containers pass on to what is in them.
#
# What is inside an area is outside of whatever the area is outside of, and far from whatever it
# is far from; what is near a thing is not far from whatever contains that thing. Arrangements are
# sets of whole numbers: the places on a line that an area covers.


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

    def verdict(self, story: Story, question: ChainFact) -> Verdict:
        """Whether a consistent story says yes, says no or leaves the question open."""
        if self.model(story, question, true=False) is None:
            return "yes"
        if self.model(story, question, true=True) is None:
            return "no"
        return "cannot tell"

    def model(self, story: Story, question: ChainFact, *, true: bool) -> Covered | None:
        """An arrangement in which the story holds and the question does (or not), if any.

        Areas share places, or are near, only where they must. So if the one that is made breaks a
        fact, every other one does.
        """
        found = _regions_arranged([*story, *_added(question, true)], question)
        if self.holds(question, found) != true:
            return None
        if not all(self.holds(fact, found) for fact in story):
            return None
        return found

    def holds(self, fact: ChainFact, model: Covered) -> bool:
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


def _added(question: ChainFact, true: bool) -> list[ChainFact]:
    """What to add to a story so that the question becomes true, or false."""
    positive = question.relation not in (OUTSIDE, FAR)
    if positive and true:
        return [question]
    if positive or true:
        return []  # areas are apart and far, and not inside one another, unless they must be
    relation = NEAR if question.relation == FAR else OVERLAPPING
    return [ChainFact(relation, question.first, question.second)]


def _regions_arranged(facts: Story, question: ChainFact) -> Covered:
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

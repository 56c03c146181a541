"""Do the comparisons of a set fit together? Both ways round, in cycles, and what follows anyway."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from msgspec import structs

from gnomon.audit.finding import SHOWN, Finding, fault, share
from gnomon.audit.sets import AuditItem, Compared
from gnomon.audit.subject import Subject
from gnomon.graphs import shortest_cycle, strong_components
from gnomon.measures.beliefs import rank
from gnomon.reports.words import percent

CHECK = "order"
AGAINST = "against an order"
YES, NO = ("yes", "true"), ("no", "false")
# comparatives that make an order, each with its scale; a minus is the other way round on it
SCALES = {
    **dict.fromkeys(("larger", "bigger", "greater"), "size"),
    **dict.fromkeys(("smaller", "littler"), "-size"),
    **dict.fromkeys(("taller", "higher"), "height"),
    **dict.fromkeys(("shorter", "lower"), "-height"),
    "longer": "length",
    **dict.fromkeys(("heavier", "weightier"), "weight"),
    "lighter": "-weight",
    "wider": "width",
    "narrower": "-width",
    "older": "age",
    "younger": "-age",
    "farther": "distance",
    "further": "distance",
    "nearer": "-distance",
    "closer": "-distance",
    "deeper": "depth",
    "shallower": "-depth",
}
_WORDS = "|".join(SCALES)
_THING = r"(?:the |an? )?"
COMPARED = re.compile(
    rf"(?:(?:is|are) {_THING}(?P<first>.+?)|{_THING}(?P<one>.+?) (?:is|are)) (?P<word>{_WORDS}) "
    rf"(?:in \w+ )?than {_THING}(?P<second>.+?)[.?!]*"
)
MOST_THINGS = 5_000  # beyond which what follows by transitivity is not looked for
Thing = tuple[str, ...]  # a name, and the scope in which its comparisons hold
Pair = tuple[Thing, Thing]  # the first is greater than the second


class OrderFacts(NamedTuple):
    """What the labels say is greater than what, with the questions that say so."""

    facts: dict[Pair, list[int]]
    greater: dict[Thing, set[Thing]]  # for each thing, those that it is greater than


def order(subject: Subject) -> Iterator[Finding]:
    """Contradictions, the largest tangle, and facts that follow from others."""
    found = _comparisons(subject)
    if not found.facts:
        says = "No two things are compared by more and less, so there is no order to check."
        yield Finding(check=CHECK, says=says)
        return
    yield _contradictions(subject, found)
    yield _against_order(subject, found)
    tangles = [group for group in strong_components(found.greater) if len(group) > 1]
    yield _tangle(subject, found, max(tangles, key=len, default=[]))
    if not tangles and len(found.greater) <= MOST_THINGS:
        yield _implied(found)


def _comparisons(subject: Subject) -> OrderFacts:
    facts: dict[Pair, list[int]] = {}
    for number, question in enumerate(subject.questions):
        fact = _fact(question)
        if fact:
            facts.setdefault(fact, []).append(number)
    greater: dict[Thing, set[Thing]] = {}
    for one, other in facts:
        greater.setdefault(one, set()).add(other)
        greater.setdefault(other, set())
    return OrderFacts(facts, greater)


def _fact(question: AuditItem) -> Pair | None:
    """Which of two things the label says is greater, if it says that."""
    compared = question.compared or asked_comparison(question)
    if compared is None or len(question.gold) != 1:
        return None
    first, second = (compared.first, *compared.scope), (compared.second, *compared.scope)
    said = compared.targets.get(question.gold[0])
    if said == "greater":
        return first, second
    if said == "lesser":
        return second, first
    return None


def asked_comparison(question: AuditItem) -> Compared | None:
    """What a question asks, or a sentence says, with a comparative: "Is an ant smaller than a cow?"

    That an ant is not smaller says here that it is larger. A story or a picture has facts of its
    own.
    """
    answers = {choice.lower(): choice for choice in question.choices}
    yes = [answers[word] for word in YES if word in answers]
    no = [answers[word] for word in NO if word in answers]
    asked = COMPARED.fullmatch(" ".join(question.item.text.lower().split()))
    if asked is None or len(question.choices) != 2 or not yes or not no:
        return None
    first, second = asked["first"] or asked["one"], asked["second"]
    scale = SCALES[asked["word"]]
    if scale.startswith("-"):
        first, second = second, first
    scope = (scale.removeprefix("-"), question.item.context, question.picture)
    return Compared(first, second, {yes[0]: "greater", no[0]: "lesser"}, scope)


def _contradictions(subject: Subject, found: OrderFacts) -> Finding:
    both: list[list[int]] = []
    for one, other in found.facts:
        back = found.facts.get((other, one))
        if back and repr(one) < repr(other):
            both.append([found.facts[one, other][0], back[0]])
    facts = len(found.facts)
    says = f"{len(both):,} pairs of things are labelled both ways round, of {facts:,} facts."
    finding = fault(CHECK, "contradictions", 2 * len(both), facts, says)
    shown = [subject.audited.example(*pair) for pair in both[:SHOWN]]
    about = subject.about(finding, list(chain.from_iterable(both)))
    return structs.replace(about, examples=tuple(shown))


def _against_order(subject: Subject, found: OrderFacts) -> Finding:
    """How few facts an order of all things leaves against it."""
    number_of = {thing: number for number, thing in enumerate(found.greater)}
    pairs = np.array([[number_of[one], number_of[other]] for one, other in found.facts])
    if len(number_of) > MOST_THINGS:
        says = f"With more than {MOST_THINGS:,} things no order was looked for."
        return Finding(check=CHECK, part=AGAINST, says=says)
    said = np.zeros((len(number_of), len(number_of)), dtype=np.int64)
    said[pairs[:, 0], pairs[:, 1]] = 1
    ranking = rank(said)
    place = np.argsort(ranking.order)
    numbers = [
        found.facts[pair][0]
        for pair, (one, other) in zip(found.facts, pairs, strict=True)
        if place[one] > place[other]
    ]
    facts = len(found.facts)
    says = (
        f"Of {facts:,} facts {len(numbers):,} ({percent(share(len(numbers), facts))}) are against "
        f"an order that fits the others; no order has fewer than {ranking.least:,} against it."
    )
    return subject.about(fault(CHECK, AGAINST, len(numbers), facts, says), numbers)


def _tangle(subject: Subject, found: OrderFacts, largest: list[Thing]) -> Finding:
    finding = Finding(
        check=CHECK,
        part="tangle",
        value=0.0,
        chance=0.0,
        says="The facts are an order: no chain of them leads back to where it began.",
        n=len(found.facts),
    )
    if not largest:
        return finding

    inside = set(largest)
    facts = [pair for pair in found.facts if inside.issuperset(pair)]
    value = share(len(facts), len(found.facts))
    cycle = shortest_cycle(
        lambda thing: sorted(found.greater[thing] & inside, key=repr), min(inside, key=repr)
    )
    way = [thing[0] for thing in (*cycle, cycle[0])]
    says = (
        f"{len(largest):,} of {len(found.greater):,} things lie in one tangle, in which each is, "
        f"by some chain, greater than itself; it holds {len(facts):,} of {len(found.facts):,} "
        f"facts ({percent(value)}). One cycle: {' > '.join(way)}."
    )
    behind = list(chain.from_iterable(found.facts[pair] for pair in facts))
    steps = [found.facts[pair][0] for pair in pairwise((*cycle, cycle[0]))]
    finding = structs.replace(finding, value=value, alarm=True, says=says)
    shown = (subject.audited.example(*steps),)
    return structs.replace(subject.about(finding, behind), examples=shown)


def _implied(found: OrderFacts) -> Finding:
    """Facts that follow from others: they are asked, but tell nothing new about the set."""
    follows = sum(1 for _ in implied_pairs(found.greater))
    value = share(follows, len(found.facts))
    return Finding(
        check=CHECK,
        part="implied",
        value=value,
        says=(
            f"{follows:,} of {len(found.facts):,} facts ({percent(value)}) follow from others by "
            "transitivity."
        ),
        n=len(found.facts),
    )


def implied_pairs(greater: Mapping[Thing, set[Thing]]) -> Iterator[Pair]:
    """The pairs of an order that follow from other pairs of it."""
    below: dict[Thing, set[Thing]] = {}
    for component in strong_components(greater):  # those below come first
        [thing] = component
        mine = set(greater[thing])
        for other in greater[thing]:
            mine |= below[other]
        below[thing] = mine
        for other in greater[thing]:
            if any(other in below[via] for via in greater[thing] if via != other):
                yield thing, other

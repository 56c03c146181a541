"""Which problems two patterns share: counted exactly, as the population of a pattern with the
restrictions of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from gnomon.language.conditions import Condition, Either, Equal, Every, Never, Stands, Within
from gnomon.language.patterns import Pattern, Slot
from gnomon.language.population import Population


def shared_problems(patterns: Sequence[Pattern]) -> Iterator[tuple[Pattern, Pattern, int]]:
    """Pairs of patterns with the same sentences (up to the names of slots), and how many problems
    they share."""
    alike: dict[tuple[object, ...], list[Pattern]] = {}
    for pattern in patterns:
        alike.setdefault(_skeleton(pattern), []).append(pattern)
    for group in alike.values():
        for first, second in combinations(group, 2):
            count = len(Population(_both(first, second)))
            if count:
                yield first, second, count


def _slot_order(pattern: Pattern) -> list[str]:
    return list(dict.fromkeys(slot for sentence in pattern.sentences for slot in sentence.slots))


def _skeleton(pattern: Pattern) -> tuple[object, ...]:
    """The sentences with slots numbered by their first appearance."""
    order = _slot_order(pattern)
    words = {slot.name: slot.words for slot in pattern.slots}
    return (
        tuple(words[name] for name in order),
        *(
            (sentence.format, tuple((order.index(slot), form) for slot, form in sentence.markers))
            for sentence in pattern.sentences
        ),
    )


def _both(first: Pattern, second: Pattern) -> Pattern:
    """A pattern whose problems are those of both."""
    names = dict(zip(_slot_order(second), _slot_order(first), strict=True))
    places = {slot.name: place for place, slot in enumerate(first.slots)}
    at = [places[names[slot.name]] for slot in second.slots]
    domains = [slot.domain for slot in first.slots]
    for place, slot in zip(at, second.slots, strict=True):
        domains[place] &= slot.domain
    slots = tuple(
        Slot(slot.name, domain, slot.words)
        for slot, domain in zip(first.slots, domains, strict=True)
    )
    moved = tuple(_moved(condition, at) for condition in second.conditions)
    return replace(
        first,
        slots=slots,
        conditions=first.conditions + moved,
        distinct=first.distinct or second.distinct,
    )


def _moved(condition: Condition, at: Sequence[int]) -> Condition:
    match condition:
        case Within(place, members):
            return Within(at[place], members)
        case Equal(left, right):
            return Equal(at[left], at[right])
        case Stands(relation, places):
            return Stands(relation, tuple(at[place] for place in places))
        case Never(part):
            return Never(_moved(part, at))
        case Every(parts):
            return Every(tuple(_moved(part, at) for part in parts))
        case Either(parts):
            return Either(tuple(_moved(part, at) for part in parts))

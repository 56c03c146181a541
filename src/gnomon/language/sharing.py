"""Which problems two patterns share: the population of a pattern with the restrictions of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from gnomon.grouped import grouped
from gnomon.language.conditions import Condition, Either, Equal, Every, Never, Stands, Within
from gnomon.language.patterns import Pattern, Slot
from gnomon.language.population import Population


def shared_problems(patterns: Sequence[Pattern]) -> Iterator[tuple[Pattern, Pattern, int]]:
    """Pairs of patterns that share problems, and how many.

    They have the same sentences, whatever their slots are called.
    """
    for group in grouped(patterns, _skeleton).values():
        for first, second in combinations(group, 2):
            count = len(Population(_both(first, second)))
            if count:
                yield first, second, count


def _slot_order(pattern: Pattern) -> list[str]:
    """The slots in the order of their first appearance."""
    order: dict[str, None] = {}
    for sentence in pattern.sentences:
        order.update(dict.fromkeys(sentence.slots))
    return list(order)


def _skeleton(pattern: Pattern) -> tuple[object, ...]:
    """The sentences with slots numbered by their first appearance."""
    order = _slot_order(pattern)
    words = {slot.name: slot.words for slot in pattern.slots}
    skeleton: list[object] = [tuple(words[name] for name in order)]
    for sentence in pattern.sentences:
        markers = tuple((order.index(slot), form) for slot, form in sentence.markers)
        skeleton.append((sentence.format, markers))
    return tuple(skeleton)


def _both(first: Pattern, second: Pattern) -> Pattern:
    """A pattern whose problems are those of both."""
    names = dict(zip(_slot_order(second), _slot_order(first), strict=True))
    places = {slot.name: place for place, slot in enumerate(first.slots)}
    at = [places[names[slot.name]] for slot in second.slots]
    slots = list(first.slots)
    for place, slot in zip(at, second.slots, strict=True):
        mine = slots[place]
        slots[place] = Slot(mine.name, mine.domain & slot.domain, mine.words)
    moved = tuple(_moved(condition, at) for condition in second.conditions)
    return replace(
        first,
        slots=tuple(slots),
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
            return Every(_all_moved(parts, at))
        case Either(parts):
            return Either(_all_moved(parts, at))


def _all_moved(parts: Sequence[Condition], at: Sequence[int]) -> tuple[Condition, ...]:
    return tuple(_moved(part, at) for part in parts)

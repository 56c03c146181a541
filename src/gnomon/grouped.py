"""Things put together by what they have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

from gnomon.records import Item

Thing = TypeVar("Thing")
Key = TypeVar("Key")


def grouped(things: Iterable[Thing], key: Callable[[Thing], Key]) -> dict[Key, list[Thing]]:
    """Things by what a function says of them, both in the order in which they come.

    >>> grouped(["ant", "bee", "ape"], lambda word: word[0])
    {'a': ['ant', 'ape'], 'b': ['bee']}
    """
    found: dict[Key, list[Thing]] = {}
    for thing in things:
        found.setdefault(key(thing), []).append(thing)
    return found


def chunks(things: Iterable[Thing], size: int) -> Iterator[list[Thing]]:
    """Things in lists of so many, but for the last one.

    >>> list(chunks("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    coming = iter(things)
    while chunk := list(islice(coming, size)):
        yield chunk


# How many items have which tags: what the benchmarks' tables of statistics are made of.


GOLD = "gold"  # in place of a tag: the first right label


def tally(items: Iterable[Item], *tags: str) -> Counter[tuple[str, ...]]:
    """How often each combination of values occurs, among the items that have all the tags.

    >>> item = Item(id="1", form="choice", text="?", choices=("no", "yes"), gold=("yes",),
    ...             tags={"asked": "above"})
    >>> tally([item, item], "asked", GOLD)
    Counter({('above', 'yes'): 2})
    """
    counts: Counter[tuple[str, ...]] = Counter()
    for item in items:
        known = {**item.tags, GOLD: "".join(item.gold[:1])}
        values = tuple(known.get(tag, "") for tag in tags)
        if all(values):
            counts[values] += 1
    return counts

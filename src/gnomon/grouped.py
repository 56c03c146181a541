"""Things put together by what they have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from random import Random
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


def first_few(names: Sequence[str], most: int = 3) -> str:
    """The first names in a row, and how many more there are.

    >>> first_few("abc"), first_few("abcde")
    ('a, b, c', 'a, b, c and 2 more')
    """
    shown = ", ".join(names[:most])
    rest = len(names) - most
    return f"{shown} and {rest:,} more" if rest > 0 else shown


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


# Things divided into train, dev and test, with a seed.


PARTS = ("train", "dev", "test")


def random_parts(things: Sequence[Thing], seed: int) -> dict[str, list[Thing]]:
    """70/10/20 % at random: int() cuts at 70 and 80 %, as VSR's authors do.

    >>> [len(part) for part in random_parts(range(10), 0).values()]
    [7, 1, 2]
    """
    mixed = shuffled(things, seed, "random")
    first, second = int(0.7 * len(mixed)), int(0.8 * len(mixed))
    return dict(zip(PARTS, (mixed[:first], mixed[first:second], mixed[second:]), strict=True))


def concept_parts(
    things: Sequence[Thing], names_of: Callable[[Thing], Sequence[str]], seed: int
) -> dict[str, list[Thing]]:
    """Parts that share no name: 50/20/30 % of the names (zero-shot).

    Things whose names are in different parts, or that have an empty one, are left out.
    """
    names = sorted({name for thing in things for name in names_of(thing) if name})
    mixed = shuffled(names, seed, "zeroshot")
    first, second = int(0.5 * len(names)), int(0.7 * len(names))
    home = dict.fromkeys(mixed, "test")
    home |= dict.fromkeys(mixed[:second], "dev")
    home |= dict.fromkeys(mixed[:first], "train")

    parts: dict[str, list[Thing]] = {part: [] for part in PARTS}
    for thing in things:
        homes = {home.get(name, "") for name in names_of(thing)}
        if len(homes) == 1 and "" not in homes:
            parts[homes.pop()].append(thing)
    return parts


def whole_parts(
    things: Sequence[Thing], unit_of: Callable[[Thing], str], seed: int
) -> dict[str, list[Thing]]:
    """70/10/20 % of the things, by whole units, such as all uses of a caption."""
    uses = grouped(things, unit_of)
    parts: dict[str, list[Thing]] = {part: [] for part in PARTS}
    room = {"test": len(things) // 5, "dev": len(things) // 10, "train": len(things)}
    for unit in shuffled(list(uses), seed, "contrast"):
        members = uses[unit]
        part = next(part for part, most in room.items() if len(parts[part]) + len(members) <= most)
        parts[part] += members
    return parts


def shuffled(things: Sequence[Thing], seed: int, what: str) -> list[Thing]:
    """The things in an order that depends on the seed and on what they are put in order for."""
    found = list(things)
    Random(f"{seed}/{what}").shuffle(found)
    return found


# How one's own items are divided, by the name of a way.

WAYS = ("random", "concept", "contrast")
CONCEPTS = (("subj", "obj"), ("thing_a", "thing_b"), ("obj_a", "obj_b"))  # tags that name things


def item_parts(items: Sequence[Item], way: str, seed: int) -> dict[str, list[Item]]:
    """Items in train, dev and test: at random, by the things they name, or by whole contrasts.

    Items of one group, such as all uses of a caption, are a contrast.
    """
    if way == "random":
        return random_parts(items, seed)
    if way == "concept":
        return concept_parts(items, concepts_of, seed)
    return whole_parts(items, lambda item: item.group or item.text, seed)


def concepts_of(item: Item) -> tuple[str, ...]:
    """The things that an item's tags name; an empty name if they name none."""
    for tags in CONCEPTS:
        names = tuple(item.tags.get(tag, "") for tag in tags)
        if all(names):
            return names
    return ("",)

"""How many items have which tags: what the benchmarks' tables of statistics are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from gnomon.records import Item

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

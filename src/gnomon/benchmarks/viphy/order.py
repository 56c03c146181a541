"""Is a set of "smaller than" relations an order? Its cycles, and what follows by transitivity.

The published size relations are not an order: most of their objects lie in one tangle in which each
is, by some chain, smaller than itself (spec: one strongly connected component of 651 objects).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gnomon.graphs import strong_components

Pair = tuple[str, str]  # (a, b): a is smaller than b


class OrderReport(NamedTuple):
    """How far relations are from an order."""

    objects: int
    pairs: int
    components: tuple[tuple[str, ...], ...]  # tangles of two or more objects, the largest first
    tangled: int  # pairs inside a tangle: no order can hold them all
    cycles: int  # cycles of three objects, each counted once
    contradictions: int  # pairs that are there both ways round

    @property
    def is_order(self) -> bool:
        """Whether the relations can be extended to a linear order."""
        return not self.components


def order_report(pairs: Iterable[Pair]) -> OrderReport:
    """Find the cycles in a set of relations.

    >>> order_report([("pea", "cup"), ("cup", "car"), ("car", "pea"), ("car", "ship")]).components
    (('car', 'cup', 'pea'),)
    """
    unique = dict.fromkeys(pairs)
    above = _successors(unique)
    tangles = [tuple(sorted(group)) for group in strong_components(above) if len(group) > 1]
    tangles.sort(key=lambda group: (-len(group), group))
    home: dict[str, int] = {}
    for number, group in enumerate(tangles):
        home |= dict.fromkeys(group, number)

    tangled = both_ways = cycles = 0
    for a, b in unique:
        tangled += a in home and home[a] == home.get(b)
        both_ways += (b, a) in unique
        if a < b:  # count a cycle from its first name
            cycles += sum(a < c and a in above[c] for c in above[b])
    return OrderReport(len(above), len(unique), tuple(tangles), tangled, cycles, both_ways // 2)


def transitive_pairs(pairs: Iterable[Pair]) -> Iterator[tuple[str, str, str]]:
    """(a, b, c) where a < b and b < c are known and a < c is not: what the test set is drawn from.

    >>> list(transitive_pairs([("pea", "cup"), ("cup", "car")]))
    [('pea', 'cup', 'car')]
    """
    above = _successors(dict.fromkeys(pairs))
    for a, middles in above.items():
        for b in middles:
            for c in above[b]:
                if c != a and c not in middles:
                    yield a, b, c


def _successors(pairs: Iterable[Pair]) -> dict[str, dict[str, None]]:
    above: dict[str, dict[str, None]] = {}
    for a, b in pairs:
        above.setdefault(a, {})[b] = None
        above.setdefault(b, {})  # every object is a node
    return above

"""The order that contradicts the fewest statements "A over B": how many, exactly or within bounds.

Statements that no cycle contains agree with some order, so each tangle of objects (a strongly
connected component) is solved by itself: exactly, by dynamic programming over subsets, if it is
small, or if bounds from both sides meet; else within these bounds. This is the linear ordering
problem, or the least feedback arc set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.graphs import strong_components

Weights = NDArray[np.int64]  # [over, under] how often it was said
Left = list[dict[int, int]]  # the same, by object over and object under
EXACT = 16  # objects of a tangle that are solved by trying all subsets
MOST_ROUNDS = 30  # of moving objects of a larger tangle to better places
MOST_CYCLES = 3_000  # that are looked for, for the bound from below
FAR = np.iinfo(np.int64).max // 4


class Ranking(NamedTuple):
    """An order of objects, and how many statements contradict it."""

    order: tuple[int, ...]  # the greatest first
    changes: int
    least: int  # no order contradicts fewer
    tangles: tuple[tuple[int, ...], ...]  # objects that lie on cycles together

    @property
    def exact(self) -> bool:
        """Whether no order is better."""
        return self.changes == self.least


def rank(weights: Weights) -> Ranking:
    """The order that contradicts the fewest of weights[over, under] statements.

    >>> rank(np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])).changes
    1
    """
    opposed = np.minimum(weights, weights.T)
    certain = int(opposed.sum()) // 2  # of two opposite statements one must change
    net = weights - opposed
    order: list[int] = []
    changes = least = certain
    tangles = []
    for component in components(net):
        if len(component) > 1:
            tangles.append(tuple(sorted(component)))
            places = np.array(sorted(component))
            own, above, below = _solved(net[np.ix_(places, places)])
            component = places[own].tolist()
            changes += above
            least += below
        order += component
    return Ranking(tuple(order), changes, least, tuple(sorted(tangles, key=_largest_first)))


def contradicted(weights: Weights, order: Iterable[int]) -> int:
    """How many statements an order contradicts."""
    places = np.array(list(order))
    return int(np.tril(weights[np.ix_(places, places)]).sum())


def _largest_first(tangle: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    return -len(tangle), tangle


def components(weights: Weights) -> list[list[int]]:
    """Objects that lie on cycles together, tangle by tangle, the greatest first."""
    under = {thing: np.flatnonzero(row).tolist() for thing, row in enumerate(weights > 0)}
    return list(strong_components(under))[::-1]


def _solved(weights: Weights) -> tuple[list[int], int, int]:
    """An order of a tangle, what contradicts it, and what contradicts any order at least."""
    if len(weights) <= EXACT:
        order = _best_order(weights)
        changes = contradicted(weights, order)
        return order, changes, changes
    order = _good_order(weights)
    return order, contradicted(weights, order), _cycles_at_least(weights)


def _best_order(weights: Weights) -> list[int]:
    """Dynamic programming over subsets: which object comes last of each subset.

    The cost of a last object is what it was said to be over (M. Held and R. M. Karp, 1962).
    """
    count = len(weights)
    subsets = np.arange(1 << count)
    sizes = _bits(subsets, count)
    cost = np.stack([_sums(weights[last], count) for last in range(count)])
    best = np.full(1 << count, FAR, dtype=np.int64)
    best[0] = 0
    last_of = np.zeros(1 << count, dtype=np.int8)
    for size in range(1, count + 1):
        layer = subsets[sizes == size]
        for last in range(count):
            here = layer[(layer >> last) & 1 == 1]
            before = here ^ (1 << last)
            total = best[before] + cost[last, before]
            better = total < best[here]
            best[here[better]] = total[better]
            last_of[here[better]] = last

    order = []
    rest = (1 << count) - 1
    while rest:
        last = int(last_of[rest])
        order.append(last)
        rest ^= 1 << last
    return order[::-1]


def _bits(subsets: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    sizes = np.zeros(len(subsets), dtype=np.int64)
    for place in range(count):
        sizes += (subsets >> place) & 1
    return sizes


def _sums(values: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The sum over each subset."""
    found = np.zeros(1, dtype=np.int64)
    for place in range(count):
        found = np.concatenate([found, found + values[place]])
    return found


def _good_order(weights: Weights) -> list[int]:
    """By balance of statements, and then each object to its best place until none moves."""
    balance = weights.sum(axis=1) - weights.sum(axis=0)
    order: list[int] = np.argsort(-balance, kind="stable").tolist()
    for _ in range(MOST_ROUNDS):
        before = list(order)
        for thing in before:
            _move_to_best(order, thing, weights)
        if order == before:
            break
    return order


def _move_to_best(order: list[int], thing: int, weights: Weights) -> None:
    order.remove(thing)
    others = np.array(order)
    # at place p: those before p are put over the thing, those from p on under it
    over = np.concatenate([[0], np.cumsum(weights[thing, others])])
    under = np.concatenate([[0], np.cumsum(weights[others, thing])])
    cost = over + (under[-1] - under)
    order.insert(int(np.argmin(cost)), thing)


def _cycles_at_least(weights: Weights) -> int:
    """Statements on cycles that share none: each cycle must lose one."""
    left: Left = []
    for row in weights:
        under = np.flatnonzero(row)
        left.append(dict(zip(under.tolist(), row[under].tolist(), strict=True)))
    found = tried = 0
    for start in range(len(left)):
        while tried < MOST_CYCLES:
            tried += 1
            cycle = _short_cycle(left, start)
            if not cycle:
                break
            found += _use_up(left, cycle)
    return found


def _use_up(left: Left, cycle: list[int]) -> int:
    """Take the statements of a cycle away, as often as all of them are there; how often that is."""
    arcs = list(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    least = min(left[over][under] for over, under in arcs)
    for over, under in arcs:
        left[over][under] -= least
        if not left[over][under]:
            del left[over][under]
    return least


def _short_cycle(left: Left, start: int) -> list[int]:
    """A shortest cycle through an object, if there is one."""
    came_from = {start: -1}
    front = [start]
    while front:
        following: list[int] = []
        for node in front:
            if start in left[node]:
                return _way_back(came_from, node)
            for other in left[node]:
                if other not in came_from:
                    came_from[other] = node
                    following.append(other)
        front = following
    return []


def _way_back(came_from: Mapping[int, int], node: int) -> list[int]:
    found = []
    while node != -1:
        found.append(node)
        node = came_from[node]
    return found[::-1]

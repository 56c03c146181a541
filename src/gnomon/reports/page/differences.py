"""Does a model do significantly better on one part of the items than on another?

Every two parts are compared by the interval of their difference, put together from the intervals of
both (Newcombe's method, with Wilson's intervals, so that shares near 0 and 1 and few units are
treated fairly). Units with items in both parts make the two depend on each other: that is measured
and taken into account. The level is corrected for all pairs of all tags looked at (Bonferroni), as
a reader is told about the widest gap only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import sqrt
from typing import NamedTuple

import numpy as np

from gnomon.measures.columns import Codes, Floats
from gnomon.measures.intervals import interval
from gnomon.measures.statistics import Statistics, mean_of, ratio, standard_error
from gnomon.measures.table import Table, in_order

LEVEL = 0.05  # the chance that a report names any difference where there is none
LEAST_ITEMS, LEAST_UNITS = 20, 5  # that a part must have to be looked at
MOST_PARTS = 40


class Gap(NamedTuple):
    """Two parts of which the first is answered right significantly more often."""

    tag: str
    better: str
    worse: str
    better_share: float
    worse_share: float


class Part(NamedTuple):
    """The items that have one value of a tag."""

    name: str
    rows: Codes
    accuracy: Statistics


class Parts(NamedTuple):
    """The parts of a table by a tag that are large enough to be looked at."""

    tag: str
    parts: list[Part]

    @property
    def pairs(self) -> int:
        """How many comparisons there are."""
        return len(self.parts) * (len(self.parts) - 1) // 2


class Differences(NamedTuple):
    """What was looked at, and the widest significant gap."""

    tags: tuple[str, ...]
    gap: Gap | None


def differences(table: Table, tags: Sequence[str]) -> Differences:
    """The widest significant difference in accuracy between two values of a tag, if any."""
    found = []
    for tag in tags:
        parts = _parts(table, tag)
        if parts is not None:
            found.append(parts)

    comparisons = sum(parts.pairs for parts in found)
    looked_at = tuple(parts.tag for parts in found)
    for gap, one, two in _widest_first(found):
        if _differ(table, one, two, LEVEL / comparisons):
            return Differences(looked_at, gap)
    return Differences(looked_at, None)


def _parts(table: Table, tag: str) -> Parts | None:
    """The parts by the values of a tag that are large enough.

    None where fewer than two are, or where the values are numbers.
    """
    if tag not in table.tags or not len(table):
        return None

    column = table.tags[tag]
    known = column.codes[column.codes >= 0]
    items = np.bincount(known, minlength=len(column.values))
    large = np.flatnonzero(items >= LEAST_ITEMS)
    if not 2 <= len(large) <= MOST_PARTS:
        return None

    found = []
    for code in large.tolist():
        rows = np.flatnonzero(column.codes == code)
        accuracy = mean_of(table.right[rows], table.clusters[rows])
        if accuracy.clusters >= LEAST_UNITS:
            found.append(Part(column.values[code], rows, accuracy))
    if len(found) < 2 or all(in_order(part.name)[0] == 0 for part in found):
        return None
    return Parts(tag, found)


def _widest_first(several: Sequence[Parts]) -> list[tuple[Gap, Part, Part]]:
    """Every two parts of a tag, those with the widest gap first."""
    found = []
    for tag, parts in several:
        in_turn = sorted(parts, key=lambda part: -part.accuracy.value)
        for one, two in combinations(in_turn, 2):
            shares = one.accuracy.value, two.accuracy.value
            found.append((Gap(tag, one.name, two.name, *shares), one, two))
    found.sort(key=lambda each: each[0].worse_share - each[0].better_share)
    return found


def _differ(table: Table, better: Part, worse: Part, level: float) -> bool:
    """Whether the difference of two parts does not reach 0 within its interval."""
    high, low = better.accuracy.value, worse.accuracy.value
    down = high - interval(better.accuracy, level=1 - level).low
    up = interval(worse.accuracy, level=1 - level).high - low
    if high - low <= abs(down - up):  # what no dependence could make significant
        return False
    together = 2 * _correlation(table, better, worse) * down * up
    reach = sqrt(max(0.0, down**2 + up**2 - together))
    return high - low - reach > 1e-9


def _correlation(table: Table, one: Part, two: Part) -> float:
    """How far the shares of two parts move together; 0 where one of them does not move at all."""
    first, second = standard_error(one.accuracy), standard_error(two.accuracy)
    if first == 0 or second == 0:
        return 0.0
    rows = np.concatenate([one.rows, two.rows])
    columns = np.zeros((len(rows), 4))
    columns[: len(one.rows), 0] = table.right[one.rows]
    columns[: len(one.rows), 1] = 1
    columns[len(one.rows) :, 2] = table.right[two.rows]
    columns[len(one.rows) :, 3] = 1
    both = Statistics.of(table.clusters[rows], columns, _difference)
    shared = (first**2 + second**2 - standard_error(both) ** 2) / (2 * first * second)
    return min(1.0, max(-1.0, shared))


def _difference(sums: Floats) -> Floats:
    return ratio(sums[..., :2]) - ratio(sums[..., 2:])

"""Natural breaks (Jenks 1967): numbers in groups within which they differ least, found exactly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]


def natural_groups(values: Sequence[float], groups: int) -> list[int]:
    """The group of each value, 0 for the smallest ones.

    The sum of squared distances from the means of the groups is as small as it can be. Equal values
    share a group, so there are never more groups than different values.

    >>> natural_groups([1, 20, 2, 21, 90], 3)
    [0, 1, 0, 1, 2]
    """
    if not values:
        return []
    different, places, counts = np.unique(
        np.asarray(values, dtype=np.float64), return_inverse=True, return_counts=True
    )
    starts = _starts(different, counts, min(groups, len(different)))
    group_of = np.zeros(len(different), dtype=np.int64)
    group_of[starts] = 1
    group_of = np.cumsum(group_of)
    found: list[int] = group_of[places].tolist()
    return found


def _starts(values: _Floats, counts: NDArray[np.int64], groups: int) -> list[int]:
    """Where the second group and those after it begin, by dynamic programming."""
    cost = _costs(values, counts)
    best = cost[0].copy()  # of the values up to each place, in as many groups as were made so far
    choices = []
    for _ in range(groups - 1):
        # best[i - 1] + cost[i, j]: the last group begins at i and ends with j
        total = np.full_like(cost, np.inf)
        total[1:] = best[:-1, None] + cost[1:]
        first = total.argmin(axis=0)
        best = total[first, np.arange(len(values))]
        choices.append(first)

    starts: list[int] = []
    end = len(values) - 1
    for first in reversed(choices):
        start = int(first[end])
        starts.insert(0, start)
        end = start - 1
    return starts


def _costs(values: _Floats, counts: NDArray[np.int64]) -> _Floats:
    """[i, j] the squared distances of the values i to j from their mean; infinite for i > j."""
    centred = values - np.average(values, weights=counts)
    number = _summed(counts.astype(np.float64))
    linear = _summed(counts * centred)
    square = _summed(counts * centred**2)

    first, last = np.meshgrid(np.arange(len(values)), np.arange(1, len(values) + 1), indexing="ij")
    n = number[last] - number[first]
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = square[last] - square[first] - (linear[last] - linear[first]) ** 2 / n
    return np.where(first < last, np.maximum(cost, 0.0), np.inf)


def _summed(values: _Floats) -> _Floats:
    """Sums of the first 0, 1, 2 ... values."""
    return np.concatenate(([0.0], np.cumsum(values)))

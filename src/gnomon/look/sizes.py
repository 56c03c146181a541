"""Which of two things in a picture is larger (the paper, section 2.3).

A thing's size is the area that it covers times the square of its distance. Sizes are put into
natural groups (Jenks 1967); two things are compared if their groups differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.look.modes import Mode
from gnomon.look.records import Sighting

GROUPS = 5  # appendix A.1
LEAST_RATIO = 1.5  # of areas: closer sizes are not told apart


class PairRelation(NamedTuple):
    """How one thing of a picture stands to another: their places among its sightings."""

    first: int
    second: int
    label: str  # ">", "=" or "<"


def size_of(area: float, distance: float | None, mode: Mode) -> float | None:
    """The size of a thing that covers an area at a distance; none if the distance is not known.

    With one_minus_nearness the "distance" is a nearness from 0 to 1, as the code has it.
    """
    if distance is None:
        return None
    if mode.has("one_minus_nearness"):
        return area * (1 - distance)
    if mode.has("depth_once"):
        return area * distance
    return area * distance**2


def size_relations(sightings: Sequence[Sighting], mode: Mode) -> Iterator[PairRelation]:
    """The things of one picture of which one is larger, the larger one first."""
    known = []
    for place, sighting in enumerate(sightings):
        if sighting.size is not None and sighting.size > 0:
            known.append((sighting.size, place))
    known.sort()
    if len(known) <= GROUPS and mode.has("few_in_one_cluster"):
        return

    groups = natural_groups([size for size, _ in known], GROUPS)
    least_ratio = 0.0 if mode.has("close_sizes") else LEAST_RATIO
    for lesser, greater in combinations(range(len(known)), 2):
        size, place = known[lesser]
        more, other = known[greater]
        if groups[lesser] == groups[greater] or more < size * least_ratio:
            continue
        if sightings[place].cut and not mode.has("cut_things"):
            continue
        yield PairRelation(other, place, ">")


# Natural breaks (Jenks 1967): numbers in groups within which they differ least, found exactly.


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

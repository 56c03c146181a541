"""Natural breaks, against every way of cutting the numbers."""

from itertools import combinations
from random import Random
from statistics import fmean

import pytest

from gnomon.look.relations import natural_groups


def spread(values, groups):
    """The squared distances from the means of the groups."""
    total = 0.0
    for group in set(groups):
        inside = [value for value, each in zip(values, groups, strict=True) if each == group]
        middle = fmean(inside)
        total += sum((value - middle) ** 2 for value in inside)
    return total


def least_spread(values, count):
    """By trying all cuts between sorted values."""
    ordered = sorted(values)
    best = float("inf")
    for cuts in combinations(range(1, len(ordered)), count - 1):
        groups = [sum(place >= cut for cut in cuts) for place in range(len(ordered))]
        best = min(best, spread(ordered, groups))
    return best


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("count", [2, 3, 5])
def test_no_other_cut_is_better(seed, count):
    rng = Random(seed)
    values = [rng.lognormvariate(0, 1.5) for _ in range(11)]
    groups = natural_groups(values, count)
    assert len(set(groups)) == count
    assert spread(values, groups) == pytest.approx(least_spread(values, count), rel=1e-9)


def test_groups_are_numbered_from_the_smallest_values():
    assert natural_groups([90, 1, 2, 20, 21], 3) == [2, 0, 0, 1, 1]


def test_equal_values_share_a_group_however_many_groups_are_wanted():
    assert natural_groups([3, 3, 3], 5) == [0, 0, 0]
    assert natural_groups([3, 1, 3, 1], 5) == [1, 0, 1, 0]
    assert natural_groups([], 5) == []


def test_values_that_are_large_and_close_are_told_apart():
    values = [1e9, 1e9 + 1, 1e9 + 100, 1e9 + 101]
    assert natural_groups(values, 2) == [0, 0, 1, 1]

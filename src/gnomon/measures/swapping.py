"""Two models on the same units: their difference, and the test whether it is one.

The test swaps the two models within whole units, at random or in every possible way: if they were
equally good, the swapped difference would often be as large as the real one. It needs no formula
for the measure and no normal law. Units that overlap cannot be swapped apart: there it is Student's
t on the error that `variance` gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan, nan

import numpy as np

from gnomon.measures.codes import Floats
from gnomon.measures.distributions import t_cdf, t_quantile
from gnomon.measures.statistics import Statistics
from gnomon.measures.variance import Uncertainty, uncertainty

SWAPS = 9_999
EXACT = 13  # up to so many units every way of swapping is tried
CLOSE = 1e-12  # differences that are equal but for the last bits


def difference(one: Statistics, two: Statistics) -> Statistics:
    """The statistics of a difference, cell by cell."""
    k = one.sums.shape[1]
    return Statistics(
        np.concatenate([one.sums, two.sums], axis=1),
        lambda sums: one.finish(sums[..., :k]) - two.finish(sums[..., k:]),
        min(one.n, two.n),
        min(one.clusters, two.clusters),
        (one.bounds[0] - two.bounds[1], one.bounds[1] - two.bounds[0]),
        one.degree,
        bent=False,
        shared=one.shared,
        units=one.units,
    )


def swapping_test(one: Statistics, two: Statistics, *, swaps: int = SWAPS, seed: int = 0) -> float:
    """The two-sided p-value of no difference, by swapping the models within units.

    With few units every way of swapping is tried, and p is exact. With more, random ways are, and
    those that give just the real difference count half (the mid-p value), or shares of few items
    would make the test too shy. Where items or triples belong to several units (two objects, an
    object and a verb), these cannot be swapped apart: Student's t instead.
    """
    real = one.value - two.value
    if isnan(real) or len(one.sums) < 2:
        return nan
    if one.kinds or one.degree > 1:
        return t_test(difference(one, two))
    gap = two.sums - one.sums
    moved = gap[np.any(gap != 0, axis=1)]  # a unit on which the models agree changes nothing
    if not len(moved):
        return 1.0
    total = one.total
    both = total + two.total

    def beyond(swap: Floats) -> Floats:
        swapped = total + swap @ moved
        gaps = one.finish(swapped) - two.finish(both - swapped)
        return np.asarray(np.abs(gaps) - abs(real))

    if len(moved) <= EXACT:
        every = beyond(_every_way(len(moved)))
        return float((every >= -CLOSE).mean())
    extreme, tried = 0.0, 0
    for swap in _some_ways(len(moved), swaps, seed):
        found = beyond(swap)
        extreme += float((found >= -CLOSE).sum())
        extreme -= 0.5 * float((np.abs(found) < CLOSE).sum())
        tried += len(swap)
    return (extreme + 1) / (tried + 1)


def t_test(gap: Statistics) -> float:
    """The two-sided p-value of a zero difference, from its error and Student's t."""
    error, freedom, _ = uncertainty(gap)
    if isnan(error) or isnan(gap.value) or min(gap.clusters, gap.n) < 2:
        return nan
    if error == 0:
        return 1.0 if gap.value == 0 else 2.0 ** (1 - gap.clusters)  # as if each had a sign
    return 2 * (1 - t_cdf(abs(gap.value) / error, freedom))


def detectable_difference(found: Uncertainty, *, level: float = 0.95, power: float = 0.8) -> float:
    """The least true difference that a paired test would find with a chance of `power`.

    `found` is the uncertainty of a difference.
    """
    if isnan(found.error):
        return nan
    beyond = t_quantile((1 + level) / 2, found.freedom)
    return (beyond + t_quantile(power, found.freedom)) * found.error


def _every_way(count: int) -> Floats:
    numbers = np.arange(2**count)
    return ((numbers[:, None] >> np.arange(count)) & 1).astype(float)


def _some_ways(count: int, swaps: int, seed: int) -> Iterator[Floats]:
    rng = np.random.default_rng(seed)
    step = max(1, min(swaps, 4_000_000 // count))
    for start in range(0, swaps, step):
        size = (min(step, swaps - start), count)
        yield rng.integers(0, 2, size=size, dtype=np.int8).astype(float)

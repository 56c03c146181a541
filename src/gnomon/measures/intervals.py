"""Intervals that mean something: clustered by what varies independently, honest with few clusters
and near 0 and 1.

Analytic: the delete-one-cluster jackknife (the CR3 variance of cluster-robust statistics) with
Student's t, bent into the measure's bounds as Wilson's interval bends the binomial one. Bootstrap:
whole clusters are drawn with replacement; the draws of few or unequal clusters lie too close
together, so they are spread out to the jackknife's error.
"""

from __future__ import annotations

from functools import lru_cache
from math import isnan, nan, sqrt
from typing import NamedTuple

import numpy as np

from gnomon.measures.distributions import NORMAL, t_quantile
from gnomon.measures.statistics import Floats, Statistics


class Interval(NamedTuple):
    """A figure, where it may lie, and its standard error. NaN where it is undefined."""

    value: float
    low: float = nan
    high: float = nan
    error: float = nan


def interval(
    statistics: Statistics, *, level: float = 0.95, draws: int = 0, seed: int = 0
) -> Interval:
    """The figure with its interval: analytic, or from so many bootstrap draws.

    Undefined (NaN) with fewer than two clusters or units: one says nothing about how they vary.

    >>> from gnomon.measures.statistics import mean_of
    >>> found = interval(mean_of([1, 1, 0, 1, 0, 1, 1, 1], np.arange(8)))
    >>> round(found.value, 2), round(found.low, 2), round(found.high, 2)
    (0.75, 0.33, 0.95)
    """
    value = statistics.value
    if isnan(value) or min(statistics.clusters, statistics.n) < 2:
        return Interval(value)
    analytic = _analytic(statistics, value, level)
    if draws <= 0:
        return analytic
    drawn = bootstrap(statistics, draws, seed)
    drawn = drawn[~np.isnan(drawn)]
    if (
        not len(drawn) or np.ptp(drawn) == 0
    ):  # all clusters alike: resampling them is blind, Wilson's bound is not
        return analytic
    widen = max(1.0, analytic.error / float(drawn.std(ddof=1)))
    spread = value + widen * (drawn - value)
    low, high = np.quantile(spread, _percentiles(statistics, drawn, value, level))
    bottom, top = statistics.bounds
    return Interval(
        value, max(float(low), bottom), min(float(high), top), float(spread.std(ddof=1))
    )


def standard_error(statistics: Statistics) -> float:
    """By leaving out one cluster at a time: sqrt((G-1)/G * sum (value without g - mean of
    these)^2).

    A unit that belongs to several clusters (a triple of objects) shares its sums among them; its
    error is then widened by their number, as the variance of a U-statistic of that degree is.
    """
    without = leaving_one_out(statistics)
    count = len(without)
    if count < 2:
        return nan
    error = statistics.degree * sqrt(
        (count - 1) / count * float(((without - without.mean()) ** 2).sum())
    )
    return error if error > 1e-12 else 0.0  # clusters that agree but for the last bit do agree


def leaving_one_out(statistics: Statistics) -> Floats:
    """The figure without each cluster in turn, where it is defined."""
    without = statistics.finish(statistics.total - statistics.sums)
    return without[~np.isnan(without)]


def bootstrap(statistics: Statistics, draws: int, seed: int = 0) -> Floats:
    """The figure in each of so many samples of as many clusters, drawn with replacement."""
    count = len(statistics.sums)
    values = np.empty(draws)
    step = max(1, min(draws, 4_000_000 // max(1, count)))
    for start in range(0, draws, step):
        weights = resampling(count, min(step, draws - start), (seed, start))
        values[start : start + step] = statistics.finish(weights @ statistics.sums)
    return values


@lru_cache(maxsize=4)
def resampling(clusters: int, draws: int, seed: tuple[int, int]) -> Floats:
    """[draws, clusters] how often each cluster is drawn; the same for all measures of a table."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((draws, clusters), dtype=np.float64)
    drawn = rng.integers(0, clusters, size=(draws, clusters), dtype=np.int64)
    drawn += np.arange(draws)[:, None] * clusters
    counts.reshape(-1)[:] = np.bincount(drawn.reshape(-1), minlength=draws * clusters)
    counts.flags.writeable = False
    return counts


def _percentiles(statistics: Statistics, drawn: Floats, value: float, level: float) -> list[float]:
    """Which percentiles of the draws bound the interval: Efron's bias-corrected and accelerated
    ones (BCa, 1987).

    The draws' median may lie off the value, and their spread may change with it (it shrinks towards
    100 %): both are measured and put right. The tails are those of Student's t.
    """
    tail = max(NORMAL.cdf(-t_quantile((1 + level) / 2, freedom(statistics))), 1e-9)
    edge = 0.5 / len(drawn)
    below = float((drawn < value).mean() + (drawn <= value).mean()) / 2
    bias = NORMAL.inv_cdf(min(max(below, edge), 1 - edge))
    away = leaving_one_out(statistics)
    away = away.mean() - away
    size = float((away**2).sum()) ** 1.5
    acceleration = float((away**3).sum()) / (6 * size) if size > 0 else 0.0
    found = []
    for point in (NORMAL.inv_cdf(tail), NORMAL.inv_cdf(1 - tail)):
        shifted = bias + point
        found.append(NORMAL.cdf(bias + shifted / max(1 - acceleration * shifted, 0.05)))
    return found


def _analytic(statistics: Statistics, value: float, level: float) -> Interval:
    error = standard_error(statistics)
    if isnan(error):
        return Interval(value)
    t = t_quantile((1 + level) / 2, freedom(statistics))
    bottom, top = statistics.bounds
    if np.isinf(bottom) or np.isinf(top):
        return Interval(value, value - t * error, value + t * error, error)
    most = min(statistics.clusters, statistics.n)
    low, high = wilson((value - bottom) / (top - bottom), error / (top - bottom), most, t)
    return Interval(value, bottom + low * (top - bottom), bottom + high * (top - bottom), error)


def freedom(statistics: Statistics) -> int:
    """Degrees of freedom: clusters that count (an object may be in no triple), or the blocks that
    stand for them."""
    return min(len(statistics.sums), statistics.clusters) - 1


def wilson(share: float, error: float, most: int, t: float) -> tuple[float, float]:
    """Wilson's interval of a share, for the number of independent units that its standard error
    amounts to.

    Where all clusters agree (error 0, say at 100 %), that number is the number of clusters, or of
    units if fewer.
    """
    share = min(max(share, 0.0), 1.0)
    at_bound = share in (0.0, 1.0)
    if at_bound == (error > 0):  # constant inside the bounds, or varying at a bound: plain
        return max(0.0, share - t * error), min(1.0, share + t * error)
    units = float(most) if at_bound else share * (1 - share) / error**2
    centre = (share + t * t / (2 * units)) / (1 + t * t / units)
    half = t / (1 + t * t / units) * sqrt(share * (1 - share) / units + t * t / (4 * units * units))
    return 0.0 if share == 0 else max(0.0, centre - half), 1.0 if share == 1 else min(
        1.0, centre + half
    )

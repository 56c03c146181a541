"""Intervals over what varies independently, honest with few units and near 0 and 1."""

from functools import lru_cache
from math import exp, inf, isinf, isnan, lgamma, log, log1p, nan, pi, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from gnomon.measures.columns import Floats
from gnomon.measures.statistics import Statistics, Uncertainty, uncertainty

# Student's t and the normal distribution, without scipy; the tests compare.


NORMAL = NormalDist()


def t_cdf(x: float, df: float) -> float:
    """P(T <= x) for Student's t with df degrees of freedom.

    >>> round(t_cdf(2.0, 10), 6)
    0.963306
    """
    if df == inf or df > 1e7:
        return NORMAL.cdf(x)
    tail = 0.5 * beta_cdf(df / (df + x * x), df / 2, 0.5)
    return 1 - tail if x > 0 else tail


@lru_cache(maxsize=1024)
def t_quantile(p: float, df: float) -> float:
    """The x with P(T <= x) = p.

    >>> round(t_quantile(0.975, 24), 6)
    2.063899
    """
    if not 0 < p < 1 or not df > 0:
        raise ValueError(f"p must lie between 0 and 1 and df above 0, not {p} and {df}")
    if p < 0.5:
        return -t_quantile(1 - p, df)
    if df == inf or df > 1e7:
        return NORMAL.inv_cdf(p)
    found = _by_newton(p, df)
    return _by_bisection(p, df) if found is None else found


def _by_newton(p: float, df: float) -> float | None:
    """The quantile from the normal one on; none where that takes long (below one half, p near 1).

    The normal quantile lies below, and from there the steps never go too far: the distribution is
    concave above 0.
    """
    x = NORMAL.inv_cdf(p)
    for _ in range(20):
        step = (p - t_cdf(x, df)) / _t_density(x, df)
        x += step
        if abs(step) <= 1e-13 * x:
            return x
    return None


def _by_bisection(p: float, df: float) -> float:
    low, high = 0.0, 2.0
    while t_cdf(high, df) < p:
        low, high = high, 2 * high
    for _ in range(200):  # slow and certain
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if t_cdf(middle, df) < p:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _t_density(x: float, df: float) -> float:
    scale = lgamma((df + 1) / 2) - lgamma(df / 2) - log(df * pi) / 2
    return exp(scale - (df + 1) / 2 * log1p(x * x / df))


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by Lentz's continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_cdf(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    tiny = 1e-300
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1), tiny)
    fraction = d
    for m in range(1, 10_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _away(1 + term * d, tiny)
            c = _away(1 + term / c, tiny)
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * fraction


def _away(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny


class Interval(NamedTuple):
    """A figure, where it may lie, and its standard error. NaN where it is undefined."""

    value: float
    low: float = nan
    high: float = nan
    error: float = nan


def interval(
    statistics: Statistics,
    *,
    level: float = 0.95,
    draws: int = 0,
    seed: int = 0,
    known: Uncertainty | None = None,
) -> Interval:
    """The figure with its interval: analytic, or from so many bootstrap draws.

    Undefined (NaN) with fewer than two units or items: one says nothing about how they vary.
    `known` is the uncertainty, if it was computed before.

    >>> from gnomon.measures.statistics import mean_of
    >>> found = interval(mean_of([1, 1, 0, 1, 0, 1, 1, 1], np.arange(8)))
    >>> round(found.value, 2), round(found.low, 2), round(found.high, 2)
    (0.75, 0.33, 0.95)
    """
    value = statistics.value
    if isnan(value) or min(statistics.clusters, statistics.n) < 2:
        return Interval(value)
    known = known or uncertainty(statistics)
    if isnan(known.error):
        return Interval(value)
    if any(statistics.noise):
        return _above_noise(statistics, known, level)
    t = statistics.looked * t_quantile((1 + level) / 2, known.freedom)
    analytic = _analytic(statistics, value, known.error, t)
    if draws <= 0:
        return analytic
    drawn = bootstrap(statistics, draws, seed)
    drawn = drawn[~np.isnan(drawn)]
    all_alike = not len(drawn) or np.ptp(drawn) == 0
    if all_alike or not analytic.error > 0:  # drawing such units is blind, the analytic is not
        return analytic
    spread = value + analytic.error / float(drawn.std(ddof=1)) * (drawn - value)
    t = t_quantile((1 + level) / 2, known.plain_freedom)  # percentiles follow a large unit
    t *= statistics.looked
    low, high = np.quantile(spread, _percentiles(statistics, drawn, value, t))
    found = Interval(value, float(low), float(high), analytic.error)
    return _within(statistics.bounds, found)


def known(value: float) -> float | None:
    """A number, or none for NaN."""
    return None if isnan(value) else value


def bootstrap(statistics: Statistics, draws: int, seed: int = 0) -> Floats:
    """The figure in each of so many samples of units, drawn with replacement.

    A cell counts by the mean of how often its units were drawn.
    """
    of_kinds = statistics.by_unit()
    tags = sum(map(len, statistics.kinds)) or 1
    most = max(len(sums) for sums in of_kinds)
    values = np.empty(draws)
    step = max(1, min(draws, 4_000_000 // max(1, most)))
    for start in range(0, draws, step):
        size = min(step, draws - start)
        totals = np.tile(statistics.total, (size, 1))
        for kind, sums in enumerate(of_kinds):
            drawn = resampling(len(sums), size, (seed, start, kind))
            totals += (drawn @ sums - sums.sum(axis=0)) / tags
        values[start : start + step] = statistics.finish(totals)
    return values


@lru_cache(maxsize=4)
def resampling(units: int, draws: int, seed: tuple[int, ...]) -> Floats:
    """[draws, units] how often each unit is drawn; the same for all measures of a table."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((draws, units), dtype=np.float64)
    drawn = rng.integers(0, units, size=(draws, units), dtype=np.int64)
    drawn += np.arange(draws)[:, None] * units
    counts.reshape(-1)[:] = np.bincount(drawn.reshape(-1), minlength=draws * units)
    counts.flags.writeable = False
    return counts


def _percentiles(statistics: Statistics, drawn: Floats, value: float, t: float) -> list[float]:
    """Which percentiles of the draws bound the interval: Efron's BCa (1987).

    The draws' median may lie off the value, and their spread may change with it (it shrinks towards
    100 %): both are measured and put right. The tails are those of Student's t.
    """
    tail = max(NORMAL.cdf(-t), 1e-9)
    edge = 0.5 / len(drawn)
    below = float((drawn < value).mean() + (drawn <= value).mean()) / 2
    bias = NORMAL.inv_cdf(min(max(below, edge), 1 - edge))
    away = _moved_by_units(statistics)
    size = float((away**2).sum()) ** 1.5
    acceleration = float((away**3).sum()) / (6 * size) if size > 0 else 0.0
    found = []
    for point in (NORMAL.inv_cdf(tail), NORMAL.inv_cdf(1 - tail)):
        shifted = bias + point
        found.append(NORMAL.cdf(bias + shifted / max(1 - acceleration * shifted, 0.05)))
    return found


def _moved_by_units(statistics: Statistics) -> Floats:
    """How far each unit moves the figure, by leaving it out."""
    found = []
    for sums in statistics.by_unit():
        without = statistics.finish(statistics.total - sums)
        without = without[~np.isnan(without)]
        found.append(without.mean() - without)
    return np.concatenate(found)


def _analytic(statistics: Statistics, value: float, error: float, t: float) -> Interval:
    units = min(statistics.clusters, statistics.n)
    if error == 0:
        return Interval(value, *where_all_agree(value, units, statistics.bounds, t), 0.0)
    bottom, top = statistics.bounds
    width = top - bottom
    if not statistics.bent or isinf(width):
        plain = Interval(value, value - t * error, value + t * error, error)
        return _within(statistics.bounds, plain)
    low, high = wilson((value - bottom) / width, error / width, units, t)
    return Interval(value, bottom + low * width, bottom + high * width, error)


def _above_noise(statistics: Statistics, known: Uncertainty, level: float) -> Interval:
    """The interval of a figure that noise can only raise.

    At the upper end nothing is taken off for noise, so the truth hardly ever lies above, and at the
    lower end all that noise may have added: so all the risk is there.
    """
    value = statistics.value
    more, taken_off = statistics.noise
    error = statistics.looked * known.error
    low = value - more - t_quantile(level, known.freedom) * error
    high = value + taken_off + t_quantile((1 + level) / 2, known.freedom) * error
    return _within(statistics.bounds, Interval(value, low, high, known.error))


def _within(bounds: tuple[float, float], found: Interval) -> Interval:
    bottom, top = bounds
    return found._replace(low=max(found.low, bottom), high=min(found.high, top))


def wilson(share: float, error: float, units: int, t: float) -> tuple[float, float]:
    """Wilson's interval of a share, for the number of units that its standard error amounts to.

    `units` is how many there are: it counts where they all agree, and the error is 0.
    """
    share = min(max(share, 0.0), 1.0)
    if error == 0:
        return where_all_agree(share, units, (0.0, 1.0), t)
    if share in (0.0, 1.0):  # at a bound, yet varying: nothing to bend
        return max(0.0, share - t * error), min(1.0, share + t * error)
    effective = share * (1 - share) / error**2
    shrink = 1 + t * t / effective
    centre = (share + t * t / (2 * effective)) / shrink
    half = t / shrink * sqrt(share * (1 - share) / effective + (t / (2 * effective)) ** 2)
    return max(0.0, centre - half), min(1.0, centre + half)


def where_all_agree(
    value: float, units: int, bounds: tuple[float, float], t: float
) -> tuple[float, float]:
    """The interval where all units have the same value, so that nothing is seen to vary.

    Another unit may still differ: with a chance of up to t^2 / (units + t^2), Wilson's bound for
    none of so many. It may then lie anywhere between the bounds. At a bound this is Wilson's own
    interval.

    >>> where_all_agree(1.0, 20, (0.0, 1.0), 2.0)
    (0.8333333333333334, 1.0)
    """
    bottom, top = bounds
    chance = t * t / (units + t * t)
    return value - chance * (value - bottom), value + chance * (top - value)

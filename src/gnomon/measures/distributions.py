"""Student's t and the normal distribution, without scipy; the tests compare."""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, lgamma, log, log1p, pi
from statistics import NormalDist

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

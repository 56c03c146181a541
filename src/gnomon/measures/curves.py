"""Figures over the amount of training: the mean over draws, with an interval over draws.

Draws differ in the items that were drawn, in their order and in new weights, so the interval says
what another training of the same kind would come to, on the same test items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean, stdev
from typing import NamedTuple

from gnomon.measures.distributions import t_quantile
from gnomon.measures.intervals import where_all_agree

Grown = Mapping[float, Sequence[float]]  # amount -> the figures of its draws
Bounds = tuple[float, float]

# Shares of right answers that training measures: of a part the first that it has is drawn.
SHARES = ("accuracy", "relaxed_accuracy")


class AtAmount(NamedTuple):
    """The mean of a measure at one amount of training; no interval where there is one draw."""

    amount: float
    mean: float
    low: float | None
    high: float | None
    deviation: float | None  # the sample standard deviation over draws
    draws: int


def over_draws(
    grown: Grown, *, level: float = 0.95, bounds: Bounds | None = (0.0, 1.0), items: int = 0
) -> list[AtAmount]:
    """The curve of a measure, with Student's interval for the mean over draws.

    It stays within the bounds of the measure, where it has any: of a share, 0 and 1. Draws that
    all agree are not certain: another item may still differ, so there the interval is that of as
    many test items as there are.

    >>> over_draws({5: [0.5, 0.6, 0.7], 1: [0.4]})[0]
    AtAmount(amount=1, mean=0.4, low=None, high=None, deviation=None, draws=1)
    """
    found = []
    for amount, values in sorted(grown.items()):
        point = _at(amount, values, level)
        found.append(_within(point, bounds, items, level) if bounds else point)
    return found


def _at(amount: float, values: Sequence[float], level: float) -> AtAmount:
    mean, count = fmean(values), len(values)
    if count < 2:
        return AtAmount(amount, mean, None, None, None, count)
    deviation = stdev(values)
    reach = t_quantile(0.5 + level / 2, count - 1) * deviation / sqrt(count)
    return AtAmount(amount, mean, mean - reach, mean + reach, deviation, count)


def _within(point: AtAmount, bounds: Bounds, items: int, level: float) -> AtAmount:
    if point.low is None or point.high is None:
        return point
    low, high = max(bounds[0], point.low), min(bounds[1], point.high)
    if point.deviation == 0 and items > 1:
        t = t_quantile(0.5 + level / 2, items - 1)
        low, high = where_all_agree(point.mean, items, bounds, t)
    return point._replace(low=low, high=high)

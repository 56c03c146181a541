"""How much a figure varies: the error of anything that is a formula on sums over cells.

The formula. C is the jackknife variance over cells, each left out in turn; J over the units of a
kind, each left out with all its cells (Tukey 1958; the CR3 variance of cluster-robust statistics).
Cells of two units of a kind, such as pairs of objects, are counted with the others of the same two
in both, so these are taken off once: J over objects less J over pairs (dyadic clustering: Aronow,
Samii and Assenova 2015). What each kind has beyond C is added to it, as in multiway clustering
(Cameron, Gelbach and Miller 2011):

    variance = C + (J of the first kind - C) + (J of the second kind - C) + ...

With one kind and one unit an item this is J, the jackknife over clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan, sqrt
from typing import NamedTuple

import numpy as np

from gnomon.measures.statistics import Floats, Statistics, over
from gnomon.measures.units import Shared

# A kind whose units add nothing comes out below C as often as above. Counting only what is above
# would make intervals too wide, counting all of it would make some far too narrow.
LEAST = -0.1
KEPT = 0.5  # of what units add, the least share that C is taken to leave


class Uncertainty(NamedTuple):
    """The standard error of a figure, and the degrees of freedom that it is known with."""

    error: float = nan
    freedom: float = nan


class Part(NamedTuple):
    """What the units of a kind add to the variance of the cells, and how well that is known."""

    added: float
    of_units: float  # the variance that comes from units, part of which is in that of the cells
    freedom: float


def standard_error(statistics: Statistics) -> float:
    """The standard error of a figure; NaN where nothing is seen to vary."""
    return uncertainty(statistics).error


def uncertainty(statistics: Statistics) -> Uncertainty:
    """The error of a figure with Satterthwaite's degrees of freedom.

    Where the units of a row of sums are not known, but it is shared among several (a triple of
    objects), the error is widened by their number, as that of a U-statistic of such a degree is.
    """
    if len(statistics.sums) < 2:
        return Uncertainty()
    of_cells = jackknife(statistics, statistics.sums)
    if isnan(of_cells):
        return Uncertainty()
    freedom_of_cells = effective(statistics.weights)
    fewest = freedom_of_cells
    variance = of_cells
    of_units = scatter = 0.0
    for kind in statistics.kinds:
        part = _part(statistics, kind, of_cells)
        fewest = min(fewest, part.freedom)
        variance += part.added
        of_units += part.of_units
        scatter += part.of_units**2 / part.freedom

    error = statistics.degree * sqrt(variance)
    if error <= 1e-12:  # cells that agree but for the last bit do agree
        return Uncertainty(0.0, fewest)
    rest = max(0.0, variance - of_units)
    scatter += rest**2 / freedom_of_cells
    return Uncertainty(error, variance**2 / scatter)


def _part(statistics: Statistics, kind: Sequence[Shared], of_cells: float) -> Part:
    shares = over(kind[0], statistics.weights[:, None])[:, 0]
    # of the variance from units, how much each of the units of a cell leaves in that of cells
    per_cell = float(shares.sum())
    inside = per_cell * float((statistics.weights**2).sum() / (shares**2).sum())
    kept = max(1 - per_cell * inside, KEPT)
    beyond = max(_sharing_any(statistics, kind) - of_cells, LEAST * of_cells)
    return Part(
        added=beyond * _lost_with_the_mean(per_cell, kind[0].number),
        of_units=max(0.0, beyond / kept),
        freedom=effective(shares),
    )


def _lost_with_the_mean(per_cell: float, units: int) -> float:
    """By what the variance from n units is too small where a cell has two: of order 1 / n.

    Residuals are taken from a mean to which every unit adds twice. With one unit a cell, leaving
    out one makes up for it.
    """
    lost = 2 * (per_cell - 1) / max(units, 1)
    return 1 / (1 - min(max(lost, 0.0), 1 - KEPT))


def _sharing_any(statistics: Statistics, kind: Sequence[Shared]) -> float:
    """The variance where cells that share any unit of a kind vary together.

    Those that share two are counted with either, and so taken off once, and so on by turns.
    """
    variance = 0.0
    sign = 1
    for shared in kind:
        if shared.number > 1:
            variance += sign * jackknife(statistics, over(shared, statistics.sums))
        sign = -sign
    return variance


def jackknife(statistics: Statistics, sums: Floats) -> float:
    """(G-1)/G * sum (value without g - mean of these)^2, for each row g of some sums left out."""
    without = leaving_out(statistics, sums)
    count = len(without)
    if count < 2:
        return nan
    squares = float(((without - without.mean()) ** 2).sum())
    return (count - 1) / count * squares


def leaving_out(statistics: Statistics, sums: Floats) -> Floats:
    """The figure without each row of some sums in turn, where it is defined."""
    without = statistics.finish(statistics.total - sums)
    return np.asarray(without[~np.isnan(without)])


def effective(shares: Floats) -> float:
    """Degrees of freedom of units that have these shares: their number less 1 if all are alike.

    >>> round(effective(np.full(10, 0.1)), 6), effective(np.array([0.7, 0.2, 0.1]))
    (9.0, 1.0)
    """
    squares = shares**2
    total = float((squares**2).sum())
    if total == 0:
        return 1.0
    return max(1.0, float(squares.sum()) ** 2 / total - 1)

"""What every measure boils down to: sums over cells of items, a formula on them, its error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.measures.columns import Codes, Floats, added
from gnomon.measures.layout import LeftOut, Shared, UnitLayout, scale
from gnomon.measures.units import Cells, Units

Finish = Callable[[Floats], Floats]  # sums[..., k] -> values[...], vectorised over the leading axes


class PartialSums(NamedTuple):
    """What some rows add, and to which column."""

    rows: NDArray[Any]  # as indices or as a mask
    columns: NDArray[Any]
    weights: Floats | None = None  # one each, or all 1


@dataclass(frozen=True)
class Statistics:
    """Sums of a measure over cells: items that share all their units. `finish` makes the figure.

    >>> right = Statistics.of(np.array([0, 0, 1]), np.array([[1., 1.], [0., 1.], [1., 1.]]), ratio)
    >>> round(right.value, 4), right.n, right.clusters
    (0.6667, 3, 2)
    """

    sums: Floats  # [cells or blocks of them, k]
    finish: Finish
    n: int  # what the figure is a share of: items, or pairs, triples, groups
    clusters: int  # independent units, of the kind that has fewest
    bounds: tuple[float, float] = (0.0, 1.0)  # between which the figure must lie
    # how many times as large the error is as leaving out rows of sums shows: more than 1 where a
    # row holds a part only of what a unit adds (a triple of objects, a pair of statements)
    error_times: float = 1.0
    # how much more noise may have added to the figure, and how much of it was taken off already
    noise: tuple[float, float] = (0.0, 0.0)
    bent: bool = True  # whether an interval gets shorter towards a bound, or is only cut there
    shared: UnitLayout | None = (
        None  # what cells share, and how much each weighs; if none, all alike
    )
    units: str = ""  # how many units of each kind there are, in words
    # how many times as wide the interval is because the run was looked at before it ended
    looked: float = 1.0

    @classmethod
    def of(
        cls,
        clusters: Codes | Units,
        columns: Floats,
        finish: Finish,
        *,
        n: int | None = None,
        error_times: float = 1.0,
        bounds: tuple[float, float] = (0.0, 1.0),
    ) -> Statistics:
        """Add up `columns` [rows, k] by the units of each row; -1 is one of its own."""
        cells = Units.of(clusters).cells(columns.shape[1])
        sums = added(cells.of, cells.number, columns)
        counted = len(columns) if n is None else n
        return cls._over(cells, sums, finish, counted, bounds, error_times)

    @classmethod
    def tallied(
        cls,
        clusters: Codes | Units,
        parts: Sequence[PartialSums],
        k: int,
        finish: Finish,
        *,
        n: int | None = None,
        bounds: tuple[float, float] = (0.0, 1.0),
    ) -> Statistics:
        """The same from parts, for wide and mostly empty columns that are never built."""
        cells = Units.of(clusters).cells(k)
        sums = np.zeros(cells.number * k)
        for part in parts:
            place = np.asarray(cells.of[part.rows], dtype=np.int64) * k + part.columns
            sums += np.bincount(place, weights=part.weights, minlength=cells.number * k)
        counted = len(cells.of) if n is None else n
        return cls._over(cells, sums.reshape(cells.number, k), finish, counted, bounds)

    @classmethod
    def _over(
        cls,
        cells: Cells,
        sums: Floats,
        finish: Finish,
        n: int,
        bounds: tuple[float, float],
        error_times: float = 1.0,
    ) -> Statistics:
        return cls(
            sums,
            finish,
            n,
            min(cells.units_of_kind),
            bounds,
            error_times,
            shared=cells.layout,
            units=cells.words,
        )

    @cached_property
    def total(self) -> Floats:
        """The sums over all cells."""
        total: Floats = self.sums.sum(axis=0)
        return total

    @property
    def value(self) -> float:
        """The figure; NaN where the measure is undefined."""
        if not self.clusters:
            return nan
        return float(np.clip(self.finish(self.total), *self.bounds))

    @cached_property
    def layout(self) -> UnitLayout:
        """How much each cell weighs, and what cells share."""
        return self.shared or UnitLayout(np.ones(len(self.sums)))

    @property
    def kinds(self) -> tuple[tuple[Shared, ...], ...]:
        """For each kind of unit what cells share: one, two ...; empty where cells are the units."""
        return self.layout.kinds

    def by_unit(self) -> list[Floats]:
        """For each kind, the sums over the cells of each unit; the sums where cells are units."""
        if not self.kinds:
            return [self.sums]
        return [one_unit.sums(self.sums) for one_unit, *_ in self.kinds]


def looked_at(statistics: Statistics, looked: float) -> Statistics:
    """The statistics of a run that was looked at before it ended."""
    return statistics if looked == 1 else replace(statistics, looked=looked)


def ratio(sums: Floats) -> Floats:
    """The first sum over the second; NaN where nothing is counted."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(sums[..., 1] > 0, sums[..., 0] / sums[..., 1], np.nan))


def mean_of(
    values: Any,
    clusters: Codes | Units,
    *,
    n: int | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Statistics:
    """Statistics of the plain mean of one value per row; rows whose value is NaN are left out.

    `clusters` are what the rows share: `table.clusters`, or a code for each row.
    """
    values = np.asarray(values, dtype=float)
    known = ~np.isnan(values)
    if not known.all():
        values, clusters = values[known], clusters[known]
    columns = np.stack([values, np.ones(len(values))], axis=1)
    return Statistics.of(clusters, columns, ratio, n=n, bounds=bounds)


# How much a figure varies: the error of anything that is a formula on sums over cells.
#
# Each cell, and each unit with all its cells, is left out in turn. What that should show, if
# cells and units have random effects, follows from who shares what (`layout`): as many equations
# as there are sources of variance. Their solution is the error; docs/measures.md has the
# derivation.


# The least variance, as a share of that of the cells. Units that add nothing come out below 0 as
# often as above: counting only what is above makes intervals too wide (in simulations 92.5 to
# 97.7 % of them held the truth), counting all of it makes some far too narrow (87 to 96 %). With
# nine tenths it was 92.5 to 97 % (docs/decisions.md, "Errors by what is shared").
LEAST_VARIANCE = 0.9
# By how much an interval of c = 1.96 standard errors, that is of 95 %, holds the truth more often
# as the error moves along with the figure: 2 (c^2 - 1) / (c^2 + 1), docs/measures.md ("A large
# unit").
SQUARE = 1.96**2
WIDENS = 2 * (SQUARE - 1) / (SQUARE + 1)
# What of the scatter is left at least when that is taken off, which is the start of a series only.
LEAST_SCATTER = 0.25
SAME = 1e-12  # errors up to this are those of cells that agree but for the last bit


class Uncertainty(NamedTuple):
    """The standard error of a figure, and the degrees of freedom that it is known with."""

    error: float = nan
    freedom: float = nan
    # the same if a large unit did not move figure and error together: for an interval that it moves
    plain_freedom: float = nan


class Scatter(NamedTuple):
    """How well a part of the variance is known."""

    spread: float = 0.0  # half the variance of the part
    along: float = 0.0  # how much of it goes along with the figure's own error

    def plus(self, other: Scatter, times: float = 1.0) -> Scatter:
        """Both, the other so many times."""
        return Scatter(self.spread + times * other.spread, self.along + times * other.along)


def standard_error(statistics: Statistics) -> float:
    """The standard error of a figure; NaN where nothing is seen to vary."""
    return uncertainty(statistics).error


def uncertainty(statistics: Statistics) -> Uncertainty:
    """The error of a figure with its degrees of freedom."""
    layout = statistics.layout
    moved = how_far_moved(statistics, statistics.sums, layout.weights)
    if np.isnan(moved).any():
        return Uncertainty()
    variance, scatter = _of_cells(moved, layout.weights)
    if layout.kinds:
        variance, scatter = _of_overlapping(statistics, moved, variance, scatter)

    error = statistics.error_times * sqrt(variance)
    if error <= SAME:
        fewest = _fewest(layout)
        return Uncertainty(0.0, fewest, fewest)
    most = len(moved) - 1
    plain = _freedom(variance, Scatter(scatter.spread), most)
    return Uncertainty(error, _freedom(variance, scatter, most), plain)


def how_far_moved(statistics: Statistics, sums: Floats, shares: Floats) -> Floats:
    """How far the figure moves as each row of some sums is left out; all NaN with fewer than two.

    A unit without which the figure is undefined counts as if it did not move it.
    """
    if len(sums) < 2:
        return np.full(max(1, len(sums)), nan)
    without = statistics.finish(statistics.total - sums)
    defined = ~np.isnan(without)
    if defined.sum() < 2:
        return np.full(max(1, len(sums)), nan)
    weights = np.where(defined, 1 - shares, 0.0)
    without = np.where(defined, without, 0.0)
    centre = float((weights * without).sum() / weights.sum())
    moved = np.where(defined, without - centre, 0.0)
    return np.asarray(moved * (1 - shares) * scale(shares))


def _of_cells(moved: Floats, shares: Floats) -> tuple[float, Scatter]:
    """The variance where cells are the units.

    Two sources: items, whose part in a cell's variance shrinks with its size, and the cells' own
    effects. How much of each there is decides how many of the cells count.
    """
    of_items = scale(shares) ** 2 * shares * (1 - shares)
    square = float((shares**2).sum())
    of_effects = scale(shares) ** 2 * shares**2 * (1 - 2 * shares + square)
    expected = np.array([of_items, of_effects])
    parts = _parts(moved**2, expected, shares)
    total = float(parts @ expected.sum(axis=1))
    if total <= 0:
        return 0.0, Scatter()

    ratio = float(parts @ [1.0, square]) / total
    variance = ratio * float((moved**2).sum())
    along = np.array([np.zeros(len(shares)), scale(shares) * shares * (shares - square)])
    sizes = parts * variance / (parts @ [1.0, square])
    return variance, _scatter(LeftOut(expected, along), sizes, ratio)


def _parts(squares: Floats, expected: Floats, shares: Floats) -> Floats:
    """How much varies by items and how much by cells: from squares, weighed by size and alike."""
    alike = 1 / np.where(shares > 0, shares, np.inf)
    sums = np.array([squares.sum(), squares @ alike])
    matrix = np.array([expected.sum(axis=1), expected @ alike])
    found = np.maximum(np.linalg.pinv(matrix) @ sums, 0.0)
    return found if found.any() else np.array([0.0, 1.0])


def _of_overlapping(
    statistics: Statistics, moved: Floats, of_cells: float, scatter_of_cells: Scatter
) -> tuple[float, Scatter]:
    """The variance where cells share units."""
    layout = statistics.layout
    squares = [float((moved**2).sum())]
    for kind in layout.kinds:
        squares.append(_sum_of_squares(statistics, kind))
    found = layout.coefficients @ squares
    variance = max(float(layout.added @ found), LEAST_VARIANCE * of_cells)
    found = np.maximum(found, 0.0)
    if variance == 0 or not found.any():
        return variance, scatter_of_cells

    sizes = found * variance / (layout.added @ found)
    scatter = _scatter_of_kinds(layout, sizes)
    rest = float(sizes[0] * layout.added[0]) / of_cells if of_cells > 0 else 0.0
    return variance, scatter.plus(scatter_of_cells, rest**2)


def _scatter_of_kinds(layout: UnitLayout, sizes: Floats) -> Scatter:
    """How well what the units of all kinds add is known, if sources have these variances.

    The noise of the squares over a kind counts by the root of the share of them that its units
    make: where they make none, the least variance already widens the interval. The root is a choice
    that simulations bear out, not a derivation (docs/measures.md).
    """
    scatter = Scatter()
    weights = layout.added @ layout.coefficients
    same_cell = float(((sizes @ layout.of_cells.squares) ** 2).sum())
    for place, (kind, expected) in enumerate(zip(layout.kinds, layout.of_units, strict=True), 1):
        of_kind = _scatter(expected, sizes, float(weights[place]))
        # the squares of cells are in those of their units as in those of cells: they cancel
        cancel = float(weights[place]) ** 2 * same_cell * kind[0].of_cells.shape[1]
        beyond = Scatter(max(0.0, of_kind.spread - cancel), of_kind.along)
        total = float((sizes @ expected.squares).sum())
        share = min(1.0, float(sizes[place] * layout.added[place]) / total) if total > 0 else 0.0
        scatter = scatter.plus(beyond, sqrt(share))
    return scatter


def _sum_of_squares(statistics: Statistics, kind: tuple[Shared, ...]) -> float:
    """The squares over the units of a kind.

    Cells that share two are counted with either, and so taken off once, and so on by turns.
    """
    total = 0.0
    sign = 1
    for shared in kind:
        if shared.number > 1:
            shares = shared.shares(statistics.layout.weights)
            moved = how_far_moved(statistics, shared.sums(statistics.sums), shares)
            total += sign * float(np.nan_to_num(moved**2).sum())
        sign = -sign
    return total


def _scatter(expected: LeftOut, sizes: Floats, weight: float) -> Scatter:
    """How well a sum of squares is known that counts with such a weight.

    Squares of normal deviations have twice the square of their mean as variance (Satterthwaite
    1946). They are taken from a common mean, which costs one degree of freedom.
    """
    squares = sizes @ expected.squares
    total = float(squares.sum())
    if total <= 0:
        return Scatter()
    freedom = max(1.0, total**2 / float((squares**2).sum()) - 1)
    along = float(((sizes @ expected.along) ** 2).sum())
    return Scatter((weight * total) ** 2 / freedom, weight * along)


def _freedom(variance: float, scatter: Scatter, most: int) -> float:
    """The degrees of freedom of Student's t, as many as cells less one at most.

    Satterthwaite's, if error and figure are independent. They are where units are alike. A large
    unit moves both: a figure that it pulls far off also has a large error, so the interval holds
    the truth more often. To second order this is worth `WIDENS` of what goes along.
    """
    left = scatter.spread - WIDENS * max(0.0, scatter.along)
    return variance**2 / max(left, LEAST_SCATTER * scatter.spread, variance**2 / most)


def _fewest(layout: UnitLayout) -> float:
    """The degrees of freedom if only units varied, of the kind that has fewest."""
    kinds = layout.sources[1:] or layout.sources
    return min(effective(units.shares(layout.weights)) for units in kinds)


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

"""What every measure boils down to: sums over cells of items, and a formula on the sums.

The one idea: code that adds up cells can also leave one out, or all those that share a unit, draw
units with replacement or swap two models within them, so the value, both kinds of interval and the
paired tests of ANY measure come from the same small matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.measures.codes import Codes, Floats, added
from gnomon.measures.layout import Shared, UnitLayout
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
    # units that one row of sums is shared among (a triple of objects: 3)
    degree: int = 1
    bent: bool = True  # whether an interval gets shorter towards a bound, or is only cut there
    shared: UnitLayout | None = (
        None  # what cells share, and how much each weighs; if none, all alike
    )
    units: str = ""  # how many units of each kind there are, in words

    @classmethod
    def of(
        cls,
        clusters: Codes | Units,
        columns: Floats,
        finish: Finish,
        *,
        n: int | None = None,
        degree: int = 1,
        bounds: tuple[float, float] = (0.0, 1.0),
    ) -> Statistics:
        """Add up `columns` [rows, k] by the units of each row; -1 is one of its own."""
        cells = Units.of(clusters).cells(columns.shape[1])
        sums = added(cells.of, cells.number, columns)
        counted = len(columns) if n is None else n
        return cls._over(cells, sums, finish, counted, bounds, degree)

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
        degree: int = 1,
    ) -> Statistics:
        return cls(
            sums,
            finish,
            n,
            min(cells.units_of_kind),
            bounds,
            degree,
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
        return float(self.finish(self.total)) if self.clusters else float("nan")

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

"""What every measure boils down to: sums over independent clusters, and a formula on the sums.

The one idea: whoever can add up clusters can also leave one out, draw them with replacement or swap
two models within them, so the value, both kinds of interval and the paired tests of ANY measure
come from the same small matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int32] | NDArray[np.int64]
Finish = Callable[[Floats], Floats]  # sums[..., k] -> values[...], vectorised over the leading axes

# more clusters than this are first added up in so many random blocks: the blocks are as independent
BLOCKS = 10_000
CELLS = 20_000_000  # numbers that a matrix of sums may hold


class Cell(NamedTuple):
    """What some units add, and to which column."""

    rows: NDArray[Any]  # the units, as indices or as a mask
    columns: NDArray[Any]
    weights: Floats | None = None  # one each, or all 1


@dataclass(frozen=True)
class Statistics:
    """Sums of a measure over clusters. `finish` of their total is the figure.

    >>> right = Statistics.of(np.array([0, 0, 1]), np.array([[1., 1.], [0., 1.], [1., 1.]]), ratio)
    >>> round(right.value, 4), right.n, right.clusters
    (0.6667, 3, 2)
    """

    sums: Floats  # [clusters or blocks of them, k]
    finish: Finish
    n: int  # what the figure is a share of: items, or pairs, triples, groups
    clusters: int
    bounds: tuple[float, float] = (0.0, 1.0)  # between which the figure must lie
    # clusters that one unit belongs to (a triple of objects: 3); its sums are shared among them
    degree: int = 1
    bent: bool = True  # whether an interval gets shorter towards a bound, or is only cut there

    @classmethod
    def of(
        cls,
        clusters: Codes,
        columns: Floats,
        finish: Finish,
        *,
        n: int | None = None,
        degree: int = 1,
        bounds: tuple[float, float] = (0.0, 1.0),
    ) -> Statistics:
        """Add up `columns` [units, k] by the cluster code of each unit; -1 is one of its own."""
        codes, count = compact(clusters)
        blocks, rows = blocked(codes, count, columns.shape[1])
        sums = np.empty((rows, columns.shape[1]))
        for j in range(columns.shape[1]):
            sums[:, j] = np.bincount(blocks, weights=columns[:, j], minlength=rows)
        counted = len(codes) if n is None else n
        return cls(sums, finish, counted, count, bounds, degree)

    @classmethod
    def tallied(
        cls,
        clusters: Codes,
        cells: Sequence[Cell],
        k: int,
        finish: Finish,
        *,
        n: int | None = None,
        bounds: tuple[float, float] = (0.0, 1.0),
    ) -> Statistics:
        """The same from cells, for wide and mostly empty columns that are never built."""
        codes, count = compact(clusters)
        blocks, rows = blocked(codes, count, k)
        sums = np.zeros(rows * k)
        for cell in cells:
            place = np.asarray(blocks[cell.rows], dtype=np.int64) * k + cell.columns
            sums += np.bincount(place, weights=cell.weights, minlength=rows * k)
        counted = len(codes) if n is None else n
        return cls(sums.reshape(rows, k), finish, counted, count, bounds)

    @property
    def total(self) -> Floats:
        """The sums over all clusters."""
        total: Floats = self.sums.sum(axis=0)
        return total

    @property
    def value(self) -> float:
        """The figure; NaN where the measure is undefined."""
        return float(self.finish(self.total)) if self.clusters else float("nan")


def ratio(sums: Floats) -> Floats:
    """The first sum over the second; NaN where nothing is counted."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(sums[..., 1] > 0, sums[..., 0] / sums[..., 1], np.nan))


def mean_of(
    values: Any, clusters: Codes, *, n: int | None = None, bounds: tuple[float, float] = (0.0, 1.0)
) -> Statistics:
    """Statistics of the plain mean of one value per unit; units whose value is NaN are left out."""
    values = np.asarray(values, dtype=float)
    known = ~np.isnan(values)
    columns = np.stack([values[known], np.ones(int(known.sum()))], axis=1)
    return Statistics.of(clusters[known], columns, ratio, n=n, bounds=bounds)


def compact(codes: Codes) -> tuple[Codes, int]:
    """Codes renumbered 0, 1 ... in order of value, and how many; each -1 becomes one of its own.

    >>> compact(np.array([7, 3, 7, -1, -1]))
    (array([1, 0, 1, 2, 3]), 4)
    """
    alone = codes < 0
    if not alone.any():
        return _renumber(codes)
    codes = np.asarray(codes, dtype=np.int64).copy()
    named, count = _renumber(codes[~alone])
    codes[~alone] = named
    codes[alone] = count + np.arange(int(alone.sum()))
    return codes, count + int(alone.sum())


def _renumber(codes: Codes) -> tuple[Codes, int]:
    if not len(codes):
        return codes, 0
    top = int(codes.max()) + 1
    if top > 4 * len(codes) + 1000:  # sparse codes: sorting is cheaper than a long table
        values, found = np.unique(codes, return_inverse=True)
        return np.asarray(found, dtype=np.int64), len(values)
    seen = np.bincount(codes, minlength=top) > 0
    return (np.cumsum(seen) - 1)[codes], int(seen.sum())


def blocked(codes: Codes, count: int, k: int) -> tuple[Codes, int]:
    """Cluster codes, or where there are many those of random blocks of clusters; and how many.

    Blocks are drawn once from a fixed seed, so the same table always falls into the same blocks.
    """
    most = max(100, min(BLOCKS, CELLS // max(1, k)))
    if count <= most:
        return codes, count
    block = np.random.default_rng(count).permutation(count) % most
    return block[codes], most

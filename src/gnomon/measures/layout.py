"""Who shares what with whom: the cells of a set, their weights, and the units that they share.

From this alone follows what a jackknife is expected to show. Take a figure that is a mean over
cells, in which every cell and every unit has a random effect: leaving out a unit then moves the
figure by an amount whose expected square is a sum over these sources, each times its variance.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gnomon.measures.columns import Codes, Floats, added, compact

# A unit that has more of the whole is weighed as if it had so much: the jackknife's 1 / (1 - share)
# would let one unit that is nearly everything decide alone.
LARGEST_SHARE = 0.5


class Shared(NamedTuple):
    """The units of each cell; or what it has of each two units, of each three, and so on."""

    of_cells: Codes  # [cells, places]; -1 for none
    number: int  # of units

    def sums(self, columns: Floats) -> Floats:
        """[units, k] columns [cells, k] added up over the cells that share each unit."""
        sums = np.zeros((self.number, columns.shape[1]))
        for units in self.of_cells.T:
            known = units >= 0
            if known.all():
                sums += added(units, self.number, columns)
            else:
                sums += added(units[known], self.number, columns[known])
        return sums

    def shares(self, weights: Floats) -> Floats:
        """[units] the weights of the cells that share each unit."""
        return self.sums(weights[:, None])[:, 0]

    @property
    def are_apart(self) -> bool:
        """Whether no two cells share a unit."""
        return self.number == int((self.of_cells >= 0).sum())

    def per_cell(self, values: Floats) -> Floats:
        """[cells] the values [units] of the units of each cell, added up."""
        with_none = np.append(values, 0.0)
        return np.asarray(with_none[self.of_cells].sum(axis=1))


class LeftOut(NamedTuple):
    """What leaving out each unit of a kind is expected to show, by source of variance.

    Each row is for one source, if its variance is 1 and there is no other.
    """

    squares: Floats  # [sources, units] the square of how far the figure moves
    along: Floats  # [sources, units] the product of that and of the figure's own error


@dataclass(frozen=True)
class UnitLayout:
    """The cells of a set: how much each weighs, and what cells share of each kind of unit.

    >>> pairs = Shared(np.array([[0, 1], [1, 2], [0, 2]]), 3)
    >>> UnitLayout(np.ones(3), ((pairs,),)).added.round(2).tolist()
    [0.33, 1.33]
    """

    sizes: Floats
    # for each kind of unit what cells share: one unit, two ...; empty where cells are the units
    kinds: tuple[tuple[Shared, ...], ...] = ()

    @cached_property
    def weights(self) -> Floats:
        """The share of each cell in the whole."""
        return np.asarray(self.sizes / max(1.0, float(self.sizes.sum())))

    @cached_property
    def cells(self) -> Shared:
        """Each cell as a unit of its own."""
        count = len(self.sizes)
        return Shared(np.arange(count)[:, None], count)

    @cached_property
    def sources(self) -> list[Shared]:
        """What may vary: cells, and the units of each kind."""
        return [self.cells, *(kind[0] for kind in self.kinds)]

    @cached_property
    def added(self) -> Floats:
        """What each source, if its variance is 1, adds to the variance of the figure."""
        found = []
        for source in self.sources:
            found.append(float((source.shares(self.weights) ** 2).sum()))
        return np.array(found)

    @cached_property
    def of_cells(self) -> LeftOut:
        """What leaving out cells is expected to show."""
        return self.left_out(self.cells)

    @cached_property
    def of_units(self) -> list[LeftOut]:
        """For each kind what leaving out its units is expected to show."""
        return [self.left_out(kind[0]) for kind in self.kinds]

    @cached_property
    def expected(self) -> Floats:
        """[jackknives, sources] the expected sum of squares over cells, and over each kind."""
        rows = [self.of_cells.squares.sum(axis=1)]
        for kind, one_unit in zip(self.kinds, self.of_units, strict=True):
            row = one_unit.squares.sum(axis=1)
            sign = -1
            for shared in kind[1:]:
                if shared.number > 1:
                    row = row + sign * self.left_out(shared).squares.sum(axis=1)
                sign = -sign
            rows.append(row)
        return np.array(rows)

    @cached_property
    def coefficients(self) -> Floats:
        """[sources, jackknives] by which the sums of squares give the variance of each source."""
        scaled = self.expected / self.added
        return np.asarray(np.linalg.pinv(scaled, rcond=1e-9) / self.added[:, None])

    def left_out(self, units: Shared) -> LeftOut:
        """What leaving out each of some units is expected to show."""
        share = units.shares(self.weights)
        factor = scale(share)
        squares = []
        along = []
        for source, variance in zip(self.sources, self.added, strict=True):
            of_source = source.shares(self.weights)
            near = units.shares(self.weights * source.per_cell(of_source))
            both = _squares_of_common_shares(units, source, self.weights)
            squares.append(factor**2 * (both - 2 * share * near + share**2 * variance))
            along.append(factor * (near - share * variance))
        return LeftOut(np.array(squares), np.array(along))


def scale(shares: Floats) -> Floats:
    """By what a unit's deviations are to be multiplied: the jackknife's, if it has less than half.

    Without a unit of share s the figure moves by the sum of its deviations over 1 - s.
    """
    return np.asarray(1 / (1 - np.minimum(shares, LARGEST_SHARE)))


def _squares_of_common_shares(one: Shared, other: Shared, weights: Floats) -> Floats:
    """For each unit of `one`: its common share with each unit of `other`, squared and added up."""
    if one.are_apart or other.are_apart:  # two units have one cell in common, or none
        return one.shares(weights**2 * other.per_cell(np.ones(other.number)))
    keys = []
    shares = []
    for mine in one.of_cells.T:
        for theirs in other.of_cells.T:
            both = (mine >= 0) & (theirs >= 0)
            keys.append(mine[both].astype(np.int64) * other.number + theirs[both])
            shares.append(weights[both])
    key = np.concatenate(keys)
    codes, count = compact(key)
    common = np.bincount(codes, weights=np.concatenate(shares), minlength=count)
    unit = np.zeros(count, dtype=np.int64)
    unit[codes] = key // other.number
    return np.asarray(np.bincount(unit, weights=common**2, minlength=one.number), dtype=float)

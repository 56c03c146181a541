"""Who is best among runs on the same items, and whom the test does not tell apart from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Literal, NamedTuple

from gnomon.contracts import Measure
from gnomon.measures.compared import comparable_pairs
from gnomon.measures.comparison import Comparison
from gnomon.measures.table import Table
from gnomon.records import Score
from gnomon.runs import Run


class Side(NamedTuple):
    """A run in a column: the row it has, and the items it was asked there."""

    row: str
    run: Run
    table: Table
    finished: bool


@dataclass(frozen=True)
class Contest:
    """The runs of a column that were asked the same items, and how they compare."""

    values: Mapping[str, float] = field(default_factory=dict)  # by row; empty if no two are alike
    better: Literal["higher", "lower"] = "higher"
    pairs: Sequence[Comparison] = ()

    def goodness(self, row: str) -> float:
        """A number that is higher for a better value."""
        value = self.values[row]
        return value if self.better == "higher" else -value

    @property
    def best(self) -> set[str]:
        """The rows with the best value; several if it is the same to the last digit."""
        top = max(map(self.goodness, self.values), default=nan)
        return {row for row in self.values if self.goodness(row) == top}

    @property
    def tied(self) -> set[str]:
        """The other rows that the test does not tell apart from one of the best."""
        best, found = self.best, set()
        for pair in self.pairs:
            both = {pair.first, pair.second}
            if pair.tied and both & best:
                found |= both - best
        return found


def contest_between(
    sides: Sequence[Side], figures: Mapping[str, Score], measure: Measure, alike: set[str]
) -> Contest:
    """How the rows of runs on the same items compare; nothing if fewer than two have a value."""
    values, tables = {}, []
    for side in sides:
        value = figures[side.row].value
        if side.row in alike and value is not None:
            values[side.row] = value
            tables.append(side.table)
    if len(values) < 2:
        return Contest()
    return Contest(values, measure.better, comparable_pairs(tables, measure, names=list(values)))


def mean_ranks(models: Sequence[str], contests: Mapping[str, Contest]) -> dict[str, float]:
    """The mean over columns of a model's rank by value; equal values share the mean of their ranks.

    Only models that take part in the contests of all columns are ranked, among each other: anything
    else would average over other questions for each. Nothing for a single column or a single model.
    """
    ranked = []
    for row in models:
        if all(row in contest.values for contest in contests.values()):
            ranked.append(row)
    if len(ranked) < 2 or len(contests) < 2:
        return {}
    totals = dict.fromkeys(ranked, 0.0)
    for contest in contests.values():
        here = [contest.goodness(row) for row in ranked]
        for row in ranked:
            mine = contest.goodness(row)
            ahead = sum(other > mine for other in here)
            totals[row] += ahead + (here.count(mine) + 1) / 2
    return {row: total / len(contests) for row, total in totals.items()}

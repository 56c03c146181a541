"""A prompt chosen on some items and scored on others, fold by fold.

The choice is made from tables that hold the choosing items alone, so what is chosen cannot depend
on the items that it is scored on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan, nan
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np

from gnomon.contracts import Measure
from gnomon.errors import UsageError
from gnomon.measures.needs import unmet
from gnomon.measures.table import Table


class SearchFold(NamedTuple):
    """A fold by the ids of its items: those that choose, and those that are scored."""

    choosing: frozenset[str]
    scoring: frozenset[str]


class FoldScore(NamedTuple):
    """What one fold chose, and how that does on the items that it never saw."""

    chosen: int  # which of the tables
    chosen_by: float  # its value of the first measure on the choosing items
    choosing: int  # how many items these are
    values: dict[str, float]  # its measures on the scored items
    first: dict[str, float]  # those of the first table, which nobody chose
    n: int  # how many items were scored


class Search(NamedTuple):
    """The folds together, as the spatial-commonsense paper reports them."""

    folds: tuple[FoldScore, ...]
    measures: tuple[str, ...]

    def mean(self, measure: str) -> float:
        """The average over folds."""
        return fmean(self._known(measure))

    def deviation(self, measure: str) -> float:
        """The sample standard deviation over folds."""
        known = self._known(measure)
        return stdev(known) if len(known) > 1 else nan

    def first(self, measure: str) -> float:
        """What the first table gets on the same items, on average."""
        return fmean([fold.first[measure] for fold in self.folds])

    def _known(self, measure: str) -> list[float]:
        return [fold.values[measure] for fold in self.folds]


def search(
    tables: Sequence[Table], parts: Iterable[SearchFold], measures: Sequence[Measure]
) -> Search:
    """Let each part choose the table that does best by the first measure, and score that one.

    The tables are runs on the same items, each with another prompt.
    """
    folds = []
    for part in parts:
        choosing = [_only(table, part.choosing) for table in tables]
        chosen = choose(choosing, measures[0])
        scored = _only(tables[chosen], part.scoring)
        first = _only(tables[0], part.scoring)
        folds.append(
            FoldScore(
                chosen=chosen,
                chosen_by=value_of(choosing[chosen], measures[0]),
                choosing=len(choosing[chosen]),
                values={measure.name: value_of(scored, measure) for measure in measures},
                first={measure.name: value_of(first, measure) for measure in measures},
                n=len(scored),
            )
        )
    return Search(tuple(folds), tuple(measure.name for measure in measures))


def choose(tables: Sequence[Table], measure: Measure) -> int:
    """Which table does best; of several that do, the first."""
    values = [value_of(table, measure) for table in tables]
    known = [value for value in values if not isnan(value)]
    if not known:
        raise UsageError(
            f"The measure {measure.name} is undefined on the items that choose a prompt.",
            "Choose by another with --measure, such as accuracy.",
        )
    best = max(known) if measure.better == "higher" else min(known)
    return values.index(best)


def value_of(table: Table, measure: Measure) -> float:
    """A measure of the items that name a right answer; NaN where it is undefined."""
    if unmet(measure, table.judged):
        return nan
    return float(measure.statistics(table.judged).value)


def _only(table: Table, ids: frozenset[str]) -> Table:
    """The rows of some items."""
    return table.where(np.array([name in ids for name in table.ids], dtype=bool))

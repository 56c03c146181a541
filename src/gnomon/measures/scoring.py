"""Measures over a table, whole or by the values of a tag, as Score records with their intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan

from gnomon.contracts import Measure
from gnomon.measures.intervals import interval
from gnomon.measures.table import Table
from gnomon.records import Score


def scores(table: Table, measures: Iterable[Measure], by: str | Sequence[str] | None = None, *, draws: int = 0,
           level: float = 0.95, seed: int = 0) -> list[Score]:
    """Every measure on the whole table or, with `by`, on each part that shares a value of that tag (or of each tag).

    `draws` 0 gives analytic intervals, more gives bootstrap intervals from so many draws; both resample clusters.
    """
    measures = list(measures)
    tags = [] if by is None else [by] if isinstance(by, str) else list(by)
    if not tags:
        return [score(table, measure, draws=draws, level=level, seed=seed) for measure in measures]
    found = []
    for tag in tags:
        parts = list(table.by(tag))
        found += [score(part, measure, by=tag, key=key, draws=draws, level=level, seed=seed)
                  for measure in measures for key, part in parts]
    return found


def score(table: Table, measure: Measure, *, by: str = "", key: str = "", draws: int = 0, level: float = 0.95,
          seed: int = 0) -> Score:
    """One measure on one table. What is undefined (an empty slice, a single cluster's interval) is none."""
    statistics = measure.statistics(table)
    found = interval(statistics, level=level, draws=draws, seed=seed)
    return Score(benchmark=table.benchmark, model=table.model, measure=measure.name, by=by, key=key,
                 value=_known(found.value), low=_known(found.low), high=_known(found.high),
                 n=statistics.n, clusters=statistics.clusters)


def _known(value: float) -> float | None:
    return None if isnan(value) else value

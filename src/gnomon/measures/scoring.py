"""Measures over a table, whole or by the values of a tag, as Score records with their intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from gnomon.contracts import Measure
from gnomon.measures.intervals import interval
from gnomon.measures.table import Table
from gnomon.records import Score

if TYPE_CHECKING:
    from gnomon.runs import Run


def scores(
    table: Table,
    measures: Iterable[Measure],
    by: str | Sequence[str] | None = None,
    *,
    draws: int = 0,
    level: float = 0.95,
    seed: int = 0,
    minimum: int = 1,
) -> list[Score]:
    """Every measure on the whole table or, with `by`, on each part that shares a value of that tag
    (or of each tag).

    `draws` 0 gives analytic intervals, more gives bootstrap intervals from so many draws; both
    resample clusters. Parts with fewer than `minimum` items are left out.
    """
    measures = list(measures)
    tags = [] if by is None else [by] if isinstance(by, str) else list(by)
    if not tags:
        return [score(table, measure, draws=draws, level=level, seed=seed) for measure in measures]
    found = []
    for tag in tags:
        parts = [(key, part) for key, part in table.by(tag) if len(part) >= minimum]
        found += [
            score(part, measure, by=tag, key=key, draws=draws, level=level, seed=seed)
            for measure in measures
            for key, part in parts
        ]
    return found


def score_run(
    run: Run,
    *,
    by: str | Sequence[str] = "",
    measures: Sequence[str] = (),
    draws: int = 0,
    level: float = 0.95,
    seed: int = 0,
    minimum: int = 1,
) -> list[Score]:
    """The measures of a run's benchmark (or those named) over all items and then, with `by`, by the
    values of tags."""
    table, names = table_of(run)
    return score_table(
        table, measures or names, by=by, draws=draws, level=level, seed=seed, minimum=minimum
    )


def score_table(
    table: Table, names: Sequence[str], *, by: str | Sequence[str] = "", **options: Any
) -> list[Score]:
    """Measures by name over all items and then, with `by`, by the values of tags."""
    from gnomon.registry import measure

    chosen = [measure(name) for name in names]
    whole = {name: value for name, value in options.items() if name != "minimum"}
    return scores(table, chosen, **whole) + (scores(table, chosen, by, **options) if by else [])


def table_of(run: Run) -> tuple[Table, tuple[str, ...]]:
    """A run's table and the names of its benchmark's measures; plain accuracy if the benchmark is
    not installed."""
    from gnomon.errors import UsageError
    from gnomon.registry import benchmark

    try:
        found = benchmark(run.benchmark.partition("@")[0])
    except UsageError:
        return Table.of_run(run), ("accuracy",)
    return Table.of_run(run, found), found.measures


def score(
    table: Table,
    measure: Measure,
    *,
    by: str = "",
    key: str = "",
    draws: int = 0,
    level: float = 0.95,
    seed: int = 0,
) -> Score:
    """One measure on one table. What is undefined (an empty slice, a single cluster's interval) is
    none."""
    statistics = measure.statistics(table)
    found = interval(statistics, level=level, draws=draws, seed=seed)
    return Score(
        benchmark=table.benchmark,
        model=table.model,
        measure=measure.name,
        by=by,
        key=key,
        value=_known(found.value),
        low=_known(found.low),
        high=_known(found.high),
        n=statistics.n,
        clusters=statistics.clusters,
        run=table.folder,
    )


def _known(value: float) -> float | None:
    return None if isnan(value) else value

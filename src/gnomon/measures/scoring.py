"""Measures over tables, whole or by the values of tags, as Score records with their intervals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from gnomon.contracts import Measure
from gnomon.errors import UsageError
from gnomon.measures.accuracy import ACCURACY
from gnomon.measures.cautions import at_the_stop, one_answer
from gnomon.measures.chance import chance_of, needs_two_runs, unmet
from gnomon.measures.correction import corrected_accuracy, corrected_readings
from gnomon.measures.entries import ScoredTable, measures_of, pooled_over_seeds, sliced, table_of
from gnomon.measures.intervals import interval, known
from gnomon.measures.seeds import SeedScore, over_seeds
from gnomon.measures.statistics import looked_at
from gnomon.measures.table import Table, unknown_tag
from gnomon.records import Score

if TYPE_CHECKING:
    from gnomon.runs import Run


class Scored(NamedTuple):
    """A score, what to call its run among the others, and its seed or how it varies over seeds."""

    score: Score
    label: str
    seed: Any = None
    over_seeds: SeedScore | None = None
    constant: bool = False  # of all items: nearly all were given one answer


def score_entries(
    entries: Sequence[ScoredTable],
    *,
    by: Sequence[str] = (),
    measures: Sequence[str] = (),
    minimum: int = 1,
    draws: int = 0,
    level: float = 0.95,
    seeds_together: bool = False,
) -> list[Scored]:
    """The measures of each entry's benchmark (or those named) over all items and then by tags.

    A tag must be one of some entry's items; entries without it are not sliced by it.
    """
    from gnomon.registry import with_twins

    check_options(level=level, draws=draws, minimum=minimum)
    if seeds_together and draws:
        raise UsageError("Bootstrap draws have no effect over seeds.", "Leave out one of them.")
    for name in measures:
        _check_single(name)
    for tag in by:
        _check_tag(tag, entries)
    if seeds_together:
        pooled = pooled_over_seeds(entries)
        return list(_over_seeds(pooled, by, measures, minimum, level))
    found: list[Scored] = []
    for entry in entries:
        table = entry.table
        rows = score_table(
            table,
            measures or with_twins(entry.measures),
            by=[tag for tag in by if table.has(tag)],
            minimum=minimum,
            draws=draws,
            level=level,
        )
        if not measures:
            rows += _without_mistakes(entry, level)
        found += scored_rows(entry, rows)
    return found


def scored_rows(entry: ScoredTable, rows: Iterable[Score]) -> Iterator[Scored]:
    """The scores of a run, with what to call it."""
    is_constant = one_answer(entry.table) is not None
    for row in rows:
        seed = entry.table.about.seed
        yield Scored(row, entry.label, seed, constant=is_constant and not row.key)


def _without_mistakes(entry: ScoredTable, level: float) -> list[Score]:
    """The accuracy without the mistakes of who judged or read, if a trial allows that."""
    if entry.trial is not None:
        right = corrected_accuracy(entry.table, entry.trial, level)
    elif entry.reading is not None:
        right = corrected_readings(entry.table, entry.reading, level)
    else:
        return []
    if isnan(right.value):
        return []
    found = score(entry.table, ACCURACY, level=level)
    low, high = right.low, right.high
    name = "corrected_accuracy"
    return [replace(found, measure=name, value=right.value, low=low, high=high, chance=None)]


def check_options(*, level: float, draws: int = 0, minimum: int = 1) -> None:
    """Refuse values that make no sense."""
    if not 0 < level < 1:
        raise UsageError(
            f"The level must lie between 0 and 1, not {level}.", "Write 0.95 for 95 %."
        )
    if draws < 0 or draws == 1:
        raise UsageError(
            f"The draws must be 2 or more, or 0 for none, not {draws}.", "1000 are usual."
        )
    if minimum < 1:
        raise UsageError(
            f"The minimum must be 1 or more, not {minimum}.",
            "Slices with fewer items are left out: give 1 to keep all.",
        )


def _check_single(name: str) -> None:
    if needs_two_runs(name):
        raise UsageError(
            f"{name} is a measure over two runs.",
            f"Give two or more to `gnomon compare --measure {name}`.",
        )


def _check_tag(tag: str, entries: Sequence[ScoredTable]) -> None:
    if entries and not any(entry.table.has(tag) for entry in entries):
        raise unknown_tag(tag, [entry.table for entry in entries])


def _over_seeds(
    entries: Sequence[ScoredTable],
    tags: Sequence[str],
    chosen: Sequence[str],
    minimum: int,
    level: float,
) -> Iterator[Scored]:
    """Entries of several seeds: first all totals, then the slices of each tag."""
    from gnomon.registry import measure

    for tag, parts in sliced(entries, tags, minimum):
        for name in chosen or measures_of(parts):
            for key, part in parts.items():
                found = over_seeds(
                    part.seeds, measure(name), pooled=part.table, by=tag, key=key, level=level
                )
                yield Scored(found.score, part.label, over_seeds=found)


def score_run(run: Run) -> list[Score]:
    """The measures of a run's benchmark over all its items."""
    return score_table(*table_of(run))


def score_table(
    table: Table, names: Sequence[str], *, by: str | Sequence[str] = "", **options: Any
) -> list[Score]:
    """Measures by name over all items and then, with `by`, by the values of tags."""
    from gnomon.registry import measure

    chosen = [measure(name) for name in names]
    whole = {name: value for name, value in options.items() if name != "minimum"}
    found = scores(table, chosen, **whole)
    if by:
        found += scores(table, chosen, by, **options)
    return found


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
    """Every measure on the whole table or, with `by`, on each part that shares a value of a tag.

    `draws` 0 gives analytic intervals, more gives bootstrap intervals from so many draws; both are
    over units. Parts with fewer than `minimum` items are left out.
    """
    measures = list(measures)
    if not by:
        return [score(table, measure, draws=draws, level=level, seed=seed) for measure in measures]
    found = []
    for tag in [by] if isinstance(by, str) else by:
        parts = [(key, part) for key, part in table.by(tag) if len(part) >= minimum]
        for measure in measures:
            for key, part in parts:
                row = score(part, measure, by=tag, key=key, draws=draws, level=level, seed=seed)
                found.append(row)
    return found


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
    """One measure on one table.

    What is undefined is none: the value where a need of the measure is not met or a slice is empty,
    the interval of a single unit.
    """
    undefined = Score(
        benchmark=table.benchmark,
        model=table.model,
        measure=measure.name,
        by=by,
        key=key,
        value=None,
        run=table.about.folder,
    )
    if unmet(measure, table.judged):
        return undefined
    statistics = looked_at(measure.statistics(table.judged), table.about.looked)
    found = interval(statistics, level=level, draws=draws, seed=seed)
    if not by:
        found = at_the_stop(table, measure, found, level)
    return replace(
        undefined,
        value=known(found.value),
        low=known(found.low),
        high=known(found.high),
        chance=chance_of(measure, table),
        n=statistics.n,
        clusters=statistics.clusters,
        units=statistics.units,
    )

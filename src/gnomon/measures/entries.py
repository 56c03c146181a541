"""What is scored and compared: tables, each with its name among the others and its measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.errors import UsageError
from gnomon.grouped import grouped
from gnomon.measures.correction import Trial, trial_in
from gnomon.measures.runlabels import labels, labels_of
from gnomon.measures.seeds import by_seed, seedless, slices, together
from gnomon.measures.table import Details, Table
from gnomon.measures.written import of_written

if TYPE_CHECKING:
    from gnomon.runs import Run


# Of a model that paints, whatever the benchmark: its judge may see nothing, and then abstains.
OF_PICTURES = (
    "accuracy",
    "recognised_share",
    "recognised_accuracy",
    "guessed_accuracy",
    "recognised_macro_f1",
    "guessed_macro_f1",
)


class ScoredTable(NamedTuple):
    """The answers of one run or file, the measures of its benchmark, and what to call it."""

    table: Table
    measures: tuple[str, ...]
    label: str
    absent: int = 0  # items of which a file of answers says nothing
    seeds: tuple[Table, ...] = ()  # the tables of runs that were taken together
    unlisted: tuple[str, ...] = ()  # forms of permuted items whose choices the model was not shown
    trial: Trial | None = None  # of the judge that looked at what the model painted


def table_of(run: Run) -> tuple[Table, tuple[str, ...]]:
    """A run's table and its benchmark's measures; accuracy if the benchmark is not installed."""
    from gnomon.registry import asked_benchmark

    found = asked_benchmark(run.benchmark, run.manifest.about)
    if found is None:
        table = Table.of_run(run)
        return table, ("accuracy", *of_written(table))
    measures = found.measures
    if "painter" in run.manifest.model_description:
        measures = OF_PICTURES
    table = Table.of_run(run, found)
    if table.judged.marks_only:
        measures = ("accuracy",)  # those of the benchmark are about choices
    further = [name for name in of_written(table) if name not in measures]
    return table, (*measures, *further)


def entries_of(runs: Iterable[Run]) -> list[ScoredTable]:
    """The runs, those of one model on one benchmark labelled by the settings that differ."""
    opened = list(runs)
    found = [table_of(run) for run in opened]
    names: dict[int, str] = {}
    for here in by_benchmark([table for table, _ in found]):
        names.update(zip(map(id, here), labels_of(here), strict=True))
    entries = []
    for run, (table, measures) in zip(opened, found, strict=True):
        unlisted = tuple(run.manifest.unlisted)
        trial = trial_in(run.manifest.model_description)
        entries.append(
            ScoredTable(table, measures, names[id(table)], unlisted=unlisted, trial=trial)
        )
    return entries


def with_guesses(entries: Sequence[ScoredTable], seed: int) -> list[ScoredTable]:
    """The entries with a seeded guess wherever there is no answer."""
    from gnomon.measures.accuracy import guessed

    return [entry._replace(table=guessed(entry.table, seed)) for entry in entries]


def matched_by(entries: Sequence[ScoredTable], tag: str) -> list[ScoredTable]:
    """The entries with their items named by a tag, so that forms of one fact meet as one item.

    Items without the tag are left out.
    """
    found = []
    for entry in entries:
        column = entry.table.column(tag)
        table = entry.table.where(np.flatnonzero(column.codes >= 0))
        column = table.column(tag)
        names = [column.values[code] for code in column.codes.tolist()]
        if len(set(names)) < len(names):
            raise UsageError(
                f"Two items of {entry.label} have the same value of the tag '{tag}'.",
                "Match by a tag that names each item of a run once.",
            )
        found.append(entry._replace(table=_renamed(table, names)))
    return found


def on_items_of(table: Table, others: Sequence[Table]) -> Table:
    """A table on the items to which each of the other runs has an answer, in whatever form asked.

    Spatial commonsense, Tables 2 to 5, compares models of text on the items whose pictures were
    recognised. An item of two forms has ids that differ in the form alone.
    """
    wanted = set(_questions(table))
    for other in others:
        wanted &= set(_questions(other.where(other.answered)))
    if not wanted:
        names = " and ".join(other.about.folder or other.model for other in others)
        raise UsageError(
            f"{names} has an answer to no item of {table.model} on {table.benchmark}.",
            "Name a run on the same benchmark, source and seed.",
        )
    kept = table.where(np.array([name in wanted for name in _questions(table)]))
    total = len(kept) + table.total - len(table)  # what was not asked yet stays so
    return replace(kept, about=replace(kept.about, total=total))


def _questions(table: Table) -> list[str]:
    """The items' ids without the form that they are asked in."""
    found = []
    for name, form in zip(table.ids.tolist(), table.form.text(), strict=True):
        found.append("/".join(part for part in name.split("/") if part != form))
    return found


def restricted(entries: Sequence[ScoredTable], others: Sequence[Table]) -> list[ScoredTable]:
    """The entries on the items to which other runs have an answer."""
    return [entry._replace(table=on_items_of(entry.table, others)) for entry in entries]


def _renamed(table: Table, names: list[str]) -> Table:
    details = Details(lambda: table.tags, lambda: None)  # other wordings mean the same here
    return replace(table, ids=np.array(names, dtype=object), details=details)


def by_benchmark(tables: Iterable[Table]) -> list[list[Table]]:
    """The tables of each benchmark and source, in order of first occurrence."""
    return list(grouped(tables, lambda table: table.benchmark).values())


def pooled_over_seeds(entries: Sequence[ScoredTable]) -> list[ScoredTable]:
    """One entry for all that differ in nothing but their seeds."""
    return pooled(entries, by_seed, seedless, lambda group, _: together(group))


def pooled(
    entries: Sequence[ScoredTable],
    groups_of: Callable[[list[Table]], list[list[Table]]],
    settings: Callable[[Table], Mapping[str, Any]],
    pool: Callable[[list[Table], list[Table]], Table],
) -> list[ScoredTable]:
    """One entry for each group of tables of one benchmark.

    `settings` are those that a group shares; `pool` makes one table of a group, and is given all
    tables of the benchmark besides.
    """
    measures = {id(entry.table): entry.measures for entry in entries}
    found = []
    for here in by_benchmark([entry.table for entry in entries]):
        groups = groups_of(here)
        firsts = [group[0] for group in groups]
        names = labels([first.model for first in firsts], [settings(first) for first in firsts])
        for group, name in zip(groups, names, strict=True):
            own = measures[id(group[0])]
            found.append(ScoredTable(pool(group, here), own, name, seeds=tuple(group)))
    return found


def sliced(
    entries: Sequence[ScoredTable], tags: Sequence[str], minimum: int
) -> Iterator[tuple[str, dict[str, ScoredTable]]]:
    """Pooled entries whole, and then by the values of each tag; each with all its seeds."""
    for entry in entries:
        yield "", {"": entry}
    for tag in tags:
        for entry in entries:
            parts = slices(entry.seeds, tag, minimum)
            tables = dict(entry.table.by(tag)) if parts else {}
            found = {}
            for key, seeds in parts.items():
                found[key] = entry._replace(table=tables[key], seeds=tuple(seeds))
            yield tag, found


def measures_of(parts: Mapping[str, ScoredTable]) -> tuple[str, ...]:
    """The measures of the entry that these are parts of."""
    return next((part.measures for part in parts.values()), ())


def check_finished(entries: Sequence[ScoredTable]) -> None:
    """Refuse runs that were not asked all their items: each would be judged by other questions."""
    for entry in entries:
        asked, total = len(entry.table), entry.table.total
        if entry.table.about.shard:
            raise UsageError(
                f"{entry.label} on {entry.table.benchmark} is part of a run: it holds {asked:,} of "
                f"{total:,} items.",
                "Make one run of all shards with `gnomon runs merge`, or compare on the items that "
                "both runs were asked with --unfinished (in Python: unfinished=True).",
            )
        if asked < total:
            raise UsageError(
                f"{entry.label} on {entry.table.benchmark} is not finished: it was asked "
                f"{asked:,} of {total:,} items.",
                "Finish it by giving its `gnomon run` command again, or compare on the items that "
                "both runs were asked with --unfinished (in Python: unfinished=True).",
            )

"""Runs compared: on each benchmark, every pair of them by every measure, and their leaderboards."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from gnomon.contracts import Measure, PairMeasure
from gnomon.errors import UsageError
from gnomon.grouped import grouped
from gnomon.measures import comparison
from gnomon.measures.accuracy import accuracy, error_parts, told_parts
from gnomon.measures.cautions import cautions
from gnomon.measures.chance import needs_two_runs
from gnomon.measures.entries import ScoredTable, check_finished, pooled_over_seeds
from gnomon.measures.intervals import interval
from gnomon.measures.pairing import NothingSharedError, aligned, boards
from gnomon.measures.scoring import check_options
from gnomon.measures.statistics import standard_error
from gnomon.measures.table import Table


class OneModelError(UsageError):
    """All runs on a benchmark are of one model."""


class Leaderboard(NamedTuple):
    """A leaderboard over the items that all its runs share."""

    ranks: list[comparison.Rank]  # best first
    most: int  # items of the run that has most


class RankedRuns(NamedTuple):
    """The runs on one benchmark by one measure."""

    pairs: list[comparison.Comparison]
    boards: list[Leaderboard]


class Agreement(NamedTuple):
    """What the answers of two runs mean together, such as how often they agree."""

    benchmark: str
    measure: str
    first: str
    second: str
    value: float
    low: float
    high: float
    n: int
    clusters: int
    units: str = ""


class ComparedRuns(NamedTuple):
    """All that came of comparing some runs."""

    compared: list[RankedRuns]
    agreements: list[Agreement]  # by measures over two runs
    remarks: list[str]  # on what was not compared, or not on all items; sentences


def compare_entries(
    entries: Sequence[ScoredTable],
    *,
    measures: Sequence[str] = (),
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
    seeds_together: bool = False,
    unfinished: bool = False,
) -> ComparedRuns:
    """Every pair of runs (or, over seeds, of models) on one benchmark, by its first measure.

    Remarks say what cannot be compared; it is an error if nothing can.
    """
    check_options(level=level, draws=draws)
    if len(entries) < 2:
        raise UsageError("There is nothing to compare: one run is given.", "Give two or more runs.")
    if not unfinished:
        check_finished(entries)
    found = ComparedRuns([], [], [])
    problems: list[UsageError] = []
    for benchmark, here in _by_benchmark(entries).items():
        if len(here) == 1:
            found.remarks.append(f"{benchmark}: one run only, not compared.")
            continue
        found.remarks.extend(_unfinished(here))
        found.remarks.extend(cautions([(entry.label, entry.table) for entry in here]))
        if seeds_together:
            here = pooled_over_seeds(here)
        for name in measures or here[0].measures[:1]:
            try:
                _compare(here, name, found, level=level, draws=draws, seed=seed)
            except (OneModelError, NothingSharedError) as error:
                problems.append(error)
    if not found.compared and not found.agreements:
        raise problems[0]
    found.remarks.extend(dict.fromkeys(error.message for error in problems))
    return found


def _by_benchmark(entries: Sequence[ScoredTable]) -> dict[str, list[ScoredTable]]:
    groups = grouped(entries, lambda entry: entry.table.benchmark)
    if all(len(group) == 1 for group in groups.values()):
        raise UsageError(
            "There is nothing to compare: no two of these runs are on the same benchmark.",
            "Give two or more runs of different models on the same items.",
        )
    return groups


def _unfinished(entries: Sequence[ScoredTable]) -> list[str]:
    remarks = []
    for table, _, label, *_ in entries:
        if len(table) < table.total:
            asked = f"asked {len(table):,} of {table.total:,} items"
            remarks.append(f"{label} on {table.benchmark}: {asked}; it is compared on those.")
    return remarks


def _compare(
    entries: Sequence[ScoredTable],
    name: str,
    outcome: ComparedRuns,
    *,
    level: float,
    draws: int,
    seed: int,
) -> None:
    """Add to an outcome what a measure says about the runs on one benchmark."""
    from gnomon.registry import measure, pair_measure

    first = entries[0]
    if len(entries) < 2:
        raise OneModelError(
            f"There is nothing to compare: all runs on {first.table.benchmark} are of "
            f"{first.table.model}.",
            "Give runs of two or more models.",
        )
    made: list[comparison.Comparison] | list[Agreement]
    if needs_two_runs(name):
        made = agreements(entries, pair_measure(name), level=level)
        outcome.agreements.extend(made)
    else:
        found = _ranked(entries, measure(name), level=level, draws=draws, seed=seed)
        outcome.compared.append(found)
        made = found.pairs
        if name == "accuracy":
            outcome.remarks.extend(_on_samples(entries))
    pairs = {(each.first, each.second) for each in made}
    for one, two in combinations(entries, 2):
        if (one.label, two.label) not in pairs:
            outcome.remarks.append(
                f"{one.label} and {two.label} share no items of {first.table.benchmark}: "
                "not compared."
            )


def _on_samples(entries: Sequence[ScoredTable]) -> Iterator[str]:
    """Where the errors of differences come from, if any run has several samples of an item."""
    for one, two in combinations(entries, 2):
        if one.table.samples is None and two.table.samples is None:
            continue
        try:
            tables = aligned(one.table, two.table)
        except NothingSharedError:
            continue
        gap = comparison.difference(*map(accuracy, tables))
        parts = error_parts(tables, standard_error(gap))
        if parts is not None:
            yield f"{one.label} and {two.label}: {told_parts(parts, 'their difference')}"


def comparable_pairs(
    tables: Sequence[Table], measure: Measure, *, names: Sequence[str] = ()
) -> list[comparison.Comparison]:
    """Every two tables that the measure can compare; p-values corrected for how many there are.

    Left out are those that were asked nothing yet, and those for which the measure is over
    different items.
    """
    names = names or [table.model for table in tables]
    found: list[comparison.Comparison] = []
    for i, j in combinations(range(len(tables)), 2):
        try:
            two = [tables[i], tables[j]]
            found += comparison.compare(two, measure, draws=0, names=[names[i], names[j]])
        except UsageError:
            continue
    return comparison.with_holm(found)


def agreements(
    entries: Sequence[ScoredTable], measure: PairMeasure, *, level: float = 0.95
) -> list[Agreement]:
    """A measure over two runs, for every pair that shares items; it is an error if none does."""
    found: list[Agreement] = []
    apart: NothingSharedError | None = None
    for one, two in combinations(entries, 2):
        try:
            first, second = aligned(one.table, two.table)
        except NothingSharedError as error:
            apart = error
            continue
        statistics = measure.statistics(first, second)
        value, low, high, _ = interval(statistics, level=level)
        who = (first.benchmark, measure.name, one.label, two.label)
        counts = (statistics.n, statistics.clusters, statistics.units)
        found.append(Agreement(*who, value, low, high, *counts))
    if apart and not found:
        raise apart
    return found


def _ranked(
    entries: Sequence[ScoredTable], measure: Measure, *, level: float, draws: int, seed: int
) -> RankedRuns:
    """All pairs, and a leaderboard for each set of runs that have enough items in common."""
    tables = [entry.table for entry in entries]
    names = [entry.label for entry in entries]
    pairs = comparison.compare(tables, measure, level=level, draws=draws, seed=seed, names=names)
    found = []
    for members in boards(tables):
        if len(members) < 2:
            continue
        here = [tables[i] for i in members]
        called = [names[i] for i in members]
        within = [each for each in pairs if each.first in called and each.second in called]
        ranks = comparison.leaderboard(here, measure, within, level=level, names=called)
        found.append(Leaderboard(ranks, max(map(len, here))))
    return RankedRuns(pairs, found)

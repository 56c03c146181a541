"""Do models differ, and by how much: paired over the same items, with clusters as what varies.

The test swaps the two models within whole clusters, at random or in every possible way: if they
were equally good, the swapped difference would often be as large as the real one. It needs no
formula for the measure and no normal law.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import isnan, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.contracts import Measure
from gnomon.errors import UsageError
from gnomon.measures.distributions import t_cdf, t_quantile
from gnomon.measures.intervals import freedom, interval, standard_error
from gnomon.measures.pairing import NothingSharedError, boards, paired, shared
from gnomon.measures.runlabels import labels_of
from gnomon.measures.statistics import Floats, Statistics
from gnomon.measures.table import Table

if TYPE_CHECKING:
    from gnomon.runs import Run

SWAPS = 9_999
EXACT = 13  # up to so many clusters every way of swapping is tried


class Comparison(NamedTuple):
    """Two models on the same items. The difference is first minus second."""

    benchmark: str
    measure: str
    first: str
    second: str
    first_value: float
    second_value: float
    difference: float
    low: float  # interval of the difference: jackknife over clusters with Student's t
    high: float
    bootstrap_low: float  # the same from a paired bootstrap of clusters
    bootstrap_high: float
    p: float  # of the swapping test
    p_adjusted: float  # Holm's correction over all pairs compared by the same measure
    detectable: float  # the least true difference that these items would show with a chance of 80 %
    n: int
    clusters: int

    @property
    def differ(self) -> bool:
        """Whether the models differ at the 5 % level after correction."""
        return self.p_adjusted < 0.05

    @property
    def tied(self) -> bool:
        """Whether the test was made and cannot tell the models apart; with a single cluster there
        is no test."""
        return self.p_adjusted >= 0.05


class Rank(NamedTuple):
    """A model's place on a leaderboard: from `best` to `worst` given which models it differs
    from."""

    model: str
    value: float
    low: float
    high: float
    best: int
    worst: int
    tied: tuple[str, ...]  # the models that it cannot be told from
    n: int = 0  # what the value is over: the items that all models of its board share
    clusters: int = 0
    run: str = ""


def compare(
    tables: Sequence[Table],
    measure: Measure,
    *,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> list[Comparison]:
    """Every pair of tables on the items they share, p-values corrected for the number of pairs.

    Pairs that share none are left out; it is an error if all do.
    """
    names, found, apart = labels_of(tables), [], None
    for (one, name), (two, other) in combinations(list(zip(tables, names, strict=True)), 2):
        try:
            found.append(_compare_two(one, two, measure, name, other, level, draws, seed))
        except NothingSharedError as error:
            apart = error
    if apart and not found:
        raise apart
    adjusted = holm([each.p for each in found])
    return [each._replace(p_adjusted=p) for each, p in zip(found, adjusted, strict=True)]


def compare_runs(
    runs: Sequence[Run],
    *,
    measure: str = "",
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
    over_seeds: bool = False,
) -> list[Comparison]:
    """Every pair of runs (or, over seeds, of models) on the same benchmark, by a measure or the
    benchmark's first."""
    from gnomon.registry import measure as named

    found, apart = [], None
    for tables, names in by_benchmark(runs, over_seeds=over_seeds):
        try:
            found += compare(
                tables, named(measure or names[0]), level=level, draws=draws, seed=seed
            )
        except NothingSharedError as error:
            apart = error
    if apart and not found:
        raise apart
    return found


def by_benchmark(
    runs: Sequence[Run], *, over_seeds: bool = False
) -> Iterator[tuple[list[Table], tuple[str, ...]]]:
    """The tables of the runs on each benchmark and source that has several, and its measures; over
    seeds, a table for all runs that differ in nothing else."""
    from gnomon.measures.scoring import table_of
    from gnomon.measures.seeds import by_seed
    from gnomon.measures.seeds import together as pooled

    together: dict[str, list[Run]] = {}
    for run in runs:
        together.setdefault(run.benchmark, []).append(run)
    if not any(len(group) > 1 for group in together.values()):
        raise UsageError(
            "There is nothing to compare: no two of these runs are on the same benchmark.",
            "Give two or more runs of different models on the same items.",
        )
    for group in together.values():
        if len(group) > 1:
            found = [table_of(run) for run in group]
            tables = [table for table, _ in found]
            yield (
                [pooled(group) for group in by_seed(tables)] if over_seeds else tables,
                found[0][1],
            )


def leaderboard(
    tables: Sequence[Table],
    measure: Measure,
    comparisons: Sequence[Comparison],
    *,
    level: float = 0.95,
    names: Sequence[str] = (),
) -> list[Rank]:
    """Models from best to worst, with the range of ranks that the comparisons leave open for each.

    A value is over the items that all tables share; tables that have too little in common to stand
    on one board (see `boards`) are each scored with those of their own board. `names` are those
    that the comparisons use, if the tables are only some of those compared.
    """
    names = names or labels_of(tables)
    values, counts = {}, {}
    for board in boards(tables):
        for place, table in zip(board, shared([tables[i] for i in board]), strict=True):
            statistics = measure.statistics(table)
            values[names[place]] = interval(statistics, level=level)
            counts[names[place]] = (len(table), statistics.clusters, table.folder)
    tied: dict[str, set[str]] = {name: set() for name in names}
    better: dict[str, set[str]] = {name: set() for name in names}
    worse: dict[str, set[str]] = {name: set() for name in names}
    for each in comparisons:
        if each.tied:
            tied[each.first].add(each.second)
            tied[each.second].add(each.first)
        if each.differ:
            upper, lower = (
                (each.first, each.second) if each.difference > 0 else (each.second, each.first)
            )
            better[lower].add(upper)
            worse[upper].add(lower)
    order = sorted(
        names,
        key=lambda name: (-values[name].value if not isnan(values[name].value) else 2.0, name),
    )
    return [
        Rank(
            name,
            *values[name][:3],
            1 + len(better[name]),
            len(names) - len(worse[name]),
            tuple(other for other in order if other in tied[name]),
            *counts[name],
        )
        for name in order
    ]


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: the chance of any false difference stays below the level. NaN
    stays NaN.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    known = sorted((p, i) for i, p in enumerate(p_values) if not isnan(p))
    adjusted, most = [nan] * len(p_values), 0.0
    for rank, (p, i) in enumerate(known):
        most = max(most, min(1.0, (len(known) - rank) * p))
        adjusted[i] = most
    return adjusted


def difference(one: Statistics, two: Statistics) -> Statistics:
    """The statistics of a difference, cluster by cluster."""
    k = one.sums.shape[1]
    return Statistics(
        np.concatenate([one.sums, two.sums], axis=1),
        lambda sums: one.finish(sums[..., :k]) - two.finish(sums[..., k:]),
        min(one.n, two.n),
        min(one.clusters, two.clusters),
        (-np.inf, np.inf),
        one.degree,
    )


def swapping_test(one: Statistics, two: Statistics, *, swaps: int = SWAPS, seed: int = 0) -> float:
    """The two-sided p-value of no difference, by swapping the models within clusters.

    With few clusters every way of swapping is tried, and p is exact. With more, random ways are,
    and those that give just the real difference count half (the mid-p value), or shares of few
    items would make the test too shy. Where a unit belongs to several clusters (triples of
    objects), these cannot be swapped apart: Student's t instead.
    """
    real = one.value - two.value
    count = len(one.sums)
    if isnan(real) or count < 2:
        return nan
    if one.degree > 1:
        return t_test(difference(one, two))
    total, gap = one.total, two.sums - one.sums
    both = total + two.total
    moved = gap[
        np.any(gap != 0, axis=1)
    ]  # clusters on which the models do not differ change nothing
    if not len(moved):
        return 1.0
    exact = len(moved) <= EXACT
    extreme, tried = 0.0, 0
    for swap in _every_way(len(moved)) if exact else _some_ways(len(moved), swaps, seed):
        swapped = total + swap @ moved
        gaps = one.finish(swapped) - two.finish(both - swapped)
        beyond = np.abs(gaps) - abs(real)
        extreme += float((beyond >= -1e-12).sum())
        if not exact:
            extreme -= 0.5 * float((np.abs(beyond) < 1e-12).sum())
        tried += len(swap)
    return extreme / tried if exact else (extreme + 1) / (tried + 1)


def t_test(gap: Statistics) -> float:
    """The two-sided p-value of a zero difference, from its jackknife error and Student's t."""
    error = standard_error(gap)
    if isnan(error) or isnan(gap.value) or min(gap.clusters, gap.n) < 2:
        return nan
    if error == 0:
        return 1.0 if gap.value == 0 else 0.0
    return 2 * (1 - t_cdf(abs(gap.value) / error, freedom(gap)))


def detectable_difference(
    error: float, clusters: int, *, level: float = 0.95, power: float = 0.8
) -> float:
    """The least true difference that a paired test at this level would find with a chance of
    `power`.

    `error` is the standard error of a difference; one from a pilot with g clusters scales with
    sqrt(g / clusters).
    """
    if clusters < 2 or isnan(error):
        return nan
    return (t_quantile((1 + level) / 2, clusters - 1) + t_quantile(power, clusters - 1)) * error


def _compare_two(
    one: Table,
    two: Table,
    measure: Measure,
    name: str,
    other: str,
    level: float,
    draws: int,
    seed: int,
) -> Comparison:
    a, b = paired(one, two, measure)
    gap = difference(a, b)
    found, drawn = interval(gap, level=level), interval(gap, level=level, draws=draws, seed=seed)
    return Comparison(
        one.benchmark,
        measure.name,
        name,
        other,
        a.value,
        b.value,
        found.value,
        found.low,
        found.high,
        drawn.low,
        drawn.high,
        swapping_test(a, b, seed=seed),
        nan,
        detectable_difference(found.error, len(gap.sums), level=level),
        gap.n,
        gap.clusters,
    )


def _every_way(count: int) -> Iterator[Floats]:
    numbers = np.arange(2**count)
    yield ((numbers[:, None] >> np.arange(count)) & 1).astype(float)


def _some_ways(count: int, swaps: int, seed: int) -> Iterator[Floats]:
    rng = np.random.default_rng(seed)
    step = max(1, min(swaps, 4_000_000 // count))
    for start in range(0, swaps, step):
        yield rng.integers(0, 2, size=(min(step, swaps - start), count), dtype=np.int8).astype(
            float
        )

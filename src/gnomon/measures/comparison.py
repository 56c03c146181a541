"""Do models differ, and by how much: paired over the same items, with units as what varies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import inf, isnan, nan
from typing import Literal, NamedTuple

from gnomon.contracts import Measure
from gnomon.errors import UsageError
from gnomon.measures.chance import chance_of
from gnomon.measures.intervals import Interval, interval
from gnomon.measures.needs import WORDS, unmet
from gnomon.measures.pairing import NothingSharedError, boards, paired, shared
from gnomon.measures.runlabels import labels_of
from gnomon.measures.swapping import detectable_difference, difference, swapping_test
from gnomon.measures.table import Table
from gnomon.measures.variance import uncertainty

SIGNIFICANT = 0.05


class Comparison(NamedTuple):
    """Two models on the same items. The difference is first minus second."""

    benchmark: str
    measure: str
    first: str
    second: str
    first_value: float
    second_value: float
    difference: float
    low: float  # interval of the difference: its error over units with Student's t
    high: float
    bootstrap_low: float  # the same from a paired bootstrap of units
    bootstrap_high: float
    p: float  # of the swapping test, or Student's t where units overlap
    p_adjusted: float  # Holm's correction over all pairs compared by the same measure
    detectable: float  # the least true difference that these items would show with a chance of 80 %
    n: int
    clusters: int  # units of the kind that has fewest
    better: Literal["higher", "lower"] = "higher"  # which value of the measure is
    units: str = ""  # how many there are of each kind, in words

    @property
    def differ(self) -> bool:
        """Whether the models differ at the 5 % level after correction."""
        return self.p_adjusted < SIGNIFICANT

    @property
    def tied(self) -> bool:
        """Whether the test was made and finds no difference; a single unit allows no test."""
        return self.p_adjusted >= SIGNIFICANT

    @property
    def ahead(self) -> str:
        """The model with the better value, by chance or not; empty if they are equal."""
        if isnan(self.difference) or self.difference == 0:
            return ""
        first_is_better = (self.difference > 0) == (self.better == "higher")
        return self.first if first_is_better else self.second


class Rank(NamedTuple):
    """A model's place on a leaderboard: from `best` to `worst`, by the models it differs from."""

    model: str
    value: float
    low: float
    high: float
    best: int
    worst: int
    tied: tuple[str, ...]  # the models from which the test does not tell it apart
    n: int = 0  # what the value is over: the items that all models of its board share
    clusters: int = 0
    run: str = ""
    units: str = ""
    chance: float | None = None  # what a guess is expected to get; none where that is not known


def compare(
    tables: Sequence[Table],
    measure: Measure,
    *,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
    names: Sequence[str] = (),
) -> list[Comparison]:
    """Every pair of tables on the items they share, p-values corrected for the number of pairs.

    Pairs that share none are left out; it is an error if all do. `names` are what to call the
    tables, if not by their models and settings.
    """
    names = names or labels_of(tables)
    for table, name in zip(tables, names, strict=True):
        lacking = unmet(measure, table)
        if lacking:
            raise UsageError(
                f"{measure.name} needs {WORDS[lacking]}: {name} on {table.benchmark}.",
                "Compare by another measure, or leave that run out.",
            )
    found: list[Comparison] = []
    apart: NothingSharedError | None = None
    for i, j in combinations(range(len(tables)), 2):
        try:
            pair = _compare_two(tables[i], tables[j], measure, level, draws, seed)
        except NothingSharedError as error:
            apart = error
            continue
        found.append(pair._replace(first=names[i], second=names[j]))
    if apart and not found:
        raise apart
    return with_holm(found)


def with_holm(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons, with p-values corrected for how many there are."""
    adjusted = holm([each.p for each in comparisons])
    return [each._replace(p_adjusted=p) for each, p in zip(comparisons, adjusted, strict=True)]


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: the chance of any false difference stays below the level.

    NaN stays NaN.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    known = sorted((p, i) for i, p in enumerate(p_values) if not isnan(p))
    adjusted, most = [nan] * len(p_values), 0.0
    for rank, (p, i) in enumerate(known):
        most = max(most, min(1.0, (len(known) - rank) * p))
        adjusted[i] = most
    return adjusted


def _compare_two(
    one: Table, two: Table, measure: Measure, level: float, draws: int, seed: int
) -> Comparison:
    a, b = paired(one, two, measure)
    gap = difference(a, b)
    found = interval(gap, level=level)
    drawn = interval(gap, level=level, draws=draws, seed=seed)
    return Comparison(
        benchmark=one.benchmark,
        measure=measure.name,
        first=one.model,
        second=two.model,
        first_value=a.value,
        second_value=b.value,
        difference=found.value,
        low=found.low,
        high=found.high,
        bootstrap_low=drawn.low,
        bootstrap_high=drawn.high,
        p=swapping_test(a, b, seed=seed),
        p_adjusted=nan,
        detectable=detectable_difference(uncertainty(gap), level=level),
        n=gap.n,
        clusters=gap.clusters,
        better=measure.better,
        units=gap.units,
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
    values: dict[str, Interval] = {}
    counts: dict[str, tuple[int, int, str, str, float | None]] = {}
    for board in boards(tables):
        for place, table in zip(board, shared([tables[i] for i in board]), strict=True):
            statistics = measure.statistics(table.judged)
            values[names[place]] = interval(statistics, level=level)
            about = (len(table), statistics.clusters, table.about.folder, statistics.units)
            counts[names[place]] = (*about, chance_of(measure, table))
    tied, better, worse = _verdicts(names, comparisons)

    def goodness(name: str) -> tuple[float, str]:
        value = values[name].value
        if isnan(value):
            return inf, name
        return (-value if measure.better == "higher" else value), name

    order = sorted(names, key=goodness)
    ranks = []
    for name in order:
        found = values[name]
        best, worst = 1 + better[name], len(names) - worse[name]
        with_it = tuple(other for other in order if other in tied[name])
        row = Rank(name, found.value, found.low, found.high, best, worst, with_it, *counts[name])
        ranks.append(row)
    return ranks


def _verdicts(
    names: Sequence[str], comparisons: Sequence[Comparison]
) -> tuple[Mapping[str, set[str]], Mapping[str, int], Mapping[str, int]]:
    """For each model: those that it is tied with, how many are better and how many are worse."""
    tied: dict[str, set[str]] = {name: set() for name in names}
    better = dict.fromkeys(names, 0)
    worse = dict.fromkeys(names, 0)
    for each in comparisons:
        if each.tied:
            tied[each.first].add(each.second)
            tied[each.second].add(each.first)
        if each.differ:
            lower = each.second if each.ahead == each.first else each.first
            better[lower] += 1
            worse[each.ahead] += 1
    return tied, better, worse

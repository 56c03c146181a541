"""Do two runs differ: paired tests within units, with ranks over several."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import inf, isnan, nan
from typing import Literal, NamedTuple

import numpy as np

from gnomon.contracts import Measure
from gnomon.errors import UsageError
from gnomon.measures.cautions import at_the_stop, one_answer
from gnomon.measures.chance import WORDS, chance_of, unmet
from gnomon.measures.columns import Floats
from gnomon.measures.intervals import interval, t_cdf, t_quantile
from gnomon.measures.pairing import NothingSharedError, boards, paired, shared
from gnomon.measures.runlabels import labels_of
from gnomon.measures.statistics import Statistics, Uncertainty, looked_at, uncertainty
from gnomon.measures.table import Table

# Two models on the same units: their difference, and the test whether it is one.
#
# The test swaps the two models within whole units, at random or in every possible way: if they
# were equally good, the swapped difference would often be as large as the real one. It needs no
# formula for the measure and no normal law. Units that overlap cannot be swapped apart: there it
# is Student's t on the error that `variance` gives.


SWAPS = 9_999
EXACT = 13  # up to so many units every way of swapping is tried
CLOSE = 1e-12  # differences that are equal but for the last bits


def difference(one: Statistics, two: Statistics) -> Statistics:
    """The statistics of a difference, cell by cell."""
    k = one.sums.shape[1]
    return Statistics(
        np.concatenate([one.sums, two.sums], axis=1),
        lambda sums: one.finish(sums[..., :k]) - two.finish(sums[..., k:]),
        min(one.n, two.n),
        min(one.clusters, two.clusters),
        (one.bounds[0] - two.bounds[1], one.bounds[1] - two.bounds[0]),
        max(one.error_times, two.error_times),
        bent=False,
        shared=one.shared,
        units=one.units,
        looked=max(one.looked, two.looked),
    )


def swapping_test(one: Statistics, two: Statistics, *, swaps: int = SWAPS, seed: int = 0) -> float:
    """The two-sided p-value of no difference, by swapping the models within units.

    With few units every way of swapping is tried, and p is exact. With more, random ways are, and
    those that give just the real difference count half (the mid-p value), or shares of few items
    would make the test too shy. Where items or triples belong to several units (two objects, an
    object and a verb), these cannot be swapped apart: Student's t instead. So it is for a run that
    was looked at before it ended.
    """
    real = one.value - two.value
    if isnan(real) or len(one.sums) < 2:
        return nan
    if one.kinds or one.error_times != 1 or max(one.looked, two.looked) > 1:
        return t_test(difference(one, two))
    gap = two.sums - one.sums
    moved = gap[np.any(gap != 0, axis=1)]  # a unit on which the models agree changes nothing
    if not len(moved):
        return 1.0
    total = one.total
    both = total + two.total

    def beyond(swap: Floats) -> Floats:
        swapped = total + swap @ moved
        gaps = one.finish(swapped) - two.finish(both - swapped)
        return np.asarray(np.abs(gaps) - abs(real))

    if len(moved) <= EXACT:
        every = beyond(_every_way(len(moved)))
        return float((every >= -CLOSE).mean())
    extreme, tried = 0.0, 0
    for swap in _some_ways(len(moved), swaps, seed):
        found = beyond(swap)
        extreme += float((found >= -CLOSE).sum())
        extreme -= 0.5 * float((np.abs(found) < CLOSE).sum())
        tried += len(swap)
    return (extreme + 1) / (tried + 1)


def t_test(gap: Statistics) -> float:
    """The two-sided p-value of a zero difference, from its error and Student's t."""
    error, freedom, _ = uncertainty(gap)
    if isnan(error) or isnan(gap.value) or min(gap.clusters, gap.n) < 2:
        return nan
    if error == 0:
        return 1.0 if gap.value == 0 else 2.0 ** (1 - gap.clusters)  # as if each had a sign
    return 2 * (1 - t_cdf(abs(gap.value) / (gap.looked * error), freedom))


def detectable_difference(found: Uncertainty, *, level: float = 0.95, power: float = 0.8) -> float:
    """The least true difference that a paired test would find with a chance of `power`.

    `found` is the uncertainty of a difference.
    """
    if isnan(found.error):
        return nan
    beyond = t_quantile((1 + level) / 2, found.freedom)
    return (beyond + t_quantile(power, found.freedom)) * found.error


def _every_way(count: int) -> Floats:
    numbers = np.arange(2**count)
    return ((numbers[:, None] >> np.arange(count)) & 1).astype(float)


def _some_ways(count: int, swaps: int, seed: int) -> Iterator[Floats]:
    rng = np.random.default_rng(seed)
    step = max(1, min(swaps, 4_000_000 // count))
    for start in range(0, swaps, step):
        size = (min(step, swaps - start), count)
        yield rng.integers(0, 2, size=size, dtype=np.int8).astype(float)


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
    constant: bool = False  # the model gives one answer to nearly all items


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
    ranks: dict[str, Rank] = {}
    for board in boards(tables):
        for place, table in zip(board, shared([tables[i] for i in board]), strict=True):
            statistics = looked_at(measure.statistics(table.judged), table.about.looked)
            found = interval(statistics, level=level)
            if len(board) == 1:  # what several share is compared as it was answered
                found = at_the_stop(table, measure, found, level)
            ranks[names[place]] = Rank(
                names[place],
                found.value,
                found.low,
                found.high,
                best=1,
                worst=len(names),
                tied=(),
                n=len(table),
                clusters=statistics.clusters,
                run=table.about.folder,
                units=statistics.units,
                chance=chance_of(measure, table),
                constant=one_answer(table) is not None,
            )
    tied, better, worse = _verdicts(names, comparisons)

    def goodness(name: str) -> tuple[float, str]:
        value = ranks[name].value
        if isnan(value):
            return inf, name
        return (-value if measure.better == "higher" else value), name

    order = sorted(names, key=goodness)
    found_ranks = []
    for name in order:
        best, worst = 1 + better[name], len(names) - worse[name]
        with_it = tuple(other for other in order if other in tied[name])
        found_ranks.append(ranks[name]._replace(best=best, worst=worst, tied=with_it))
    return found_ranks


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

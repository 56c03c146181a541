"""When enough is known: looks at a run while it is asked, and intervals that allow for them.

A run is looked at after certain numbers of items. Whoever looks often is more likely to see a
figure far from the truth once; so intervals are wider than those of a fixed number, by a factor
that falls from look to look until the goal is reached (O'Brien and Fleming 1979, for differences
Wang and Tsiatis 1987). What a look says follows from the answers to the first items alone.
docs/measures.md has the derivation and the cost.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, isnan
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from gnomon.errors import UsageError
from gnomon.measures.chance import WORDS, unmet
from gnomon.measures.columns import Codes, Floats, compact
from gnomon.measures.comparison import difference
from gnomon.measures.entries import table_of
from gnomon.measures.intervals import Interval, interval, known
from gnomon.measures.pairing import paired
from gnomon.measures.power import items_for_half_width, kinds_of, units_of
from gnomon.measures.statistics import Statistics, ratio, uncertainty
from gnomon.measures.table import Flags, Table
from gnomon.measures.units import Units
from gnomon.runs import LastLook, Run

if TYPE_CHECKING:
    from gnomon.contracts import Benchmark, Measure
    from gnomon.records import Item

FIRST = 100  # items before the first look
STEPS = 16  # numbers of items at which looks may happen, each time that the items double
FARTHEST = 2  # times the items at the next look, at most; or half of those that are expected
# Of random walks that are looked at whenever time has doubled, and once or twice more near its
# end, 95 % stay within 2.04 to 2.06; at a single look at the end, within 1.96. A little more is for
# designs whose intervals hold the truth in somewhat less than 95 % of runs of a fixed number.
NARROW_BOUND = 2.11
# Within 2.12 to 2.14 t^(1/4); with room for designs whose tests err a little more often than 5 %.
DIFFERENCE_BOUND = 2.3
DIFFERENCE_SHAPE = 0.25  # a difference may be told long before the items that it takes at most
# Runs stop where the error happens to look small, the more so the fewer degrees of freedom it is
# known with: so the interval is wider by this share, over their number.
FEW_UNITS = 0.5
MOST_FAILED = (
    0.05  # share of items on which the model failed: with more, an outage looks like a fact
)
SINGLE = 1.96

Verdict = Literal["", "narrow", "better", "worse", "within", "all"]


class Goal(NamedTuple):
    """What is to be known: a figure to plus or minus `half`, or how two runs differ.

    `half` and `by` are shares, not points. Two runs that differ by less than `by` are as good as
    equal, which half of that as the half width of the interval is enough to tell.
    """

    half: float
    by: float = 0.0  # for a difference

    @property
    def widening(self) -> float:
        """How many times as wide the interval is, at the end, as that of a single look."""
        return (DIFFERENCE_BOUND if self.by else NARROW_BOUND) / SINGLE

    @property
    def shape(self) -> float:
        """To which power of its share of the items the bound of a look grows."""
        return DIFFERENCE_SHAPE if self.by else 0.0

    @classmethod
    def of(cls, points: float | None, by: float | None = None) -> Goal:
        """The goal that a user writes in points."""
        given = by if points is None else points
        if given is None or not 0.1 <= given <= 50:
            raise UsageError(
                f"A run cannot be asked until it is known to {given} points.",
                "Give a number from 0.1 to 50: 3 is plus or minus 3 points.",
            )
        if points is None:
            return cls(given / 200, given / 100)
        return cls(given / 100)


class Look(NamedTuple):
    """What is known after so many items, and whether that is enough."""

    items: int
    found: Interval
    looked: float  # how many times as wide the interval is as that of a fixed number
    verdict: Verdict  # empty if more must be asked
    expected: int  # items that the goal is expected to take
    then: int  # items at the next look


def look_at(statistics: Statistics, items: int, most: int, goal: Goal) -> Look:
    """Look at a figure, or a difference, after so many of at most `most` items.

    >>> import numpy as np
    >>> from gnomon.measures.statistics import mean_of
    >>> right = [1] * 90 + [0] * 10
    >>> found = look_at(mean_of(right, np.arange(100)), 100, 5000, Goal(0.03))
    >>> found.verdict, found.expected, found.then
    ('', 481, 248)
    """
    error = uncertainty(statistics)
    widening = goal.widening
    if error.freedom > 0 and not goal.by:
        widening *= 1 + FEW_UNITS / error.freedom
    at_end = interval(replace(statistics, looked=widening), known=error)
    half = (at_end.high - at_end.low) / 2
    if isnan(half):
        looked, found, expected = widening, at_end, most
    else:
        expected = ceil(items * (half / goal.half) ** 2)
        share = min(1.0, max(items / most, items / max(1, expected)))
        looked = widening * share ** (goal.shape - 0.5)
        found = interval(replace(statistics, looked=looked), known=error)
    verdict = _verdict(found, half, goal)
    if not verdict and items >= most:
        verdict = "all"
    expected = min(expected, most)
    # a difference may be told at any look, a width only near the end
    then = next_look(items, expected, most, far=0 if goal.by else expected // 2)
    return Look(items, found, looked, verdict, expected, then)


def _verdict(found: Interval, half: float, goal: Goal) -> Verdict:
    if not goal.by:
        return "narrow" if half <= goal.half else ""
    if found.low > 0:
        return "better"
    if found.high < 0:
        return "worse"
    if -goal.by < found.low and found.high < goal.by:
        return "within"
    return ""


def next_look(items: int, expected: int, most: int, far: int = 0) -> int:
    """The number of items of the next look: what is expected to do, if that is not far.

    >>> next_look(0, 0, 5000), next_look(100, 5000, 5000), next_look(100, 110, 5000)
    (100, 200, 114)
    """
    wanted = min(expected, max(FARTHEST * items, far))
    for count in look_counts(most):
        if count > items and count >= wanted:
            return count
    return most


def look_counts(most: int) -> list[int]:
    """The numbers of items at which looks may happen, the last of which is all.

    >>> look_counts(120), look_counts(40)
    ([100, 104, 109, 114, 119, 120], [40])
    """
    counts = []
    step = 0
    while (count := round(FIRST * 2 ** (step / STEPS))) < most:
        counts.append(count)
        step += 1
    return [*counts, most]


class ExpectedItems(NamedTuple):
    """How many items a goal is expected to take, and how many a fixed number must have."""

    expected: int  # at the accuracy that is assumed
    fixed: int  # whatever the accuracy is


def expected_items(
    items: Sequence[Item], benchmark: Benchmark, goal: Goal, accuracy: float = 0.7
) -> ExpectedItems:
    """What a run on these items is expected to take until its goal is reached: all, at most."""
    kinds = kinds_of(items, benchmark)
    units = [units_of(item, kinds) for item in items]
    most = len(items)
    fixed = items_for_half_width(units, goal.half) or most
    half = goal.half / goal.widening
    needed = items_for_half_width(units, half, accuracy=accuracy, power=0.5) or most
    expected = next(count for count in look_counts(most) if count >= min(needed, most))
    return ExpectedItems(expected, min(fixed, most))


class Decision(NamedTuple):
    """What is to be asked next, and what the last look showed."""

    limit: int | None  # none if enough is known
    look: Look | None = None  # none before the first


@dataclass(frozen=True)
class StoppingRule:
    """When a run may stop: what it says depends on the answers to the first items alone."""

    goal: Goal
    measure: Measure  # the first of the benchmark
    most: int  # items that are asked at most
    first_items: Callable[[int], frozenset[str]]  # the ids of the items that a limit takes
    against: Run | None = None  # the run from which this one is to be told
    helpers: tuple[Run, ...] = ()  # runs of other models, whose answers narrow the interval
    _looks: dict[int, Look] = field(default_factory=dict, repr=False, compare=False)

    def decide(self, run: Run | None) -> Decision:
        """Look at the answers that a run has so far, in the order in which they are asked.

        What was seen before at so many items is not looked at again.
        """
        count = next_look(0, 0, self.most)
        look = None
        if run is None:
            return Decision(count)
        table = self._table(run)
        while True:
            if count not in self._looks:
                part = self._first_rows(table, count, run)
                if part is None:
                    return Decision(count, look)
                look = look_at(self._statistics(part), count, self.most, self.goal)
                if part.failed.mean() > MOST_FAILED and count < self.most:
                    look = look._replace(verdict="")
                self._looks[count] = look
            look = self._looks[count]
            if look.verdict:
                return Decision(None, look)
            count = look.then

    def note(self, run: Run, look: Look) -> LastLook:
        """What the run's manifest says of a look."""
        found = look.found
        return LastLook(
            points=100 * (self.goal.by or self.goal.half),
            against=self.against.path.name if self.against else "",
            helpers=[run.path.name for run in self.helpers],
            measure=self.measure.name,
            items=look.items,
            verdict=look.verdict,
            looked=look.looked,
            value=known(found.value),
            low=known(found.low),
            high=known(found.high),
        )

    def _table(self, run: Run) -> Table:
        """The answers, as if nobody had looked at them."""
        table, _ = table_of(run)
        lacking = unmet(self.measure, table.judged)
        if lacking:
            raise UsageError(
                f"{self.measure.name} of {run.benchmark} needs {WORDS[lacking]}, so that no run of "
                "it can stop by itself.",
                "Give a --limit instead.",
            )
        return replace(table, about=replace(table.about, last_look=None))

    def _first_rows(self, table: Table, count: int, run: Run) -> Table | None:
        """The answers to the first items; none if any lacks one."""
        limit = run.manifest.limit
        if limit == count and len(table) == run.manifest.counts.items:
            return table
        if limit is not None and limit < count:
            return None
        wanted = self.first_items(count)
        rows: Flags = np.fromiter((name in wanted for name in table.ids), bool, len(table))
        if int(rows.sum()) < len(wanted):
            return None
        return table.where(rows)

    @cached_property
    def _other(self) -> Table | None:
        return None if self.against is None else self._table(self.against)

    @cached_property
    def _others(self) -> OtherAnswers | None:
        if not self.helpers:
            return None
        tables = [self._table(run).judged for run in self.helpers]
        return OtherAnswers.of(tables, self.first_items(self.most))

    def _statistics(self, table: Table) -> Statistics:
        """Of the figure, or of the difference from the other run."""
        if self._others is not None:
            return with_others(table.judged, self._others)
        if self._other is None:
            return self.measure.statistics(table.judged)
        mine, theirs = paired(table, self._other, self.measure)
        if self.measure.better == "higher":
            return difference(mine, theirs)
        return difference(theirs, mine)


# Borrowed strength: what other models answered tells which of the items that were not asked yet are
# hard. The accuracy is the mean of what they predict, over all items, and of what the answers are
# above that, over those that were asked. A prediction never uses answers to items of its own units.


FOLDS = 5
RIDGE = 2.0  # as if each helper had been seen to say nothing in so many items


class OtherAnswers(NamedTuple):
    """What other models got right, on the items that all of them were asked."""

    rows: dict[str, int]  # by the id of the item
    right: Floats  # [items, models], around the mean of each
    units: Units
    fold: Codes  # of each item, by its units

    @classmethod
    def of(cls, tables: Sequence[Table], wanted: Collection[str]) -> OtherAnswers:
        """Of these tables, as far as they hold the items that may be asked."""
        common = set(wanted)
        for table in tables:
            common &= set(table.ids.tolist())
        first = tables[0]
        places = [place for place, name in enumerate(first.ids) if name in common]
        rows = {first.ids[place]: row for row, place in enumerate(places)}
        right = np.zeros((len(rows), len(tables)))
        for column, table in enumerate(tables):
            for name, credit in zip(table.ids, table.credit, strict=True):
                if name in rows:
                    right[rows[name], column] = credit
        units = first.clusters[np.array(places, dtype=np.int64)]
        block, count = compact(units.codes[:, 0])
        fold = np.random.default_rng(count).permutation(count) % FOLDS
        return cls(rows, right - right.mean(axis=0), units, np.asarray(fold[block]))


def with_others(table: Table, others: OtherAnswers) -> Statistics:
    """The statistics of an accuracy, with what other models got right as control variates."""
    lacking = [name for name in table.ids if name not in others.rows]
    if lacking:
        raise UsageError(
            f"Item '{lacking[0]}' is not in all of the runs that are to help.",
            "Give runs that were asked all items, or leave out --with.",
        )
    asked = np.array([others.rows[name] for name in table.ids], dtype=np.int64)
    return corrected_by(others, asked, table.credit)


def corrected_by(others: OtherAnswers, asked: Codes, credit: Floats) -> Statistics:
    """The same from the credit for the items that were asked."""
    predicted = np.zeros(len(others.right))
    for fold in range(FOLDS):
        seen = others.fold[asked] != fold
        here = others.fold == fold
        weights = _fitted(others.right[asked[seen]], credit[seen])
        predicted[here] = others.right[here] @ weights
    columns = np.zeros((len(predicted), 4))
    columns[asked, 0] = credit - predicted[asked]
    columns[asked, 1] = 1
    columns[:, 2] = predicted
    columns[:, 3] = 1
    return Statistics.of(others.units, columns, _corrected_mean, n=len(asked))


def _fitted(right: Floats, credit: Floats) -> Floats:
    """The weight of each helper: least squares, drawn towards none."""
    models = right.shape[1]
    if not len(right):
        return np.zeros(models)
    around = right - right.mean(axis=0)
    matrix = around.T @ around + RIDGE * np.eye(models)
    return np.asarray(np.linalg.solve(matrix, around.T @ (credit - credit.mean())))


def _corrected_mean(sums: Floats) -> Floats:
    return ratio(sums[..., :2]) + ratio(sums[..., 2:])

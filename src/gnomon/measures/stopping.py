"""When enough is known: looks at a run while it is asked, and intervals that allow for them.

A run is looked at after certain numbers of items. Whoever looks often is more likely to see a
figure far from the truth once; so intervals are wider than those of a fixed number, by a factor
that falls from look to look until the goal is reached (O'Brien and Fleming 1979, for differences
Wang and Tsiatis 1987). What a look says follows from the answers to the first items alone.
docs/measures.md has the derivation and the cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, isnan
from typing import TYPE_CHECKING, Literal, NamedTuple

from gnomon.errors import UsageError
from gnomon.measures.borrowed import ItemsWithHelp
from gnomon.measures.chance import WORDS, unmet
from gnomon.measures.comparison import difference
from gnomon.measures.entries import table_of
from gnomon.measures.intervals import Interval, interval, known
from gnomon.measures.pairing import paired
from gnomon.measures.power import items_for_half_width, kinds_of, units_of
from gnomon.measures.rows import AskedSoFar
from gnomon.measures.statistics import Statistics, uncertainty
from gnomon.measures.table import Table, facts_of
from gnomon.measures.units import Sharing
from gnomon.records import Answer
from gnomon.runs import MANIFEST, LastLook, Run

if TYPE_CHECKING:
    from pathlib import Path

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
# Share of items on which the model may fail: with more, an outage would look like a fact.
MOST_FAILED = 0.05
SINGLE = 1.96
FACTS = "facts"  # instead of a run that helps: what items are about

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
    asked: int = 0  # items that a limit of so many takes: fewer where groups are asked as a whole


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
    benchmark: Benchmark
    measure: Measure  # its first
    most: int  # items that are asked at most
    items: Callable[[int], Iterable[Item]]  # those that a limit takes
    against: Run | None = None  # the run from which this one is to be told
    helpers: tuple[Run, ...] = ()  # runs of other models, whose answers narrow the interval
    facts: bool = False  # whether what items are about narrows it as well
    _looks: list[Look] = field(default_factory=list, init=False, repr=False, compare=False)
    _rows: AskedSoFar = field(default_factory=AskedSoFar, init=False, repr=False, compare=False)

    def decide(self, run: Run, *, whole: bool = False) -> Decision:
        """Look at the answers that a run has so far, in the order in which they are asked.

        `whole` says that all its items have one. What was seen before at so many items is not
        looked at again.
        """
        look = self._looks[-1] if self._looks else None
        while look is None or not look.verdict:
            count = look.then if look else self.first
            table = self._first_rows(run, count, whole=whole)
            if table is None:
                return Decision(count, look)
            look = look_at(self._statistics(table), count, self.most, self.goal)
            if table.failed.mean() > MOST_FAILED and count < self.most:
                look = look._replace(verdict="")
            look = look._replace(asked=len(table))
            self._looks.append(look)
        return Decision(None, look)

    @property
    def first(self) -> int:
        """The number of items of the first look."""
        return next_look(0, 0, self.most)

    def of_begun(self, folder: Path, *, restart: bool = False) -> Decision:
        """What comes next for the run in a folder, if there is one that is to go on."""
        if restart or not (folder / MANIFEST).exists():
            return Decision(self.first)
        # what was read is forgotten: the log may be put in order before more is asked
        return replace(self).decide(Run.open(folder))

    def note(self, look: Look) -> LastLook:
        """What the run's manifest says of a look."""
        found = look.found
        return LastLook(
            points=100 * (self.goal.by or self.goal.half),
            against=self.against.path.name if self.against else "",
            helpers=[*([FACTS] if self.facts else []), *(run.path.name for run in self.helpers)],
            measure=self.measure.name,
            items=look.asked,
            verdict=look.verdict,
            looked=look.looked,
            value=known(found.value),
            low=known(found.low),
            high=known(found.high),
        )

    def _checked(self, table: Table) -> Table:
        """The answers, as if nobody had looked at them."""
        lacking = unmet(self.measure, table.judged)
        if lacking:
            raise UsageError(
                f"{self.measure.name} of {table.benchmark} needs {WORDS[lacking]}, so that no "
                "run of it can stop by itself.",
                "Give a --limit instead.",
            )
        return replace(table, about=replace(table.about, last_look=None))

    def _first_rows(self, run: Run, count: int, *, whole: bool) -> Table | None:
        """The answers to the first items; none if any lacks one."""
        limit = run.manifest.limit
        if limit is not None and limit < count:
            return None
        wanted = None
        if not whole or limit != count:
            wanted = {item.id for item in self.items(count)}
        if not self._rows.add(run, wanted):
            return None
        table = self._rows.table(run, **facts_of(run, self.benchmark))
        return self._checked(table)

    @cached_property
    def _other(self) -> Table | None:
        return None if self.against is None else self._checked(table_of(self.against)[0])

    @cached_property
    def _help(self) -> ItemsWithHelp | None:
        if not self.helpers and not self.facts:
            return None
        tables = [self._checked(table_of(run)[0]).judged for run in self.helpers]
        rows = ((item, Answer(item=item.id)) for item in self.items(self.most))
        items = Table.of(rows, sharing=Sharing.of(self.benchmark))
        return ItemsWithHelp.of(items.judged, tables, facts=self.facts)

    def _statistics(self, table: Table) -> Statistics:
        """Of the figure, or of the difference from the other run."""
        if self._help is not None:
            return self._help.statistics(table.judged)
        if self._other is None:
            return self.measure.statistics(table.judged)
        mine, theirs = paired(table, self._other, self.measure)
        if self.measure.better == "higher":
            return difference(mine, theirs)
        return difference(theirs, mine)

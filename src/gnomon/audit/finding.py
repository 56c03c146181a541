"""Findings: what a check says of a set, and the test by which a figure is an alarm."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import numpy as np

from gnomon.measures.columns import Floats
from gnomon.measures.intervals import Interval, interval, known
from gnomon.measures.statistics import Statistics, mean_of
from gnomon.measures.units import Units

LISTED = 50  # ids that a finding names
SHOWN = 4  # examples that a finding shows
LONGEST = 300  # characters of a text in an example


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """An item behind a finding, or several that belong together, as people read them."""

    ids: tuple[str, ...]
    text: str


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of one check, about one part of the set."""

    check: str
    part: str = ""  # what of the set: a field, a label, a kind of fault
    value: float | None = None  # a share, unless the sentence says what else
    low: float | None = None  # a 95 % interval, where items are a sample of what could be asked
    high: float | None = None
    chance: float | None = None  # what the value would be if nothing were wrong
    alarm: bool = False  # whether somebody should look at it
    says: str = ""
    explained: str = ""  # why it is no alarm although it would be one
    n: int = 0  # items that were looked at
    behind: int = 0  # items that the finding is about
    items: tuple[str, ...] = ()  # their ids, the first few
    examples: tuple[Example, ...] = ()


def shortened(text: str) -> str:
    """A text that is short enough for an example."""
    line = " ".join(text.split())
    if len(line) <= LONGEST:
        return line
    return line[:LONGEST] + "…"


def share(part: int, whole: int) -> float:
    """A part of a whole; 0 of nothing is 0."""
    return part / max(whole, 1)


def so_many(part: int, whole: int, noun: str = "items") -> str:
    """How many of how many, at the beginning of a sentence.

    >>> so_many(0, 1200), so_many(3, 1200)
    ('None of 1,200 items', '3 of 1,200 items')
    """
    if not part:
        return f"None of {whole:,} {noun}"
    return f"{part:,} of {whole:,} {noun}"


def fault(check: str, part: str, count: int, whole: int, says: str) -> Finding:
    """So many of a whole, of which none should be: an alarm if there is one."""
    return Finding(
        check=check,
        part=part,
        value=share(count, whole),
        chance=0.0,
        alarm=count > 0,
        says=says,
        n=whole,
    )


# How far a rule is from chance, and when that is an alarm.
#
# An alarm is more than 3 points off, and an interval excludes chance that would do so by luck in
# 1 % of the audits of a sound set: for all parts of a check together (Bonferroni). The interval
# that is shown is the usual one of 95 %. Both are over what varies independently
# (`gnomon.measures`).


POINTS = 0.03  # off chance that matter
LEVEL = 0.01  # of false alarms, for all parts of a check together


class OffChance(NamedTuple):
    """A rule's share of right answers beside what it would get if nothing were given away."""

    value: float
    low: float | None
    high: float | None
    chance: float
    above: bool  # an alarm, if the check counts what is above chance
    below: bool  # the same below

    @property
    def alarm(self) -> bool:
        """Whether it is off chance either way."""
        return self.above or self.below


def against(credit: Floats, chance: Floats, units: Units, tests: int) -> OffChance:
    """What a rule earns on each row, against what chance would, as one of so many tests."""
    expected = float(chance.mean())
    gaps = credit - chance
    statistics = mean_of(gaps, units, bounds=(-expected, 1 - expected))
    found = interval(statistics)
    excluded = _is_excluded(statistics, found, LEVEL / max(1, tests))
    return OffChance(
        value=expected + found.value,
        low=known(expected + found.low),
        high=known(expected + found.high),
        chance=expected,
        above=excluded and found.value > POINTS,
        below=excluded and found.value < -POINTS,
    )


def _is_excluded(statistics: Statistics, found: Interval, level: float) -> bool:
    """Whether chance, that is no gap at all, is excluded at a level."""
    if found.error == 0:  # all units agree: by luck they would lie on both sides of chance
        return 2.0 ** (1 - statistics.clusters) < level
    strict = interval(statistics, level=1 - level)
    return strict.low > 0 or strict.high < 0


def finding_of(off: OffChance, check: str, part: str, says: str, *, n: int, alarm: bool) -> Finding:
    """What a rule gets, as a finding."""
    return Finding(
        check=check,
        part=part,
        value=off.value,
        low=off.low,
        high=off.high,
        chance=off.chance,
        alarm=alarm,
        says=says,
        n=n,
    )


def alone(count: int) -> Units:
    """Items that share nothing, as far as the question goes."""
    return Units(np.arange(count)[:, None], (1,), ("items",))


def most_frequent_or_guess(chance: Floats, constant: Floats) -> Floats:
    """What a rule must beat: a guess or, in a set with unequal labels, the best constant answer."""
    if float(np.mean(constant) - np.mean(chance)) > POINTS:
        return constant
    return chance

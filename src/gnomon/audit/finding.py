"""Findings: what a check says of a set, and the test by which a figure is an alarm."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import msgspec
import numpy as np

from gnomon.measures.columns import Floats
from gnomon.measures.intervals import NORMAL, interval, known, t_cdf
from gnomon.measures.statistics import mean_of, uncertainty
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
    p: float | None = None  # how likely so much is by luck; none where luck plays no part
    whole: bool = False  # whether a rule read all words that there are, and so may understand them
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
# All figures of a report that luck may move are one family of tests. Each has a p-value that holds
# if labels are exchangeable given what is offered, whatever items of a group share; Holm's rule
# over all of them keeps the chance of any false alarm in the report at 1 %. Beside that a rule must
# be more than 3 points off to matter. Intervals that are shown are the usual ones of 95 %.


POINTS = 0.03  # off chance that matter
TINY = 1e-9
LEVEL = 0.01  # of false alarms, for the whole report


class OffChance(NamedTuple):
    """A rule's share of right answers beside what it would get if nothing were given away."""

    value: float
    low: float | None
    high: float | None
    chance: float
    p: float

    @property
    def above(self) -> bool:
        """Whether it matters, if luck does not explain it."""
        return self.value - self.chance > POINTS

    @property
    def below(self) -> bool:
        """The same below chance."""
        return self.value - self.chance < -POINTS


def against(credit: Floats, chance: Floats, units: Units, p: float = 1.0) -> OffChance:
    """What a rule earns on each row against what chance would, and how likely that is by luck."""
    expected = float(chance.mean())
    statistics = mean_of(credit - chance, units, bounds=(-expected, 1 - expected))
    found = interval(statistics)
    return OffChance(
        value=expected + found.value,
        low=known(expected + found.low),
        high=known(expected + found.high),
        chance=expected,
        p=p,
    )


def luck(gaps: Floats, units: Units) -> float:
    """How likely gaps of mean 0 add up to so much, where rows that share a unit may go together.

    The sum over the root of the squared sums of units: nearly normal also with few units, since it
    can never exceed the root of their number.

    >>> round(luck(np.full(12, 0.5), alone(12)), 5), 2**-12
    (0.00027, 0.000244140625)
    """
    if units.codes.shape[1] > 1:  # a row may be of two units, such as two things
        return _luck_of_several(gaps, units)
    codes = units.codes[:, 0]
    own = np.arange(len(codes)) + codes.max(initial=0) + 1
    sums = np.bincount(np.where(codes < 0, own, codes), weights=gaps)
    spread = max(float((sums**2).sum()), float((gaps**2).sum()))  # balanced units vary less
    if spread <= TINY:
        return 1.0
    return NORMAL.cdf(-float(gaps.sum()) / sqrt(spread))


def _luck_of_several(gaps: Floats, units: Units) -> float:
    statistics = mean_of(gaps, units, bounds=(-1.0, 1.0))
    found = uncertainty(statistics)
    if not found.error > TINY:  # all agree: by luck they would lie on both sides of chance
        return 0.5**statistics.clusters if gaps.sum() > TINY else 1.0
    return t_cdf(-statistics.value / found.error, found.freedom)


def beyond_luck(ps: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Which of a family of tests count, by Holm's rule: at most so many families have a false one.

    >>> beyond_luck([0.004, 0.5, 0.0001])
    [True, False, True]
    """
    counted = [False] * len(ps)
    smallest_first = sorted(range(len(ps)), key=ps.__getitem__)
    for done, place in enumerate(smallest_first):
        if ps[place] > level / (len(ps) - done):
            break
        counted[place] = True
    return counted


def finding_of(off: OffChance, check: str, part: str, says: str, *, n: int, alarm: bool) -> Finding:
    """What a rule gets, as a finding: an alarm if it matters and luck does not explain it."""
    return Finding(
        check=check,
        part=part,
        value=off.value,
        low=off.low,
        high=off.high,
        chance=off.chance,
        p=off.p,
        alarm=alarm,
        says=says,
        n=n,
    )


def alone(count: int) -> Units:
    """Items that share nothing, as far as the question goes."""
    return Units(np.arange(count)[:, None], (1,), ("items",))

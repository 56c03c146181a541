"""Is a new run worse than an old one: the check of a nightly job.

A difference that a test shows is one thing, the lack of one another: twenty items show nothing. So
there are three answers. Worse: the test says so. Not worse: the interval of the change leaves out
a loss of `by`. Otherwise such a loss could have gone unseen.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from math import exp, isnan, lgamma
from typing import Literal, NamedTuple

import numpy as np

from gnomon.errors import UsageError
from gnomon.grouped import grouped
from gnomon.measures.cautions import settings_apart, told_apart
from gnomon.measures.comparison import Comparison, compare, with_holm
from gnomon.measures.entries import ScoredTable, check_finished
from gnomon.measures.pairing import aligned
from gnomon.measures.table import Flags, Table
from gnomon.naming import counted
from gnomon.records import OUTCOMES

MOST_VALUES = 40  # of a tag that is looked at
NAMED = 2  # parts in which most of the loss lies
SHIFT = 0.05  # of the share of an answer that is worth a sentence
RARE = 0.01  # the chance of naming any part where the loss is spread evenly


class LossPart(NamedTuple):
    """A part of the items in which more turned wrong than elsewhere."""

    tag: str
    value: str
    lost: int
    items: int


class RunChange(NamedTuple):
    """A new run beside an old one on the same items; the difference is new minus old."""

    pair: Comparison
    verdict: Literal["worse", "not worse", "cannot tell"]
    lost: int  # items that were right and are not
    gained: int
    where: tuple[LossPart, ...]
    remarks: tuple[str, ...] = ()  # on how the two were asked; sentences


def changes(
    old: Sequence[ScoredTable],
    new: Sequence[ScoredTable],
    *,
    by: float = 0.05,
    measures: Sequence[str] = (),
    level: float = 0.95,
    draws: int = 2000,
) -> list[RunChange]:
    """Each new run beside the old one of its benchmark, p-values corrected for how many there are.

    `by` is the loss that must not go unseen, as a share.
    """
    from gnomon.registry import measure

    if not 0 < by < 1:
        raise UsageError(f"--by takes points between 0 and 100, not {100 * by:g}.", "3 is usual.")
    matched = list(_matched(old, new))
    if not matched:
        raise UsageError(
            "No new run has an old one on the same benchmark.",
            "Give the old run first: gnomon compare OLD NEW --fail-if-worse",
        )
    check_finished([entry for pair in matched for entry in pair])
    pairs = []
    for before, after in matched:
        name = measures[0] if measures else after.measures[0]
        names = [after.label, before.label]
        tables = [after.table, before.table]
        pairs += compare(tables, measure(name), level=level, draws=draws, names=names)
    found = []
    for pair, (before, after) in zip(with_holm(pairs), matched, strict=True):
        one, two = aligned(before.table, after.table)
        lost, gained = one.right & ~two.right, two.right & ~one.right
        where = tuple(_where(two, lost))[:NAMED]
        apart = settings_apart([before.table, after.table], ["old", "new"])
        remarks = tuple(told_apart(pair.benchmark, apart))
        verdict = _verdict(pair, by, 1 - level)
        found.append(RunChange(pair, verdict, int(lost.sum()), int(gained.sum()), where, remarks))
    return found


def explained(first: ScoredTable, second: ScoredTable) -> Iterator[str]:
    """In words how two runs on the same items differ: what flips, where, and the answers given."""
    one, two = aligned(first.table, second.table)
    for better, worse, flipped in (
        (second.label, first.label, two.right & ~one.right),
        (first.label, second.label, one.right & ~two.right),
    ):
        parts = []
        for part in islice(_where(two, flipped), NAMED):
            parts.append(f"{part.tag} is {part.value} ({part.lost:,} of {part.items:,} items)")
        where = f", most of them where {' and '.join(parts)}" if parts else ""
        count = counted(int(flipped.sum()), "items")
        yield f"{better} is right and {worse} wrong on {count}{where}."
    shift = _given_more_often(one, two)
    if shift is not None:
        label, before, after = shift
        shares = f"to {100 * after:.0f} % of the items, {first.label} to {100 * before:.0f} %"
        yield f"{second.label} answers '{label}' {shares}."


def _given_more_often(one: Table, two: Table) -> tuple[str, float, float] | None:
    """The answer whose share changes most, if by enough to matter, and both shares."""
    width = len(one.labels)
    if not 1 < width <= MOST_VALUES or set(one.labels) <= set(OUTCOMES):
        return None
    counts = [np.bincount(each.choice[each.choice >= 0], minlength=width) for each in (one, two)]
    before, after = (each / max(len(one), 1) for each in counts)
    label = int(np.argmax(np.abs(after - before)))
    if abs(after[label] - before[label]) < SHIFT:
        return None
    return one.labels[label], float(before[label]), float(after[label])


def _matched(
    old: Sequence[ScoredTable], new: Sequence[ScoredTable]
) -> Iterator[tuple[ScoredTable, ScoredTable]]:
    """Each new entry with the old one of its benchmark; of several, that of its name."""
    before = grouped(old, lambda entry: entry.table.benchmark)
    for entry in new:
        several = before.get(entry.table.benchmark, [])
        if len(several) > 1:
            several = [each for each in several if each.table.model == entry.table.model]
        if len(several) > 1:
            several = [each for each in several if each.label == entry.label]
        if len(several) > 1:
            names = ", ".join(each.table.about.folder for each in several)
            raise UsageError(
                f"Several old runs are of {entry.label} on {entry.table.benchmark}: {names}.",
                "Give one of them.",
            )
        if several and several[0].table.about.folder != entry.table.about.folder:
            yield several[0], entry


def _verdict(
    pair: Comparison, by: float, significant: float
) -> Literal["worse", "not worse", "cannot tell"]:
    if isnan(pair.p_adjusted) or isnan(pair.low):
        return "cannot tell"
    higher = pair.better == "higher"
    change, least = (pair.difference, pair.low) if higher else (-pair.difference, -pair.high)
    if change < 0 and pair.p_adjusted < significant:
        return "worse"
    return "not worse" if least > -by else "cannot tell"


def _where(table: Table, lost: Flags) -> Iterator[LossPart]:
    """The parts of the items in which clearly more was lost than elsewhere, the rarest first."""
    if not lost.any():
        return
    looked_at = []
    for tag, column in table.tags.items():
        values = np.unique(column.codes[column.codes >= 0])
        if 2 <= len(values) <= MOST_VALUES:
            for code in values.tolist():
                here = column.codes == code
                part = LossPart(tag, column.values[code], int((lost & here).sum()), int(here.sum()))
                looked_at.append((_chance_of(part, int(lost.sum()), len(table)), part))
    looked_at.sort(key=lambda each: each[0])
    for chance, part in looked_at:
        if chance * len(looked_at) < RARE:
            yield part


def _chance_of(part: LossPart, lost: int, items: int) -> float:
    """The chance that so many of the lost items are in a part, if they are spread evenly."""
    every = _ways(items, lost)
    chance = 0.0
    for here in range(part.lost, min(part.items, lost) + 1):
        if lost - here <= items - part.items:
            others = _ways(items - part.items, lost - here)
            chance += exp(_ways(part.items, here) + others - every)
    return min(1.0, chance)


def _ways(n: int, k: int) -> float:
    """The logarithm of how many ways there are to choose k of n."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)

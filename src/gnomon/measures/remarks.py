"""What a figure does not show: items not asked, answers missing, groups too small, scores at odds.

Each remark is a sentence for people; `gnomon score` prints them on standard error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

import numpy as np

from gnomon.contracts import Need
from gnomon.grouped import first_few
from gnomon.measures.accuracy import accuracy, error_parts, items_per_group, told_parts
from gnomon.measures.chance import WORDS, unmet
from gnomon.measures.correction import (
    Corrected,
    SecondReading,
    Trial,
    corrected_accuracy,
    corrected_readings,
)
from gnomon.measures.cuetests import told_cues
from gnomon.measures.entries import ScoredTable
from gnomon.measures.statistics import standard_error
from gnomon.measures.table import Table

SHOWN = 5  # ids of missing answers
UNTOLD = 0.9  # an interval that is wider leaves everything open
ABOVE_ZERO = 1e-6  # a log-probability may exceed 0 by the last bits of a sum


def remarks(entry: ScoredTable, measures: Sequence[str], *, guessed: bool = False) -> Iterator[str]:
    """The remarks on the figures of one entry by these measures, each a sentence."""
    table = entry.table
    about = f"{entry.label} on {table.benchmark}: "
    if len(table) < table.total:
        asked = f"asked {len(table):,} of {table.total:,} items"
        if table.about.shard:
            asked = f"part of a run that `gnomon runs merge` makes whole, {asked}"
        yield f"{about}{asked}; the figures are over those."
    if entry.unlisted:
        yield (
            f"{about}the prompt does not list the choices of {', '.join(entry.unlisted)} items, so "
            "that permuting them changes nothing there."
        )
    judged = table.judged
    if len(judged) < len(table):
        yield f"{about}{_without_gold(len(table) - len(judged))}"
    if not len(judged):
        return
    table, entry = judged, entry._replace(table=judged)
    found = [_missing(entry, guessed), *_unmet(table, measures), _coarse(table, measures)]
    if entry.trial is not None:
        found.append(_judge(table, entry.trial))
    if entry.reading is not None:
        found.append(told_readings(table, entry.reading))
    parts = error_parts([table], standard_error(accuracy(table)))
    if parts is not None:
        found.append(told_parts(parts, "accuracy"))
    found += _odd_scores(table)
    found.append(told_cues(table))
    for remark in found:
        if remark:
            yield about + remark


def _without_gold(count: int) -> str:
    """That scenes which nobody has judged are in no figure."""
    items = "item names" if count == 1 else "items name"
    return f"{count:,} {items} no right answer; the figures leave them out."


def _missing(entry: ScoredTable, guessed: bool) -> str:
    """How many answers are missing, why, which, and what becomes of them."""
    table = entry.table
    lost = ~table.answered
    if not lost.any():
        return ""
    failed = int(table.failed.sum())
    counts = {
        "not in the file": entry.absent,
        "failed": failed - entry.absent,
        "unread": int(lost.sum()) - failed,
    }
    told = [f"{n:,} {what}" for what, n in counts.items() if n]
    treated = "guessed" if guessed else "counted as wrong"
    return f"{', '.join(told)} ({treated}): {first_few(table.ids[lost].tolist(), SHOWN)}."


def _judge(table: Table, trial: Trial) -> str:
    """What a judge of pictures was found to be worth, and the score without its mistakes."""
    if not trial.shown:
        return "none of its scenes could be drawn to try the judge on."
    worth = (
        f"the judge was tried on {trial.shown + trial.other} drawn scenes: it decided "
        f"{_percent(trial.coverage)}, and said so of {_percent(trial.sensitivity)} that show what "
        f"was asked and of {_percent(1 - trial.specificity)} that do not"
    )
    found = corrected_accuracy(table, trial)
    if not found.fits:
        return f"{worth}; the trial does not fit these pictures, so no score without its mistakes."
    if isnan(found.value) or found.high - found.low > UNTOLD:
        return f"{worth}; that says next to nothing about the painter."
    return f"{worth}; without its mistakes, {_in_words(found)} show what was asked."


def told_readings(table: Table, reading: SecondReading) -> str:
    """How many replies a second reader read, how it agrees with the rules, and what follows."""
    trial = reading.trial
    tried = trial.shown + trial.other
    count = len(reading.ids)
    worth = (
        f"{count:,} {'reply was' if count == 1 else 'replies were'} read by the second reader, "
        f"which took {_percent(reading.agreed / max(1, tried))} of {tried:,} that the rules read "
        "for the same choice as they do"
    )
    if not count:
        return f"{worth}."
    found = corrected_readings(table, reading)
    if isnan(found.value):
        return f"{worth}; that says next to nothing about what it read alone."
    return f"{worth}; without its mistakes, {_in_words(found)} are right."


def _in_words(found: Corrected) -> str:
    low, value, high = (f"{100 * share:.1f}" for share in (found.low, found.value, found.high))
    return f"{value} % ({low} to {high})"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _unmet(table: Table, names: Sequence[str]) -> Iterator[str]:
    """Which measures are undefined here, and for want of what."""
    from gnomon.registry import measure

    lacking: dict[Need, list[str]] = {}
    for name in names:
        need = unmet(measure(name), table)
        if need:
            lacking.setdefault(need, []).append(name)
    for need, several in lacking.items():
        verb = "needs" if len(several) == 1 else "need"
        yield f"{', '.join(several)} {verb} {WORDS[need]}."


def _coarse(table: Table, names: Sequence[str]) -> str:
    """Which measures of whole groups say little, as the groups have too few items."""
    from gnomon.registry import measure

    mean = items_per_group(table)
    least = {name: measure(name).least_group for name in names}
    coarse = [name for name in names if mean < least[name]]
    if not coarse:
        return ""
    enough = max(least[name] for name in coarse)
    return (
        f"{mean:.1f} items a group on average say little about {', '.join(coarse)} "
        f"({enough} would do)."
    )


def _odd_scores(table: Table) -> Iterator[str]:
    """Scores that contradict the answer, or that cannot be what they are said to be."""
    if table.scores is None:
        return
    known = np.where(np.isnan(table.scores), -np.inf, table.scores)
    rows = np.flatnonzero((table.picked >= 0) & ~np.isnan(table.scores).all(axis=1))
    chosen = known[rows, table.picked[rows]]
    against = int((chosen < known[rows].max(axis=1, initial=-np.inf)).sum())
    if against:
        answers = "answer is" if against == 1 else "answers are"
        yield (
            f"{against:,} {answers} not the choice with the best score; accuracy goes by the "
            "answer, and measures of confidence go by the scores."
        )
    if table.scale == "log-probability":
        above = int((known > ABOVE_ZERO).any(axis=1).sum())
        if above:
            answers = "answer has" if above == 1 else "answers have"
            yield (
                f"{above:,} {answers} log-probabilities above 0; they are scaled to add up to "
                "1 over the choices."
            )

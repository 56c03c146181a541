"""What a guess is worth: the one place where chance is computed.

Someone who guesses picks each choice equally often. A measure that is linear in right answers then
has an expected figure: the mean over guessers of whom each always picks the same place.
"""

from __future__ import annotations

from dataclasses import replace
from math import isnan, lcm
from typing import Literal

import numpy as np

from gnomon.contracts import Measure
from gnomon.measures.needs import unmet
from gnomon.measures.statistics import Floats
from gnomon.measures.table import Table

MOST_GUESSERS = 60  # enough for items with 2, 3, 4, 5, 6, 10 and 12 choices at once
Verdict = Literal["better than chance", "no better than chance", "worse than chance", ""]


def chance_of(measure: Measure, table: Table) -> float | None:
    """The expected figure of someone who guesses; none where that is not known.

    >>> from gnomon.measures.accuracy import ACCURACY
    >>> from gnomon.records import Answer, Item
    >>> item = Item(id="1", form="choice", text="?", choices=("no", "yes"), gold=("yes",))
    >>> chance_of(ACCURACY, Table.of([(item, Answer(item="1", choice="yes"))]))
    0.5
    """
    table = table.judged
    if not len(table) or unmet(measure, table):
        return None
    if not measure.guessable:
        return measure.chance
    if not measure.needs:  # a share of the items
        return float(share_of_right(table).mean())
    values = []
    guessers = _guessers(table)
    for number in range(guessers):
        values.append(measure.statistics(_guessed(table, number / guessers)).value)
    mean = float(np.mean(values))
    return None if isnan(mean) else mean


def share_of_right(table: Table) -> Floats:
    """For each row the share of its choices that are right: what a guess gets of it."""
    offered = (table.kinds.choices >= 0).sum(axis=1)
    share = table.kinds.gold.sum(axis=1) / np.maximum(offered, 1)
    return np.asarray(share[table.kind])


def verdict(
    low: float | None,
    high: float | None,
    chance: float | None,
    *,
    better: Literal["higher", "lower"] = "higher",
) -> Verdict:
    """Where an interval lies beside chance; nothing where either is not known.

    These are the only words for it: every table, page and sentence takes them from here.

    >>> verdict(0.45, 0.55, 0.5), verdict(0.6, 0.7, 0.5), verdict(0.6, 0.7, 0.5, better="lower")
    ('no better than chance', 'better than chance', 'worse than chance')
    """
    if low is None or high is None or chance is None or isnan(low) or isnan(high):
        return ""
    if low <= chance <= high:
        return "no better than chance"
    above = low > chance
    return "better than chance" if above == (better == "higher") else "worse than chance"


def _guessers(table: Table) -> int:
    """How many guessers pick every choice of every item equally often."""
    offered = np.unique((table.kinds.choices >= 0).sum(axis=1))
    return min(MOST_GUESSERS, lcm(*np.maximum(offered, 1).tolist()))


def _guessed(table: Table, where: float) -> Table:
    """The table with the choice that stands so far along the list of each item, from 0 to 1."""
    offered = (table.choices >= 0).sum(axis=1)
    place = np.floor(where * offered + 1e-9).astype(np.int64)
    picked = np.where(offered > 0, place, -1)
    return replace(
        table,
        choice=table.choices[np.arange(len(table)), place],
        picked=picked,
        failed=np.zeros(len(table), dtype=bool),
        scores=None,
    )

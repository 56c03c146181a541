"""What a figure means: what a measure needs of a table, and what a guess would get."""

from __future__ import annotations

from dataclasses import replace
from math import isnan, lcm
from typing import Literal

import numpy as np

from gnomon.contracts import Measure, Need, OrderLaw, RelationLaw
from gnomon.forms import RIGHT
from gnomon.measures.columns import Floats
from gnomon.measures.consistency import has_ways, options_kept
from gnomon.measures.cues import has_cues, has_open_frames
from gnomon.measures.separation import asks_for_truth, whole_pairs, whole_quads
from gnomon.measures.table import Table
from gnomon.measures.written import MARK_OF, has_marks
from gnomon.records import OUTCOMES

# What a measure needs of a table (scores, groups, laws), and whether the table has it.


# What is lacking, as the end of the sentence "MEASURE needs ...".
WORDS: dict[Need, str] = {
    "scores": "scores, and there are none",
    "groups": "items in groups, and there are none",
    "order": "items under a declared order of objects, and there are none",
    "relations": "items under declared relations of objects, and there are none",
    "laws": "items under a declared law of relations, and there are none",
    "pairs": "contrastive pairs that were asked as a whole, and there are none",
    "quads": "quads that were asked as a whole (two pairs in a group), and there are none",
    "truth": "items to be called true or false, and there are none",
    "ways": "facts that are asked in several ways, and there are none",
    "options": "facts that are asked with several numbers of options, and there are none",
    "cues": "items in which a cue is right and others in which it is wrong, and there are none",
    "frames": "questions that leave the frame open, and there are none",
    "numbers": "answers that are numbers, and there are none",
    "sets": "answers that are sets, and there are none",
    "points": "answers that are points, and there are none",
    "orders": "answers that are orders, and there are none",
}


def unmet(measure: Measure, table: Table) -> Need | None:
    """The first need of a measure that a table does not meet; none if it meets all."""
    for need in sorted(measure.needs):
        if not _met(need, table):
            return need
    return None


def needs_two_runs(name: str) -> bool:
    """Whether a name is that of a measure over two runs."""
    from gnomon.registry import entries

    return name in entries("pair_measures")


def _met(need: Need, table: Table) -> bool:
    if need in MARK_OF:
        return has_marks(need, table)
    if need == "scores":
        return table.scores is not None
    if need == "groups":
        return bool((table.group.codes >= 0).any())
    if need == "pairs":
        return bool(len(whole_pairs(table).true))
    if need == "quads":
        return bool(len(whole_quads(table)[0].true))
    if need == "truth":
        return asks_for_truth(table)
    if need == "ways":
        return has_ways(table)
    if need == "cues":
        return has_cues(table)
    if need == "frames":
        return has_open_frames(table)
    if need == "options":
        return options_kept(table).n > 0
    laws = table.laws
    if need == "order":
        return _applies(laws.order, table)
    if need == "relations":
        return _applies(laws.relations, table)
    return _applies(laws.order, table) or _applies(laws.relations, table)


def _applies(law: OrderLaw | RelationLaw | None, table: Table) -> bool:
    """Whether a law is declared and some item names both of its objects."""
    if law is None:
        return False
    first, second = table.tags.get(law.first), table.tags.get(law.second)
    if first is None or second is None:
        return False
    return bool(((first.codes >= 0) & (second.codes >= 0)).any())


MOST_GUESSERS = 60  # enough for items with 2, 3, 4, 5, 6, 10 and 12 choices at once
MARGIN = 0.1  # a model whose whole interval is so near to chance guesses
Verdict = Literal["better than chance", "at chance", "worse than chance", "may be chance", ""]
# what a reader may take from each
MEANT: dict[str, str] = {
    "better than chance": "the whole interval lies on the better side of chance",
    "worse than chance": "the whole interval lies on the worse side of chance",
    "at chance": (
        f"chance lies in the interval, and nothing in it is over {100 * MARGIN:.0f} points away"
    ),
    "may be chance": (
        f"the interval holds chance and scores over {100 * MARGIN:.0f} points away: "
        "more questions would tell"
    ),
}
Bounds = tuple[float | None, float | None]  # of an interval


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
    if set(table.labels) <= set(OUTCOMES):  # what a guess gets is not known
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
    share = (table.kinds.gold.sum(axis=1) / np.maximum(offered, 1))[table.kind]
    if table.marks is None:
        return np.asarray(share)
    return np.asarray(np.where(table.marks.judged, table.marks.guess[RIGHT], share))


def verdict(
    low: float | None,
    high: float | None,
    chance: float | None,
    *,
    better: Literal["higher", "lower"] = "higher",
    corrected: Bounds | None = None,
) -> Verdict:
    """What an interval shows beside chance; nothing where either is not known.

    These are the only words for it: every table, page and sentence takes them from here. Each is a
    test. Better and worse: chance lies outside the interval, or outside the `corrected` one where
    several figures are judged at once. At chance: the whole interval lies within MARGIN of it.
    Otherwise there were too few items to tell.

    >>> verdict(0.45, 0.55, 0.5), verdict(0.6, 0.7, 0.5), verdict(0.6, 0.7, 0.5, better="lower")
    ('at chance', 'better than chance', 'worse than chance')
    >>> verdict(0.3, 0.6, 0.5), verdict(0.51, 0.65, 0.5, corrected=(0.49, 0.67))
    ('may be chance', 'may be chance')
    """
    if low is None or high is None or chance is None or isnan(low) or isnan(high):
        return ""
    lowest, highest = corrected or (low, high)
    if lowest is None or highest is None or lowest <= chance <= highest:
        near = chance - MARGIN <= low and high <= chance + MARGIN
        return "at chance" if near else "may be chance"
    above = lowest > chance
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
        samples=None,
        marks=table.marks.guessed() if table.marks else None,
    )

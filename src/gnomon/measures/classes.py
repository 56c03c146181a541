"""Macro-F1: every class counts alike, however rare.

For one label per item, and for sets of typical labels (ViPhy). Classes are as scikit-learn takes
them: the labels that occur in gold or among the answers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.contracts import Measure
from gnomon.measures.statistics import Cell, Codes, Finish, Floats, Statistics
from gnomon.measures.table import Flags, Table
from gnomon.measures.typical import typical_sets


class ClassScore(NamedTuple):
    """How one label fares."""

    label: str
    precision: float  # NaN if the label was never answered
    recall: float  # NaN if it was never right
    f1: float
    n: int  # items for which it is right
    answered: int


def macro_f1(table: Table) -> Statistics:
    """The mean over classes of F1.

    With one right label per item: of the answers. Where items have several right labels and answers
    have scores: of sets, the labels that are typical in the scores against those that are right
    (ViPhy, tables 4 and 5).
    """
    if table.scores is not None and bool((table.cardinality > 1).any()):
        return typical_f1("code").statistics(table)
    return Statistics.tallied(table.clusters, *_single(table))


def recognised_macro_f1(table: Table) -> Statistics:
    """Macro-F1 among the items that have a readable answer."""
    return macro_f1(table.where(table.answered))


def guessed_macro_f1(table: Table) -> Statistics:
    """Macro-F1 if every item without an answer were guessed, by expected counts.

    Such an item adds an equal part to what is said of each of its choices, and the part of a right
    one to what is said rightly (spatial commonsense, section 4, with the mean of all draws).
    """
    cells, k, finish = _single(table)
    lost = np.flatnonzero(~table.answered)
    row, at = np.nonzero(table.choices[lost] >= 0)
    part = 1 / (table.choices[lost] >= 0).sum(axis=1)[row]
    label = table.choices[lost][row, at]
    hit = label == gold_label(table)[lost][row]
    cells.append(Cell(lost[row], 3 * label + 1, part))
    cells.append(Cell(lost[row][hit], 3 * label[hit], part[hit]))
    return Statistics.tallied(table.clusters, cells, k, finish)


def typical_f1(rule: str) -> Measure:
    """The measure "typical_f1@code" or "typical_f1@paper": macro-F1 of typical and right labels."""
    return Measure(
        name=f"typical_f1@{rule}",
        needs=frozenset({"scores"}),
        statistics=lambda table: _of_sets(table, rule),
        summary=f"macro-F1 over sets of typical labels, by the rule of the {rule}",
    )


def class_scores(table: Table) -> list[ClassScore]:
    """Precision, recall and F1 of each class, one label per item."""
    cells, k, _ = _single(table)
    sums = Statistics.tallied(table.clusters, cells, k, _present).total.reshape(-1, 3)
    found = []
    for label, (both, said, gold) in zip(table.labels, sums.tolist(), strict=True):
        if not said + gold:
            continue
        f1 = 2 * both / (said + gold)
        row = ClassScore(label, _share(both, said), _share(both, gold), f1, int(gold), int(said))
        found.append(row)
    return found


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


def _single(table: Table) -> tuple[list[Cell], int, Finish]:
    cells = _cells(table.right, table.choice, gold_label(table))
    return cells, 3 * len(table.labels), _present


def gold_label(table: Table) -> Codes:
    """One right label for each row: the answer if it is right, else the first of the right ones."""
    return np.where(table.right, table.choice, table.first_right)


def _cells(right: Flags, said: Codes, gold: Codes) -> list[Cell]:
    answered = said >= 0
    every = np.arange(len(gold))
    return [
        Cell(right, 3 * gold[right]),
        Cell(answered, 3 * said[answered] + 1),
        Cell(every, 3 * gold + 2),
    ]


def _of_sets(table: Table, rule: str) -> Statistics:
    """Multi-label macro-F1 over all labels that are choices.

    A label that is neither right nor predicted has F1 0. An item without an answer has no typical
    label, even if it has scores: it counts as wrong, as everywhere.
    """
    if table.scores is None:
        return Statistics(np.zeros((0, 3)), _all, 0, 0)
    probabilities = table.probabilities
    known = ~np.isnan(probabilities).any(axis=1) & table.answered
    said = np.zeros(probabilities.shape, dtype=bool)
    said[known] = typical_sets(probabilities[known], rule, real=table.choices[known] >= 0)
    labels = np.unique(table.kinds.choices[table.kinds.choices >= 0])
    place = np.full(len(table.labels), -1)
    place[labels] = np.arange(len(labels))
    cells = []
    for j, flags in enumerate((said & table.gold_at, said, table.gold_at)):
        row, at = np.nonzero(flags)
        cells.append(Cell(row, 3 * place[table.choices[row, at]] + j))
    return Statistics.tallied(table.clusters, cells, 3 * len(labels), _all)


def _f1(sums: Floats) -> Floats:
    by_class = sums.reshape(*sums.shape[:-1], -1, 3)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(2 * by_class[..., 0] / (by_class[..., 1] + by_class[..., 2]))


def _present(sums: Floats) -> Floats:
    """The mean over the classes that occur; in a sample without some class, over the others."""
    found = _f1(sums)
    count = (~np.isnan(found)).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nansum(found, axis=-1) / count)


def _all(sums: Floats) -> Floats:
    return np.asarray(np.nan_to_num(_f1(sums)).mean(axis=-1))


MACRO_F1 = Measure(
    name="macro_f1",
    summary="mean over classes of F1; over sets of labels where several are right",
    statistics=macro_f1,
)
RECOGNISED_MACRO_F1 = Measure(
    name="recognised_macro_f1",
    summary="macro-F1 among the items that have a readable answer",
    statistics=recognised_macro_f1,
)
GUESSED_MACRO_F1 = Measure(
    name="guessed_macro_f1",
    summary="macro-F1 with the expected counts of guesses where there is no answer",
    statistics=guessed_macro_f1,
)

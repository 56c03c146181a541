"""Measures of labels: macro-F1 of the answers, and ViPhy's of several right labels."""

import numpy as np

from gnomon.contracts import Measure
from gnomon.measures.columns import Codes, Floats
from gnomon.measures.statistics import PartialSums, Statistics, mean_of
from gnomon.measures.table import Flags, Table
from gnomon.vision.knowledge import typical_sets

# ViPhy's measures of several right labels: relaxed accuracy, true confidence, typical labels.
#
# Section 4 of the paper defines the first two, appendix A.2 the third; the authors' code deviates
# in the third.


def relaxed_accuracy(table: Table) -> Statistics:
    """The share of items whose most probable choice is a right label (RA, section 4).

    The first wins a tie. An answer without scores counts by its choice, so for models without
    scores this is plain accuracy. An answer with scores but no choice is wrong: so a masked model
    that is asked for the likeliest word of its whole vocabulary says that this word is none of the
    choices, which is the authors' zero-shot rule.
    """
    return mean_of(most_probable_is_right(table) & table.answered, table.clusters)


def most_probable_is_right(table: Table) -> Flags:
    """For each row, whether the choice with the highest probability is right."""
    if table.scores is None:
        return table.right
    known = ~np.isnan(table.probabilities).any(axis=1)
    best = np.nan_to_num(table.probabilities, nan=0.0).argmax(axis=1)
    flags: Flags = np.where(known, table.gold_at[np.arange(len(table)), best], table.right)
    return flags


def true_confidence(table: Table) -> Statistics:
    """The mean probability given to the right labels together (C, section 4).

    No usable scores count as 0. So does an answer with scores but no choice, as in
    `relaxed_accuracy`: the paper's confidence is over its labels only, and a model whose likeliest
    word is none of them gave them no such confidence. Undefined where no answer has scores.
    """
    if table.scores is None:
        return mean_of([], table.clusters[:0])
    sure = np.nan_to_num((table.probabilities * table.gold_at).sum(axis=1))
    return mean_of(np.where(table.answered, sure, 0.0), table.clusters)


RELAXED_ACCURACY = Measure(name="relaxed_accuracy", statistics=relaxed_accuracy, guessable=True)
TRUE_CONFIDENCE = Measure(
    name="true_confidence",
    statistics=true_confidence,
    needs=frozenset({"scores"}),
)


def macro_f1(table: Table) -> Statistics:
    """The mean over classes of F1 of the answers.

    Of several right labels the one that was answered counts, or else the first that the item has.
    """
    cells = _cells(table.right, table.choice, gold_label(table))
    return Statistics.tallied(table.clusters, cells, 3 * len(table.labels), _present)


def recognised_macro_f1(table: Table) -> Statistics:
    """Macro-F1 among the items that have a readable answer."""
    return macro_f1(table.where(table.answered))


def guessed_macro_f1(table: Table) -> Statistics:
    """Macro-F1 if every item without an answer were guessed, by expected counts.

    Such an item adds an equal part to what is said of each of its choices, and the part of a right
    one to what is said rightly (spatial commonsense, section 4, with the mean of all draws).
    """
    answered = np.flatnonzero(table.answered)
    lost = np.flatnonzero(~table.answered)
    row, at = np.nonzero(table.choices[lost] >= 0)
    guesses = lost[row]
    part = 1 / (table.choices[lost] >= 0).sum(axis=1)[row]
    drawn = table.choices[guesses, at]
    hit = table.gold_at[guesses, at]

    rows = np.concatenate([answered, guesses])
    weights = np.concatenate([np.ones(len(answered)), part])
    said = np.concatenate([table.choice[answered], drawn])
    right = np.concatenate([table.right[answered], hit])
    gold = np.where(right, said, table.first_right[rows])
    cells = [
        PartialSums(rows[right], 3 * said[right], weights[right]),
        PartialSums(rows, 3 * said + 1, weights),
        PartialSums(rows, 3 * gold + 2, weights),
    ]
    return Statistics.tallied(table.clusters, cells, 3 * len(table.labels), _present)


def typical_f1(rule: str) -> Measure:
    """The measure "typical_f1@code" or "typical_f1@paper": macro-F1 of typical and right labels."""
    return Measure(
        name=f"typical_f1@{rule}",
        needs=frozenset({"scores"}),
        statistics=lambda table: _of_sets(table, rule),
        summary=f"macro-F1 over sets of typical labels, by the rule of the {rule}",
    )


def gold_label(table: Table) -> Codes:
    """One right label for each row: the answer if it is right, else the first of the right ones."""
    return np.where(table.right, table.choice, table.first_right)


def _cells(right: Flags, said: Codes, gold: Codes) -> list[PartialSums]:
    answered = said >= 0
    every = np.arange(len(gold))
    return [
        PartialSums(right, 3 * gold[right]),
        PartialSums(answered, 3 * said[answered] + 1),
        PartialSums(every, 3 * gold + 2),
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
        cells.append(PartialSums(row, 3 * place[table.choices[row, at]] + j))
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


MACRO_F1 = Measure(name="macro_f1", statistics=macro_f1)
RECOGNISED_MACRO_F1 = Measure(name="recognised_macro_f1", statistics=recognised_macro_f1)
GUESSED_MACRO_F1 = Measure(name="guessed_macro_f1", statistics=guessed_macro_f1)

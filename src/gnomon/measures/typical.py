"""ViPhy's measures of several right labels: relaxed accuracy, true confidence, typical labels.

Section 4 of the paper defines the first two, appendix A.2 the third; the authors' code deviates in
the third.
"""

from __future__ import annotations

import numpy as np

from gnomon.contracts import Measure
from gnomon.measures.statistics import Statistics, mean_of
from gnomon.measures.table import Flags, Table


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


RELAXED_ACCURACY = Measure(
    name="relaxed_accuracy",
    statistics=relaxed_accuracy,
    summary="share of items whose most probable choice is a right label",
    guessable=True,
)
TRUE_CONFIDENCE = Measure(
    name="true_confidence",
    statistics=true_confidence,
    needs=frozenset({"scores"}),
    summary="mean probability of the right labels together",
)

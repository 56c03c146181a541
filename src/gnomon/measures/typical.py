"""ViPhy's measures of several right labels: relaxed accuracy, true confidence, typical labels.

Section 4 of the paper defines the first two, appendix A.2 the third; the authors' code deviates in
the third.
"""

from __future__ import annotations

import numpy as np

from gnomon.contracts import Measure
from gnomon.errors import UsageError
from gnomon.measures.statistics import Floats, Statistics, mean_of
from gnomon.measures.table import Flags, Table

# p_min for 0, 1, 2, 3, and 4 or more labels
LEAST = np.array([0.0, 0.0, 0.3, 0.2, 0.1], dtype=np.float32)


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


def typical_sets(probabilities: Floats, rule: str = "code", *, real: Flags | None = None) -> Flags:
    """[rows, labels] which labels are typical: drop the rare ones and renormalise, repeatedly.

    In float32. Both rules hold p against p_min = .1, .2 and .3 for 4 or more, 3 and 2 labels, and
    stop when a step would leave none or drops none. "paper" keeps p > p_min, with p_min by the
    labels there are from the start. "code" keeps p >= p_min, starts from .1 whatever the number of
    labels, and so never gets to .2 or .3 if nothing is below .1.

    `real` says which labels there are, where rows have fewer than columns.

    >>> shares = np.array([[0.5, 0.35, 0.15]])
    >>> typical_sets(shares, "code").tolist(), typical_sets(shares, "paper").tolist()
    ([[True, True, True]], [[True, True, False]])
    """
    if rule not in ("code", "paper"):
        raise UsageError(f"There is no rule '{rule}' for typical labels.", "Rules: code, paper.")
    shares = np.asarray(probabilities, dtype=np.float32)
    kept = np.ones(shares.shape, dtype=bool) if real is None else real.copy()
    going = np.ones(len(shares), dtype=bool)
    least = np.full(len(shares), 0.1, dtype=np.float32)
    while going.any():
        count = kept.sum(axis=1)
        if rule == "paper":
            least = LEAST[np.minimum(count, 4)]
            going &= count > 1
            passing = shares > least[:, None]
        else:
            passing = shares >= least[:, None]
        left = np.where(going[:, None], kept & passing, kept)
        going &= left.any(axis=1)  # where none would be left, the set stays as it was
        left = np.where(going[:, None], left, kept)
        rest = np.where(left, shares, np.float32(0))
        with np.errstate(invalid="ignore", divide="ignore"):
            renewed = rest / rest.sum(axis=1, keepdims=True, dtype=np.float32)
        shares = np.where(going[:, None], renewed, shares)
        going &= left.sum(axis=1) < count
        kept = left
        least = LEAST[np.minimum(kept.sum(axis=1), 4)]
        going &= kept.sum(axis=1) > 1
    return kept


RELAXED_ACCURACY = Measure(
    name="relaxed_accuracy",
    statistics=relaxed_accuracy,
    summary="share of items whose most probable choice is a right label",
)
TRUE_CONFIDENCE = Measure(
    name="true_confidence",
    statistics=true_confidence,
    needs=frozenset({"scores"}),
    summary="mean probability of the right labels together",
)

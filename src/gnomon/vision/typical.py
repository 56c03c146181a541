"""Which labels are typical of an object, given their shares: ViPhy's rules (appendix A.2).

The paper and the released code differ, so there are two rules, "paper" and "code"; the published
data follow the code, and so do its tables. All sums are in float32, as there: some published rows
lie on a boundary that float64 would decide otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from gnomon.errors import UsageError

Floats = NDArray[np.floating]
Flags = NDArray[np.bool_]
Shares = Mapping[str, float]
RULES = ("code", "paper")
# The share a label needs if 0, 1, 2, 3, or 4 and more labels are left.
LEAST = np.array([0.0, 0.0, 0.3, 0.2, 0.1], dtype=np.float32)


def typical_sets(probabilities: Floats, rule: str = "code", *, real: Flags | None = None) -> Flags:
    """[rows, labels] which labels are typical: repeatedly drop the rare ones and renormalise.

    Both rules keep p against p_min = .1, .2 and .3 for 4 or more, 3 and 2 labels left, and stop
    when a step would leave none or drops none. "paper" keeps p > p_min, with p_min by the labels
    there are from the start. "code" keeps p >= p_min, starts from .1 whatever the number of labels,
    and so never gets to .2 or .3 if nothing is below .1.

    `real` says which labels there are, where rows have fewer than columns.

    >>> shares = np.array([[0.5, 0.35, 0.15]])
    >>> typical_sets(shares, "code").tolist(), typical_sets(shares, "paper").tolist()
    ([[True, True, True]], [[True, True, False]])
    """
    if rule not in RULES:
        raise UsageError(f"There is no rule '{rule}' for typical labels.", "Rules: code, paper.")
    shares = np.asarray(probabilities, dtype=np.float32)
    kept = np.ones(shares.shape, dtype=bool) if real is None else real.copy()
    going = np.ones(len(shares), dtype=bool)  # rows that are not decided yet
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
        shares = np.where(going[:, None], _renormalised(shares, left), shares)

        kept = left
        now = kept.sum(axis=1)
        going &= (now < count) & (now > 1)
        least = LEAST[np.minimum(now, 4)]
    return kept


def _renormalised(shares: Floats, kept: Flags) -> Floats:
    rest = np.where(kept, shares, np.float32(0))
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = rest / rest.sum(axis=1, keepdims=True, dtype=np.float32)
    return found


def typical_labels(shares: Shares, rule: str = "code") -> dict[str, float]:
    """The typical ones of some labels, with their shares among themselves.

    A label whose share is 0 counts as one for the code, which so gets to the thresholds for fewer
    labels by dropping it, and as none for the paper.

    >>> shares = {"above": 0.72, "level": 0.14, "below": 0.14}
    >>> sorted(typical_labels(shares, "code")), sorted(typical_labels(shares, "paper"))
    (['above', 'below', 'level'], ['above'])
    """
    values = np.array([list(shares.values())], dtype=np.float32)
    if not values.any():
        return dict(shares)
    flags = typical_sets(values, rule, real=values > 0 if rule == "paper" else None)
    among = _renormalised(values, flags)
    found = {}
    for label, is_typical, share in zip(shares, flags[0], among[0], strict=True):
        if is_typical:
            found[label] = float(share)
    return found


def typical_relations(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Typical elevations of a pair from its counts of ">", "=" and "<", as in the published column.

    At least a fifth of the counts; of two that are left, at least three tenths. All three labels (a
    pair the authors dropped) may come out.

    >>> typical_relations({">": 23, "=": 258, "<": 129})
    ('=', '<')
    """
    labels = np.array(list(counts))
    shares = _shares(list(counts.values()))
    frequent = shares >= np.float32(0.2)
    labels, shares = labels[frequent], shares[frequent]
    if len(labels) == 2:
        labels = labels[_shares(shares.tolist()) >= np.float32(0.3)]
    return tuple(labels.tolist())


def _shares(values: Sequence[float]) -> Floats:
    array = np.asarray(values, dtype=np.float32)
    total = array.sum()
    return array / total if total else array


def typical_size(greater: int, lesser: int) -> str:
    """ ">" or "<" where seven tenths of the counts say so; empty for a pair left out as ambiguous.

    >>> typical_size(70, 30), typical_size(6, 4)
    ('>', '')
    """
    total = greater + lesser
    if total and lesser / total >= 0.7:
        return "<"
    if total and greater / total >= 0.7:
        return ">"
    return ""

"""What several models say about each item: how hard it is, and whether it tells them apart.

Difficulty is the share of models that are right. Discrimination is the correlation over models of
being right on the item with being right on the others (classical test theory: the corrected
item-total correlation). Below zero, better models miss what worse ones get: look at the label.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.measures.codes import Floats

FEWEST_MODELS = 3  # models below which a correlation is always 1, -1 or undefined


class ItemStatistics(NamedTuple):
    """One row for each item, NaN where something is undefined."""

    difficulty: Floats  # share of models that are right: 1 is easy
    discrimination: Floats  # from -1 to 1; undefined where all models agree


def item_statistics(right: NDArray[np.bool_]) -> ItemStatistics:
    """The statistics of items from a matrix [models, items] of who is right on what.

    All models were asked all items. Two models or fewer give no discrimination.

    >>> right = np.array([[1, 1, 0], [1, 0, 1], [0, 0, 1]], dtype=bool)
    >>> found = item_statistics(right)
    >>> [round(value, 2) for value in found.difficulty.tolist()]
    [0.67, 0.33, 0.67]
    >>> [round(value, 2) for value in found.discrimination.tolist()]
    [nan, -0.5, -0.87]
    """
    models, items = right.shape
    marks = right.astype(float)
    difficulty = marks.mean(axis=0) if models else np.full(items, np.nan)
    if models < FEWEST_MODELS or items < 2:
        return ItemStatistics(difficulty, np.full(items, np.nan))

    rest = marks.sum(axis=1, keepdims=True) - marks  # right answers to the other items
    own = marks - difficulty
    others = rest - rest.mean(axis=0)
    spread = np.sqrt((own**2).sum(axis=0) * (others**2).sum(axis=0))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (own * others).sum(axis=0) / np.where(spread > 0, spread, np.nan)
    return ItemStatistics(difficulty, np.asarray(found))

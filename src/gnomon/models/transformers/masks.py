"""What a token of a batch of rows sees, and how rows of unlike length are filled up. No torch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gnomon.models.transformers.rows import TokenRow


def filled(values: list[int], length: int) -> list[int]:
    """A row filled up with its last value: nothing that stands after a token changes it.

    >>> filled([4, 5], 4)
    [4, 5, 5, 5]
    """
    return values + values[-1:] * (length - len(values))


def ancestors(batch: Sequence[TokenRow], length: int) -> NDArray[np.bool_]:
    """For each row and token, which tokens of the row it sees: its ancestors and itself.

    Rows of a batch that are chains all see the same, so one stands for all.
    """
    if batch[0].chain:
        return np.tril(np.ones((1, length, length), dtype=bool))
    sees = np.zeros((len(batch), length, length), dtype=bool)
    for row, seen in zip(batch, sees, strict=True):
        np.fill_diagonal(seen, True)
        for place, parent in enumerate(row.parents):
            if parent >= 0:
                seen[place, : parent + 1] |= seen[parent, : parent + 1]
    return sees

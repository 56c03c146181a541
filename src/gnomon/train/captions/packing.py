"""Captions in rows: each in one of its own, or as many as a row has room for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class PackedRows(NamedTuple):
    """Which captions stand in each row: stretches of an order."""

    order: NDArray[np.int64]
    starts: NDArray[np.int64]  # of each row, and the end of the last

    @property
    def total(self) -> int:
        """How many rows there are."""
        return len(self.starts) - 1

    def captions(self, row: int) -> NDArray[np.int64]:
        """The numbers of the captions of a row."""
        return self.order[self.starts[row] : self.starts[row + 1]]


def padded_rows(count: int) -> PackedRows:
    """A row for each caption."""
    return PackedRows(np.arange(count), np.arange(count + 1))


def packed_rows(sizes: NDArray[np.int64], room: int, draw: np.random.Generator) -> PackedRows:
    """Rows of whole captions in an order that is drawn, each with at most so many tokens.

    `sizes` are the tokens of each caption with the mark behind it. A caption has a row to itself if
    it is longer than the room.
    """
    order = draw.permutation(len(sizes))
    starts = _starts(sizes[order].tolist(), room)
    return PackedRows(order, np.array(starts, dtype=np.int64))


def _starts(sizes: Sequence[int], room: int) -> list[int]:
    """Where rows begin if they are filled one after the other.

    >>> _starts([3, 4, 5, 9, 1], room=8)
    [0, 2, 3, 4, 5]
    """
    starts = [0]
    used = 0
    for number, size in enumerate(sizes):
        if used and used + size > room:
            starts.append(number)
            used = 0
        used += size
    return [*starts, len(sizes)]

"""Codes: whole numbers that stand for names; -1 stands for one that nothing else has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32] | NDArray[np.int64]
Floats = NDArray[np.float64]


def compact(codes: Codes) -> tuple[Codes, int]:
    """Codes renumbered 0, 1 ... in order of value, and how many; each -1 becomes one of its own.

    >>> compact(np.array([7, 3, 7, -1, -1]))
    (array([1, 0, 1, 2, 3]), 4)
    """
    alone = codes < 0
    if not alone.any():
        return _renumber(codes)
    codes = np.asarray(codes, dtype=np.int64).copy()
    named, count = _renumber(codes[~alone])
    codes[~alone] = named
    codes[alone] = count + np.arange(int(alone.sum()))
    return codes, count + int(alone.sum())


def _renumber(codes: Codes) -> tuple[Codes, int]:
    if not len(codes):
        return codes, 0
    top = int(codes.max()) + 1
    if top > 4 * len(codes) + 1000:  # sparse codes: sorting is cheaper than a long table
        values, found = np.unique(codes, return_inverse=True)
        return np.asarray(found, dtype=np.int64), len(values)
    seen = np.bincount(codes, minlength=top) > 0
    return (np.cumsum(seen) - 1)[codes], int(seen.sum())


def added(codes: Codes, count: int, columns: Floats) -> Floats:
    """[count, k] the columns of all rows that have the same code, added up."""
    sums = np.empty((count, columns.shape[1]))
    for j in range(columns.shape[1]):
        sums[:, j] = np.bincount(codes, weights=columns[:, j], minlength=count)
    return sums

"""What people reach together: the mean of their shares, and the label that most of them give."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gnomon.measures.statistics import Floats, Statistics, ratio
from gnomon.measures.units import Units
from gnomon.records import digest

Flags = NDArray[np.bool_]


def mean_over_people(good: Flags, judged: Flags, units: Units) -> Statistics:
    """The mean over people of the share of what they judged that is good: both [items, people]."""
    rows = np.flatnonzero(judged.any(axis=1))
    people = np.flatnonzero(judged.any(axis=0))
    width = len(people)
    cells = np.ix_(rows, people)
    columns = np.column_stack([good[cells] & judged[cells], judged[cells]]).astype(float)

    def finish(sums: Floats) -> Floats:
        both = np.stack([sums[..., :width], sums[..., width:]], axis=-1)
        return np.asarray(ratio(both).mean(axis=-1))

    return Statistics.of(units[rows], columns, finish, n=len(rows))


def label_of_most(item: str, labels: Sequence[str], counts: Sequence[int]) -> str | None:
    """The label with most votes; among several, one drawn by the item's id. None without votes.

    >>> label_of_most("1", ["false", "true"], [1, 2]), label_of_most("1", ["a", "b"], [0, 0])
    ('true', None)
    """
    most = max(counts, default=0)
    if most <= 0:
        return None
    tied = [label for label, count in zip(labels, counts, strict=True) if count == most]
    place = int(digest(item), 16) % len(tied)
    return sorted(tied)[place]

"""Items by group: how many there are and how many are right; what templates, patterns and pairs are measured by."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np

from gnomon.measures.statistics import Codes, Floats, compact
from gnomon.measures.table import Table

LEAST = 10  # items of a group; a threshold such as 0.95 needs more, so that one item may be wrong


class Groups(NamedTuple):
    """The groups of a table in order of their codes; an item without a group is a group of one."""

    of: Codes  # the group of each row
    first: Codes  # a row of each group
    size: Codes
    right: Codes
    clusters: Codes  # the independent cluster that each group belongs to

    @property
    def share(self) -> Floats:
        """The accuracy of each group."""
        return np.asarray(self.right / self.size)


def groups(table: Table) -> Groups:
    """The groups of a table."""
    of, count = compact(table.group.codes)
    size = np.bincount(of, minlength=count)
    right = np.bincount(of[table.right], minlength=count)
    first = np.zeros(count, dtype=np.int64)
    first[of[::-1]] = np.arange(len(of))[::-1]
    clusters = np.arange(count) if table.cluster == "group" else table.clusters[first]
    return Groups(of, first, size, right, clusters)


def items_per_group(table: Table) -> float:
    """How many items a group has on average; 0 for an empty table."""
    return len(table) / max(1, len(groups(table).size))


def least_size(measure: str) -> int:
    """How many items a group needs before a measure of whole groups says something; 0 for other measures.

    From one or two items "all right" is little more than a guess; and below 1 / (1 - T) items, a share of T is all of
    them, so that the threshold is another one than it says.

    >>> least_size("pattern_accuracy@0.95"), least_size("pattern_accuracy@1.0"), least_size("accuracy")
    (20, 10, 0)
    """
    name, _, threshold = measure.partition("@")
    if name not in ("pattern_accuracy", "without_partial_credit"):
        return 0
    share = float(threshold or 1)
    return max(LEAST, ceil(1 / (1 - share) - 1e-9)) if share < 1 else LEAST

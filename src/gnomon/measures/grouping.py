"""Items by group: how many there are and how many are right; what templates, patterns and pairs are
measured by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.measures.statistics import Codes, Floats, compact
from gnomon.measures.table import Table


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

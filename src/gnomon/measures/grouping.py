"""Items by group: what templates, patterns and pairs are measured by.

Figures of whole groups (such as pattern accuracy) mean little if a group has only a few items:
with 4, "90 % of them right" is the same as "all of them right"; with 1 it is plain accuracy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.measures.codes import Codes, Floats, compact
from gnomon.measures.table import Table
from gnomon.measures.units import Units
from gnomon.records import Score

FEWEST = 5  # pairs, triples or groups of items that a figure may be a share of
LEAST_ITEMS = 10  # items of a group, for measures that ask whether a whole group is right


class Groups(NamedTuple):
    """The groups of a table in order of their codes; an item without a group is a group of one."""

    of: Codes  # the group of each row
    first: Codes  # a row of each group
    size: Codes
    right: Codes
    clusters: Units  # the units that each group belongs to

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
    return Groups(of, first, size, right, table.clusters[first])


def items_per_group(table: Table) -> float:
    """How many items a group has on average; 0 for an empty table."""
    if not len(table):
        return 0.0
    return len(table) / len(groups(table).size)


def items_each(table: Table) -> str:
    """How many items the groups have, in words.

    >>> items_each(Table.of([]))
    '0 items each'
    """
    sizes = groups(table).size
    if not len(sizes):
        return "0 items each"
    if int(sizes.min()) == int(sizes.max()):
        return f"{int(sizes[0]):,} items each"
    mean = items_per_group(table)
    return f"about {mean:,.0f} items each" if mean >= 10 else f"about {mean:.1f} items each"


def least_size(measure: str) -> int:
    """How many items a group needs before the measure of that name says something, or 0.

    >>> least_size("pattern_accuracy@0.95"), least_size("accuracy")
    (20, 0)
    """
    from gnomon.registry import measure as named

    return named(measure).least_group


def large_enough(measure: str, table: Table) -> bool:
    """Whether the groups of a table are large enough for the measure of that name."""
    least = least_size(measure)
    return not least or items_per_group(table) >= least


def enough_units(score: Score, table: Table) -> bool:
    """Whether a figure is a share of items, or of enough pairs, triples or groups of them."""
    return score.n >= min(FEWEST, len(table))

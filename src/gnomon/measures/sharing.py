"""What the rows of a table share: units by the tags that its benchmark names, and their number."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.measures.columns import pooled
from gnomon.measures.units import Units, compact

if TYPE_CHECKING:
    from gnomon.contracts import Benchmark
    from gnomon.measures.table import Table


class Kind(NamedTuple):
    """A kind of unit: the tags that hold its units, and what these are called."""

    tags: tuple[str, ...]
    noun: str


class Sharing(NamedTuple):
    """What the items of a benchmark may share, and the groups, for items that share none of it."""

    kinds: tuple[Kind, ...] = ()
    groups: Kind = Kind(("group",), "groups")

    @classmethod
    def of(cls, benchmark: Benchmark) -> Sharing:
        """What a benchmark says."""
        groups = Kind(("group",), benchmark.noun)
        nouns = benchmark.unit_nouns or [f"{tags[0]}s" for tags in benchmark.units]
        kinds = []
        for tags, noun in zip(benchmark.units, nouns, strict=True):
            kinds.append(groups if tags == groups.tags else Kind(tags, noun))
        return cls(tuple(kinds), groups)

    def within(self, table: Table) -> tuple[Kind, ...]:
        """The kinds all of whose tags the items of a table have; if there are none, the groups."""
        if not len(table):  # an empty table has no tags
            return (self.groups,)
        there = [kind for kind in self.kinds if all(map(table.has_column, kind.tags))]
        return tuple(there) or (self.groups,)


def shared_units(table: Table) -> Units:
    """The units of each row."""
    columns = []
    tags = []
    for kind in table.sharing.within(table):
        columns.append(pooled([table.column(tag) for tag in kind.tags]))
        tags.append(len(kind.tags))
    return Units(np.concatenate(columns, axis=1, dtype=np.int64), tuple(tags))


def units_in_words(table: Table) -> str:
    """How many units of each kind there are, such as "16 objects, 30 verbs".

    >>> from gnomon.measures.table import Table
    >>> units_in_words(Table.of([]))
    '0 groups'
    """
    found = []
    start = 0
    for kind in table.sharing.within(table):
        end = start + len(kind.tags)
        _, count = compact(table.clusters.codes[:, start:end].ravel())
        found.append(_counted(count, kind.noun))
        start = end
    return ", ".join(found)


def _counted(count: int, noun: str) -> str:
    if count != 1:
        return f"{count:,} {noun}"
    if noun.endswith("ies"):
        return f"1 {noun.removesuffix('ies')}y"
    return f"1 {noun.removesuffix('s')}"

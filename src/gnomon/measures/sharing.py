"""What the rows of a table share: units, by the tags that its benchmark names."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.measures.codes import Codes
from gnomon.measures.columns import pooled
from gnomon.measures.units import Units

if TYPE_CHECKING:
    from gnomon.contracts import Benchmark
    from gnomon.measures.table import Table


class KindOfUnit(NamedTuple):
    """A kind of unit: the tags that hold its units, and what these are called."""

    tags: tuple[str, ...]
    noun: str


class Sharing(NamedTuple):
    """What the items of a benchmark may share, and the groups, for items that share none of it."""

    kinds: tuple[KindOfUnit, ...] = ()
    groups: KindOfUnit = KindOfUnit(("group",), "groups")

    @classmethod
    def of(cls, benchmark: Benchmark) -> Sharing:
        """What a benchmark says."""
        groups = KindOfUnit(("group",), benchmark.noun)
        nouns = benchmark.unit_nouns or [f"{tags[0]}s" for tags in benchmark.units]
        kinds = []
        for tags, noun in zip(benchmark.units, nouns, strict=True):
            kinds.append(groups if tags == groups.tags else KindOfUnit(tags, noun))
        return cls(tuple(kinds), groups)

    def within(self, table: Table) -> tuple[KindOfUnit, ...]:
        """The kinds all of whose tags the items of a table have; if there are none, the groups."""
        if not len(table):  # an empty table has no tags
            return (self.groups,)
        there = [kind for kind in self.kinds if all(map(table.has_column, kind.tags))]
        return tuple(there) or (self.groups,)


def shared_units(table: Table) -> Units:
    """The units of each row."""
    columns: list[Codes] = []
    tags: list[int] = []
    nouns: list[str] = []
    for kind in table.sharing.within(table):
        found = pooled([table.column(tag) for tag in kind.tags])
        columns.append(found)
        tags.append(len(kind.tags))
        alone = len(table) > 0 and (found < 0).all()  # no item says what it belongs to
        nouns.append("items" if alone else kind.noun)
    codes = np.concatenate(columns, axis=1, dtype=np.int64)
    return Units(codes, tuple(tags), tuple(nouns))

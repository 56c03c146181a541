"""Is one fact answered alike however it is put: by its converse, denied, in a mirror.

The items of one fact share the tag `fact`, and the tag `way` says how each puts it. Their right
answers follow from one another, so answers agree if all of them are right or all are wrong.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from gnomon.contracts import Measure
from gnomon.measures.codes import Codes, compact
from gnomon.measures.consistency import with_twin
from gnomon.measures.statistics import Statistics, mean_of
from gnomon.measures.table import Flags, Table

FACT, WAY = "fact", "way"  # tags
PLAIN = "plain"  # the way in which every fact is put


def consistency(table: Table, *, and_right: bool = False) -> Statistics:
    """The share of facts, put in two ways or more, whose answers all agree (and are right)."""
    return _alike(_in_ways(table), and_right=and_right)


def way_agreement(way: str) -> Measure:
    """The measure "way_agreement@WAY": facts answered alike plainly and in another way.

    >>> way_agreement("converse").twin
    'way_agreement_and_right@converse'
    """
    return Measure(
        name=f"way_agreement@{way}",
        statistics=partial(_of_way, way=way, and_right=False),
        summary=f"share of facts answered alike plainly and by {way}",
        twin=f"way_agreement_and_right@{way}",
        needs=frozenset({"ways"}),
    )


def way_agreement_and_right(way: str) -> Measure:
    """The measure "way_agreement_and_right@WAY": facts right plainly and in another way."""
    return Measure(
        name=f"way_agreement_and_right@{way}",
        statistics=partial(_of_way, way=way, and_right=True),
        summary=f"share of facts right plainly and by {way}",
        needs=frozenset({"ways"}),
    )


def has_ways(table: Table) -> bool:
    """Whether some fact is put in two ways or more."""
    return bool(len(_in_ways(table)))


def _of_way(table: Table, *, way: str, and_right: bool) -> Statistics:
    part = _in_ways(table)
    if not len(part):
        return _alike(part, and_right=and_right)
    column = part.tags[WAY]
    wanted = [code for code, value in enumerate(column.values) if value in (PLAIN, way)]
    return _alike(_in_ways(part.where(np.isin(column.codes, wanted))), and_right=and_right)


def _in_ways(table: Table) -> Table:
    """The rows of facts that are put in two ways or more."""
    if FACT not in table.tags or WAY not in table.tags:
        return table.where(np.zeros(len(table), dtype=bool))
    way = table.tags[WAY].codes
    part = table.where((way >= 0) & (table.tags[FACT].codes >= 0))
    if not len(part):
        return part

    fact, facts = _facts(part)
    way = part.tags[WAY].codes
    fewest, most = np.full(facts, way.max()), np.full(facts, -1)
    np.minimum.at(fewest, fact, way)
    np.maximum.at(most, fact, way)
    several: Flags = fewest < most
    return part.where(several[fact])


def _facts(table: Table) -> tuple[Codes, int]:
    """The fact of each row; groups keep apart what runs of several seeds have in common."""
    column = table.tags[FACT]
    groups = compact(table.group.codes)[0].astype(np.int64)
    return compact(groups * len(column.values) + column.codes)


def _alike(part: Table, *, and_right: bool) -> Statistics:
    if not len(part):
        return mean_of([], np.zeros(0, dtype=np.int64))
    fact, facts = _facts(part)
    size = np.bincount(fact, minlength=facts)
    right = np.bincount(fact[part.right], minlength=facts)
    answered = np.bincount(fact[part.answered], minlength=facts)
    alike = right == size
    if not and_right:
        alike = alike | ((right == 0) & (answered == size))
    first = np.zeros(facts, dtype=np.int64)
    first[fact[::-1]] = np.arange(len(fact))[::-1]
    return mean_of(alike, part.clusters[first])


CONSISTENCY, CONSISTENCY_AND_RIGHT = with_twin(
    "consistency",
    consistency,
    "ways",
)

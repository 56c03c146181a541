"""What a measure needs of a table (scores, groups, laws), and whether the table has it."""

from __future__ import annotations

from gnomon.contracts import Measure, Need, OrderLaw, RelationLaw
from gnomon.measures.separation import asks_for_truth, whole_pairs
from gnomon.measures.table import Table
from gnomon.measures.ways import has_ways

# What is lacking, as the end of the sentence "MEASURE needs ...".
WORDS: dict[Need, str] = {
    "scores": "scores, and there are none",
    "groups": "items in groups, and there are none",
    "order": "items under a declared order of objects, and there are none",
    "relations": "items under declared relations of objects, and there are none",
    "laws": "items under a declared law of relations, and there are none",
    "pairs": "contrastive pairs that were asked as a whole, and there are none",
    "truth": "items to be called true or false, and there are none",
    "ways": "facts that are asked in several ways, and there are none",
}


def unmet(measure: Measure, table: Table) -> Need | None:
    """The first need of a measure that a table does not meet; none if it meets all."""
    for need in sorted(measure.needs):
        if not _met(need, table):
            return need
    return None


def needs_two_runs(name: str) -> bool:
    """Whether a name is that of a measure over two runs."""
    from gnomon.registry import entries

    return name in entries("pair_measures")


def _met(need: Need, table: Table) -> bool:
    if need == "scores":
        return table.scores is not None
    if need == "groups":
        return bool((table.group.codes >= 0).any())
    if need == "pairs":
        return bool(len(whole_pairs(table).true))
    if need == "truth":
        return asks_for_truth(table)
    if need == "ways":
        return has_ways(table)
    laws = table.laws
    if need == "order":
        return _applies(laws.order, table)
    if need == "relations":
        return _applies(laws.relations, table)
    return _applies(laws.order, table) or _applies(laws.relations, table)


def _applies(law: OrderLaw | RelationLaw | None, table: Table) -> bool:
    """Whether a law is declared and some item names both of its objects."""
    if law is None:
        return False
    first, second = table.tags.get(law.first), table.tags.get(law.second)
    if first is None or second is None:
        return False
    return bool(((first.codes >= 0) & (second.codes >= 0)).any())

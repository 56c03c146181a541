"""Symmetry, converse and negation under a benchmark's laws; and objects' bias.

Spatial commonsense, section 5.1: symmetry is over the pairs asked both ways, regardless of gold.
What is not asked (two objects of one level) forms no pair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.measures.consistency import Said, agreement, with_twin
from gnomon.measures.laws import Statements, contexts, order, relations
from gnomon.measures.statistics import Codes, Statistics, compact
from gnomon.measures.table import Table


class Bias(NamedTuple):
    """How often an object is called the greater one, named first or second, and how often it is."""

    object: str
    context: str
    n: int
    called_greater: float
    called_greater_first: float  # among the items that name it first; NaN if there are none
    called_greater_second: float
    is_greater: float


def symmetry(table: Table, *, and_right: bool = False) -> Statistics:
    """The share of pairs of objects about which items asked either way round say the same fact."""
    found = order(table)
    parts = [] if found is None else [_order_said(table, found)]
    said = _relation_said(table, "symmetric")
    return agreement(_together(parts + ([said] if said else [])), and_right=and_right)


def converse(table: Table, *, and_right: bool = False) -> Statistics:
    """The share of facts asked with a word and with its converse (left of, right of) that get the
    same answer."""
    return agreement(_relation_said(table, "converse"), and_right=and_right)


def negation(table: Table, *, and_right: bool = False) -> Statistics:
    """The share of facts asserted and denied that get opposite answers."""
    return agreement(_relation_said(table, "negation"), and_right=and_right)


def object_bias(table: Table) -> list[Bias]:
    """For each object of a declared order, how often it is called greater (figure 5 of spatial
    commonsense)."""
    found = order(table)
    if found is None:
        return []
    rows = []
    for mine in contexts(found.context):
        one, two, said, gold = (
            column[mine] for column in (found.first, found.second, found.said, found.gold)
        )
        context = table.form.text()[found.rows[mine][0]]
        extra = [
            table.column(name).text()[found.rows[mine][0]]
            for name in _within(table)
            if name in table.tags
        ]
        for code in np.unique(np.concatenate([one, two])).tolist():
            first, second = one == code, two == code
            called = np.concatenate([said[first] == 1, said[second] == 0])
            is_greater = np.concatenate([gold[first] == 1, gold[second] == 0])
            rows.append(
                Bias(
                    found.objects[code],
                    " ".join([*extra, context]),
                    len(called),
                    float(called.mean()),
                    float((said[first] == 1).mean()) if first.any() else float("nan"),
                    float((said[second] == 0).mean()) if second.any() else float("nan"),
                    float(is_greater.mean()),
                )
            )
    return rows


def _order_said(table: Table, found: Statements) -> Said:
    """Facts about unordered pairs; the same question asked again is no pair, so variants are
    direction and word."""
    turned = found.first > found.second
    low, high = np.minimum(found.first, found.second), np.maximum(found.first, found.second)
    fact = np.where(found.said < 0, -1, found.said ^ turned)
    variant = (found.word + 1) * 2 + turned
    return Said(
        _key(found, low, high), fact, table.right[found.rows], table.clusters[found.rows], variant
    )


def _relation_said(table: Table, law: str) -> Said | None:
    found, declared = relations(table), table.laws.relations
    if found is None or declared is None:
        return None
    other = {same: same for same in declared.symmetric}
    for name, opposite in declared.converse:
        other[name] = opposite
        other[opposite] = name
    turns = np.array(
        [found.words.index(other[word]) if word in other else -1 for word in found.words] + [-1]
    )
    asked, as_choice = found.word, found.word < 0
    turned = found.first > found.second
    # Words as choices: the answer itself is turned round. Yes/no questions: the question is, and
    # its truth stays.
    said = np.where(as_choice & turned, turns[found.said], found.said)
    known = np.where(as_choice, turns[found.gold] >= 0, turns[asked] >= 0)
    symmetric = np.where(as_choice, turns[found.gold] == found.gold, turns[asked] == asked)
    if law == "negation":
        keep, swap, variant = (
            ~as_choice,
            np.zeros(len(turned), dtype=bool),
            found.negated.astype(np.int64),
        )
    elif law == "symmetric":
        keep, swap, variant = known & symmetric, turned, turned.astype(np.int64)
    else:
        keep, swap, variant = known & ~symmetric, turned, turned.astype(np.int64)
    one, two = np.where(swap, found.second, found.first), np.where(swap, found.first, found.second)
    word = np.where(as_choice, -1, np.where(swap, turns[asked], asked))
    unit = (_key(found, one, two) * (len(found.words) + 1) + word + 1)[keep]
    rows = found.rows[keep]
    if not len(rows):
        return None
    return Said(unit, said[keep], table.right[rows], table.clusters[rows], variant[keep])


def _together(parts: list[Said]) -> Said | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    one, two = parts
    return Said(
        np.concatenate([compact(one.unit)[0], compact(two.unit)[0] + len(one.unit)]),
        *(np.concatenate([getattr(one, name), getattr(two, name)]) for name in Said._fields[1:]),
    )


def _key(found: Statements, one: Codes, two: Codes) -> Codes:
    size = len(found.objects)
    return (compact(found.context)[0] * size + one) * size + two


def _within(table: Table) -> list[str]:
    return list(table.laws.order.within) if table.laws.order else []


SYMMETRY, SYMMETRY_AND_RIGHT = with_twin(
    "symmetry",
    symmetry,
    "share of pairs of objects that get the same fact asked either way round",
    "share of pairs of objects that are right asked either way round",
    "laws",
)
CONVERSE, CONVERSE_AND_RIGHT = with_twin(
    "converse",
    converse,
    "share of facts that get the same answer put with a word and with its converse",
    "share of facts that are right put with a word and with its converse",
    "relations",
)
NEGATION, NEGATION_AND_RIGHT = with_twin(
    "negation",
    negation,
    "share of facts that get opposite answers asserted and denied",
    "share of facts that are right asserted and denied",
    "relations",
)

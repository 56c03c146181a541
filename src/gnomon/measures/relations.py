"""Symmetry, transitivity, converse and negation, measured on what the items say under a benchmark's laws.

Spatial commonsense, section 5.1: symmetry over the pairs asked both ways, transitivity over the triples whose first
two answers are alike; both regardless of gold. What is not asked (objects of one level) forms no pair and no triple.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from gnomon.contracts import Measure
from gnomon.measures.consistency import Said, agreement
from gnomon.measures.laws import Statements, order, relations
from gnomon.measures.statistics import Codes, Floats, Statistics, compact, ratio
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
    """The share of facts asked with a word and with its converse (left of, right of) that get the same answer."""
    return agreement(_relation_said(table, "converse"), and_right=and_right)


def negation(table: Table, *, and_right: bool = False) -> Statistics:
    """The share of facts asserted and denied that get opposite answers."""
    return agreement(_relation_said(table, "negation"), and_right=and_right)


def transitivity(table: Table, *, and_right: bool = False) -> Statistics:
    """Of the triples A, B, C with the same answer to (A, B) and (B, C), the share with that answer to (A, C).

    Clusters are objects: a triple belongs to three. A triple whose (A, C) is not asked does not count; one whose
    (A, C) was asked but not answered counts as broken.
    """
    sums, count = [], 0
    found = order(table)
    if found is not None:
        for mine in _contexts(found.context):
            square = _square(table, found, mine)
            for sign in (1, 0):
                sums.append(_triples(square, sign, and_right))
            count += len(square.names)
    law = table.laws.get("relations") or {}
    other = relations(table)
    for word in law.get("transitive") or () if other is not None else ():
        assert other is not None
        chosen = other.word == other.words.index(word)
        for mine in _contexts(np.where(chosen, other.context, -1)):
            square = _square(table, other, mine)
            sums.append(_triples(square, 1, and_right))
            count += len(square.names)
    if not sums:
        return Statistics(np.zeros((0, 2)), ratio, 0, 0, degree=3)
    by_object = _by_object(sums)
    triples = round(float(by_object[:, 1].sum()))
    return Statistics(by_object, ratio, triples, len(by_object) if triples else 0, degree=3)


def object_bias(table: Table) -> list[Bias]:
    """For each object of a declared order, how often it is called greater (figure 5 of spatial commonsense)."""
    found = order(table)
    if found is None:
        return []
    rows = []
    for mine in _contexts(found.context):
        one, two, said, gold = (column[mine] for column in (found.first, found.second, found.said, found.gold))
        context = table.form.text()[found.rows[mine][0]]
        extra = [table.column(name).text()[found.rows[mine][0]] for name in _within(table) if name in table.tags]
        for code in np.unique(np.concatenate([one, two])).tolist():
            first, second = one == code, two == code
            called = np.concatenate([said[first] == 1, said[second] == 0])
            is_greater = np.concatenate([gold[first] == 1, gold[second] == 0])
            rows.append(Bias(found.objects[code], " ".join([*extra, context]), len(called), float(called.mean()),
                             float((said[first] == 1).mean()) if first.any() else float("nan"),
                             float((said[second] == 0).mean()) if second.any() else float("nan"),
                             float(is_greater.mean())))
    return rows


class _Square(NamedTuple):
    """Objects by objects: what is said of each ordered pair (1, 0; -1 nothing or contradictory), asked, all right."""

    names: Codes
    said: np.ndarray[tuple[int, int], np.dtype[np.int8]]
    asked: np.ndarray[tuple[int, int], np.dtype[np.bool_]]
    right: np.ndarray[tuple[int, int], np.dtype[np.bool_]]


def _order_said(table: Table, found: Statements) -> Said:
    """Facts about unordered pairs; the same question asked again is no pair, so variants are direction and word."""
    turned = found.first > found.second
    low, high = np.minimum(found.first, found.second), np.maximum(found.first, found.second)
    fact = np.where(found.said < 0, -1, found.said ^ turned)
    variant = (found.word + 1) * 2 + turned
    return Said(_key(found, low, high), fact, table.right[found.rows], table.clusters[found.rows], variant)


def _relation_said(table: Table, law: str) -> Said | None:
    found, declared = relations(table), table.laws.get("relations") or {}
    if found is None:
        return None
    other = {**(declared.get("converse") or {}), **{b: a for a, b in (declared.get("converse") or {}).items()}}
    other |= {word: word for word in declared.get("symmetric") or ()}
    turns = np.array([found.words.index(other[word]) if word in other else -1 for word in found.words] + [-1])
    asked, as_choice = found.word, found.word < 0
    turned = found.first > found.second
    # Words as choices: the answer itself is turned round. Yes/no questions: the question is, and its truth stays.
    said = np.where(as_choice & turned, turns[found.said], found.said)
    known = np.where(as_choice, turns[found.gold] >= 0, turns[asked] >= 0)
    symmetric = np.where(as_choice, turns[found.gold] == found.gold, turns[asked] == asked)
    if law == "negation":
        keep, swap, variant = ~as_choice, np.zeros(len(turned), dtype=bool), found.negated.astype(np.int64)
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
    return Said(np.concatenate([compact(one.unit)[0], compact(two.unit)[0] + len(one.unit)]),
                *(np.concatenate([getattr(one, name), getattr(two, name)]) for name in Said._fields[1:]))


def _key(found: Statements, one: Codes, two: Codes) -> Codes:
    size = len(found.objects)
    return (compact(found.context)[0] * size + one) * size + two


def _contexts(context: Codes) -> list[Codes]:
    """The rows of each context; -1 is none."""
    return [np.flatnonzero(context == code) for code in np.unique(context[context >= 0])]


def _within(table: Table) -> list[str]:
    within = (table.laws.get("order") or {}).get("within") or []
    return [within] if isinstance(within, str) else list(within)


def _square(table: Table, found: Statements, mine: Codes) -> _Square:
    names, place = np.unique(np.concatenate([found.first[mine], found.second[mine]]), return_inverse=True)
    size = len(names)
    cell = place[: len(mine)] * size + place[len(mine):]
    said = found.said[mine]
    net = np.bincount(cell, weights=(said == 1).astype(float) - (said == 0), minlength=size * size)
    wrong = np.bincount(cell, weights=~table.right[found.rows[mine]], minlength=size * size)
    asked = np.bincount(cell, minlength=size * size) > 0
    value = np.where(net > 0, 1, np.where(net < 0, 0, -1)).astype(np.int8)
    shape = (size, size)
    return _Square(names, value.reshape(shape), asked.reshape(shape), (asked & (wrong == 0)).reshape(shape))


def _triples(square: _Square, sign: int, and_right: bool) -> tuple[Codes, Floats]:
    """For each object, a third of the broken or kept and of all triples in which it takes part."""
    step = (square.said == sign).astype(np.float32)
    np.fill_diagonal(step, 0)
    asked = square.asked.astype(np.float32)
    np.fill_diagonal(asked, 0)
    good = step * square.right if and_right else step
    kept = _shares(good, good)
    every = _shares(step, asked)
    return square.names, np.stack([kept, every], axis=1) / 3


def _shares(step: np.ndarray[tuple[int, int], np.dtype[np.float32]],
            end: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> Floats:
    """Triples a -> b -> c with `end` between a and c, by their first, middle and last object together."""
    through = (step @ step) * end
    middle = (step * (end @ step.T)).sum(axis=0, dtype=np.float64)
    return np.asarray(through.sum(axis=1, dtype=np.float64) + middle + through.sum(axis=0, dtype=np.float64))


def _by_object(sums: list[tuple[Codes, Floats]]) -> Floats:
    """Added up over contexts: an object that is asked about in two forms or scales is one cluster."""
    size = max(int(names.max()) for names, _ in sums) + 1
    total = np.zeros((size, 2))
    seen = np.zeros(size, dtype=bool)
    for names, columns in sums:
        total[names] += columns
        seen[names] = True
    return total[seen]


def _measure(name: str, statistics: Callable[..., Statistics], summary: str, right: str,
             needs: str) -> tuple[Measure, Measure]:
    strict = partial(statistics, and_right=True)
    return (Measure(name=name, summary=summary, statistics=statistics, needs=needs),
            Measure(name=f"{name}_and_right", summary=right, statistics=strict, needs=needs))


SYMMETRY, SYMMETRY_AND_RIGHT = _measure(
    "symmetry", symmetry, "share of pairs of objects that get the same fact asked either way round",
    "share of pairs of objects that are right asked either way round", "a law: order, or symmetric relations")
TRANSITIVITY, TRANSITIVITY_AND_RIGHT = _measure(
    "transitivity", transitivity, "share of triples in which A over B and B over C is followed by A over C",
    "share of such triples in which all three answers are right", "a law: order, or transitive relations")
CONVERSE, CONVERSE_AND_RIGHT = _measure(
    "converse", converse, "share of facts that get the same answer put with a word and with its converse",
    "share of facts that are right put with a word and with its converse", "a law: converse relations")
NEGATION, NEGATION_AND_RIGHT = _measure(
    "negation", negation, "share of facts that get opposite answers asserted and denied",
    "share of facts that are right asserted and denied", "a law: relations, and items that deny them")

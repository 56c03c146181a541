"""Transitivity: do answers about pairs hold together over triples (spatial commonsense, 5.1).

What is said of each ordered pair is a matrix, objects by objects; triples are counted by
multiplying matrices.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gnomon.measures.columns import Codes, Floats
from gnomon.measures.consistency import with_twin
from gnomon.measures.laws import LawStatements, contexts, order, relations
from gnomon.measures.layout import UnitLayout
from gnomon.measures.statistics import Statistics, ratio
from gnomon.measures.table import Table
from gnomon.measures.units import counted


def transitivity(table: Table, *, and_right: bool = False) -> Statistics:
    """Of the triples with the same answer to (A, B) and (B, C), the share with it to (A, C).

    Units are objects: a triple belongs to three. A triple whose (A, C) is not asked does not
    count; one whose (A, C) was asked but not answered counts as broken.
    """
    sums = []
    for square, signs in _squares(table):
        sums += [_triples(square, sign, and_right) for sign in signs]
    if not sums:
        return Statistics(np.zeros((0, 2)), ratio, 0, 0, degree=3)
    by_object = _by_object(sums)
    shares = by_object[:, 1]
    triples = round(float(shares.sum()))
    objects = int((shares > 0).sum())
    words = counted(objects, "objects")
    shared = UnitLayout(shares)
    return Statistics(by_object, ratio, triples, objects, degree=3, shared=shared, units=words)


class _Square(NamedTuple):
    """Objects by objects, about each ordered pair."""

    names: Codes
    said: np.ndarray[tuple[int, int], np.dtype[np.int8]]  # 1, 0; -1 nothing or contradictory
    asked: np.ndarray[tuple[int, int], np.dtype[np.bool_]]
    right: np.ndarray[tuple[int, int], np.dtype[np.bool_]]  # all answers about the pair


def _squares(table: Table) -> Iterator[tuple[_Square, tuple[int, ...]]]:
    """What is said in each context, and which answers pass on.

    Both ways of an order do, and "yes" about another relation.
    """
    found, other = order(table), relations(table)
    before = 0  # the two laws may name objects by different tags
    if found is not None:
        before = len(found.objects)
        for mine in contexts(found.context):
            yield _square(table, found, mine), (1, 0)
    if other is not None and table.laws.relations is not None:
        for word in table.laws.relations.transitive:
            asked = np.where(other.word == other.words.index(word), other.context, -1)
            for mine in contexts(asked):
                square = _square(table, other, mine)
                yield square._replace(names=square.names + before), (1,)


def _square(table: Table, found: LawStatements, mine: Codes) -> _Square:
    ends = np.concatenate([found.first[mine], found.second[mine]])
    names, place = np.unique(ends, return_inverse=True)
    size = len(names)
    cell = place[: len(mine)] * size + place[len(mine) :]
    said = found.said[mine]
    net = np.bincount(cell, weights=(said == 1).astype(float) - (said == 0), minlength=size * size)
    wrong = np.bincount(cell, weights=~table.right[found.rows[mine]], minlength=size * size)
    asked = np.bincount(cell, minlength=size * size) > 0
    value = np.full(size * size, -1, dtype=np.int8)
    value[net > 0] = 1
    value[net < 0] = 0
    right = asked & (wrong == 0)
    shape = (size, size)
    return _Square(names, value.reshape(shape), asked.reshape(shape), right.reshape(shape))


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


def _shares(
    step: np.ndarray[tuple[int, int], np.dtype[np.float32]],
    end: np.ndarray[tuple[int, int], np.dtype[np.float32]],
) -> Floats:
    """Triples a -> b -> c with `end` between a and c, by each of their three objects."""
    through = (step @ step) * end
    first = through.sum(axis=1, dtype=np.float64)
    middle = (step * (end @ step.T)).sum(axis=0, dtype=np.float64)
    last = through.sum(axis=0, dtype=np.float64)
    return np.asarray(first + middle + last)


def _by_object(sums: list[tuple[Codes, Floats]]) -> Floats:
    """Added up over contexts: an object that is asked about in two forms is one unit."""
    size = max(int(names.max()) for names, _ in sums) + 1
    total = np.zeros((size, 2))
    seen = np.zeros(size, dtype=bool)
    for names, columns in sums:
        total[names] += columns
        seen[names] = True
    return total[seen]


TRANSITIVITY, TRANSITIVITY_AND_RIGHT = with_twin("transitivity", transitivity, "laws")

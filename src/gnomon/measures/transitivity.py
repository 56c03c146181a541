"""Transitivity: do answers about pairs hold together over triples (spatial commonsense, 5.1).

What is said of each ordered pair is a matrix, objects by objects; triples are counted by
multiplying matrices.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import sqrt
from typing import NamedTuple

import numpy as np

from gnomon.measures.columns import Codes, Floats, added, compact, first_rows
from gnomon.measures.consistency import with_twin
from gnomon.measures.laws import LawStatements, contexts, order, relations
from gnomon.measures.layout import UnitLayout
from gnomon.measures.statistics import LEAST_VARIANCE, Statistics, ratio, standard_error
from gnomon.measures.table import Table
from gnomon.naming import counted

_Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]


def transitivity(table: Table, *, and_right: bool = False) -> Statistics:
    """Of the triples with the same answer to (A, B) and (B, C), the share with it to (A, C).

    Units are objects: a triple belongs to three. A triple whose (A, C) is not asked does not
    count; one whose (A, C) was asked but not answered counts as broken.
    """
    parts = []
    for square, signs in _squares(table):
        parts += [_triples(square, sign, and_right) for sign in signs]
    parts = [part for part in parts if len(part.ends)]
    if not parts:
        return Statistics(np.zeros((0, 2)), ratio, 0, 0)
    pairs = _added_up(parts)
    by_object = pairs.by_object()
    shares = by_object[:, 1]
    triples = round(float(shares.sum()))
    objects = int((shares > 0).sum())
    plain = Statistics(
        by_object,
        ratio,
        triples,
        objects,
        shared=UnitLayout(shares),
        units=counted(objects, "objects"),
    )
    return replace(plain, error_times=_error_times(plain, pairs))


# what the error is times that of leaving out thirds, if objects alone vary
OBJECTS_ALONE = 3.0
FEWEST = 10  # objects of which one can tell whether pairs vary, too


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


class _Pairs(NamedTuple):
    """Two objects each, and the triples that have both: how many are kept, and how many in all."""

    ends: Codes  # [pairs, 2] objects
    triples: Floats  # [pairs, 2]
    ways: float = 1.0  # how often three objects are a triple, in other words or the other way round

    def by_object(self) -> Floats:
        """[objects, 2] a third of the triples of each object: of its pairs each has one twice."""
        count = int(self.ends.max(initial=-1)) + 1
        twice = added(self.ends[:, 0], count, self.triples)
        twice += added(self.ends[:, 1], count, self.triples)
        return twice / 6


def _triples(square: _Square, sign: int, and_right: bool) -> _Pairs:
    """The triples of answers of one sign, by the pairs of objects in them."""
    step = (square.said == sign).astype(np.float32)
    np.fill_diagonal(step, 0)
    asked = square.asked.astype(np.float32)
    np.fill_diagonal(asked, 0)
    good = step * square.right if and_right else step
    kept = _by_pair(good, good)
    every = _by_pair(step, asked)
    one, two = np.nonzero(np.triu(every))
    ends: Codes = np.stack([square.names[one], square.names[two]], axis=1, dtype=np.int64)
    return _Pairs(ends, np.stack([kept[one, two], every[one, two]], axis=1).astype(np.float64))


def _by_pair(step: _Matrix, end: _Matrix) -> _Matrix:
    """Triples a -> b -> c with `end` between a and c, by each of their three pairs."""
    ordered = (step @ step) * end + step * (end @ step.T) + step * (step.T @ end)
    return ordered + ordered.T


def _added_up(parts: list[_Pairs]) -> _Pairs:
    """Over contexts: a pair that is asked about in two forms is one, and so is an object."""
    ends = np.sort(np.concatenate([part.ends for part in parts]).astype(np.int64), axis=1)
    numbers, objects = compact(ends.ravel())
    ends = numbers.astype(np.int64).reshape(-1, 2)
    pair, count = compact(ends[:, 0] * objects + ends[:, 1])
    triples = added(pair, count, np.concatenate([part.triples for part in parts]))
    times = np.bincount(pair, minlength=count)
    ways = float(np.average(times, weights=triples[:, 1]))
    return _Pairs(ends[first_rows(pair, count)], triples, ways)


def _error_times(plain: Statistics, pairs: _Pairs) -> float:
    """How many times as large the error is as leaving out thirds of an object's triples shows.

    Objects have effects, and so have pairs, by the noise of single answers. A triple has three of
    either. What leaving out objects and pairs shows gives both variances (docs/measures.md, "How
    the error follows"; what a unit shares with triples that lie across is taken at its mean).
    """
    shown = standard_error(plain)
    total = float(plain.total[1])
    if not shown > 0 or plain.clusters < FEWEST:
        return OBJECTS_ALONE
    beyond = np.array([1.0, -plain.value])
    of_object = 3 * plain.sums / total
    of_pair = pairs.triples / total
    squares = [((of_object @ beyond) ** 2).sum(), ((of_pair @ beyond) ** 2).sum()]

    object_share, pair_share = of_object[:, 1], of_pair[:, 1]
    one, two = pairs.ends.T
    every_object = float((object_share**2).sum())
    every_pair = float((pair_share**2).sum())
    across = 3 * pairs.ways / total  # of a triple: its objects and the pairs that lack them
    along = float((pair_share * object_share[one] * object_share[two]).sum())
    cross = float((pair_share**2 * (object_share[one] + object_share[two])).sum())
    cubes = float((object_share**3).sum())
    expected = np.array(
        [
            [
                every_object + 2 * every_pair - 2 * (cubes + 2 * along) + every_object**2,
                2 * every_pair
                + across
                - 2 * (cross + every_object * every_pair / 3)
                + every_object * every_pair,
            ],
            [
                2 * every_pair
                + across
                - 2 * (cross + every_pair * every_object / 3)
                + every_pair * every_object,
                every_pair
                + 2 * across
                - 2 * (float((pair_share**3).sum()) + 2 * every_pair**2 / 3)
                + every_pair**2,
            ],
        ]
    )
    adds = np.array([every_object, every_pair])
    of_pairs_alone = squares[1] / max(expected[1, 1], every_pair) * every_pair
    variance = adds @ np.linalg.pinv(expected) @ squares
    variance = max(variance, LEAST_VARIANCE * of_pairs_alone)
    return float(min(sqrt(variance) / shown, OBJECTS_ALONE))


TRANSITIVITY, TRANSITIVITY_AND_RIGHT = with_twin("transitivity", transitivity, "laws")

"""The same items with choices in another order: joined by the choices' texts, never by place.

A run may ask an item with its choices permuted. Picks and scores are kept by place, so that two
such tables are brought into one order before they are compared.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnomon.measures.codes import Codes, Floats
from gnomon.measures.table import Table


def in_order_of(one: Table, two: Table) -> Table:
    """The second table with the choices of each item in the order of the first.

    Row by row they hold the same items. Where the choices are not the same, or other ones are
    right, the second table is given as it is.
    """
    labels = tuple(dict.fromkeys([*one.labels, *two.labels]))
    mine, theirs = _same_width(_recoded(one, labels), _recoded(two, labels))
    if (mine == theirs).all():
        return two
    places = _places(mine, theirs)
    if places is None or not _same_gold(one, two, places):
        return two

    rows = np.arange(len(two))
    code = {label: number for number, label in enumerate(labels)}
    translated = np.array([code[label] for label in two.labels] + [-1])
    kinds = one.kinds._replace(choices=_recoded_kinds(one, labels))
    scores = two.scores
    if scores is not None:
        scores = _moved(scores, places)[:, : one.choices.shape[1]]
    return replace(
        two,
        labels=labels,
        choice=translated[two.choice],
        picked=np.where(two.picked >= 0, places[rows, two.picked], -1),
        kind=one.kind,
        kinds=kinds,
        scores=scores,
    )


def _moved(scores: Floats, places: NDArray[np.int64]) -> Floats:
    """The scores, each at the place where its choice now stands."""
    found = np.full(places.shape, np.nan)
    np.put_along_axis(found, places[:, : scores.shape[1]], scores, axis=1)
    return found


def _recoded(table: Table, labels: tuple[str, ...]) -> Codes:
    """[rows, width] the choices of each row as codes into these labels."""
    found: Codes = _recoded_kinds(table, labels)[table.kind]
    return found


def _recoded_kinds(table: Table, labels: tuple[str, ...]) -> Codes:
    code = {label: number for number, label in enumerate(labels)}
    translated = np.array([code[label] for label in table.labels] + [-1])
    return np.asarray(translated[table.kinds.choices], dtype=np.int64)


def _same_width(one: Codes, two: Codes) -> tuple[Codes, Codes]:
    width = max(one.shape[1], two.shape[1])
    return _widened(one, width), _widened(two, width)


def _widened(codes: Codes, width: int) -> Codes:
    missing = width - codes.shape[1]
    return np.asarray(np.pad(codes, ((0, 0), (0, missing)), constant_values=-1), dtype=np.int64)


def _places(mine: Codes, theirs: Codes) -> NDArray[np.int64] | None:
    """For each place of theirs the place of the same choice in mine; none if any differs."""
    order, other = np.argsort(mine, axis=1), np.argsort(theirs, axis=1)
    ours = np.take_along_axis(mine, order, axis=1)
    if not (ours == np.take_along_axis(theirs, other, axis=1)).all():
        return None
    found = np.empty(mine.shape, dtype=np.int64)
    np.put_along_axis(found, other, order, axis=1)
    return found


def _same_gold(one: Table, two: Table, places: NDArray[Any]) -> bool:
    """Whether the same choices are right in both."""
    width = places.shape[1]
    right = np.zeros(places.shape, dtype=bool)
    np.put_along_axis(right, places[:, : two.gold_at.shape[1]], two.gold_at, axis=1)
    missing = width - one.gold_at.shape[1]
    ours = np.pad(one.gold_at, ((0, 0), (0, missing)))
    return bool((right == ours).all())

"""Borrowed strength: what is known of all items narrows the interval of a run on some of them.

What other models answered, or facts such as the relation and the number of things, tell which of
the items that were not asked are hard. The accuracy is the mean of what they predict, over all
items, and of what the answers are above that, over those that were asked. The prediction for an
item never uses answers that share its first unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from gnomon.errors import UsageError
from gnomon.measures.columns import Codes, Column, Floats, compact
from gnomon.measures.statistics import Statistics, ratio
from gnomon.measures.table import Table
from gnomon.measures.units import Units

FOLDS = 5
HELPER_RIDGE = 2.0  # as if each helper had been seen to say nothing in so many items
FACT_RIDGE = 10.0  # the same for each value of a fact
MOST_VALUES = 12  # of a fact: what has more is a name rather than a kind of item
MOST_FACTS = 40  # values of all facts together


class Predictors(NamedTuple):
    """What is known of each item that may be asked, and may tell how hard it is."""

    columns: Floats  # [items, predictors], around the mean of each
    ridge: Floats  # [predictors] how much each weight is drawn towards none
    units: Units
    fold: Codes  # of each item, by its first unit

    @classmethod
    def of(cls, columns: Floats, ridge: Iterable[float], units: Units) -> Predictors:
        """Of some columns; the folds follow from the units."""
        block, count = compact(units.codes[:, 0])
        fold = np.random.default_rng(count).permutation(count) % FOLDS
        around = columns - columns.mean(axis=0)
        return cls(around, np.array(list(ridge)), units, np.asarray(fold[block]))


class ItemsWithHelp(NamedTuple):
    """The items that may be asked, as far as all helpers know them."""

    rows: dict[str, int]  # by the id of the item
    predictors: Predictors

    @classmethod
    def of(cls, items: Table, helpers: Sequence[Table], *, facts: bool) -> ItemsWithHelp:
        """Of a table of all items, whoever answered them, and of the answers of helpers."""
        common = set(items.ids.tolist())
        for table in helpers:
            common &= set(table.ids.tolist())
        items = items.where(np.array([name in common for name in items.ids], dtype=bool))
        rows = {name: row for row, name in enumerate(items.ids)}
        columns = np.zeros((len(rows), len(helpers)))
        for place, table in enumerate(helpers):
            for name, credit in zip(table.ids, table.credit, strict=True):
                if name in rows:
                    columns[rows[name], place] = credit
        ridge = [HELPER_RIDGE] * len(helpers)
        if facts:
            told = fact_columns(items)
            columns = np.concatenate([columns, told], axis=1)
            ridge += [FACT_RIDGE] * told.shape[1]
        return cls(rows, Predictors.of(columns, ridge, items.clusters))

    def statistics(self, table: Table) -> Statistics:
        """The statistics of an accuracy, with what is known of the items as control variates."""
        lacking = [name for name in table.ids if name not in self.rows]
        if lacking:
            raise UsageError(
                f"Item '{lacking[0]}' is not in all of the runs that are to help.",
                "Give runs that were asked all items, or leave out --with.",
            )
        asked = np.array([self.rows[name] for name in table.ids], dtype=np.int64)
        return corrected_by(self.predictors, asked, table.credit)


def fact_columns(items: Table) -> Floats:
    """[items, values] which items have each value of a fact, of those facts that have few."""
    facts = [items.form, items.column("gold"), *items.tags.values()]
    few = [fact for fact in facts if 1 < _number_of_values(fact) <= MOST_VALUES]
    columns: list[Floats] = []
    for fact in sorted(few, key=_number_of_values):
        values = np.unique(fact.codes)
        if len(columns) + len(values) > MOST_FACTS:
            break
        columns += [(fact.codes == value).astype(float) for value in values]
    return np.stack(columns, axis=1) if columns else np.zeros((len(items), 0))


def _number_of_values(fact: Column) -> int:
    return len(np.unique(fact.codes))


def corrected_by(known: Predictors, asked: Codes, credit: Floats) -> Statistics:
    """The statistics of an accuracy from the credit for the items that were asked."""
    predicted = _cross_fitted(known, asked, credit)
    predicted *= _trust(known, asked, credit, predicted)
    columns = np.zeros((len(predicted), 4))
    columns[asked, 0] = credit - predicted[asked]
    columns[asked, 1] = 1
    columns[:, 2] = predicted
    columns[:, 3] = 1
    return Statistics.of(known.units, columns, _corrected_mean, n=len(asked))


def _cross_fitted(known: Predictors, asked: Codes, credit: Floats) -> Floats:
    """[items] what is predicted for each, from answers in other folds."""
    predicted = np.zeros(len(known.columns))
    for fold in range(FOLDS):
        seen = known.fold[asked] != fold
        here = known.fold == fold
        weights = _fitted(known.columns[asked[seen]], credit[seen], known.ridge)
        predicted[here] = known.columns[here] @ weights
    return predicted


def _fitted(columns: Floats, credit: Floats, ridge: Floats) -> Floats:
    """The weight of each predictor: least squares, drawn towards none."""
    if not len(columns):
        return np.zeros(len(ridge))
    around = columns - columns.mean(axis=0)
    matrix = around.T @ around + np.diag(ridge)
    return np.asarray(np.linalg.solve(matrix, around.T @ (credit - credit.mean())))


def _trust(known: Predictors, asked: Codes, credit: Floats, predicted: Floats) -> Floats:
    """[items] the share of the prediction that is used, by how it does in the other folds.

    What says nothing about an item predicts noise, which would widen the interval.
    """
    share = np.zeros(FOLDS)
    for fold in range(FOLDS):
        seen = known.fold[asked] != fold
        around = predicted[asked[seen]]
        around = around - around.mean() if len(around) else around
        square = float(around @ around)
        if square > 0:
            share[fold] = min(1.0, max(0.0, float(around @ credit[seen]) / square))
    return np.asarray(share[known.fold])


def _corrected_mean(sums: Floats) -> Floats:
    return ratio(sums[..., :2]) + ratio(sums[..., 2:])

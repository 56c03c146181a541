"""spatialQA's two accuracies: over templates, with and without partial credit (section 4).

A template is a group. The overall figures are means of the category figures, so a small category
counts as much as a large one; in the published code a row is right if its answer is one of the
labels that its gold names.
"""

from __future__ import annotations

import numpy as np

from gnomon.contracts import Measure
from gnomon.measures.codes import Codes, Floats
from gnomon.measures.grouping import LEAST_ITEMS, Groups, groups
from gnomon.measures.statistics import Statistics
from gnomon.measures.table import Table

CATEGORY = "category"  # the tag


def partial_credit(table: Table) -> Statistics:
    """Mean accuracy of templates, averaged over categories."""
    found = groups(table)
    return _over_categories(table, found, found.share)


def without_partial_credit(table: Table) -> Statistics:
    """Share of templates whose items are all right, averaged over categories."""
    found = groups(table)
    return _over_categories(table, found, (found.right == found.size).astype(float))


def _over_categories(table: Table, found: Groups, value: Floats) -> Statistics:
    codes, names = _category(table)
    category = codes[found.first]
    columns = np.zeros((len(found.size), 2 * len(names)))
    columns[np.arange(len(category)), 2 * category] = value
    columns[np.arange(len(category)), 2 * category + 1] = 1
    return Statistics.of(found.clusters, columns, _mean_of_means, n=len(table))


def _mean_of_means(sums: Floats) -> Floats:
    total, count = sums[..., ::2], sums[..., 1::2]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = total / count
        there = (count > 0).sum(axis=-1)
        return np.asarray(np.nansum(means, axis=-1) / there)


def _category(table: Table) -> tuple[Codes, tuple[str, ...]]:
    if CATEGORY not in table.tags:
        return np.zeros(len(table), dtype=np.int64), ("",)
    column = table.tags[CATEGORY]
    return np.where(column.codes < 0, len(column.values), column.codes), (*column.values, "")


PARTIAL_CREDIT = Measure(
    name="partial_credit",
    statistics=partial_credit,
    guessable=True,
    needs=frozenset({"groups"}),
)
WITHOUT_PARTIAL_CREDIT = Measure(
    name="without_partial_credit",
    statistics=without_partial_credit,
    least_group=LEAST_ITEMS,
    needs=frozenset({"groups"}),
)

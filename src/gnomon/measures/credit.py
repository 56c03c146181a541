"""spatialQA's two accuracies: over templates, with and without partial credit (section 4).

A template is a group. The overall figures are means of the category figures, so a small category
counts as much as a large one; in the published code a row is right if its answer is one of the
labels that its gold names.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import NamedTuple

import numpy as np

from gnomon.contracts import Measure
from gnomon.measures.grouping import LEAST, Groups, groups
from gnomon.measures.statistics import Codes, Floats, Statistics
from gnomon.measures.table import Flags, Table

CATEGORY = "category"  # the tag


class Credit(NamedTuple):
    """The templates of one category, or of all (means of the categories)."""

    category: str
    templates: int
    items: int
    partial: float  # mean of the templates' accuracies
    without_partial: float  # share of templates that are right throughout
    # population standard deviation over templates; overall: sample deviation over categories
    deviation: float


def partial_credit(table: Table) -> Statistics:
    """Mean accuracy of templates, averaged over categories."""
    found = groups(table)
    return _over_categories(table, found, found.share)


def without_partial_credit(table: Table) -> Statistics:
    """Share of templates whose items are all right, averaged over categories."""
    found = groups(table)
    return _over_categories(table, found, (found.right == found.size).astype(float))


def credits_by_category(table: Table) -> list[Credit]:
    """A row for each category in order of appearance, and last their means: tables 2, 5 and 6.

    The spread of the last row is the sample standard deviation over categories: what the paper
    prints in table 2.
    """
    found = groups(table)
    codes, names = _category(table)
    rows = []
    for code, name in enumerate(names):
        mine = codes[found.first] == code
        if mine.any():
            rows.append(_credit(name, found, mine))
    return [*rows, _overall(rows, len(table))]


def _credit(name: str, found: Groups, mine: Flags) -> Credit:
    share = found.share[mine]
    whole = (found.right == found.size)[mine]
    return Credit(
        name,
        templates=int(mine.sum()),
        items=int(found.size[mine].sum()),
        partial=float(share.mean()),
        without_partial=float(whole.mean()),
        deviation=float(share.std()),
    )


def _overall(rows: Sequence[Credit], items: int) -> Credit:
    """The means over categories."""
    if not rows:
        return Credit("", 0, items, nan, nan, nan)
    partial = np.array([row.partial for row in rows])
    whole = np.array([row.without_partial for row in rows])
    spread = float(partial.std(ddof=1)) if len(rows) > 1 else nan
    templates = sum(row.templates for row in rows)
    return Credit("", templates, items, float(partial.mean()), float(whole.mean()), spread)


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
    summary="mean accuracy of templates, averaged over categories",
)
WITHOUT_PARTIAL_CREDIT = Measure(
    name="without_partial_credit",
    statistics=without_partial_credit,
    least_group=LEAST,
    needs=frozenset({"groups"}),
    summary="share of templates right throughout, averaged over categories",
)

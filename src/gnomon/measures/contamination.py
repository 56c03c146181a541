"""Has a model seen the published items: is its lead on them larger than that of other models?

Published and fresh items differ in more than age, so a gap between the two says nothing by itself.
What says something is how much larger it is than that of reference models, on the same items.
"""

from collections.abc import Sequence
from itertools import combinations
from math import inf, isnan, nan, sqrt
from typing import NamedTuple

import numpy as np

from gnomon.errors import UsageError
from gnomon.measures.columns import Floats
from gnomon.measures.comparison import SIGNIFICANT, holm
from gnomon.measures.entries import ScoredTable, check_finished
from gnomon.measures.intervals import t_cdf, t_quantile
from gnomon.measures.pairing import shared
from gnomon.measures.statistics import Uncertainty, mean_of, uncertainty
from gnomon.measures.table import Table
from gnomon.measures.units import Units

PUBLISHED, FRESH = "published", "fresh"
# How much the gaps of models that have seen nothing usually differ, as a standard deviation, and
# how many further reference models that counts as.
USUAL_SPREAD = 0.03
USUAL_FREEDOM = 5


class Contamination(NamedTuple):
    """How much more a model gains on published items than the reference models do."""

    benchmark: str
    model: str
    published: float  # accuracy
    fresh: float
    gap: float
    reference_gap: float  # the mean over the reference models
    excess: float  # gap less reference gap
    low: float
    high: float
    p: float  # two-sided: that the excess is none
    p_adjusted: float  # Holm's correction over the models that were tested
    references: int
    n: int  # items, of both sources

    @property
    def contaminated(self) -> bool:
        """Whether the excess is more than chance and the differences of models explain."""
        return self.excess > 0 and self.p_adjusted < SIGNIFICANT


class Credits(NamedTuple):
    """How right each model was on each item of one source."""

    models: tuple[str, ...]
    right: Floats  # [models, items]
    units: Units


def contamination(
    entries: Sequence[ScoredTable], *, level: float = 0.95, unfinished: bool = False
) -> list[Contamination]:
    """Every model that was asked both sources of a benchmark, with the others as its references."""
    if not unfinished:
        check_finished(entries)
    found: list[Contamination] = []
    by_name: dict[str, dict[str, list[Table]]] = {}
    for entry in entries:
        name, _, source = entry.table.benchmark.partition("@")
        by_name.setdefault(name, {}).setdefault(source, []).append(entry.table)
    for name, sources in by_name.items():
        pairs = _in_both(sources.get(PUBLISHED, []), sources.get(FRESH, []))
        if len(pairs[0].models) < 2:
            continue
        found += excess_gaps(name, *pairs, level=level)
    if not found:
        raise UsageError(
            "No two of these models were asked both the published and the fresh items of a set.",
            "Give runs of the model and of one or more reference models on NAME@published and on "
            "NAME@fresh.",
        )
    return found


def _in_both(published: Sequence[Table], fresh: Sequence[Table]) -> tuple[Credits, Credits]:
    """The models that have one run on either source."""
    by_model = []
    for tables in (published, fresh):
        known: dict[str, Table] = {}
        for table in tables:
            if table.model in known:
                raise UsageError(
                    f"There are two runs of {table.model} on {table.benchmark}.", "Give one."
                )
            known[table.model] = table.judged
        by_model.append(known)
    first, second = by_model
    models = tuple(model for model in first if model in second)
    return _credits(models, first), _credits(models, second)


def _credits(models: tuple[str, ...], tables: dict[str, Table]) -> Credits:
    if not models:
        return Credits((), np.zeros((0, 0)), Units(np.zeros((0, 1), dtype=np.int64)))
    common = [_in_order(table) for table in shared([tables[model] for model in models])]
    right = np.stack([table.credit for table in common])
    return Credits(models, right, common[0].clusters)


def _in_order(table: Table) -> Table:
    return table.where(np.argsort(table.ids.astype(str), kind="stable"))


def excess_gaps(
    benchmark: str, published: Credits, fresh: Credits, *, level: float
) -> list[Contamination]:
    """Each model against the others; p-values corrected for how many there are."""
    found = []
    count = len(published.models)
    for place, model in enumerate(published.models):
        others = [other for other in range(count) if other != place]
        weights = np.zeros(count)
        weights[place] = 1
        weights[others] = -1 / len(others)
        gaps = published.right.mean(axis=1) - fresh.right.mean(axis=1)
        error = _error(published, fresh, weights, others, gaps)
        excess = float(weights @ gaps)
        beyond = t_quantile((1 + level) / 2, error.freedom) * error.error
        p = nan
        if error.error > 0:
            p = 2 * (1 - t_cdf(abs(excess) / error.error, error.freedom))
        found.append(
            Contamination(
                benchmark=benchmark,
                model=model,
                published=float(published.right[place].mean()),
                fresh=float(fresh.right[place].mean()),
                gap=float(gaps[place]),
                reference_gap=float(gaps[others].mean()),
                excess=excess,
                low=excess - beyond,
                high=excess + beyond,
                p=p,
                p_adjusted=nan,
                references=len(others),
                n=published.right.shape[1] + fresh.right.shape[1],
            )
        )
    adjusted = holm([each.p for each in found])
    return [each._replace(p_adjusted=p) for each, p in zip(found, adjusted, strict=True)]


def _error(
    published: Credits, fresh: Credits, weights: Floats, others: Sequence[int], gaps: Floats
) -> Uncertainty:
    """Of the excess: from the items of both sources, and from how much gaps of models differ.

    Models differ in their gaps even if none has seen anything. How much so is seen from the gaps of
    the reference models, beyond what their items explain; since these are few, it is averaged with
    what is usual, as if that had been seen in a few more.
    """
    parts = [_of_items(published, weights), _of_items(fresh, weights)]
    pairs = list(combinations(others, 2))
    squares = 0.0
    for one, two in pairs:
        contrast = np.zeros(len(weights))
        contrast[one], contrast[two] = 1, -1
        of_items = [_of_items(credits, contrast).error ** 2 for credits in (published, fresh)]
        squares += (gaps[one] - gaps[two]) ** 2 - sum(of_items)
    seen = len(others) - 1
    between = squares / len(pairs) / 2 if pairs else 0.0
    mean = max(0.0, (USUAL_FREEDOM * USUAL_SPREAD**2 + seen * between) / (USUAL_FREEDOM + seen))
    parts.append(Uncertainty(sqrt(mean * (1 + 1 / len(others))), USUAL_FREEDOM + seen))
    variance = sum(part.error**2 for part in parts)
    scatter = sum(part.error**4 / part.freedom for part in parts if part.error > 0)
    return Uncertainty(sqrt(variance), variance**2 / scatter if scatter > 0 else inf)


def _of_items(credits: Credits, weights: Floats) -> Uncertainty:
    """The error of a weighted sum of the models' accuracies on the items of one source."""
    found = uncertainty(mean_of(weights @ credits.right, credits.units, bounds=(-inf, inf)))
    if isnan(found.error):
        raise UsageError(
            "There are too few items that all models were asked to tell how they vary.",
            "Ask more items of the published and of the fresh set.",
        )
    return found

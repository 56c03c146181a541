"""Does a model know what it knows: calibration error, Brier score, reliability, coverage.

All read the probabilities over the choices. Items that were not answered, or whose scores are not
usable, are left out, and `n` says how many remain.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.contracts import Measure
from gnomon.measures.classes import most_probable_is_right
from gnomon.measures.columns import Codes, Floats
from gnomon.measures.statistics import PartialSums, Statistics, mean_of
from gnomon.measures.table import Table

BINS = 15  # Guo et al. 2017, "On calibration of modern neural networks"


class Bin(NamedTuple):
    """The items whose confidence lies above `low` and up to `high`."""

    low: float
    high: float
    n: int
    confidence: float  # mean; NaN in an empty bin
    accuracy: float


class Coverage(NamedTuple):
    """Accuracy on the share of items of which the model is surest."""

    coverage: float
    confidence: float  # the least confidence among them
    accuracy: float


def ece(table: Table) -> Statistics:
    """The mean distance of confidence and accuracy in 15 equal bins, weighted by their items."""
    part, sure, hit = _known(table)
    which = _bin(sure)
    every = np.arange(len(part))
    cells = [
        PartialSums(every, 3 * which),
        PartialSums(every, 3 * which + 1, sure),
        PartialSums(every, 3 * which + 2, hit),
    ]
    return Statistics.tallied(part.clusters, cells, 3 * BINS, _gap)


def brier(table: Table) -> Statistics:
    """The mean squared distance between probabilities and truth: 0 at best, 2 at worst.

    The distance is summed over choices. Where several labels are right, the truth is shared
    equally among them.
    """
    part, *_ = _known(table)
    truth = part.gold_at / np.maximum(part.cardinality, 1)[:, None]
    distance = ((part.probabilities - truth) ** 2).sum(axis=1)
    return mean_of(distance, part.clusters, bounds=(0.0, 2.0))


def reliability(table: Table) -> list[Bin]:
    """The bins behind the calibration error, for a reliability diagram."""
    _, sure, hit = _known(table)
    which = _bin(sure)
    count = np.bincount(which, minlength=BINS)
    with np.errstate(invalid="ignore", divide="ignore"):
        confidence = np.bincount(which, weights=sure, minlength=BINS) / count
        accuracy = np.bincount(which, weights=hit, minlength=BINS) / count
    return [
        Bin(i / BINS, (i + 1) / BINS, int(count[i]), float(confidence[i]), float(accuracy[i]))
        for i in range(BINS)
    ]


def coverage(table: Table, points: int = 101) -> list[Coverage]:
    """Accuracy if only the surest items are answered, for shares of all items from few to all.

    Items of equal confidence come in together, since nothing tells them apart.
    """
    _, sure, hit = _known(table)
    if not len(sure):
        return []
    order = np.argsort(-sure, kind="stable")
    sure, hit = sure[order], np.cumsum(hit[order])
    ends = np.flatnonzero(np.append(np.diff(sure) != 0, True))
    if len(ends) > points:
        ends = ends[np.unique(np.linspace(0, len(ends) - 1, points).astype(int))]
    return [
        Coverage((i + 1) / max(1, len(table)), float(sure[i]), float(hit[i]) / (i + 1))
        for i in ends.tolist()
    ]


def _known(table: Table) -> tuple[Table, Floats, Floats]:
    """The answers with usable scores, how sure the likeliest choice is, and whether it is right."""
    if table.scores is None:
        part = table.where(np.zeros(len(table), dtype=bool))
        return part, np.zeros(0), np.zeros(0)
    usable = ~np.isnan(table.probabilities).any(axis=1)
    part = table.where(np.flatnonzero(usable & table.answered))
    sure = part.probabilities.max(axis=1, initial=0.0)
    return part, sure, most_probable_is_right(part).astype(float)


def _bin(sure: Floats) -> Codes:
    return np.clip(np.ceil(sure * BINS - 1e-12).astype(np.int64) - 1, 0, BINS - 1)


def _gap(sums: Floats) -> Floats:
    bins = sums.reshape(*sums.shape[:-1], BINS, 3)
    total = bins[..., 0].sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.abs(bins[..., 1] - bins[..., 2]).sum(axis=-1) / total)


ECE = Measure(name="ece", statistics=ece, better="lower", needs=frozenset({"scores"}))
BRIER = Measure(name="brier", statistics=brier, better="lower", needs=frozenset({"scores"}))

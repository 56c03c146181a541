"""Does a model know what it knows: calibration error, Brier score, reliability, coverage.

All read the probabilities over the choices. Items that were not answered, or whose scores are not
usable, are left out, and `n` says how many remain.
"""

from dataclasses import replace
from math import pi, sqrt
from typing import NamedTuple

import numpy as np

from gnomon.contracts import Measure
from gnomon.measures.classes import most_probable_is_right
from gnomon.measures.columns import Codes, Floats
from gnomon.measures.statistics import PartialSums, Statistics, mean_of
from gnomon.measures.table import Table
from gnomon.measures.units import Units

BINS = 15  # Guo et al. 2017, "On calibration of modern neural networks"
ABSOLUTE_MEAN = sqrt(2 / pi)  # of |x|, where x is normal with mean 0 and variance 1


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
    """How far confidence and accuracy are apart in 15 equal bins, weighted by their items.

    Bins of few items differ by chance, however well calibrated a model is: what noise adds to the
    mean distance is taken off (docs/measures.md, "The calibration error without its noise").
    """
    part, sure, hit = _known(table)
    which = _bin(sure)
    every = np.arange(len(part))
    gap = sure - hit
    spread = sure * (1 - sure) * _shared_noise(gap, which, part.clusters)
    cells = [
        PartialSums(every, 3 * which),
        PartialSums(every, 3 * which + 1, gap),
        PartialSums(every, 3 * which + 2, spread),
    ]
    plain = Statistics.tallied(part.clusters, cells, 3 * BINS, _distance)
    if not plain.clusters:
        return plain
    noise = float(_noise(plain.total))
    share = _share_of_noise(plain.total)
    return replace(
        plain,
        finish=lambda sums: _distance(sums) - share * _noise(sums),
        # a distance varies less than the gap: by the variance of |x| for a normal x
        error_times=sqrt(1 - share * ABSOLUTE_MEAN**2),
        noise=((1 - share) * noise, share * noise),
    )


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


def _shared_noise(gap: Floats, which: Codes, units: Units) -> float:
    """How many times as large the variance of the bins' gaps is as that of single items.

    Items that share a unit are right and wrong together. With effects of units, the variance of a
    sum is that of its items and of every two items that share one (`docs/measures.md`).
    """
    count = np.bincount(which, minlength=BINS)
    mean = np.bincount(which, weights=gap, minlength=BINS) / np.maximum(count, 1)
    rest = gap - mean[which]
    every = np.arange(len(gap))
    columns = [
        PartialSums(every, which, rest),
        PartialSums(every, np.full(len(gap), BINS), rest**2),
    ]
    sums = Statistics.tallied(units, columns, BINS + 1, _distance)
    alone = float((rest**2).sum())
    if alone == 0 or sums.clusters < 2:
        return 1.0
    together = 0.0
    for of_unit in sums.by_unit():
        together += float((of_unit[:, :BINS] ** 2).sum() - of_unit[:, BINS].sum())
    return max(1.0, 1 + together / alone)


def _bins(sums: Floats) -> Floats:
    """[..., bins, 3] items, the sum of their gaps, and its variance in a calibrated model."""
    return sums.reshape(*sums.shape[:-1], BINS, 3)


def _distance(sums: Floats) -> Floats:
    bins = _bins(sums)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.abs(bins[..., 1]).sum(axis=-1) / bins[..., 0].sum(axis=-1))


def _noise(sums: Floats) -> Floats:
    """The mean distance that a calibrated model with the same confidences would show."""
    bins = _bins(sums)
    spread = np.sqrt(np.maximum(bins[..., 2], 0.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(ABSOLUTE_MEAN * spread.sum(axis=-1) / bins[..., 0].sum(axis=-1))


def _share_of_noise(sums: Floats) -> float:
    """How much of the noise to take off: all, unless the gaps are larger than noise would be.

    Where the true gap of a bin is large, noise makes it larger as often as smaller.
    """
    items, gap, spread = _bins(sums).T
    there = (items > 0) & (spread > 0)
    squares = float((gap[there] ** 2 / spread[there]).sum())
    bins = int(there.sum())
    expected = bins + sqrt(2 * bins)  # of a calibrated model, and a standard deviation
    return 1.0 if squares <= expected else expected / squares


ECE = Measure(name="ece", statistics=ece, better="lower", needs=frozenset({"scores"}))
BRIER = Measure(name="brier", statistics=brier, better="lower", needs=frozenset({"scores"}))

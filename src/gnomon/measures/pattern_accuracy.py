"""SpaceNLI's pattern accuracy and its curve (section 4.2.2), and the data map (section 4.3).

PA_t is the share of patterns with at least t of their samples right. The area under its curve is
the mean accuracy of patterns, hence plain accuracy where all patterns have the same number of
samples.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np

from gnomon.contracts import Measure
from gnomon.errors import UsageError
from gnomon.measures.codes import Floats
from gnomon.measures.grouping import LEAST_ITEMS, groups
from gnomon.measures.statistics import Statistics, mean_of
from gnomon.measures.table import Table


class PatternCurve(NamedTuple):
    """Pattern accuracy: `share[i]` holds for thresholds up to `threshold[i]`."""

    threshold: Floats
    share: Floats

    @property
    def area(self) -> float:
        """The area under the curve from 0 to 1."""
        return float((np.diff(self.threshold, prepend=0.0) * self.share).sum())


class MapPoint(NamedTuple):
    """A pattern in the data map: how sure the model is, and how that varies over samples."""

    pattern: str
    confidence: float  # mean probability of the right labels
    variability: float  # population standard deviation of it
    correctness: float  # share of samples answered right
    n: int


def pattern_accuracy(threshold: str) -> Measure:
    """The measure "pattern_accuracy@T", for T between 0 and 1.

    >>> pattern_accuracy("0.95").name
    'pattern_accuracy@0.95'
    """
    try:
        least = float(threshold)
    except ValueError:
        least = -1.0
    if not 0 <= least <= 1:
        raise UsageError(
            f"pattern_accuracy@{threshold}: the threshold must be a number between 0 and 1.",
            "For example pattern_accuracy@0.95.",
        )
    return Measure(
        name=f"pattern_accuracy@{threshold}",
        needs=frozenset({"groups"}),
        least_group=_least_group(least),
        summary=f"share of patterns with at least {least:.0%} of their items right",
        statistics=lambda table: _pattern_accuracy(table, least),
    )


def _least_group(threshold: float) -> int:
    """So many items of a pattern that one may be wrong and the threshold still be reached."""
    if threshold == 1:
        return LEAST_ITEMS
    return max(LEAST_ITEMS, ceil(1 / (1 - threshold) - 1e-9))


def pattern_accuracy_auc(table: Table) -> Statistics:
    """The area under the pattern accuracy curve: the mean over patterns of their accuracy."""
    found = groups(table)
    return mean_of(found.share, found.clusters, n=len(table))


def curve(table: Table) -> PatternCurve:
    """The whole pattern accuracy curve, exactly: from 0 to 1 in the steps that occur."""
    steps = np.union1d(groups(table).share, [1.0])
    steps = steps[steps > 0]
    return PatternCurve(steps, curve_at(table, steps))


def curve_at(table: Table, thresholds: Floats) -> Floats:
    """Pattern accuracy at the given thresholds."""
    share = np.sort(groups(table).share)
    least = _below(np.asarray(thresholds, dtype=float))
    at_least = len(share) - np.searchsorted(share, least, side="left")
    return np.asarray(at_least / max(1, len(share)))


def data_map(table: Table) -> list[MapPoint]:
    """Confidence and variability of each pattern.

    As in Swayamdipta et al. 2020, but over samples instead of epochs.

    Items without usable scores are left out of both; a pattern without any has NaN.
    """
    found = groups(table)
    sure = (table.probabilities * table.gold_at).sum(axis=1)
    known = ~np.isnan(sure)
    pattern, sure = found.of[known], sure[known]
    patterns = len(found.size)
    count = np.bincount(pattern, minlength=patterns)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(pattern, weights=sure, minlength=patterns) / count
        away = (sure - mean[pattern]) ** 2
        spread = np.sqrt(np.bincount(pattern, weights=away, minlength=patterns) / count)
    names = table.group.text()
    points = []
    for i, row in enumerate(found.first.tolist()):
        name = names[row] or str(table.ids[row])
        share, size = float(found.share[i]), int(found.size[i])
        points.append(MapPoint(name, float(mean[i]), float(spread[i]), share, size))
    return points


def _pattern_accuracy(table: Table, least: float) -> Statistics:
    found = groups(table)
    return mean_of(found.share >= _below(np.array(least)), found.clusters, n=len(table))


def _below(threshold: Floats) -> Floats:
    """A hair below the threshold, so that 19 of 20 reaches 0.95 whatever the last bit is."""
    return np.asarray(threshold - 1e-9)


PATTERN_ACCURACY_AUC = Measure(
    name="pattern_accuracy_auc",
    statistics=pattern_accuracy_auc,
    needs=frozenset({"groups"}),
)

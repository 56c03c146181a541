"""Does a model do significantly better on one part of the items than on another?

Every two parts are compared by the interval of their difference, put together from the intervals of
both (Newcombe's method, with Wilson's intervals over independent clusters, so that shares near 0
and 1 and few clusters are treated fairly). Clusters with items in both parts make the two depend on
each other: that is measured and taken into account. The level is corrected for all pairs of all
tags looked at (Bonferroni), as a reader is told about the widest gap only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import sqrt
from typing import NamedTuple

import numpy as np

from gnomon.measures.distributions import t_quantile
from gnomon.measures.intervals import wilson
from gnomon.measures.statistics import Codes, Floats, compact
from gnomon.measures.table import Table, in_order

LEVEL = 0.05  # the chance that a report names any difference where there is none
LEAST_ITEMS, LEAST_CLUSTERS = 20, 5  # that a part must have to be looked at
MOST_PARTS = 40


class Gap(NamedTuple):
    """Two parts of which the first is answered right significantly more often."""

    tag: str
    better: str
    worse: str
    better_share: float
    worse_share: float


class Parts(NamedTuple):
    """The parts of a table by a tag: how often each is right, and how that varies over clusters."""

    tag: str
    names: tuple[str, ...]
    share: Floats
    clusters: Floats  # how many each part has
    without: Floats  # [clusters, parts] the share without each cluster

    @property
    def pairs(self) -> int:
        """How many comparisons there are."""
        return len(self.names) * (len(self.names) - 1) // 2


class Differences(NamedTuple):
    """What was looked at, and the widest significant gap."""

    tags: tuple[str, ...]
    gap: Gap | None


def differences(table: Table, tags: Sequence[str]) -> Differences:
    """The widest significant difference in accuracy between two values of a tag, if any."""
    found = []
    for tag in tags:
        parts = _parts(table, tag)
        if parts is not None:
            found.append(parts)

    comparisons = sum(parts.pairs for parts in found)
    gaps: list[Gap] = []
    for parts in found:
        gaps += _gaps(parts, LEVEL / comparisons)
    widest = max(gaps, key=lambda gap: gap.better_share - gap.worse_share, default=None)
    return Differences(tuple(parts.tag for parts in found), widest)


def _parts(table: Table, tag: str) -> Parts | None:
    """The parts by the values of a tag that are large enough.

    None where fewer than two are, or where the values are numbers.
    """
    if tag not in table.tags or not len(table):
        return None

    column = table.tags[tag]
    no_value = len(column.values)
    codes = np.where(column.codes >= 0, column.codes, no_value)
    items = np.bincount(codes, minlength=no_value + 1)[:-1]
    large = np.flatnonzero(items >= LEAST_ITEMS)
    if not 2 <= len(large) <= MOST_PARTS:
        return None

    part = np.full(no_value + 1, -1)
    part[large] = np.arange(len(large))
    size, right = _by_cluster(table, part[codes], len(large))
    clusters = (size > 0).sum(axis=0)
    keep = np.flatnonzero(clusters >= LEAST_CLUSTERS)
    names = tuple(column.values[i] for i in large[keep])
    if len(names) < 2 or all(in_order(name)[0] == 0 for name in names):
        return None

    size, right = size[:, keep], right[:, keep]
    share = right.sum(axis=0) / size.sum(axis=0)
    # never by 0: a part has several clusters
    without = (right.sum(axis=0) - right) / (size.sum(axis=0) - size)
    return Parts(tag, names, share, clusters[keep].astype(float), without)


def _by_cluster(table: Table, part: Codes, parts: int) -> tuple[Floats, Floats]:
    """[clusters, parts] a cluster's items of each part, and how many of them are right."""
    clusters, count = compact(table.clusters)
    known = part >= 0
    place = clusters[known].astype(np.int64) * parts + part[known]
    size = np.bincount(place, minlength=count * parts).astype(float)
    right = np.bincount(place, weights=table.right[known], minlength=count * parts).astype(float)
    return np.reshape(size, (count, parts)), np.reshape(right, (count, parts))


def _gaps(parts: Parts, level: float) -> list[Gap]:
    """Every two parts whose difference does not reach 0 within its interval."""
    low, high = _intervals(parts, level)
    correlation = _correlations(parts)
    share = parts.share.tolist()
    order = sorted(range(len(share)), key=lambda i: -share[i])
    found = []
    for better, worse in combinations(order, 2):
        down = share[better] - low[better]
        up = high[worse] - share[worse]
        together = 2 * correlation[better, worse] * down * up
        reach = sqrt(max(0.0, down**2 + up**2 - together))
        if share[better] - share[worse] - reach > 1e-9:
            names = parts.names[better], parts.names[worse]
            found.append(Gap(parts.tag, *names, share[better], share[worse]))
    return found


def _correlations(parts: Parts) -> Floats:
    """[parts, parts] how far two shares move together when a cluster is left out.

    0 where one of them does not move at all.
    """
    away = parts.without - parts.share
    size = np.sqrt((away**2).sum(axis=0))
    scale = np.outer(size, size)
    return np.divide(away.T @ away, scale, out=np.zeros_like(scale), where=scale > 0)


def _intervals(parts: Parts, level: float) -> tuple[Floats, Floats]:
    """Wilson's interval of each part at a level.

    From the spread of its shares without each of its clusters.
    """
    low, high = np.empty(len(parts.names)), np.empty(len(parts.names))
    for i, share in enumerate(parts.share.tolist()):
        count = float(parts.clusters[i])
        away = parts.without[:, i] - share  # 0 for clusters outside the part
        error = sqrt((count - 1) / count * float((away**2).sum()))
        if error < 1e-12:  # all clusters alike: no more is known than if each were one item
            error = sqrt(share * (1 - share) / count)
        low[i], high[i] = wilson(share, error, int(count), t_quantile(1 - level / 2, count - 1))
    return low, high

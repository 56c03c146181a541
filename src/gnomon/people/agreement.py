"""Agreement of people as sums over what items share, so that each figure has an honest interval.

The formulas are those of `measures.people`, which the tests hold against other libraries; here each
is a few sums over items and a function of the sums (`measures.statistics`), or, for the mean over
pairs of people, the influence of each item on it.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from gnomon.measures.intervals import Interval, interval
from gnomon.measures.people import Judgements, cohen_kappa
from gnomon.measures.scoring import known
from gnomon.measures.statistics import Floats, Statistics, mean_of
from gnomon.measures.units import Units
from gnomon.people.taskfile import POINTS
from gnomon.people.votes import Votes

MOST_INTERVALS = 200  # pairs of people whose kappa gets one
KAPPA = (-1.0, 1.0)  # the bounds of everything that is corrected for chance


class Figure(NamedTuple):
    """A figure with its interval over units, and how many items it rests on."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    units: str = ""


class Pair(NamedTuple):
    """How far two people agree on the items that both judged."""

    first: str
    second: str
    n: int
    agree: float | None
    kappa: Figure


def figure(name: str, statistics: Statistics, *, draws: int = 0, level: float = 0.95) -> Figure:
    """A figure from its sums: analytic interval, or bootstrap with so many draws of units."""
    found = interval(statistics, draws=draws, level=level)
    return figure_of(name, found, statistics.n, statistics.units)


def figure_of(name: str, found: Interval, n: int, units: str = "") -> Figure:
    """The same from an interval."""
    return Figure(name, known(found.value), known(found.low), known(found.high), n, units)


def agreement_figures(votes: Votes, *, draws: int = 0, level: float = 0.95) -> list[Figure]:
    """Every figure of agreement that the votes allow."""
    counts, units = votes.counts().astype(float), votes.table.clusters
    statistics = {
        "agreement": pairwise_agreement(counts, units),
        "cohen": mean_cohen(votes.said, units),
        "fleiss": fleiss(counts, units),
        "alpha": nominal_alpha(counts, units),
    }
    if votes.points is not None:
        statistics["alpha_ordinal"] = ordinal_alpha(votes.points, units, len(POINTS))
    found = []
    for name, sums in statistics.items():
        found.append(figure(name, sums, draws=draws, level=level))
    return found


def pairwise_agreement(counts: Floats, units: Units) -> Statistics:
    """The share of pairs of people who say the same, mean over items with two votes or more."""
    several = counts.sum(axis=1) >= 2
    return mean_of(_agreeing(counts[several]), units[several])


def _agreeing(counts: Floats) -> Floats:
    """For each item the share of pairs of its votes that agree."""
    voters = counts.sum(axis=1)
    same = (counts * (counts - 1)).sum(axis=1)
    return np.asarray(same / (voters * (voters - 1)))


def fleiss(counts: Floats, units: Units) -> Statistics:
    """Fleiss' kappa, also where items have different numbers of votes.

    Chance is the mean over items of the share of each label; with equally many votes on each item
    this is Fleiss' own formula.
    """
    voters = counts.sum(axis=1)
    some = voters >= 1
    counts, voters = counts[some], voters[some]
    several = voters >= 2
    agreeing = np.zeros(len(counts))
    agreeing[several] = _agreeing(counts[several])
    ones = np.ones(len(counts))
    shares = counts / voters[:, None]
    columns = np.column_stack([agreeing, several, ones, shares])

    def finish(sums: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            observed = sums[..., 0] / sums[..., 1]
            chance = ((sums[..., 3:] / sums[..., 2:3]) ** 2).sum(axis=-1)
            return _beyond(observed, chance)

    n = int(several.sum())
    return Statistics.of(units[some], columns, finish, n=n, bounds=KAPPA)


def _beyond(observed: Floats, chance: Floats) -> Floats:
    """How much of what chance leaves is agreed on; NaN where chance leaves nothing."""
    room = 1 - chance
    return np.asarray(np.where(room > 1e-12, (observed - chance) / room, np.nan))


def nominal_alpha(counts: Floats, units: Units) -> Statistics:
    """Krippendorff's alpha of labels without an order."""
    several = counts.sum(axis=1) >= 2
    counts = counts[several]
    voters = counts.sum(axis=1)
    same = (counts * (counts - 1)).sum(axis=1) / (voters - 1)
    columns = np.column_stack([same, counts])

    def finish(sums: Floats) -> Floats:
        of_labels = sums[..., 1:]
        total = of_labels.sum(axis=-1)
        observed = total - sums[..., 0]
        expected = (total**2 - (of_labels**2).sum(axis=-1)) / (total - 1)
        return _one_less(observed, expected)

    return Statistics.of(units[several], columns, finish, bounds=KAPPA)


def _one_less(observed: Floats, expected: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(expected > 1e-12, 1 - observed / expected, np.nan))


def ordinal_alpha(points: Judgements, units: Units, size: int) -> Statistics:
    """Krippendorff's alpha of points of a scale: being one point apart is no great matter."""
    counts = counted(points, size)
    several = counts.sum(axis=1) >= 2
    counts = counts[several]
    weighted = counts / (counts.sum(axis=1, keepdims=True) - 1)
    together = weighted[:, :, None] * counts[:, None, :]
    place = np.arange(size)
    together[:, place, place] -= weighted

    def finish(sums: Floats) -> Floats:
        coincidence = sums.reshape(*sums.shape[:-1], size, size)
        totals = coincidence.sum(axis=-1)
        distance = _rank_distances(totals)
        observed = (coincidence * distance).sum(axis=(-1, -2))
        products = totals[..., :, None] * totals[..., None, :]
        expected = (products * distance).sum(axis=(-1, -2)) / (totals.sum(axis=-1) - 1)
        return _one_less(observed, expected)

    columns = together.reshape(len(counts), size * size)
    return Statistics.of(units[several], columns, finish, bounds=KAPPA)


def _rank_distances(totals: Floats) -> Floats:
    """The squared difference of mean ranks of each two points (Krippendorff 2011, ordinal)."""
    ranks = np.cumsum(totals, axis=-1) - totals / 2
    return np.asarray((ranks[..., :, None] - ranks[..., None, :]) ** 2)


def counted(judgements: Judgements, size: int) -> Floats:
    """[items, values] how many people gave each value."""
    row, person = np.nonzero(judgements >= 0)
    place = row * size + judgements[row, person]
    flat = np.bincount(place, minlength=len(judgements) * size)
    return flat.reshape(len(judgements), size).astype(float)


def mean_cohen(said: Judgements, units: Units) -> Statistics:
    """The mean of Cohen's kappa over pairs of people, weighted by the items that a pair shares.

    Where all people judge all items this is the plain mean. Its error comes from the influence of
    each item, as if the figure were the mean of them.
    """
    moved = np.zeros(len(said))
    weights, kappas = [], []
    judged = np.zeros(len(said), dtype=bool)
    for one, two in combinations(range(said.shape[1]), 2):
        both = np.flatnonzero((said[:, one] >= 0) & (said[:, two] >= 0))
        kappa = cohen_kappa(said[both, one], said[both, two])
        if np.isnan(kappa):
            continue
        moved[both] += _influence(said[both, one], said[both, two], kappa)
        judged[both] = True
        weights.append(len(both))
        kappas.append(kappa)
    if not weights:
        return mean_of(np.zeros(0), units[np.zeros(0, dtype=np.int64)], bounds=KAPPA)
    mean = float(np.average(kappas, weights=weights))
    rows = np.flatnonzero(judged)
    influence = moved[rows] / sum(weights)
    return mean_of(mean + len(rows) * influence, units[rows], bounds=KAPPA)


def _influence(one: Judgements, two: Judgements, kappa: float) -> Floats:
    """How far each item moves the kappa of two people, times the number of items: sums to 0."""
    n = len(one)
    width = int(max(one.max(), two.max())) + 1
    of_one = np.bincount(one, minlength=width) / n
    of_two = np.bincount(two, minlength=width) / n
    chance = float(of_one @ of_two)
    by_chance = of_two[one] + of_one[two] - 2 * chance
    same = (one == two) - float((one == two).mean())
    return np.asarray((same - (1 - kappa) * by_chance) / (1 - chance))


def pairs_of(votes: Votes, *, level: float = 0.95) -> list[Pair]:
    """Every two people who judged an item in common, those who share most items first.

    Those have an interval; a hundred people have 4,950 pairs, most of them with little in common.
    """
    made = votes.made.astype(np.int64)
    shared = made.T @ made
    couples = [pair for pair in combinations(range(len(votes.people)), 2) if shared[pair]]
    couples.sort(key=lambda pair: -shared[pair])
    found = []
    for place, (one, two) in enumerate(couples):
        both = votes.made[:, one] & votes.made[:, two]
        said = votes.said[:, [one, two]][both]
        agree = float((said[:, 0] == said[:, 1]).mean())
        if place < MOST_INTERVALS:
            kappa = figure("cohen", mean_cohen(said, votes.table.clusters[both]), level=level)
        else:
            kappa = Figure("cohen", known(cohen_kappa(*said.T)), n=len(said))
        found.append(Pair(votes.people[one], votes.people[two], len(said), agree, kappa))
    return found

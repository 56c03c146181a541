"""What votes say about agreement: each figure with its interval, and every two people."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from gnomon.measures.agreement import (
    cohen_kappa,
    fleiss,
    mean_cohen,
    nominal_alpha,
    ordinal_alpha,
    pairwise_agreement,
)
from gnomon.measures.intervals import Interval, interval
from gnomon.measures.scoring import known
from gnomon.measures.statistics import Statistics
from gnomon.people.taskfile import POINTS
from gnomon.people.votes import Votes

MOST_INTERVALS = 200  # pairs of people whose kappa gets one


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

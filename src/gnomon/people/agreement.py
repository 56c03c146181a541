"""What votes say about agreement, the human ceiling, and readings of a scale, with intervals."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gnomon.forms import is_right
from gnomon.measures import agreement as measured
from gnomon.measures.agreement import Judgements
from gnomon.measures.intervals import Interval, interval, known
from gnomon.measures.statistics import Statistics, mean_of
from gnomon.people.tasks import LOW_TO_HIGH, POINTS
from gnomon.people.votes import Flags, Votes

MOST_INTERVALS = 200  # pairs of people whose kappa gets one


class AgreementFigure(NamedTuple):
    """A figure with its interval over units, and how many items it rests on."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    units: str = ""


class RaterPair(NamedTuple):
    """How far two people agree on the items that both judged."""

    first: str
    second: str
    n: int
    agree: float | None
    kappa: AgreementFigure


def figure(
    name: str, statistics: Statistics, *, draws: int = 0, level: float = 0.95
) -> AgreementFigure:
    """A figure from its sums: analytic interval, or bootstrap with so many draws of units."""
    found = interval(statistics, draws=draws, level=level)
    return figure_of(name, found, statistics.n, statistics.units)


def figure_of(name: str, found: Interval, n: int, units: str = "") -> AgreementFigure:
    """The same from an interval."""
    return AgreementFigure(name, known(found.value), known(found.low), known(found.high), n, units)


def agreement_figures(
    votes: Votes, *, draws: int = 0, level: float = 0.95
) -> list[AgreementFigure]:
    """Every figure of agreement that the votes allow."""
    counts, units = votes.counts().astype(float), votes.table.clusters
    statistics = {
        "agreement": measured.pairwise_agreement(counts, units),
        "cohen": measured.mean_cohen(votes.said, units),
        "fleiss": measured.fleiss(counts, units),
        "alpha": measured.nominal_alpha(counts, units),
    }
    if votes.points is not None:
        statistics["alpha_ordinal"] = measured.ordinal_alpha(votes.points, units, len(POINTS))
    found = []
    for name, sums in statistics.items():
        found.append(figure(name, sums, draws=draws, level=level))
    return found


def pairs_of(votes: Votes, *, level: float = 0.95) -> list[RaterPair]:
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
            kappa = figure(
                "cohen", measured.mean_cohen(said, votes.table.clusters[both]), level=level
            )
        else:
            kappa = AgreementFigure("cohen", known(measured.cohen_kappa(*said.T)), n=len(said))
        found.append(RaterPair(votes.people[one], votes.people[two], len(said), agree, kappa))
    return found


# The human ceiling: how often people are right, alone and together.
#
# Against the right labels: the mean of people's accuracies, and the accuracy of their majority.
# Against one another: each person beside the majority of the others, which needs no right labels.


MEAN, MAJORITY, OTHERS = "person", "majority", "others"


def ceilings(votes: Votes, *, draws: int = 0, level: float = 0.95) -> list[AgreementFigure]:
    """What the votes say about the ceiling, as far as items name right labels."""
    found = []
    if votes.has_gold.any():
        found.append(figure(MEAN, mean_person(votes), draws=draws, level=level))
        found.append(figure(MAJORITY, majority_right(votes), draws=draws, level=level))
    if len(votes.people) > 1:
        found.append(figure(OTHERS, beside_others(votes), draws=draws, level=level))
    return found


def mean_person(votes: Votes) -> Statistics:
    """The mean of people's accuracies, each over the items that they judged (VSR, section 2.5)."""
    judged = votes.made & votes.has_gold[:, None]
    return measured.mean_over_people(votes.right, judged, votes.table.clusters)


def accuracy_of(votes: Votes, person: int) -> Statistics:
    """How often one person is right, over the items that they judged."""
    judged = votes.made[:, person] & votes.has_gold
    return mean_of(votes.right[judged, person], votes.table.clusters[judged])


def majority_right(votes: Votes) -> Statistics:
    """How often the label with most votes is right; where labels tie, a draw decides.

    Over the items that somebody judged.
    """
    counts = votes.counts()
    judged = np.flatnonzero(counts.any(axis=1) & votes.has_gold)
    right = []
    for row in judged.tolist():
        item = votes.items[row]
        label = measured.label_of_most(item.id, votes.labels, counts[row].tolist())
        right.append(is_right(item, label))
    return mean_of(right, votes.table.clusters[judged])


def beside_others(votes: Votes) -> Statistics:
    """The mean over people of how often they say what most of the others say."""
    same, judged = _same_as_others(votes)
    return measured.mean_over_people(same, judged, votes.table.clusters)


def each_beside_others(votes: Votes) -> list[Statistics]:
    """For each person how often they say what most of the others say."""
    same, judged = _same_as_others(votes)
    found = []
    for mine, rows in zip(same.T, judged.T, strict=True):
        found.append(mean_of(mine[rows], votes.table.clusters[rows]))
    return found


def _same_as_others(votes: Votes) -> tuple[Flags, Flags]:
    """[items, people] whether each says what most others say, and whether there is such a label.

    Others who tie, or say nothing, have no majority.
    """
    counts = votes.first_counts()
    rows = np.arange(len(counts))
    same, judged = [], []
    for made, said in zip(votes.made.T, votes.said.T, strict=True):
        others = counts.copy()
        others[rows[made], said[made]] -= 1
        most = others.max(axis=1)
        alone = (others == most[:, None]).sum(axis=1) == 1
        there = made & (most > 0) & alone
        judged.append(there)
        same.append(there & (others.argmax(axis=1) == said))
    return np.column_stack(same), np.column_stack(judged)


# From five points to three labels, as SpaceNLI reads its judges (section 3.1).
#
# People use a scale differently: one says "most likely true" where another says "definitely".
# Each gets the cut of the scale into three with which all agree best, by the mean of Cohen's
# kappa. Every cut that keeps the order and uses all three labels is tried: six for each person.
# Where several are equally good, the most even one is taken.


LABELS = 3


class SharedCut(NamedTuple):
    """A reading of the scale that all people share, and how far they agree by it."""

    words: str  # "1 2 | 3 | 4 5"
    kappa: float | None


class Readings(NamedTuple):
    """How the scale is read: by each person's own cut, beside every cut that all share."""

    people: dict[str, str]  # each person's cut
    kappa: float | None  # the mean of Cohen's kappa by these
    shared: list[SharedCut]


def mapped(votes: Votes) -> tuple[Votes, Readings | None]:
    """The votes with labels by each person's best cut, and what the cuts are.

    Votes without points stay as they are.
    """
    labels = _low_to_high(votes)
    if votes.points is None or len(labels) != LABELS:
        return votes, None
    found = measured.best_mapping(votes.points, len(POINTS), LABELS)
    codes = np.array([votes.labels.index(label) for label in labels])
    said = votes.said.copy()
    for person, reading in enumerate(found.mappings):
        points = votes.points[:, person]
        made = points >= 0
        said[made, person] = codes[np.array(reading)[points[made]]]
    people = {}
    for name, reading in zip(votes.people, found.mappings, strict=True):
        people[name] = in_words(reading)
    readings = Readings(people, known(found.kappa), _shared_cuts(votes.points))
    return replace(votes, said=said), readings


def _low_to_high(votes: Votes) -> tuple[str, ...]:
    """The labels in the order of the scale: known ones by their meaning, others as listed."""
    if set(votes.labels) == set(LOW_TO_HIGH):
        return LOW_TO_HIGH
    return votes.labels


def _shared_cuts(points: Judgements) -> list[SharedCut]:
    """Every cut, used by all alike, the best first; those without a kappa last."""
    found = []
    for reading in measured.even_readings(len(POINTS), LABELS):
        read = np.array([*reading, -1])[points]
        found.append(SharedCut(in_words(reading), known(measured.mean_cohen_kappa(read))))
    return sorted(found, key=lambda cut: math.inf if cut.kappa is None else -cut.kappa)


def in_words(reading: Sequence[int]) -> str:
    """A reading as the points of each label.

    >>> in_words((0, 0, 1, 2, 2))
    '1 2 | 3 | 4 5'
    """
    parts: dict[int, list[str]] = {}
    for point, label in zip(POINTS, reading, strict=True):
        parts.setdefault(label, []).append(point)
    return " | ".join(" ".join(part) for part in parts.values())

"""The human ceiling: how often people are right, alone and together.

Against the right labels: the mean of people's accuracies, and the accuracy of their majority.
Against one another: each person beside the majority of the others, which needs no right labels.
"""

from __future__ import annotations

import numpy as np

from gnomon.measures.agreement import label_of_most, mean_over_people
from gnomon.measures.statistics import Statistics, mean_of
from gnomon.people.agreement import Figure, figure
from gnomon.people.votes import Flags, Votes

MEAN, MAJORITY, OTHERS = "person", "majority", "others"


def ceilings(votes: Votes, *, draws: int = 0, level: float = 0.95) -> list[Figure]:
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
    return mean_over_people(votes.right, judged, votes.table.clusters)


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
        label = label_of_most(item.id, votes.labels, counts[row].tolist())
        right.append(label in item.gold)
    return mean_of(right, votes.table.clusters[judged])


def beside_others(votes: Votes) -> Statistics:
    """The mean over people of how often they say what most of the others say."""
    same, judged = _same_as_others(votes)
    return mean_over_people(same, judged, votes.table.clusters)


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

"""The human ceiling: how often people are right, alone and together.

Against the right labels: the mean of people's accuracies, and the accuracy of their majority.
Against one another: each person beside the majority of the others, which needs no right labels.
"""

from __future__ import annotations

import numpy as np

from gnomon.measures.statistics import Codes, Floats, Statistics, mean_of, ratio
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
    return _mean_over_people(votes, votes.right & judged, judged)


def accuracy_of(votes: Votes, person: int) -> Statistics:
    """How often one person is right, over the items that they judged."""
    judged = votes.made[:, person] & votes.has_gold
    return mean_of(votes.right[judged, person], votes.table.clusters[judged])


def majority_right(votes: Votes) -> Statistics:
    """How often the label with most votes is right; where labels tie, a coin decides.

    Over the items that somebody judged.
    """
    counts = votes.counts()
    top = (counts == counts.max(axis=1, keepdims=True)) & (counts > 0)
    judged = top.any(axis=1) & votes.has_gold
    share = (top & votes.gold).sum(axis=1) / np.maximum(top.sum(axis=1), 1)
    return mean_of(share[judged], votes.table.clusters[judged])


def beside_others(votes: Votes) -> Statistics:
    """The mean over people of how often they say what most of the others say."""
    same, judged = _same_as_others(votes)
    return _mean_over_people(votes, same, judged)


def beside_others_of(votes: Votes, person: int) -> Statistics:
    """How often one person says what most of the others say."""
    same, judged = _same_as_others(votes, person)
    rows = judged[:, 0]
    return mean_of(same[rows, 0], votes.table.clusters[rows])


def _same_as_others(votes: Votes, person: int | None = None) -> tuple[Flags, Flags]:
    """[items, people] whether each says what most others say, and whether there is such a label.

    Others who tie, or say nothing, have no majority.
    """
    chosen = range(len(votes.people)) if person is None else [person]
    counts = votes.first_counts()
    rows = np.arange(len(counts))
    same, judged = [], []
    for one in chosen:
        made = votes.made[:, one]
        others = counts.copy()
        others[rows[made], votes.said[made, one]] -= 1
        most = others.max(axis=1)
        alone = (others == most[:, None]).sum(axis=1) == 1
        there = made & (most > 0) & alone
        judged.append(there)
        same.append(there & (others.argmax(axis=1) == votes.said[:, one]))
    return np.column_stack(same), np.column_stack(judged)


def _mean_over_people(votes: Votes, good: Flags, judged: Flags) -> Statistics:
    """The mean over people of the share of what they judged that is good."""
    rows = np.flatnonzero(judged.any(axis=1))
    people = np.flatnonzero(judged.any(axis=0))
    width = len(people)
    columns = np.column_stack([good[np.ix_(rows, people)], judged[np.ix_(rows, people)]])

    def finish(sums: Floats) -> Floats:
        both = np.stack([sums[..., :width], sums[..., width:]], axis=-1)
        return np.asarray(ratio(both).mean(axis=-1))

    units = votes.table.clusters[rows]
    return Statistics.of(units, columns.astype(float), finish, n=len(rows))


def majority_choice(votes: Votes) -> Codes:
    """For each item the label that most gave, -1 where nobody judged or labels tie."""
    counts = votes.counts()
    most = counts.max(axis=1, initial=0)
    alone = (counts == most[:, None]).sum(axis=1) == 1
    return np.where(alone & (most > 0), counts.argmax(axis=1), -1)

"""From five points to three labels, as SpaceNLI reads its judges (section 3.1).

People use a scale differently: one says "most likely true" where another says "definitely". Each
gets the cut of the scale into three with which all agree best, by the mean of Cohen's kappa. Every
cut that keeps the order and uses all three labels is tried: six for each person. Where several are
equally good, the most even one is taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gnomon.measures.agreement import Judgements, best_mapping, even_readings, mean_cohen_kappa
from gnomon.measures.scoring import known
from gnomon.people.taskfile import LOW_TO_HIGH, POINTS
from gnomon.people.votes import Votes

LABELS = 3


class Cut(NamedTuple):
    """A reading of the scale that all people share, and how far they agree by it."""

    words: str  # "1 2 | 3 | 4 5"
    kappa: float | None


class Readings(NamedTuple):
    """How the scale is read: by each person's own cut, beside every cut that all share."""

    people: dict[str, str]  # each person's cut
    kappa: float | None  # the mean of Cohen's kappa by these
    shared: list[Cut]


def mapped(votes: Votes) -> tuple[Votes, Readings | None]:
    """The votes with labels by each person's best cut, and what the cuts are.

    Votes without points stay as they are.
    """
    labels = _low_to_high(votes)
    if votes.points is None or len(labels) != LABELS:
        return votes, None
    found = best_mapping(votes.points, len(POINTS), LABELS)
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


def _shared_cuts(points: Judgements) -> list[Cut]:
    """Every cut, used by all alike, the best first; those without a kappa last."""
    found = []
    for reading in even_readings(len(POINTS), LABELS):
        read = np.array([*reading, -1])[points]
        found.append(Cut(in_words(reading), known(mean_cohen_kappa(read))))
    return sorted(found, key=_rank)


def _rank(cut: Cut) -> float:
    return math.inf if cut.kappa is None else -cut.kappa


def in_words(reading: Sequence[int]) -> str:
    """A reading as the points of each label.

    >>> in_words((0, 0, 1, 2, 2))
    '1 2 | 3 | 4 5'
    """
    parts: dict[int, list[str]] = {}
    for point, label in zip(POINTS, reading, strict=True):
        parts.setdefault(label, []).append(point)
    return " | ".join(" ".join(part) for part in parts.values())

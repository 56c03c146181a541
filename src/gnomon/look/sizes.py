"""Which of two things in a picture is larger (the paper, section 2.3).

A thing's size is the area that it covers times the square of its distance. Sizes are put into
natural groups; two things are compared if their groups differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from gnomon.look.breaks import natural_groups
from gnomon.look.modes import Mode
from gnomon.look.records import Sighting

GROUPS = 5  # appendix A.1
LEAST_RATIO = 1.5  # of areas: closer sizes are not told apart


class PairRelation(NamedTuple):
    """How one thing of a picture stands to another: their places among its sightings."""

    first: int
    second: int
    label: str  # ">", "=" or "<"


def size_of(area: float, distance: float | None, mode: Mode) -> float | None:
    """The size of a thing that covers an area at a distance; none if the distance is not known.

    With one_minus_nearness the "distance" is a nearness from 0 to 1, as the code has it.
    """
    if distance is None:
        return None
    if mode.has("one_minus_nearness"):
        return area * (1 - distance)
    if mode.has("depth_once"):
        return area * distance
    return area * distance**2


def size_relations(sightings: Sequence[Sighting], mode: Mode) -> Iterator[PairRelation]:
    """The things of one picture of which one is larger, the larger one first."""
    known = []
    for place, sighting in enumerate(sightings):
        if sighting.size is not None and sighting.size > 0:
            known.append((sighting.size, place))
    known.sort()
    if len(known) <= GROUPS and mode.has("few_in_one_cluster"):
        return

    groups = natural_groups([size for size, _ in known], GROUPS)
    least_ratio = 0.0 if mode.has("close_sizes") else LEAST_RATIO
    for lesser, greater in combinations(range(len(known)), 2):
        size, place = known[lesser]
        more, other = known[greater]
        if groups[lesser] == groups[greater] or more < size * least_ratio:
            continue
        if sightings[place].cut and not mode.has("cut_things"):
            continue
        yield PairRelation(other, place, ">")

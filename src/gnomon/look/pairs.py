"""Votes of pictures on pairs of objects, counted: which is larger, which is higher up.

In each picture a pair of names has one vote, however many things bear them: what most pairs of
those things say. There are many pairs, so a count is one number, and regions are gathered in a
second round, for the pairs that are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from gnomon.look.modes import Mode
from gnomon.look.records import Sighting
from gnomon.look.sizes import PairRelation

LABELS = (">", "=", "<")
OPPOSITE = {">": "<", "<": ">", "=": "="}
BITS = 40  # of a count, of which a number holds one for each label
Relate = Callable[[Sequence[Sighting], Mode], Iterable[PairRelation]]


class PictureVote(NamedTuple):
    """What a picture says about two names, which stand in alphabetical order."""

    scene: str
    first: str
    second: str
    label: str
    regions: tuple[str, str]  # the first ones that say so


def names_of(seen: Sighting, mode: Mode) -> tuple[str, ...]:
    """What a thing counts as: its object, and its subtype if it has one."""
    if not seen.subtype or seen.subtype == seen.object or mode.has("subtypes_dropped"):
        return (seen.object,)
    return seen.object, seen.subtype


def votes_of(
    sightings: Sequence[Sighting], relations: Iterable[PairRelation], mode: Mode
) -> Iterator[PictureVote]:
    """The votes of one picture."""
    said: dict[tuple[str, str], Counter[str]] = {}
    regions: dict[tuple[str, str, str], tuple[str, str]] = {}
    scene = sightings[0].scene if sightings else ""
    names = [names_of(seen, mode) for seen in sightings]
    for place, other, label in relations:
        one_region, other_region = sightings[place].region, sightings[other].region
        for one, two in product(names[place], names[other]):
            if one == two:
                continue
            if one < two:
                pair, says, behind = (one, two), label, (one_region, other_region)
            else:
                pair, says, behind = (two, one), OPPOSITE[label], (other_region, one_region)
            if mode.has("crowds_outvote"):
                yield PictureVote(scene, *pair, says, behind)
                continue
            said.setdefault(pair, Counter())[says] += 1
            regions.setdefault((*pair, says), behind)

    for pair, counts in said.items():
        most = counts.most_common(2)
        if len(most) == 2 and most[0][1] == most[1][1]:
            continue  # the picture is of two minds
        label = most[0][0]
        yield PictureVote(scene, *pair, label, regions[*pair, label])


class PairTally:
    """Counts of labels by scene and pair."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._counts: dict[int, int] = {}

    def add(self, vote: PictureVote) -> None:
        """Count a vote."""
        key = self._key(vote.scene, vote.first, vote.second)
        self._counts[key] = self._counts.get(key, 0) + (1 << BITS * LABELS.index(vote.label))

    def _key(self, *names: str) -> int:
        key = 0
        for name in names:
            key = key << BITS | self._numbers.setdefault(name, len(self._numbers))
        return key

    def pairs(self, least: int) -> Iterator[tuple[tuple[str, str, str], dict[str, int]]]:
        """Scene and pair with their counts, those that were counted often enough, in order."""
        names = list(self._numbers)
        mask = (1 << BITS) - 1
        found = []
        for key, packed in self._counts.items():
            counts = {}
            for place, label in enumerate(LABELS):
                counts[label] = packed >> BITS * place & mask
            if sum(counts.values()) >= least:
                scene, first, second = key >> 2 * BITS, key >> BITS & mask, key & mask
                found.append(((names[scene], names[first], names[second]), counts))
        yield from sorted(found, key=lambda each: each[0])

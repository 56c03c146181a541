"""From what pictures say to findings about objects and pairs of them: colours, sizes, elevations.

Each picture has one vote on a pair, and one on the colours of an object, so that the intervals may
take votes as independent; with `crowds_outvote` every region or pair of regions has one, and the
intervals are too narrow.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import sqrt
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from gnomon.look.records import Mode, Sighting
from gnomon.look.relations import PairRelation, elevation_relations, size_relations
from gnomon.vision import knowledge
from gnomon.vision.knowledge import COLOURS, MOST_REGIONS, PropertyFinding

Z = 1.959963984540054  # of a 95 % interval
DIGITS = 6  # of shares, so that a file is the same on every machine
MOST_EXAMPLES = 12  # regions that are named for a label


class Least(NamedTuple):
    """How often something must be seen before it is a finding."""

    colour: int
    pair: int
    relation: int  # of a pair, for the released code

    @classmethod
    def usual(cls, pictures: int, pair: int = 0) -> Least:
        """The paper's 10 and 100 for a hundred thousand pictures, less for fewer, but 3 at least.

        `pair` is what the user wants for pairs; 0 leaves it to the number of pictures.

        >>> Least.usual(108_000), Least.usual(128)
        (Least(colour=10, pair=100, relation=10), Least(colour=3, pair=3, relation=1))
        """
        least = pair or max(3, min(100, pictures // 1000))
        return cls(colour=min(10, least), pair=least, relation=max(1, least // 10))


def wilson(share: float, count: float) -> tuple[float, float]:
    """The interval of a share that was seen in so many independent votes (Wilson 1927), 95 %.

    >>> [round(bound, 3) for bound in wilson(0.7, 10)]
    [0.397, 0.892]
    """
    if count <= 0:
        return 0.0, 1.0
    middle = share + Z * Z / (2 * count)
    half = Z * sqrt(share * (1 - share) / count + Z * Z / (4 * count * count))
    whole = 1 + Z * Z / count
    return max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole)


def shares_of(weights: Mapping[str, float]) -> dict[str, float]:
    """Weights as shares of their sum."""
    total = sum(weights.values())
    return {label: weight / total for label, weight in weights.items()}


def finished(
    finding: PropertyFinding, shares: Mapping[str, float], votes: float, typical: Sequence[str]
) -> PropertyFinding:
    """A finding with counts and examples, completed by what its shares and votes say."""
    distribution, intervals = {}, {}
    for label, share in shares.items():
        low, high = wilson(share, votes)
        distribution[label] = round(share, DIGITS)
        intervals[label] = (round(low, DIGITS), round(high, DIGITS))
    regions: dict[str, None] = {}
    for behind in finding.examples.values():
        regions |= dict.fromkeys(behind)
    return replace(
        finding,
        distribution=distribution,
        intervals=intervals,
        typical=tuple(typical),
        regions=tuple(regions)[:MOST_REGIONS],
    )


# Votes of pictures on pairs of objects, counted: which is larger, which is higher up.
#
# In each picture a pair of names has one vote, however many things bear them: what most pairs of
# those things say. There are many pairs, so a count is one number, and regions are gathered in a
# second round, for the pairs that are kept.


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
        key = 0
        for name in (vote.scene, vote.first, vote.second):
            key = key << BITS | self._numbers.setdefault(name, len(self._numbers))
        self._counts[key] = self._counts.get(key, 0) + (1 << BITS * LABELS.index(vote.label))

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


# From the relations in pictures to findings about pairs of objects: sizes and elevations.


# What is read twice: the sightings of one picture after the other.
Pictures = Callable[[], Iterable[Sequence[Sighting]]]
Key = tuple[str, str, str]  # a scene and two names


def size_findings(pictures: Pictures, mode: Mode, least: Least) -> Iterator[PropertyFinding]:
    """Which of two objects is larger, in all scenes together."""

    def without_scenes() -> Iterator[Sequence[Sighting]]:
        for sightings in pictures():
            yield [replace(seen, scene="") if seen.scene else seen for seen in sightings]

    for finding in _pair_findings(without_scenes, size_relations, mode, least, "size"):
        counts = {label: finding.counts[label] for label in (">", "<")}
        label = knowledge.typical_size(counts[">"], counts["<"])
        typical = (label,) if label else ()
        finding = replace(finding, counts=counts)
        yield finished(finding, shares_of(counts), sum(counts.values()), typical)


def elevation_findings(pictures: Pictures, mode: Mode, least: Least) -> Iterator[PropertyFinding]:
    """Which of two objects is higher up, scene by scene."""
    found = _pair_findings(pictures, elevation_relations, mode, least, "elevation")
    if mode.has("scenes_overwritten"):
        found = iter({finding.what: finding for finding in found}.values())
    for finding in found:
        counts = finding.counts
        typical = _typical_elevations(counts, mode, least)
        yield finished(finding, shares_of(counts), sum(counts.values()), typical)


def _typical_elevations(counts: Mapping[str, int], mode: Mode, least: Least) -> tuple[str, ...]:
    if not mode.has("early_stop"):
        return tuple(knowledge.typical_labels(shares_of(counts), "paper"))
    often = dict(counts)
    for label, count in counts.items():
        if count < least.relation:
            often[label] = 0
    typical = knowledge.typical_relations(often)
    return typical if len(typical) < len(LABELS) else ()


def _pair_findings(
    pictures: Pictures, relate: Relate, mode: Mode, least: Least, property: str
) -> Iterator[PropertyFinding]:
    """Findings with counts and regions, still without what follows from the counts."""

    def votes() -> Iterator[list[PictureVote]]:
        for sightings in pictures():
            yield list(votes_of(sightings, relate(sightings, mode), mode))

    tally = PairTally()
    for said in votes():
        for vote in said:
            tally.add(vote)
    kept = dict(tally.pairs(least.pair))
    if not kept:
        return

    # the regions behind the pairs that are kept, the first ones of each label
    behind: dict[Key, dict[str, list[str]]] = {key: {} for key in kept}
    seen: Counter[Key] = Counter()  # pictures
    for said in votes():
        told = [vote for vote in said if vote[:3] in kept]
        for vote in told:
            regions = behind[vote[:3]].setdefault(vote.label, [])
            if len(regions) < MOST_EXAMPLES:
                regions.extend(vote.regions)
        seen.update({vote[:3] for vote in told})
    for key, counts in kept.items():
        scene, first, second = key
        examples = behind[key]
        yield PropertyFinding(
            what=f"{first}|{second}",
            property=property,
            objects=(first, second),
            scene=scene,
            counts=counts,
            examples={label: tuple(examples[label]) for label in sorted(examples)},
            pictures=seen[key],
        )


# From the colours of things in pictures to findings about objects.


class Hues:
    """What is known of the colours of one name."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()  # of regions
        self.weights: defaultdict[str, float] = defaultdict(float)  # a picture has 1 in all
        self.pictures = 0
        self.regions = 0
        self.examples: dict[str, list[str]] = {}

    def add(self, sightings: Sequence[Sighting]) -> None:
        """Take in the things of this name in one picture.

        The largest one of a colour is its example.
        """
        self.pictures += 1
        largest: dict[str, Sighting] = {}
        for seen in sightings:
            self.regions += 1
            for colour in seen.colours:
                self.counts[colour] += 1
                self.weights[colour] += 1 / len(seen.colours) / len(sightings)
                if colour not in largest or seen.area > largest[colour].area:
                    largest[colour] = seen
        for colour, seen in largest.items():
            behind = self.examples.setdefault(colour, [])
            if len(behind) < MOST_EXAMPLES:
                behind.append(seen.region)

    def finding(self, name: str) -> PropertyFinding:
        """The counts and examples of a name, in the order of the colours."""
        known = [colour for colour in COLOURS if self.counts[colour]]
        return PropertyFinding(
            what=name,
            property="colour",
            objects=(name,),
            counts={colour: self.counts[colour] for colour in known},
            examples={colour: tuple(self.examples[colour]) for colour in known},
            pictures=self.pictures,
        )


def colour_findings(pictures: Pictures, mode: Mode, least: Least) -> Iterator[PropertyFinding]:
    """The colours of each object, and of each subtype, in all scenes together."""
    known: dict[str, Hues] = {}
    subtypes: dict[str, dict[str, int]] = {}
    for sightings in pictures():
        by_name: dict[str, list[Sighting]] = {}
        for seen in sightings:
            if not seen.colours:
                continue
            subtypes.setdefault(seen.object, {})[seen.subtype or seen.object] = 1
            names = names_of(seen, mode)
            if mode.has("mean_over_subtypes"):
                names = (seen.subtype or seen.object,)
            for name in names:
                by_name.setdefault(name, []).append(seen)
        for name, things in by_name.items():
            known.setdefault(name, Hues()).add(things)

    if mode.has("mean_over_subtypes"):
        yield from _means(known, subtypes, least)
    else:
        yield from _votes(known, mode, least)


def _votes(known: Mapping[str, Hues], mode: Mode, least: Least) -> Iterator[PropertyFinding]:
    """Each picture has one vote, or each region where crowds outvote."""
    for name in sorted(known):
        hues = known[name]
        by_regions = mode.has("crowds_outvote")
        if (hues.regions if by_regions else hues.pictures) < least.colour:
            continue
        finding = hues.finding(name)
        weights: Mapping[str, float] = finding.counts if by_regions else hues.weights
        shares = shares_of({colour: weights[colour] for colour in finding.counts})
        votes = hues.counts.total() if by_regions else hues.pictures
        yield finished(finding, shares, votes, tuple(knowledge.typical_labels(shares, "paper")))


def _means(
    known: Mapping[str, Hues], subtypes: Mapping[str, Mapping[str, int]], least: Least
) -> Iterator[PropertyFinding]:
    """As the released code has it: plain means over the subtypes of each object."""
    rows = {}
    for name, hues in known.items():
        total = hues.counts.total()
        if total >= least.colour:
            rows[name] = [hues.counts[colour] / total for colour in COLOURS]
    typical = knowledge.object_colours(rows, subtypes)
    for name in sorted(typical):
        among = [rows[each] for each in subtypes.get(name, ()) if each in rows]
        mean = np.mean(among or [rows[name]], axis=0).tolist()
        shares = {colour: share for colour, share in zip(COLOURS, mean, strict=True) if share}
        hues = known[name]
        yield finished(hues.finding(name), shares, hues.counts.total(), tuple(typical[name]))

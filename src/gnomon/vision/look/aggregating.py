"""From sightings to findings: distributions over labels, how sure they are, what is typical.

Each picture has one vote on an object or a pair, so that the intervals may take votes as
independent; with `crowds_outvote` every region has one, and the intervals are too narrow.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from gnomon.vision.knowledge import COLOURS, object_colours
from gnomon.vision.look.elevations import elevation_relations
from gnomon.vision.look.modes import Mode
from gnomon.vision.look.pairs import LABELS, Relate, Tally, names_of, votes_of
from gnomon.vision.look.records import MOST_REGIONS, Finding, Sighting
from gnomon.vision.look.sizes import size_relations
from gnomon.vision.typical import typical_labels, typical_relations, typical_size

Z = 1.959963984540054  # of a 95 % interval
MOST_EXAMPLES = 12  # regions that are named for a label
# What is read twice: the sightings of one picture after the other.
Pictures = Callable[[], Iterable[Sequence[Sighting]]]


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
        return cls(
            colour=max(min(3, least), min(10, least)), pair=least, relation=max(1, least // 10)
        )


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


def size_findings(pictures: Pictures, mode: Mode, least: Least) -> Iterator[Finding]:
    """Which of two objects is larger, in all scenes together."""

    def flat() -> Iterator[Sequence[Sighting]]:
        for sightings in pictures():
            yield [_without_scene(seen) for seen in sightings]

    for finding in _pair_findings(flat, size_relations, mode, least, "size"):
        counts = {label: finding.counts[label] for label in (">", "<")}
        typical = typical_size(counts[">"], counts["<"])
        yield _finished(finding, counts, (typical,) if typical else ())


def _without_scene(seen: Sighting) -> Sighting:
    from msgspec.structs import replace

    return replace(seen, scene="") if seen.scene else seen


def elevation_findings(pictures: Pictures, mode: Mode, least: Least) -> Iterator[Finding]:
    """Which of two objects is higher up, scene by scene."""
    found = _pair_findings(pictures, elevation_relations, mode, least, "elevation")
    if mode.has("scenes_overwritten"):
        found = iter({finding.what: finding for finding in found}.values())
    for finding in found:
        yield _finished(finding, finding.counts, _typical_elevations(finding.counts, mode, least))


def _typical_elevations(counts: Mapping[str, int], mode: Mode, least: Least) -> tuple[str, ...]:
    if mode.has("early_stop"):
        often = {label: n if n >= least.relation else 0 for label, n in counts.items()}
        typical = typical_relations(often)
        return typical if len(typical) < len(LABELS) else ()
    return tuple(typical_labels(_shares(counts), "paper"))


def _shares(counts: Mapping[str, float]) -> dict[str, float]:
    total = sum(counts.values())
    return {label: count / total for label, count in counts.items()}


def _pair_findings(
    pictures: Pictures, relate: Relate, mode: Mode, least: Least, property: str
) -> Iterator[Finding]:
    """Findings with counts and regions, still without what follows from the counts."""
    tally = Tally()
    for sightings in pictures():
        for vote in votes_of(sightings, relate(sightings, mode), mode):
            tally.add(vote)
    kept = dict(tally.pairs(least.pair))
    if not kept:
        return

    examples: dict[tuple[str, str, str], dict[str, list[str]]] = defaultdict(dict)
    seen_in: Counter[tuple[str, str, str]] = Counter()
    for sightings in pictures():
        here = set()
        for vote in votes_of(sightings, relate(sightings, mode), mode):
            key = (vote.scene, vote.first, vote.second)
            if key not in kept:
                continue
            here.add(key)
            behind = examples[key].setdefault(vote.label, [])
            if len(behind) < MOST_EXAMPLES:
                behind.extend(vote.regions)
        seen_in.update(here)
    for key, counts in kept.items():
        scene, first, second = key
        yield Finding(
            what=f"{first}|{second}",
            property=property,
            objects=(first, second),
            scene=scene,
            counts=counts,
            examples={label: tuple(examples[key][label]) for label in sorted(examples[key])},
            pictures=seen_in[key],
        )


def _finished(finding: Finding, counts: Mapping[str, int], typical: tuple[str, ...]) -> Finding:
    """A finding of a pair with its distribution, its intervals and what is typical."""
    from msgspec.structs import replace

    total = sum(counts.values())
    shares = _shares(counts)
    return replace(
        finding,
        counts=dict(counts),
        distribution={label: round(share, 6) for label, share in shares.items()},
        intervals={label: _rounded(wilson(share, total)) for label, share in shares.items()},
        typical=typical,
        regions=_first_regions(finding.examples),
    )


def _rounded(bounds: tuple[float, float]) -> tuple[float, float]:
    return round(bounds[0], 6), round(bounds[1], 6)


def _first_regions(examples: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for regions in examples.values():
        found |= dict.fromkeys(regions)
    return tuple(found)[:MOST_REGIONS]


class _Colours:
    """What is known of the colours of one name."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()  # of regions
        self.weights: defaultdict[str, float] = defaultdict(
            float
        )  # of pictures, each of which has 1 in all
        self.pictures = 0
        self.regions = 0
        self.examples: dict[str, list[str]] = {}

    def add(self, sightings: Sequence[Sighting]) -> None:
        """Take in the things of this name in one picture."""
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


def colour_findings(pictures: Pictures, mode: Mode, least: Least) -> Iterator[Finding]:
    """The colours of each object, and of each subtype, in all scenes together."""
    known: dict[str, _Colours] = {}
    subtypes: dict[str, dict[str, int]] = {}
    for sightings in pictures():
        by_name: dict[str, list[Sighting]] = {}
        for seen in sightings:
            if not seen.colours:
                continue
            subtypes.setdefault(seen.object, {})[seen.subtype or seen.object] = 1
            for name in _colour_names(seen, mode):
                by_name.setdefault(name, []).append(seen)
        for name, things in by_name.items():
            known.setdefault(name, _Colours()).add(things)

    if mode.has("mean_over_subtypes"):
        yield from _means(known, subtypes, least)
        return
    for name in sorted(known):
        found = known[name]
        enough = found.regions if mode.has("crowds_outvote") else found.pictures
        if enough >= least.colour:
            yield _colour_finding(name, found, mode)


def _colour_names(seen: Sighting, mode: Mode) -> tuple[str, ...]:
    if mode.has("mean_over_subtypes"):
        return (seen.subtype or seen.object,)
    return names_of(seen, mode)


def _colour_finding(name: str, found: _Colours, mode: Mode) -> Finding:
    crowds = mode.has("crowds_outvote")
    weights: Mapping[str, float] = found.counts if crowds else found.weights
    votes = sum(found.counts.values()) if crowds else found.pictures
    counts = {colour: found.counts[colour] for colour in COLOURS if found.counts[colour]}
    shares = _shares({colour: weights[colour] for colour in counts})
    return _with_colours(name, counts, shares, votes, found, tuple(typical_labels(shares, "paper")))


def _means(
    known: Mapping[str, _Colours], subtypes: Mapping[str, Mapping[str, int]], least: Least
) -> Iterator[Finding]:
    """As the released code has it: plain means over the subtypes of each object."""
    shares = {}
    for name, found in known.items():
        total = sum(found.counts.values())
        if total >= least.colour:
            shares[name] = [found.counts[colour] / total for colour in COLOURS]
    typical = object_colours(shares, subtypes)
    for name in sorted(typical):
        found = known[name]
        among = [shares[each] for each in subtypes.get(name, ()) if each in shares]
        mean = np.mean(among or [shares[name]], axis=0).tolist()
        counts = {colour: found.counts[colour] for colour in COLOURS if found.counts[colour]}
        all_shares = dict(zip(COLOURS, mean, strict=True))
        own = {colour: share for colour, share in all_shares.items() if share}
        votes = sum(found.counts.values())
        yield _with_colours(name, counts, own, votes, found, tuple(typical[name]))


def _with_colours(
    name: str,
    counts: dict[str, int],
    shares: Mapping[str, float],
    votes: int,
    found: _Colours,
    typical: tuple[str, ...],
) -> Finding:
    examples = {colour: tuple(found.examples[colour]) for colour in counts}
    return Finding(
        what=name,
        property="colour",
        objects=(name,),
        counts=counts,
        distribution={colour: round(share, 6) for colour, share in shares.items()},
        intervals={colour: _rounded(wilson(share, votes)) for colour, share in shares.items()},
        typical=typical,
        regions=_first_regions(examples),
        examples=examples,
        pictures=found.pictures,
    )

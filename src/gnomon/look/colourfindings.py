"""From the colours of things in pictures to findings about objects.

A picture has one vote on the colours of an object, shared among its things of that name and their
colours.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gnomon.look.aggregating import Pictures
from gnomon.look.modes import Mode
from gnomon.look.pairs import names_of
from gnomon.look.records import PropertyFinding, Sighting
from gnomon.look.sureness import MOST_EXAMPLES, Least, finished, shares_of
from gnomon.vision.knowledge import COLOURS, object_colours, typical_labels


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
            for name in _names(seen, mode):
                by_name.setdefault(name, []).append(seen)
        for name, things in by_name.items():
            known.setdefault(name, Hues()).add(things)

    if mode.has("mean_over_subtypes"):
        yield from _means(known, subtypes, least)
    elif mode.has("crowds_outvote"):
        yield from _by_regions(known, least)
    else:
        yield from _by_pictures(known, least)


def _names(seen: Sighting, mode: Mode) -> tuple[str, ...]:
    if mode.has("mean_over_subtypes"):
        return (seen.subtype or seen.object,)
    return names_of(seen, mode)


def _by_pictures(known: Mapping[str, Hues], least: Least) -> Iterator[PropertyFinding]:
    for name in sorted(known):
        hues = known[name]
        if hues.pictures < least.colour:
            continue
        finding = hues.finding(name)
        shares = shares_of({colour: hues.weights[colour] for colour in finding.counts})
        yield finished(finding, shares, hues.pictures, tuple(typical_labels(shares, "paper")))


def _by_regions(known: Mapping[str, Hues], least: Least) -> Iterator[PropertyFinding]:
    for name in sorted(known):
        hues = known[name]
        if hues.regions < least.colour:
            continue
        finding = hues.finding(name)
        shares = shares_of(finding.counts)
        votes = hues.counts.total()
        yield finished(finding, shares, votes, tuple(typical_labels(shares, "paper")))


def _means(
    known: Mapping[str, Hues], subtypes: Mapping[str, Mapping[str, int]], least: Least
) -> Iterator[PropertyFinding]:
    """As the released code has it: plain means over the subtypes of each object."""
    rows = {}
    for name, hues in known.items():
        total = hues.counts.total()
        if total >= least.colour:
            rows[name] = [hues.counts[colour] / total for colour in COLOURS]
    typical = object_colours(rows, subtypes)
    for name in sorted(typical):
        among = [rows[each] for each in subtypes.get(name, ()) if each in rows]
        mean = np.mean(among or [rows[name]], axis=0).tolist()
        shares = {}
        for colour, share in zip(COLOURS, mean, strict=True):
            if share:
                shares[colour] = share
        hues = known[name]
        yield finished(hues.finding(name), shares, hues.counts.total(), tuple(typical[name]))

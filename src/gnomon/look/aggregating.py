"""From the relations in pictures to findings about pairs of objects: sizes and elevations.

Each picture has one vote on a pair, so that the intervals may take votes as independent; with
`crowds_outvote` every pair of regions has one, and the intervals are too narrow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from gnomon.look.elevations import elevation_relations
from gnomon.look.modes import Mode
from gnomon.look.pairs import LABELS, PairTally, PictureVote, Relate, votes_of
from gnomon.look.records import PropertyFinding, Sighting
from gnomon.look.sizes import size_relations
from gnomon.look.sureness import MOST_EXAMPLES, Least, finished, shares_of
from gnomon.vision.knowledge import typical_labels, typical_relations, typical_size

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
        label = typical_size(counts[">"], counts["<"])
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
        return tuple(typical_labels(shares_of(counts), "paper"))
    often = dict(counts)
    for label, count in counts.items():
        if count < least.relation:
            often[label] = 0
    typical = typical_relations(often)
    return typical if len(typical) < len(LABELS) else ()


class _Behind(NamedTuple):
    """What is behind a finding: regions by label, and the number of pictures."""

    examples: dict[Key, dict[str, list[str]]]
    pictures: Counter[Key]


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

    behind = _gathered(votes(), kept)
    for key, counts in kept.items():
        scene, first, second = key
        examples = behind.examples[key]
        yield PropertyFinding(
            what=f"{first}|{second}",
            property=property,
            objects=(first, second),
            scene=scene,
            counts=counts,
            examples={label: tuple(examples[label]) for label in sorted(examples)},
            pictures=behind.pictures[key],
        )


def _gathered(votes: Iterable[Sequence[PictureVote]], kept: Mapping[Key, object]) -> _Behind:
    """The regions behind the pairs that are kept, the first ones of each label."""
    behind = _Behind({key: {} for key in kept}, Counter())
    for said in votes:
        here: set[Key] = set()
        for vote in said:
            key = (vote.scene, vote.first, vote.second)
            if key not in kept:
                continue
            here.add(key)
            regions = behind.examples[key].setdefault(vote.label, [])
            if len(regions) < MOST_EXAMPLES:
                regions.extend(vote.regions)
        behind.pictures.update(here)
    return behind

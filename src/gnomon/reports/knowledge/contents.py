"""What a knowledge folder says of each object, as its page shows it; bounded, most seen first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gnomon.files import read_json, read_jsonl
from gnomon.vision.knowledge import PropertyFinding

MOST_OBJECTS = 3000
MOST_PAIRS = 60  # of an object, those seen in most pictures
OPPOSITE = {">": "<", "<": ">", "=": "="}


class Seen(NamedTuple):
    """A finding from the side of one object: of a pair, the other object and the labels so."""

    finding: PropertyFinding
    other: str = ""
    turned: bool = False  # whether the object is the second of the pair

    def labels(self) -> dict[str, dict[str, Any]]:
        """Share, interval, count and regions of each label."""
        found = {}
        for label, share in self.finding.distribution.items():
            low, high = self.finding.intervals.get(label, (0.0, 1.0))
            found[self.side(label)] = {
                "share": share,
                "low": low,
                "high": high,
                "count": self.finding.counts.get(label, 0),
            }
        return found

    def side(self, label: str) -> str:
        """What a label of the finding says from this side."""
        return OPPOSITE[label] if self.turned else label

    def examples(self) -> dict[str, tuple[str, ...]]:
        """Regions by label; of pairs, this object's first."""
        found = {}
        for label, regions in self.finding.examples.items():
            found[self.side(label)] = _swapped(regions) if self.turned else regions
        return found


def _swapped(regions: tuple[str, ...]) -> tuple[str, ...]:
    """Regions of two objects by turns, the other one first."""
    found: list[str] = []
    for first, second in zip(regions[0::2], regions[1::2], strict=False):
        found += [second, first]
    return tuple(found)


class Thing(NamedTuple):
    """All that is known of one object."""

    name: str
    pictures: int
    colour: Seen | None
    sizes: list[Seen]
    elevations: list[Seen]


class Contents(NamedTuple):
    """What the page shows, and how much there is in all."""

    things: list[Thing]
    objects: int
    manifest: Mapping[str, Any]
    troubles: int


def read_contents(folder: Path) -> Contents:
    """The findings of a folder by object, those of the most pictures first."""
    colours = {finding.what: Seen(finding) for finding in _findings(folder, "colour")}
    sizes = _by_object(folder, "size")
    elevations = _by_object(folder, "elevation")
    things = []
    for name in {*colours, *sizes, *elevations}:
        thing = Thing(name, 0, colours.get(name), sizes[name], elevations[name])
        things.append(thing._replace(pictures=_pictures(thing)))
    things.sort(key=lambda thing: (-thing.pictures, thing.name))

    manifest: dict[str, Any] = {}
    if (folder / "manifest.json").exists():
        manifest = read_json(folder / "manifest.json", dict[str, Any])
    return Contents(things[:MOST_OBJECTS], len(things), manifest, _troubles(folder))


def _findings(folder: Path, property: str) -> Iterator[PropertyFinding]:
    file = folder / f"{property}.jsonl"
    if file.exists():
        for _, finding in read_jsonl(file, PropertyFinding):
            yield finding


def _by_object(folder: Path, property: str) -> defaultdict[str, list[Seen]]:
    found: defaultdict[str, list[Seen]] = defaultdict(list)
    for finding in _findings(folder, property):
        first, second = finding.objects
        found[first].append(Seen(finding, second))
        found[second].append(Seen(finding, first, turned=True))
    for name, seen in found.items():
        seen.sort(key=lambda each: (-each.finding.pictures, each.other, each.finding.scene))
        found[name] = seen[:MOST_PAIRS]
    return found


def _pictures(thing: Thing) -> int:
    """In how many pictures an object was seen, at least."""
    counts = [seen.finding.pictures for seen in (*thing.sizes, *thing.elevations)]
    if thing.colour:
        counts.append(thing.colour.finding.pictures)
    return max(counts, default=0)


class _Any(msgspec.Struct):
    """A line of which nothing is read."""


def _troubles(folder: Path) -> int:
    file = folder / "troubles.jsonl"
    if not file.exists():
        return 0
    return sum(1 for _ in read_jsonl(file, _Any))

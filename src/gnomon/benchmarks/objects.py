"""The lexicon of everyday objects: how large and how tall each may be, and who is clearly more.

Dimensions are ranges over ordinary specimens (data/objects.yaml). One object is clearly larger or
taller than another only where their ranges do not meet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from math import prod, sqrt
from typing import Any, NamedTuple

from gnomon.benchmarks.namesakes import Namesakes
from gnomon.files import package_data, read_yaml

CLEAR = 1.1  # the least of the greater, as a multiple of the most of the lesser
TYPICAL = 1.5  # from this ratio on one typical specimen is plainly larger than another


class Range(NamedTuple):
    """From the least to the most that is ordinary, in centimetres."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """What is typical: the geometric mean of both ends."""
        return sqrt(self.low * self.high)


class Thing(NamedTuple):
    """An object of the lexicon."""

    name: str
    kind: str
    common: int  # how common the word is, from 1 (rare) to 5 (everyday)
    size: Range  # the side of a cube that has the volume of the box around it
    longest: Range  # the longest side of that box
    height: Range | None  # none for what lies or stands any way up


def read_thing(name: str, kind: str, entry: Sequence[Any]) -> Thing:
    """An entry of the lexicon: one range for all sides, or length, width and height.

    >>> read_thing("golf ball", "sport", ["4.2-4.4", 4]).height
    Range(low=4.2, high=4.4)
    """
    upright = entry[-1] != "any"
    fields = entry if upright else entry[:-1]
    sides = [_range(text) for text in fields[:-1]]
    if len(sides) == 1:
        sides *= 3
    lows = [side.low for side in sides]
    highs = [side.high for side in sides]
    return Thing(
        name=name,
        kind=kind,
        common=fields[-1],
        size=Range(prod(lows) ** (1 / 3), prod(highs) ** (1 / 3)),
        longest=Range(max(lows), max(highs)),
        height=sides[2] if upright else None,
    )


def _range(text: str) -> Range:
    low, high = text.split("-")
    return Range(float(low), float(high))


@cache
def everyday_things() -> Mapping[str, Thing]:
    """All objects of the lexicon, by name."""
    found = {}
    for kind, entries in read_yaml(package_data("objects.yaml")).items():
        for name, entry in entries.items():
            found[name] = read_thing(name, kind, entry)
    return found


@cache
def everyday_namesakes() -> Namesakes:
    """The objects of the lexicon whose names share a word."""
    return Namesakes(everyday_things())


def is_clearly_less(scale: str, lesser: Thing, greater: Thing) -> bool:
    """Whether every ordinary specimen of one is smaller, or shorter, than every one of the other.

    For size the longest sides must not meet either: nobody can say whether a broom or a microwave
    oven is larger.

    >>> pea, mug = read_thing("pea", "", ["0.6-1.2", 4]), read_thing("mug", "", ["7-15", 5])
    >>> is_clearly_less("size", pea, mug), is_clearly_less("size", mug, pea)
    (True, False)
    """
    if scale == "size":
        shorter = lesser.longest.high < greater.longest.low
        return shorter and CLEAR * lesser.size.high <= greater.size.low
    if lesser.height is None or greater.height is None:
        return False
    return CLEAR * lesser.height.high <= greater.height.low


def typical_ratio(scale: str, lesser: Thing, greater: Thing) -> float:
    """How many times as large across, or as tall, a typical specimen of the one is."""
    if scale == "size":
        return greater.size.middle / lesser.size.middle
    assert lesser.height is not None
    assert greater.height is not None
    return greater.height.middle / lesser.height.middle


def is_typically_larger(greater: Thing, lesser: Thing) -> bool:
    """Whether a typical specimen of one is plainly larger than a typical one of the other."""
    longer = greater.longest.middle > lesser.longest.middle
    return longer and typical_ratio("size", lesser, greater) >= TYPICAL

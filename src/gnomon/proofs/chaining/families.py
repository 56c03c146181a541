"""Families of relations, each with the logic that decides its stories.

four     left, right, above, below of points: bAbI 17; nothing is said about the other axis
eight    directions of points on both axes, and the same place: StepGame
solids   six directions of whole boxes, and inside
places   inside, outside, touching, near and far of areas: SpartQA
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gnomon.proofs.chaining import regions
from gnomon.proofs.chaining.facts import Logic
from gnomon.proofs.chaining.ordering import Bound, Bounds, Ordering
from gnomon.proofs.chaining.regions import Regions


@dataclass(frozen=True)
class Family:
    """Relations that stories are told in, what is asked about, and what decides."""

    name: str
    logic: Logic[Any]
    converse: Mapping[str, str]  # every relation, and how it is said the other way round
    asked: tuple[str, ...]
    asked_at_once: tuple[str, ...]  # that one fact can leave open, for chains of one

    @property
    def relations(self) -> tuple[str, ...]:
        """Every relation."""
        return tuple(self.converse)


def _point(axis: str, lesser: str) -> Bound:
    return Bound(lesser, "low", "low", axis)


def _level(axis: str) -> Bounds:
    """Equal on an axis: neither is less."""
    ends = ("low", "low", axis, False)
    return Bound("first", *ends), Bound("second", *ends)


def _box(axis: str, lesser: str) -> Bound:
    return Bound(lesser, "high", "low", axis)


def _within(axis: str) -> Bounds:
    """The first lies between the ends of the second."""
    return Bound("second", "low", "low", axis), Bound("first", "high", "high", axis)


def _turned(bounds: Bounds) -> Bounds:
    found = []
    for bound in bounds:
        other = "first" if bound.lesser == "second" else "second"
        found.append(bound._replace(lesser=other))
    return tuple(found)


def _both_ways(pairs: Mapping[str, str]) -> dict[str, str]:
    found = dict(pairs)
    for one, other in pairs.items():
        found[other] = one
    return found


def _with_converse(bounds: Mapping[str, Bounds], converse: Mapping[str, str]) -> dict[str, Bounds]:
    found = dict(bounds)
    for one, other in converse.items():
        if one in bounds and other not in bounds:
            found[other] = _turned(bounds[one])
    return found


def _four() -> Family:
    converse = _both_ways({"left": "right", "below": "above"})
    bounds: dict[str, Bounds] = {"left": (_point("x", "first"),), "below": (_point("y", "first"),)}
    logic = Ordering(_with_converse(bounds, converse))
    words = tuple(converse)
    return Family("four", logic, converse, words, words)


def _eight() -> Family:
    left, below = _point("x", "first"), _point("y", "first")
    above = _point("y", "second")
    bounds: dict[str, Bounds] = {
        "left": (left, *_level("y")),
        "below": (below, *_level("x")),
        "below left": (left, below),
        "above left": (left, above),
        "same place": (*_level("x"), *_level("y")),
    }
    pairs = {
        "left": "right",
        "below": "above",
        "below left": "above right",
        "above left": "below right",
        "same place": "same place",
    }
    converse = _both_ways(pairs)
    asked = tuple(word for word in converse if word != "same place")
    return Family("eight", Ordering(_with_converse(bounds, converse)), converse, asked, ())


def _solids() -> Family:
    bounds: dict[str, Bounds] = {
        "left": (_box("x", "first"),),
        "below": (_box("y", "first"),),
        "in front": (_box("z", "first"),),
        "inside": (*_within("x"), *_within("y"), *_within("z")),
    }
    pairs = {"left": "right", "below": "above", "in front": "behind", "inside": "contains"}
    converse = _both_ways(pairs)
    directions = tuple(word for word in converse if word not in ("inside", "contains"))
    logic = Ordering(_with_converse(bounds, converse), boxes=True)
    return Family("solids", logic, converse, (*directions, "inside"), directions)


def _places() -> Family:
    converse = _both_ways({regions.INSIDE: regions.CONTAINS})
    converse |= {name: name for name in regions.APART}
    asked = (regions.INSIDE, regions.OUTSIDE, regions.FAR)
    return Family("places", Regions(), converse, asked, (regions.FAR,))


FAMILIES = {family.name: family for family in (_four(), _eight(), _solids(), _places())}

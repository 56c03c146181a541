"""How the renderer draws what a prompt names: by its shape, or as a plain block of its true size.

Shapes are those of data/things. Sizes of other things are the middles of the ranges in
data/objects.yaml, or stand in data/synthesis/sizes.yaml.
"""

from __future__ import annotations

from functools import cache
from math import sqrt
from typing import Any, NamedTuple

import msgspec

from gnomon.files import package_data, read_yaml
from gnomon.scenes.parts import LARGEST, SMALLEST, Triple
from gnomon.scenes.saying import other_nouns
from gnomon.scenes.things import BLOCK, thing_named, things

CENTIMETRE = 0.01
PLAIN: Triple = (1.0, 1.0, 1.0)  # metres, of a thing whose size nobody knows
PERSON = "person"


class Drawn(NamedTuple):
    """What is drawn for a name: a thing or block, and how much larger or smaller it is."""

    thing: str
    scale: float = 1.0
    known: bool = True  # its true size is known

    @property
    def size(self) -> Triple:
        """Width, depth and height in metres."""
        width, depth, height = thing_named(self.thing).size
        return width * self.scale, depth * self.scale, height * self.scale

    @property
    def is_block(self) -> bool:
        """Whether it has no shape of its own."""
        return BLOCK.fullmatch(self.thing) is not None


class Sizes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """data/synthesis/sizes.yaml."""

    people: dict[str, float]
    same: dict[str, str]
    blocks: dict[str, Triple]


def drawn_as(name: str, *, person: bool = False) -> Drawn:
    """How a name is drawn. `person` says that an unknown name is that of somebody.

    >>> drawn_as("cat").thing, drawn_as("girl"), drawn_as("wine barrel").known
    ('cat', Drawn(thing='person', scale=0.75, known=True), True)
    """
    for word in _shorter(name.strip().lower()):
        found = _known(word)
        if found:
            return found
    if person:
        return Drawn(PERSON)
    return Drawn(block(PLAIN), known=False)


def block(size: Triple, *, hollow: bool = False) -> str:
    """The name of a block; sides that cannot be drawn become the nearest that can."""
    sides = []
    for side in size:
        fitting = min(max(side, 2 * SMALLEST), LARGEST)
        sides.append(f"{fitting:.6f}".rstrip("0").rstrip("."))
    return f"{'open ' if hollow else ''}block {' x '.join(sides)}"


def _shorter(name: str) -> list[str]:
    """A name, and the same without its first words: "canvas awning", "awning"."""
    words = name.split()[:8]
    return [" ".join(words[start:]) for start in range(len(words))]


def _known(name: str) -> Drawn | None:
    table = _table()
    if name in table.people:
        return Drawn(PERSON, table.people[name])
    same = table.same.get(name, name)
    same = other_nouns().get(same, same)
    if same in things():
        return Drawn(same)
    if same in table.blocks:
        return Drawn(block(table.blocks[same]))
    if same in _lexicon():
        return Drawn(block(_lexicon()[same]))
    return None


@cache
def _table() -> Sizes:
    return msgspec.convert(read_yaml(package_data("synthesis/sizes.yaml")), Sizes, strict=False)


@cache
def _lexicon() -> dict[str, Triple]:
    """Length, width and height of everyday objects: the middle of each range, in metres."""
    found: dict[str, Triple] = {}
    for entries in read_yaml(package_data("objects.yaml")).values():
        for name, entry in entries.items():
            found[name] = _sides(entry)
    return found


def _sides(entry: list[Any]) -> Triple:
    """The sides of an entry: one range is for all three, two for those across and the height."""
    ranges = [text for text in entry if isinstance(text, str) and text != "any"]
    sides = [_middle(text) for text in ranges]
    if len(sides) == 1:
        sides *= 3
    if len(sides) == 2:
        sides = [sides[0], *sides]
    return sides[0], sides[1], sides[2]


def _middle(text: str) -> float:
    low, high = text.split("-")
    return sqrt(float(low) * float(high)) * CENTIMETRE

"""The lexicon of everyday objects: how large and how tall each may be, and who is clearly more.

Dimensions are ranges over ordinary specimens (data/objects.yaml). One object is clearly larger or
taller than another only where their ranges do not meet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import prod, sqrt
from typing import Any, NamedTuple

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


class SizedThing(NamedTuple):
    """An object of the lexicon."""

    name: str
    kind: str
    common: int  # how common the word is, from 1 (rare) to 5 (everyday)
    size: Range  # the side of a cube that has the volume of the box around it
    longest: Range  # the longest side of that box
    height: Range | None  # none for what lies or stands any way up


def read_thing(name: str, kind: str, entry: Sequence[Any]) -> SizedThing:
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
    return SizedThing(
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
def everyday_things() -> Mapping[str, SizedThing]:
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


def is_clearly_less(scale: str, lesser: SizedThing, greater: SizedThing) -> bool:
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


def typical_ratio(scale: str, lesser: SizedThing, greater: SizedThing) -> float:
    """How many times as large across, or as tall, a typical specimen of the one is."""
    if scale == "size":
        return greater.size.middle / lesser.size.middle
    assert lesser.height is not None
    assert greater.height is not None
    return greater.height.middle / lesser.height.middle


def is_typically_larger(greater: SizedThing, lesser: SizedThing) -> bool:
    """Whether a typical specimen of one is plainly larger than a typical one of the other."""
    longer = greater.longest.middle > lesser.longest.middle
    return longer and typical_ratio("size", lesser, greater) >= TYPICAL


# Families of names that share a word, or the head of a compound, with another of the family.
#
# Baselines that are trained hold out whole families: who has seen a golf ball could guess about a
# tennis ball or a volleyball, and who has seen a fluorescent tube about a fluorescent lamp.


SMALL_WORDS = {"of", "and"}


class Namesakes:
    """The families of some names; each is called after its most frequent word.

    >>> kin = Namesakes(["golf ball", "volleyball", "golf cart", "wardrobe"])
    >>> kin.family("golf cart"), kin.family("volleyball"), kin.family("wardrobe")
    ('ball', 'ball', 'wardrobe')
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._link: dict[str, str] = {}  # from a word to another of its family
        uses: Counter[str] = Counter()
        for name in names:
            words = words_of(name)
            uses.update(words)
            for word in words:
                self._link[self._root(word)] = self._root(words[-1])

        self._called: dict[str, str] = {}
        for word in sorted(uses, key=lambda word: (-uses[word], word)):
            self._called.setdefault(self._root(word), word)

    def family(self, name: str) -> str:
        """The family of a name by its last word: that of a toy car is the car's.

        A word that no name has is a family of its own.
        """
        root = self._root(words_of(name)[-1])
        return self._called.get(root, root)

    def _root(self, word: str) -> str:
        while self._link.get(word, word) != word:
            word = self._link[word]
        return word


def words_of(name: str) -> list[str]:
    """The words of a name; the head stands for a compound that is written as one word.

    >>> words_of("plate of blueberries"), words_of("hot-air balloon"), words_of("blueberry")
    (['plate', 'blueberries'], ['hot', 'air', 'balloon'], ['berry'])
    """
    heads = _heads()
    found = []
    for word in name.replace("-", " ").split():
        if word not in SMALL_WORDS:
            found.append(heads.get(word, word))
    return found


@cache
def _heads() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for head, compounds in read_yaml(package_data("compounds.yaml")).items():
        found |= dict.fromkeys(compounds, head)
    return found

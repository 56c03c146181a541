"""Fresh transitive comparisons: two premises are given, and what follows from them is asked.

The premises are true of the world, or the reverse of the truth, or about invented words. So who
knows the objects but does not read the premises is right half of the time, and so is who repeats a
word of the premises.
"""

from __future__ import annotations

from itertools import chain
from random import Random
from typing import NamedTuple

from gnomon.benchmarks.contrasts import Contrast, Drawing, clear_pairs, twins_of_each
from gnomon.benchmarks.objects import everyday_things, is_clearly_less
from gnomon.benchmarks.viphy.items import with_article
from gnomon.files import package_data, read_yaml

KINDS = ("true", "reversed", "invented")
DISTANT = ("10-100", "100+")  # bands with room for a third object between two


class Chain(NamedTuple):
    """Three things, each smaller than the next one according to the premises."""

    low: str
    middle: str
    high: str
    kind: str  # one of KINDS
    premises: str


def chains(seed: int, pairs: int) -> list[Chain]:
    """As many chains of each kind, none twice."""
    draw = Random(f"{seed}/viphy-size-transitive")
    count = 2 * twins_of_each(pairs, len(KINDS))
    real = _real_triples(2 * count, draw)
    found = []
    for low, middle, high in real[:count]:
        found.append(_chain(low, middle, high, "true", draw))
    for low, middle, high in real[count:]:
        found.append(_chain(high, middle, low, "reversed", draw))
    for low, middle, high in _invented_triples(count, draw):
        found.append(_chain(low, middle, high, "invented", draw))
    return found


def _real_triples(count: int, draw: Random) -> list[tuple[str, str, str]]:
    """Objects in rising order of size; the names of the first and last show nothing."""
    wanted = count // 4
    spare = 5 + wanted // 4  # in the nearer band not every pair has an object between
    twins = Drawing(draw).fill(clear_pairs("size"), dict.fromkeys(DISTANT, wanted + spare))
    found: list[tuple[str, str, str]] = []
    for first, second in zip(twins[::2], twins[1::2], strict=True):
        if len(found) == count:
            break
        middles = _between(first), _between(second)
        if all(middles):
            found.append((first.lesser, draw.choice(middles[0]), first.greater))
            found.append((second.lesser, draw.choice(middles[1]), second.greater))
    return found


def _between(contrast: Contrast) -> list[str]:
    """The objects whose size is clearly between those of two others."""
    things = everyday_things()
    low, high = things[contrast.lesser], things[contrast.greater]
    found = []
    for thing in things.values():
        if is_clearly_less("size", low, thing) and is_clearly_less("size", thing, high):
            found.append(thing.name)
    return found


def _invented_triples(count: int, draw: Random) -> list[tuple[str, str, str]]:
    """Words in any order, no three of them twice, none much oftener than another."""
    words = list(chain.from_iterable(read_yaml(package_data("viphy/invented.yaml"))))
    left: list[str] = []
    found: dict[frozenset[str], tuple[str, str, str]] = {}
    while len(found) < count:
        if len(left) < 3:
            left = draw.sample(words, len(words))
        triple = left.pop(), left.pop(), left.pop()
        found.setdefault(frozenset(triple), triple)
    return list(found.values())


def _chain(low: str, middle: str, high: str, kind: str, draw: Random) -> Chain:
    """The two premises in any order, each with either word."""
    said = [_premise(low, middle, draw), _premise(middle, high, draw)]
    first, second = draw.sample(said, 2)
    return Chain(low, middle, high, kind, f"Suppose that {first}, and that {second}.")


def _premise(low: str, high: str, draw: Random) -> str:
    if draw.random() < 0.5:
        return f"{with_article(low)} is smaller than {with_article(high)}"
    return f"{with_article(high)} is larger than {with_article(low)}"

"""Fresh knowledge for ViPhy's questions, from our own tables of everyday things.

Sizes come from typical dimensions. No label is right more often than another. Colours and
elevations have modules of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import prod
from random import Random

from gnomon.benchmarks.viphy.files import RELATIONS, Comparison
from gnomon.benchmarks.viphy.order import Pair, transitive_pairs
from gnomon.errors import UsageError
from gnomon.files import package_data, read_yaml

Box = Sequence[float]  # length, width, height
FLIPPED = {">": "<", "=": "=", "<": ">"}


def clearly_smaller(a: Box, b: Box) -> bool:
    """Whether nobody would hesitate: a quarter of the volume, and a clearly shorter longest side.

    >>> clearly_smaller([6.7, 6.7, 6.7], [24, 24, 24]), clearly_smaller([18, 0.7, 0.7], [8, 8, 8])
    (True, False)
    """
    return prod(a) * 4 <= prod(b) and max(a) * 1.3 <= max(b)


def size_pairs(seed: int, pairs: int) -> list[Comparison]:
    """Clear size comparisons drawn by the seed, each both ways round."""
    smaller = _all_smaller()
    drawn = Random(f"{seed}/size").sample(smaller, _at_most(pairs, len(smaller)))
    rows = []
    for a, b in drawn:
        rows += _both_ways(a, b, ("<",))
    return rows


def subtype_pairs(seed: int, pairs: int) -> list[tuple[Comparison, Pair]]:
    """Clear size comparisons between subtypes, each both ways round.

    With each goes what its two things are subtypes of and as large as.
    """
    subtypes: Mapping[str, Sequence[str]] = read_yaml(package_data("viphy/subtypes.yaml"))
    draw = Random(f"{seed}/subtype")
    smaller = [(a, b) for a, b in _all_smaller() if a in subtypes and b in subtypes]
    drawn = draw.sample(smaller, _at_most(pairs, len(smaller)))
    rows = []
    for a, b in drawn:
        there, back = _both_ways(draw.choice(subtypes[a]), draw.choice(subtypes[b]), ("<",))
        rows += [(there, (a, b)), (back, (b, a))]
    return rows


def transitive_sizes(seed: int, items: int) -> list[tuple[Comparison, str]]:
    """Comparisons that follow from two known ones, each with the object in the middle.

    They are not known themselves. What is known is a sparse draw of clear comparisons, so it is
    part of an order. Half of the items are asked the larger object first; no pair occurs twice.
    """
    draw = Random(f"{seed}/transitive")
    known = draw.sample(_all_smaller(), 600)
    middles: dict[Pair, list[str]] = {}
    for a, b, c in transitive_pairs(known):
        middles.setdefault((a, c), []).append(b)
    half = _at_most(items, len(middles)) // 2
    drawn = draw.sample(sorted(middles), 2 * half)
    flipped = set(draw.sample(range(2 * half), half))
    rows = []
    for number, (a, c) in enumerate(drawn):
        row = Comparison(a, c, {}, ("<",))
        if number in flipped:
            row = Comparison(c, a, {}, (">",))
        rows.append((row, draw.choice(middles[a, c])))
    return rows


def _all_smaller() -> list[Pair]:
    boxes: Mapping[str, Box] = read_yaml(package_data("viphy/objects.yaml"))
    return [(a, b) for a, b in product(boxes, boxes) if clearly_smaller(boxes[a], boxes[b])]


def _both_ways(a: str, b: str, labels: tuple[str, ...], scene: str = "") -> list[Comparison]:
    back = _ordered({FLIPPED[label] for label in labels})
    return [Comparison(a, b, {}, labels, scene), Comparison(b, a, {}, back, scene)]


def _ordered(labels: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(labels, key=RELATIONS.index))


def _at_most(wanted: int, there: int) -> int:
    if wanted < 1:
        raise UsageError(f"{wanted} is not a number of items.", "Ask for one or more.")
    return min(wanted, there)

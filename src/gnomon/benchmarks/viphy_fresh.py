"""Fresh knowledge for ViPhy's questions, from our own tables of everyday things: no label is right more often.

Sizes come from typical dimensions, elevations from typical heights in a room, colours from a list of undisputed ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from math import prod
from random import Random

from gnomon.benchmarks.viphy_files import RELATIONS, Colours, Comparison
from gnomon.benchmarks.viphy_knowledge import COLOURS
from gnomon.benchmarks.viphy_order import Pair, transitive_pairs
from gnomon.errors import UsageError
from gnomon.files import package_data, read_yaml

Box = Sequence[float]  # length, width, height
Span = tuple[float, float]  # lowest and highest point
FLIPPED = {">": "<", "=": "=", "<": ">"}
LEVEL = 12.0  # centimetres: middles no further apart than this are level, if half of the thinner thing's span is shared


def clearly_smaller(a: Box, b: Box) -> bool:
    """Whether nobody would hesitate: a quarter of the volume at most, and a longest side shorter by a quarter or so.

    >>> clearly_smaller([6.7, 6.7, 6.7], [24, 24, 24]), clearly_smaller([18, 0.7, 0.7], [8, 8, 8])
    (True, False)
    """
    return prod(a) * 4 <= prod(b) and max(a) * 1.3 <= max(b)


def size_pairs(seed: int, pairs: int) -> list[Comparison]:
    """Clear size comparisons drawn by the seed, each both ways round."""
    smaller = _all_smaller()
    drawn = Random(f"{seed}/size").sample(smaller, _at_most(pairs, len(smaller)))
    return [row for a, b in drawn for row in _both_ways(a, b, ("<",))]


def subtype_pairs(seed: int, pairs: int) -> list[Comparison]:
    """Clear size comparisons between subtypes that are as large as what they are subtypes of, each both ways round."""
    subtypes: Mapping[str, Sequence[str]] = read_yaml(package_data("viphy/subtypes.yaml"))
    draw = Random(f"{seed}/subtype")
    smaller = [(a, b) for a, b in _all_smaller() if a in subtypes and b in subtypes]
    drawn = draw.sample(smaller, _at_most(pairs, len(smaller)))
    named = [(draw.choice(subtypes[a]), draw.choice(subtypes[b])) for a, b in drawn]
    return [row for a, b in named for row in _both_ways(a, b, ("<",))]


def transitive_sizes(seed: int, items: int) -> list[tuple[Comparison, str]]:
    """Comparisons that follow from two known ones and are not known themselves, with the object in the middle.

    What is known is a sparse draw of clear comparisons, so it is part of an order. Half of the items are asked the
    larger object first; no pair occurs twice.
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
        row = Comparison(c, a, {}, (">",)) if number in flipped else Comparison(a, c, {}, ("<",))
        rows.append((row, draw.choice(middles[a, c])))
    return rows


def object_colours(seed: int) -> list[Colours]:
    """Objects with their colours, every colour right for as many objects as any other: no constant answer pays."""
    table: dict[str, list[str]] = read_yaml(package_data("viphy/typical_colours.yaml"))
    several: Mapping[str, Sequence[str]] = table.pop("several")  # type: ignore[assignment]
    draw = Random(f"{seed}/colour")
    room = Counter({colour: len(table[colour]) for colour in COLOURS})
    each = min(room.values())
    chosen: dict[str, Sequence[str]] = {}
    taken: Counter[str] = Counter()
    for name in draw.sample(sorted(several), len(several)):
        if all(taken[colour] < each // 2 for colour in several[name]):
            chosen[name] = several[name]
            taken.update(several[name])
    for colour in COLOURS:
        chosen |= dict.fromkeys(draw.sample(sorted(table[colour]), each - taken[colour]), (colour,))
    names = draw.sample(sorted(chosen), len(chosen))
    return [Colours(name, {colour: 1 / len(chosen[name]) for colour in COLOURS if colour in chosen[name]})
            for name in names]


def elevations(seed: int, level_pairs: int) -> list[Comparison]:
    """Pairs of things in a room, each both ways round, with every label right for as many items as any other.

    Pairs with one label, and with the pairs that have two only as many of each kind as keep the balance: one pair
    that is above or below calls for two that are level or above.
    """
    rooms: Mapping[str, Mapping[str, Sequence[Sequence[float]]]] = read_yaml(package_data("viphy/elevations.yaml"))
    kinds: dict[frozenset[str], list[Comparison]] = {}
    for room, things in rooms.items():
        for a, b in combinations(things, 2):
            labels = relations_between(things[a], things[b])
            if labels:
                kind = frozenset({*labels, *(FLIPPED[label] for label in labels)}) if len(labels) == 1 else labels
                kinds.setdefault(frozenset(kind), []).append(Comparison(a, b, {}, _ordered(labels), room))
    draw = Random(f"{seed}/elevation")
    strict, level = kinds[frozenset({">", "<"})], kinds[frozenset({"="})]
    either = [row for row in strict if len(row.typical) == 2]
    strict = [row for row in strict if len(row.typical) == 1]
    leaning = [row for kind, rows in kinds.items() if "=" in kind and len(kind) == 2 for row in rows]
    n = min(_at_most(level_pairs, len(level)), len(strict) // 2)
    m = min(len(either), len(leaning) // 2)
    rows = [*draw.sample(level, n), *draw.sample(strict, 2 * n), *draw.sample(either, m), *draw.sample(leaning, 2 * m)]
    draw.shuffle(rows)
    return [both for row in rows for both in _both_ways(row.first, row.second, row.typical, row.scene)]


def relations_between(a: Iterable[Sequence[float]], b: Iterable[Sequence[float]]) -> frozenset[str]:
    """The relations of a thing to another over all the places where they are; empty if any place is unclear.

    >>> sorted(relations_between([(90, 115)], [(0, 55)])), sorted(relations_between([(90, 115)], [(90, 110)]))
    (['>'], ['='])
    """
    found = {relation_of((p[0], p[1]), (q[0], q[1])) for p, q in product(a, b)}
    return frozenset() if "" in found or len(found) == 3 else frozenset(found)


def relation_of(a: Span, b: Span) -> str:
    """">" if a lies wholly above b, "=" if they are level, "" if it depends on how one looks at it.

    Stricter than the paper (appendix A.3: the lowest point above the other's centre), so that no label is in doubt.
    """
    middle_a, middle_b = sum(a) / 2, sum(b) / 2
    shared = min(a[1], b[1]) - max(a[0], b[0])
    thinner = min(a[1] - a[0], b[1] - b[0])
    if abs(middle_a - middle_b) <= LEVEL and thinner > 0 and shared >= thinner / 2:
        return "="
    if a[0] >= b[1] and middle_a - middle_b > LEVEL:
        return ">"
    return "<" if b[0] >= a[1] and middle_b - middle_a > LEVEL else ""


def _all_smaller() -> list[Pair]:
    boxes: Mapping[str, Box] = read_yaml(package_data("viphy/objects.yaml"))
    return [(a, b) for a, b in product(boxes, boxes) if clearly_smaller(boxes[a], boxes[b])]


def _both_ways(a: str, b: str, labels: tuple[str, ...], scene: str = "") -> list[Comparison]:
    back = _ordered({FLIPPED[label] for label in labels})
    return [Comparison(a, b, {}, labels, scene), Comparison(b, a, {}, back, scene)]


def _ordered(labels: Iterable[str]) -> tuple[str, ...]:
    among = set(labels)
    return tuple(label for label in RELATIONS if label in among)


def _at_most(wanted: int, there: int) -> int:
    if wanted < 1:
        raise UsageError(f"{wanted} is not a number of items.", "Ask for one or more.")
    return min(wanted, there)

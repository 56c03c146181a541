"""Fresh colours and elevations for ViPhy's questions, from our own tables of everyday things.

Elevations come from typical heights in a room, colours from a list of undisputed ones. No label is
right more often than another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, permutations, product
from random import Random

from gnomon.benchmarks.viphy.files import RELATIONS, Colours, Comparison
from gnomon.benchmarks.viphy.order import Pair
from gnomon.errors import UsageError
from gnomon.files import package_data, read_yaml
from gnomon.vision.knowledge import COLOURS

Span = tuple[float, float]  # lowest and highest point
Places = Sequence[Sequence[float]]  # the spans of a thing that may be in several places
Labels = Mapping[Pair, frozenset[str]]
ABOVE_BELOW = ({">"}, {"<"})
FLIPPED = {">": "<", "=": "=", "<": ">"}
EACH_COLOUR = 20  # objects for which a colour is right
# Centimetres: middles no further apart are level, if the spans are alike and overlap enough.
LEVEL = 12.0


def object_colours(seed: int) -> list[Colours]:
    """Objects with their colours, every colour right for as many: no constant answer pays."""
    table: dict[str, list[str]] = read_yaml(package_data("viphy/typical_colours.yaml"))
    several: Mapping[str, Sequence[str]] = table.pop("several")  # type: ignore[assignment]
    draw = Random(f"{seed}/colour")
    chosen: dict[str, Sequence[str]] = {}
    taken: Counter[str] = Counter()
    for name in draw.sample(sorted(several), len(several)):
        if all(taken[colour] < EACH_COLOUR // 2 for colour in several[name]):
            chosen[name] = several[name]
            taken.update(several[name])
    for colour in COLOURS:
        names = draw.sample(sorted(table[colour]), EACH_COLOUR - taken[colour])
        chosen |= dict.fromkeys(names, (colour,))

    rows = []
    for name in draw.sample(sorted(chosen), len(chosen)):
        colours = sorted(chosen[name], key=COLOURS.index)
        rows.append(Colours(name, dict.fromkeys(colours, 1 / len(colours))))
    return rows


def elevations(seed: int, blocks: int) -> list[Comparison]:
    """Pairs of things in a room, each both ways round, with every label right equally often.

    A block is a level pair, a pair of one of its things with a thing of another height, and any
    other pair of things that are level with something: so that no single thing gives the label
    away. Things with several places come in threes: one thing with a partner that may be above or
    below it, and with two that may also be level.
    """
    rooms: Mapping[str, Mapping[str, Places]] = read_yaml(package_data("viphy/elevations.yaml"))
    draw = Random(f"{seed}/elevation")
    made = []
    for room, things in rooms.items():
        labels = {}
        for a, b in permutations(things, 2):
            labels[a, b] = relations_between(things[a], things[b])
        for block in [*_blocks(labels, draw), *_threes(labels, draw)]:
            made.append([(a, b, _ordered(labels[a, b]), room) for a, b in block])

    rows = []
    for labelled in draw.sample(made, _at_most(blocks, len(made))):
        for a, b, typical, room in labelled:
            rows += _both_ways(a, b, typical, room)
    return rows


def _blocks(labels: Labels, draw: Random) -> Iterator[list[Pair]]:
    level = [(a, b) for (a, b), found in labels.items() if found == {"="} and a < b]
    among = sorted(set(chain.from_iterable(level)))
    free = [pair for pair in combinations(among, 2) if labels[pair] in ABOVE_BELOW]
    draw.shuffle(level)
    draw.shuffle(free)
    for pair in level:
        touching = [other for other in free if set(other) & set(pair)][:1]
        others = [other for other in free if other not in touching]
        block = [*touching, *others][:2]
        if len(block) == 2:
            free = [other for other in free if other not in block]
            yield [pair, *block]


def _threes(labels: Labels, draw: Random) -> Iterator[list[Pair]]:
    several = sorted({a for (a, _), found in labels.items() if len(found) == 2})
    used: set[frozenset[str]] = set()  # two such things may be partners of each other
    for thing in draw.sample(several, len(several)):
        either, leaning = [], []
        for (a, b), found in labels.items():
            if a != thing or frozenset((a, b)) in used or len(found) != 2:
                continue
            if "=" in found:
                leaning.append(b)
            else:
                either.append(b)
        draw.shuffle(either)
        draw.shuffle(leaning)
        for three in zip(either, leaning[::2], leaning[1::2], strict=False):
            pairs = [(thing, other) for other in three]
            used.update(frozenset(pair) for pair in pairs)
            yield pairs


def relations_between(a: Iterable[Sequence[float]], b: Iterable[Sequence[float]]) -> frozenset[str]:
    """The relations of a thing to another over all their places; empty if any place is unclear.

    >>> sorted(relations_between([(90, 115)], [(0, 55)]))
    ['>']
    """
    found = {relation_of((p[0], p[1]), (q[0], q[1])) for p, q in product(a, b)}
    if "" in found or len(found) == 3:
        return frozenset()
    return frozenset(found)


def relation_of(a: Span, b: Span) -> str:
    """ ">" if a lies wholly above b, "=" if they are level, "" if it depends on how one looks.

    Stricter than the paper (appendix A.3: the lowest point above the other's centre), so that no
    label is in doubt.
    """
    middle_a, middle_b = sum(a) / 2, sum(b) / 2
    shared = min(a[1], b[1]) - max(a[0], b[0])
    thinner, taller = sorted((a[1] - a[0], b[1] - b[0]))
    alike = taller - thinner <= 4 * LEVEL or shared >= taller / 2
    overlap = 0 < thinner <= 2 * shared
    if abs(middle_a - middle_b) <= LEVEL:
        return "=" if overlap and alike else ""
    if a[0] >= b[1] and middle_a > middle_b:
        return ">"
    if b[0] >= a[1] and middle_b > middle_a:
        return "<"
    return ""


def _both_ways(a: str, b: str, labels: tuple[str, ...], scene: str = "") -> list[Comparison]:
    back = _ordered({FLIPPED[label] for label in labels})
    return [Comparison(a, b, {}, labels, scene), Comparison(b, a, {}, back, scene)]


def _ordered(labels: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(labels, key=RELATIONS.index))


def _at_most(wanted: int, there: int) -> int:
    if wanted < 1:
        raise UsageError(f"{wanted} is not a number of items.", "Ask for one or more.")
    return min(wanted, there)

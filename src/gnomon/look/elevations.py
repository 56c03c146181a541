"""Which of two things in a picture is higher up (the paper, section 2.4 and appendix A.3).

A thing is above another if its lowest point is above the other's centre. Heights above the floor
are compared, where the depth map shows a floor. Elsewhere rows of the picture are, which mislead
where depths differ: only among things of like depth, and what follows from that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from gnomon.look.modes import Mode
from gnomon.look.records import Sighting
from gnomon.look.sizes import PairRelation

PARTS = 3  # of the range of depth, each overlapping half of the next
BINS = 2  # of the released code
BINS_BY_SCENE = {"bathroom": 1}
DEEPEST = 255  # of the released code's depth map; what has this figure is in no bin

Relations = dict[tuple[int, int], str]


def elevation_relations(sightings: Sequence[Sighting], mode: Mode) -> Iterator[PairRelation]:
    """How the things of one picture stand to each other in height, each pair once."""
    if mode.has("rows_as_heights") or not _has_floor(sightings):
        found = _by_rows(sightings, mode)
    else:
        found = _by_heights(sightings, mode)
    for (first, second), label in found.items():
        yield PairRelation(first, second, label)


def _has_floor(sightings: Sequence[Sighting]) -> bool:
    return any(sighting.foot is not None for sighting in sightings)


class Span(NamedTuple):
    """Between which heights the foot and the centre of a thing are."""

    foot: tuple[float, float]
    centre: tuple[float, float]


def _span(seen: Sighting) -> Span | None:
    """Where a thing is; none if the picture shows no floor."""
    if seen.foot is None or seen.least_foot is None or seen.crown is None:
        return None
    foot = (seen.least_foot, seen.foot)
    return Span(foot, ((seen.least_foot + seen.crown) / 2, (seen.foot + seen.crown) / 2))


def _by_heights(sightings: Sequence[Sighting], mode: Mode) -> Relations:
    """What holds wherever hidden feet may be; pairs for which it depends on them are left out.

    So are pairs of which the picture itself shows no such thing: a depth map that is rough puts
    things up and down, and true heights hardly ever contradict the rows.
    """
    found: Relations = {}
    spans = [_span(seen) for seen in sightings]
    for first, second in combinations(range(len(sightings)), 2):
        one, other = spans[first], spans[second]
        if one is None or other is None:
            continue
        label = _height_label(one, other)
        if label == "=" or label == _row_label(sightings[first], sightings[second], mode):
            found[first, second] = label
    return found


def _height_label(one: Span, other: Span) -> str:
    """How two things stand to each other; empty if that depends on what is hidden."""
    if one.foot[0] > other.centre[1]:
        return ">"
    if other.foot[0] > one.centre[1]:
        return "<"
    if one.foot[1] <= other.centre[0] and other.foot[1] <= one.centre[0]:
        return "="
    return ""


def _by_rows(sightings: Sequence[Sighting], mode: Mode) -> Relations:
    """Rows compared within parts of the depth, and what follows across them."""
    found: Relations = {}
    parts = _bins(sightings) if mode.has("disjoint_bins") else _overlapping_parts(sightings)
    for part in parts:
        for first, second in combinations(part, 2):
            if (first, second) not in found:
                found[first, second] = _row_label(sightings[first], sightings[second], mode)
    if not mode.has("no_transitive"):
        _add_what_follows(found, len(sightings))
    return found


def _row_label(one: Sighting, other: Sighting, mode: Mode) -> str:
    """Rows grow downwards: a thing is above another if its last row comes before its middle."""
    if mode.has("top_point"):
        above, below = other.top > one.middle, one.top > other.middle
    else:
        above, below = one.bottom < other.middle, other.bottom < one.middle
    if above:
        return ">"
    return "<" if below else "="


def _overlapping_parts(sightings: Sequence[Sighting]) -> list[list[int]]:
    """Things by part of the range of depth; without any depth nothing can be compared."""
    known = {}
    for place, seen in enumerate(sightings):
        if seen.distance is not None:
            known[place] = seen.distance
    if not known:
        return []
    nearest, farthest = min(known.values()), max(known.values())
    step = (farthest - nearest) / (PARTS + 1)
    parts = []
    for number in range(PARTS):
        begin = nearest + number * step
        end = begin + 2 * step
        if number == PARTS - 1:
            end = farthest  # whatever the rounding
        parts.append([place for place, far in known.items() if begin <= far <= end])
    return parts


def _bins(sightings: Sequence[Sighting]) -> list[list[int]]:
    """Things by bin of nearness, as the released code does it."""
    if not sightings:
        return []
    count = BINS_BY_SCENE.get(sightings[0].scene, BINS)
    width = int(DEEPEST / count)
    bins: list[list[int]] = [[] for _ in range(count)]
    for place, each in enumerate(sightings):
        if each.nearness is None:
            continue
        figure = int(each.nearness * DEEPEST)
        if figure < DEEPEST:
            bins[min(figure // width, count - 1)].append(place)
    return bins


def _add_what_follows(found: Relations, things: int) -> None:
    """If A is above B and B above C, A is above C: for pairs that were not compared."""
    above: list[set[int]] = [set() for _ in range(things)]
    for (first, second), label in found.items():
        if label == ">":
            above[first].add(second)
        elif label == "<":
            above[second].add(first)
    below = [_reached(start, above) for start in range(things)]
    for start in range(things):
        for end in below[start]:
            # where chains lead both ways, nothing follows
            if start == end or start in below[end]:
                continue
            pair = (min(start, end), max(start, end))
            found.setdefault(pair, ">" if start < end else "<")


def _reached(start: int, above: Sequence[set[int]]) -> set[int]:
    """All that is below a thing by some chain."""
    reached: set[int] = set()
    waiting = [start]
    while waiting:
        for place in above[waiting.pop()] - reached:
            reached.add(place)
            waiting.append(place)
    return reached

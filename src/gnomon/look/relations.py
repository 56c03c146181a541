"""Which of two things in a picture is larger, and which is higher up."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.look.records import Mode, Sighting

# Which of two things in a picture is larger (the paper, section 2.3).
#
# A thing's size is the area that it covers times the square of its distance. Sizes are put into
# natural groups (Jenks 1967); two things are compared if their groups differ.


GROUPS = 5  # appendix A.1
LEAST_RATIO = 1.5  # of areas: closer sizes are not told apart


class PairRelation(NamedTuple):
    """How one thing of a picture stands to another: their places among its sightings."""

    first: int
    second: int
    label: str  # ">", "=" or "<"


def size_of(area: float, distance: float | None, mode: Mode) -> float | None:
    """The size of a thing that covers an area at a distance; none if the distance is not known.

    With one_minus_nearness the "distance" is a nearness from 0 to 1, as the code has it.
    """
    if distance is None:
        return None
    if mode.has("one_minus_nearness"):
        return area * (1 - distance)
    if mode.has("depth_once"):
        return area * distance
    return area * distance**2


def size_relations(sightings: Sequence[Sighting], mode: Mode) -> Iterator[PairRelation]:
    """The things of one picture of which one is larger, the larger one first."""
    known = []
    for place, sighting in enumerate(sightings):
        if sighting.size is not None and sighting.size > 0:
            known.append((sighting.size, place))
    known.sort()
    if len(known) <= GROUPS and mode.has("few_in_one_cluster"):
        return

    groups = natural_groups([size for size, _ in known], GROUPS)
    least_ratio = 0.0 if mode.has("close_sizes") else LEAST_RATIO
    for lesser, greater in combinations(range(len(known)), 2):
        size, place = known[lesser]
        more, other = known[greater]
        if groups[lesser] == groups[greater] or more < size * least_ratio:
            continue
        if sightings[place].cut and not mode.has("cut_things"):
            continue
        yield PairRelation(other, place, ">")


# Natural breaks (Jenks 1967): numbers in groups within which they differ least, found exactly.


_Floats = NDArray[np.float64]


def natural_groups(values: Sequence[float], groups: int) -> list[int]:
    """The group of each value, 0 for the smallest ones.

    The sum of squared distances from the means of the groups is as small as it can be. Equal values
    share a group, so there are never more groups than different values.

    >>> natural_groups([1, 20, 2, 21, 90], 3)
    [0, 1, 0, 1, 2]
    """
    if not values:
        return []
    different, places, counts = np.unique(
        np.asarray(values, dtype=np.float64), return_inverse=True, return_counts=True
    )
    starts = _starts(different, counts, min(groups, len(different)))
    group_of = np.zeros(len(different), dtype=np.int64)
    group_of[starts] = 1
    group_of = np.cumsum(group_of)
    found: list[int] = group_of[places].tolist()
    return found


def _starts(values: _Floats, counts: NDArray[np.int64], groups: int) -> list[int]:
    """Where the second group and those after it begin, by dynamic programming."""
    cost = _costs(values, counts)
    best = cost[0].copy()  # of the values up to each place, in as many groups as were made so far
    choices = []
    for _ in range(groups - 1):
        # best[i - 1] + cost[i, j]: the last group begins at i and ends with j
        total = np.full_like(cost, np.inf)
        total[1:] = best[:-1, None] + cost[1:]
        first = total.argmin(axis=0)
        best = total[first, np.arange(len(values))]
        choices.append(first)

    starts: list[int] = []
    end = len(values) - 1
    for first in reversed(choices):
        start = int(first[end])
        starts.insert(0, start)
        end = start - 1
    return starts


def _costs(values: _Floats, counts: NDArray[np.int64]) -> _Floats:
    """[i, j] the squared distances of the values i to j from their mean; infinite for i > j."""
    centred = values - np.average(values, weights=counts)
    number = _summed(counts.astype(np.float64))
    linear = _summed(counts * centred)
    square = _summed(counts * centred**2)

    first, last = np.meshgrid(np.arange(len(values)), np.arange(1, len(values) + 1), indexing="ij")
    n = number[last] - number[first]
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = square[last] - square[first] - (linear[last] - linear[first]) ** 2 / n
    return np.where(first < last, np.maximum(cost, 0.0), np.inf)


def _summed(values: _Floats) -> _Floats:
    """Sums of the first 0, 1, 2 ... values."""
    return np.concatenate(([0.0], np.cumsum(values)))


# Which of two things in a picture is higher up (the paper, section 2.4 and appendix A.3).
#
# A thing is above another if its lowest point is above the other's centre. Heights above the
# floor are compared, where the depth map shows a floor. Elsewhere rows of the picture are, which
# mislead where depths differ: only among things of like depth, and what follows from that.


PARTS = 3  # of the range of depth, each overlapping half of the next
BINS = 2  # of the released code
BINS_BY_SCENE = {"bathroom": 1}
DEEPEST = 255  # of the released code's depth map; what has this figure is in no bin

Relations = dict[tuple[int, int], str]


def elevation_relations(sightings: Sequence[Sighting], mode: Mode) -> Iterator[PairRelation]:
    """How the things of one picture stand to each other in height, each pair once."""
    has_floor = any(sighting.foot is not None for sighting in sightings)
    if mode.has("rows_as_heights") or not has_floor:
        found = _by_rows(sightings, mode)
    else:
        found = _by_heights(sightings, mode)
    for (first, second), label in found.items():
        yield PairRelation(first, second, label)


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

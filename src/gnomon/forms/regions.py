"""Points: a gold is a region of a picture, and an answer one point or several, in pixels.

A region is written as a text of its own, so that answers are judged without any file:
"box 10 20 30 40 in 640x480", "polygon 10 20 30 20 20 40 in 640x480", "point 10 20 in 640x480", or
"mask 640x480" with the lengths of its runs, row by row, outside and inside by turns.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import hypot, nan
from typing import Any, NamedTuple

from gnomon.forms.numbers import Asked

NEAR = 0.05  # of the picture's diagonal: so near to a gold that is a point counts as right
GRID = 24  # points a side, by which the distance of a random point is told
MOST_PIXELS = 50_000_000
LONGEST = 2_000_000  # characters of a region
LEAST = {"box": 4, "polygon": 6, "point": 2}  # numbers
_SHAPE = re.compile(r"(box|polygon|point) ([-\d. ]+) in (\d{1,6})x(\d{1,6})")
_MASK = re.compile(r"mask (\d{1,6})x(\d{1,6})((?: \d{1,9})*)")
_POINT = re.compile(r"\((-?[\d.]+), (-?[\d.]+)\)")


class AskedRegion(NamedTuple):
    """A part of a picture: corners, or a mask."""

    kind: str
    width: int
    height: int
    corners: tuple[tuple[float, float], ...] = ()  # of a box two
    mask: Any = None  # [height, width], true inside

    @property
    def diagonal(self) -> float:
        """Of the picture, in pixels."""
        return hypot(self.width, self.height)

    def holds(self, x: float, y: float) -> bool:
        """Whether a point lies inside."""
        if self.kind == "mask":
            column, row = min(int(x), self.width - 1), min(int(y), self.height - 1)
            return x >= 0 and y >= 0 and bool(self.mask[row, column])
        if self.kind == "box":
            (left, top), (right, bottom) = self.corners
            return left <= x <= right and top <= y <= bottom
        if self.kind == "point":
            return self.distance(x, y) <= NEAR
        return _odd_crossings(self.corners, x, y)

    def distance(self, x: float, y: float) -> float:
        """How far a point is from the region, as a share of the picture's diagonal; 0 inside."""
        if self.kind == "mask":
            if self.holds(x, y) or not self.mask.any():
                return 0.0 if self.mask.any() else nan
            import numpy as np  # which a form without masks needs not

            rows, columns = np.nonzero(self.mask)
            return float(np.hypot(columns + 0.5 - x, rows + 0.5 - y).min()) / self.diagonal
        if self.kind == "box":
            (left, top), (right, bottom) = self.corners
            away = hypot(max(left - x, 0, x - right), max(top - y, 0, y - bottom))
            return away / self.diagonal
        if self.kind == "polygon" and self.holds(x, y):
            return 0.0
        closed = (*self.corners, self.corners[0])
        away = min(_to_side(one, two, x, y) for one, two in pairwise(closed))
        return away / self.diagonal

    @property
    def share(self) -> float:
        """The part of the picture that it covers."""
        if self.kind == "mask":
            return float(self.mask.mean())
        if self.kind == "box":
            (left, top), (right, bottom) = self.corners
            return max(0.0, right - left) * max(0.0, bottom - top) / (self.width * self.height)
        points = list(_grid(self, 4 * GRID))
        return sum(self.holds(x, y) for x, y in points) / len(points)

    @property
    def middle(self) -> tuple[float, float]:
        """A point that lies inside, near the middle."""
        if self.kind == "mask":
            import numpy as np

            rows, columns = np.nonzero(self.mask)
            if not len(rows):
                return self.width / 2, self.height / 2
            away = np.hypot(rows - rows.mean(), columns - columns.mean())
            place = int(away.argmin())
            return float(columns[place]) + 0.5, float(rows[place]) + 0.5
        across = sum(x for x, _ in self.corners) / len(self.corners)
        return across, sum(y for _, y in self.corners) / len(self.corners)


def _odd_crossings(corners: Sequence[tuple[float, float]], x: float, y: float) -> bool:
    """Whether a ray to the right crosses the sides of a polygon an odd number of times."""
    inside = False
    for (ax, ay), (bx, by) in pairwise((*corners, corners[0])):
        if (ay > y) != (by > y) and x < (bx - ax) * (y - ay) / (by - ay) + ax:
            inside = not inside
    return inside


def _to_side(one: tuple[float, float], two: tuple[float, float], x: float, y: float) -> float:
    """How far a point is from a side."""
    (ax, ay), (bx, by) = one, two
    long = (bx - ax) ** 2 + (by - ay) ** 2
    along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / long if long else 0.0
    along = min(1.0, max(0.0, along))
    return hypot(ax + along * (bx - ax) - x, ay + along * (by - ay) - y)


def _grid(region: AskedRegion, side: int) -> Iterator[tuple[float, float]]:
    for row in range(side):
        for column in range(side):
            yield (column + 0.5) * region.width / side, (row + 0.5) * region.height / side


@lru_cache(maxsize=256)
def region_of(text: str) -> AskedRegion | None:
    """The region that a text writes; none if it writes none.

    >>> region_of("box 0 0 320 480 in 640x480").share
    0.5
    """
    if len(text) > LONGEST:
        return None
    shape = _SHAPE.fullmatch(text)
    if shape:
        return _with_corners(shape)
    mask = _MASK.fullmatch(text)
    if not mask:
        return None
    import numpy as np

    width, height = int(mask[1]), int(mask[2])
    runs = np.array(mask[3].split(), dtype=np.int64)
    if width * height > MOST_PIXELS or int(runs.sum()) != width * height or not len(runs):
        return None
    inside = np.arange(len(runs)) % 2 == 1
    return AskedRegion("mask", width, height, mask=np.repeat(inside, runs).reshape(height, width))


def _with_corners(shape: re.Match[str]) -> AskedRegion | None:
    try:
        numbers = [float(number) for number in shape[2].split()]
    except ValueError:
        return None
    width, height = int(shape[3]), int(shape[4])
    exact = shape[1] == "polygon" or len(numbers) == LEAST[shape[1]]
    if not exact or len(numbers) < LEAST[shape[1]] or len(numbers) % 2 or not width * height:
        return None
    corners = tuple(zip(numbers[::2], numbers[1::2], strict=True))
    return AskedRegion(shape[1], width, height, corners)


def write_shape(kind: str, numbers: Iterable[float], size: tuple[int, int]) -> str:
    """A region with corners as text."""
    return f"{kind} {' '.join(f'{number:g}' for number in numbers)} in {size[0]}x{size[1]}"


def write_mask(mask: Any) -> str:
    """A mask [height, width] as text: the lengths of its runs."""
    import numpy as np

    flat = np.asarray(mask, dtype=bool).ravel()
    changes = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    edges = np.concatenate(([0], changes, [len(flat)]))
    runs = np.diff(edges).tolist()
    if len(flat) and flat[0]:
        runs.insert(0, 0)
    return f"mask {mask.shape[1]}x{mask.shape[0]} {' '.join(map(str, runs))}"


def write_points(points: Iterable[tuple[float, float]]) -> str:
    """Points as an answer has them.

    >>> write_points([(320.0, 240.25)])
    '(320, 240.25)'
    """
    return " ".join(f"({_short(x)}, {_short(y)})" for x, y in points)


def _short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def points_in(answer: str) -> list[tuple[float, float]]:
    """The points of an answer."""
    return [(float(x), float(y)) for x, y in _POINT.findall(answer)]


def size_of(gold: Sequence[str]) -> tuple[int, int] | None:
    """The width and height of the picture that regions are parts of."""
    region = region_of(gold[0]) if gold else None
    return (region.width, region.height) if region else None


def problem(choices: tuple[str, ...], gold: tuple[str, ...]) -> str:
    """What is wrong with a point's item; empty if nothing is. Without gold it is not judged."""
    if choices:
        return "an item that asks for a point has no choices"
    if any(region_of(text) is None for text in gold):
        return "gold must be a box, polygon, point or mask in a picture"
    return ""


def marks(choices: tuple[str, ...], gold: tuple[str, ...], said: str | None) -> Mapping[str, float]:
    """The share of the points that lie inside one of the regions, and their mean distance."""
    points = points_in(said) if said is not None else []
    known = [region for region in map(region_of, gold) if region is not None]
    if not points or not known:
        return {"right": 0.0, "point_distance": nan}
    inside = sum(any(region.holds(x, y) for region in known) for x, y in points)
    away = [min(region.distance(x, y) for region in known) for x, y in points]
    return {"right": inside / len(points), "point_distance": sum(away) / len(away)}


@lru_cache(maxsize=4096)
def _random_point(gold: tuple[str, ...]) -> Mapping[str, float]:
    known = [region for region in map(region_of, gold) if region is not None]
    if not known:
        return {"right": nan, "point_distance": nan}
    away = []
    for x, y in _grid(known[0], GRID):
        away.append(min(region.distance(x, y) for region in known))
    covered = min(1.0, sum(region.share for region in known))
    return {"right": covered, "point_distance": sum(away) / len(away)}


def guesses(asked: Sequence[Asked]) -> list[Mapping[str, float]]:
    """What a random point of the picture gets: the share that the regions cover."""
    return [_random_point(each.gold) for each in asked]


def shortcut(asked: Sequence[Asked]) -> tuple[str, list[str]]:
    """Always the middle of the picture."""
    found = []
    for each in asked:
        width, height = size_of(each.gold) or (0, 0)
        found.append(write_points([(width / 2, height / 2)]))
    return "always the middle of the picture", found


def right_answer(asked: Asked) -> str:
    """A point inside, as a share of the picture, as a model would write it."""
    region = region_of(asked.gold[0])
    if region is None:
        return ""
    x, y = region.middle
    return f"({x / region.width:.3f}, {y / region.height:.3f})"


def in_words(asked: Asked) -> str:
    """The regions for people, without the runs of masks."""
    found = []
    for text in asked.gold:
        region = region_of(text)
        if region is not None and region.kind == "mask":
            text = f"a mask of {100 * region.share:.1f} % of the picture"
        found.append(text)
    return " or ".join(found)

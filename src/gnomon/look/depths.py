"""Depth maps of pictures, the floor in them, and what a thing's contour tells of its height.

A model for depth declares whether far is large. Its figures are turned into distances here, where
far is always large, and into nearness, where the nearest point of a picture has 1.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.errors import DataError

if TYPE_CHECKING:
    from gnomon.look.records import Picture

Grid = NDArray[np.float64]
Flags = NDArray[np.bool_]
CELLS = 48  # of a picture's side, in which a floor is looked for
LEAST_POINTS = 40  # of the background
LEAST_SHARE = 0.1  # of the background that must be floor
LEAST_ROWS = 0.1  # of the picture that the floor must reach over
CLOSE = 0.03  # how far from a floor a point of it may be, as a share of its inverse distance
LEAST_SLOPE = 0.2  # of the inverse distance over the picture: a wall has hardly any


class DepthMap(NamedTuple):
    """The figures of a picture, as a model gave them."""

    figures: NDArray[np.float32]
    far_is_large: bool

    def distances(self) -> Grid:
        """Far is large; what has no distance (not a number, or no disparity) is NaN or infinite."""
        figures = self.figures.astype(np.float64)
        if self.far_is_large:
            return np.where(figures > 0, figures, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(figures >= 0, 1 / figures, np.nan)

    def nearness(self) -> Grid:
        """From 0 to 1, which the nearest point has."""
        with np.errstate(divide="ignore"):
            near = 1 / self.distances()
        most = np.nanmax(near, initial=0.0)
        if not 0 < most < np.inf:
            return np.full(near.shape, np.nan)
        return near / most


def true_map(picture: Picture) -> DepthMap:
    """The distances that came with a picture; `DataError` if they cannot be read."""
    file = Path(picture.depth)
    try:
        figures = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reason = getattr(error, "strerror", "") or "this is no array of NumPy"
        raise DataError(f"{reason}.", "Write the distances with numpy.save.", file=file) from None
    if figures.ndim != 2 or not figures.size or figures.dtype.kind != "f":
        raise DataError(
            "a depth map has rows and columns of fractions.", "Make it again.", file=file
        )
    return DepthMap(figures.astype(np.float32), far_is_large=True)


class FloorPlane(NamedTuple):
    """The inverse distance of a level floor, which is linear in the row of the picture.

    That holds for every camera that is not rolled, however it is pitched and whatever its lens. A
    point at a distance d in a row y is at the height 1 - d * (start + slope * y), where the camera
    has the height 1.
    """

    start: float
    slope: float

    def height(self, row: Grid | float, distance: Grid | float) -> Grid | float:
        """Above the floor, of what is seen in a row (0 at the top, 1 at the bottom)."""
        return 1 - distance * (self.start + self.slope * row)


def floor_of(distances: Grid, background: Flags) -> FloorPlane | None:
    """The floor among what belongs to no thing; none if there is hardly any to be seen."""
    rows, inverse = _points(distances, background)
    if len(rows) < LEAST_POINTS:
        return None
    best, most = None, 0
    for start, slope in _proposals(rows, inverse):
        count = int(_fits(rows, inverse, start, slope).sum())
        if count > most:
            best, most = (start, slope), count
    if best is None or most < LEAST_SHARE * len(rows):
        return None

    near = _fits(rows, inverse, *best)
    if np.ptp(rows[near]) < LEAST_ROWS:
        return None
    slope, start = np.polyfit(rows[near], inverse[near], 1)
    return FloorPlane(float(start), float(slope))


def _points(distances: Grid, background: Flags) -> tuple[Grid, Grid]:
    """Rows and inverse distances of the background, thinned out."""
    height, width = distances.shape
    step_down, step_across = max(1, height // CELLS), max(1, width // CELLS)
    thin = (slice(step_down // 2, None, step_down), slice(step_across // 2, None, step_across))
    with np.errstate(divide="ignore"):
        inverse = 1 / distances[thin]
    rows = np.broadcast_to(((np.arange(height) + 0.5) / height)[thin[0], None], inverse.shape)
    sound = background[thin] & np.isfinite(inverse) & (inverse > 0)
    return rows[sound], inverse[sound]


def _proposals(rows: Grid, inverse: Grid) -> list[tuple[float, float]]:
    """Lines through the middle values of two rows, those that slope as a floor does."""
    different = np.unique(rows)
    middles = [float(np.median(inverse[rows == row])) for row in different]
    found = []
    step = max(1, len(different) // 24)
    for first in range(0, len(different), step):
        for second in range(first + step, len(different), step):
            slope = (middles[second] - middles[first]) / (different[second] - different[first])
            if slope >= LEAST_SLOPE * middles[second]:
                found.append((middles[first] - slope * different[first], slope))
    return found


def _fits(rows: Grid, inverse: Grid, start: float, slope: float) -> Flags:
    expected = start + slope * rows
    close: Flags = np.abs(inverse - expected) <= CLOSE * np.maximum(expected, 0)
    return close


# What a thing's contour tells: whether something nearer hides a part of it, and what it stands on.
#
# The lowest point of a thing that is seen need not be its lowest point: what is in front of it may
# hide that, or the thing itself, as a car hides its wheels from a viewer who looks down on it.


NEARER = 0.98  # what is at less than this share of a thing's distance is in front of it
MOST_HIDDEN = 0.1  # of a contour: beyond that, too little of the thing is seen to say how large
MOST_HIDDEN_BELOW = 0.01  # of the columns of its lower contour: a thin tail may reach down there
DOWN = 2  # points of the grid over which it is seen whether a surface goes down
STRAY = 0.5  # percent of a thing's points, at either end, that may belong to something else


class Heights(NamedTuple):
    """Above the floor, the camera's being 1."""

    crown: float  # of the highest point
    foot: float  # of the lowest point that is seen
    least_foot: float  # as low as the foot may be, seen or not


def is_hidden(mask: Flags, distances: Grid) -> bool:
    """Whether things that are nearer hide a good part of a thing."""
    inside = hidden = 0
    for axis in (0, 1):
        for step in (-1, 1):
            beyond = np.roll(mask, step, axis)
            edge = mask & ~beyond
            _leave_out_border(edge, axis, step)
            inside += int(edge.sum())
            ahead = np.roll(distances, step, axis)
            hidden += int((ahead[edge] < NEARER * distances[edge]).sum())
    return inside > 0 and hidden > MOST_HIDDEN * inside


def _leave_out_border(edge: Flags, axis: int, step: int) -> None:
    """What `roll` brings round from the other side is no neighbour."""
    last = 0 if step == 1 else -1
    if axis == 0:
        edge[last] = False
    else:
        edge[:, last] = False


def heights_of(mask: Flags, distances: Grid, floor: FloorPlane, width: float) -> Heights:
    """How high up a thing is; `width` is that of its box, as a share of the picture's.

    Its foot may be down on the floor where something is in front of it, and on what is seen right
    below it, if that is no farther behind it than the thing is wide.
    """
    rows, columns = np.nonzero(mask)
    heights = _height(rows, columns, distances, floor)
    heights = heights[np.isfinite(heights)]
    foot, crown = np.percentile(heights, (STRAY, 100 - STRAY)).tolist()

    last, across = _lower_contour(mask)
    own, below = distances[last, across], distances[last + 1, across]
    in_front = below < NEARER * own
    in_front |= (below <= own / NEARER) & _is_upright(last + 1, across, distances, floor)
    if in_front.sum() > MOST_HIDDEN_BELOW * mask.any(axis=0).sum():
        return Heights(crown, foot, min(0.0, foot))
    behind = ~in_front & (below - own <= width * own)
    least = foot
    if behind.any():
        stands_on = _height(last[behind] + 1, across[behind], distances, floor)
        least = min(foot, float(np.percentile(stands_on, STRAY)))
    return Heights(crown, foot, least)


def _is_upright(
    rows: NDArray[np.intp], columns: NDArray[np.intp], distances: Grid, floor: FloorPlane
) -> Flags:
    """Whether a surface goes down from these points, as the side of a box does, not its top."""
    lower = np.minimum(rows + DOWN, len(distances) - 1)
    above, below = (_height(each, columns, distances, floor) for each in (rows, lower))
    with np.errstate(invalid="ignore"):  # the sky is infinitely far, and no surface
        drop = above - below
    expected = distances[rows, columns] * floor.slope * (lower - rows) / len(distances)
    upright: Flags = (drop > expected / 2) & (expected > 0)
    return upright


def _lower_contour(mask: Flags) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The lowest point of each column, where there is a row below it."""
    across = np.flatnonzero(mask[:-1].any(axis=0) & ~mask[-1])
    last = len(mask) - 1 - mask[::-1, across].argmax(axis=0)
    return last, across


def _height(
    rows: NDArray[np.intp], columns: NDArray[np.intp], distances: Grid, floor: FloorPlane
) -> Grid:
    with np.errstate(invalid="ignore"):
        found = floor.height((rows + 0.5) / len(distances), distances[rows, columns])
    return np.asarray(found)

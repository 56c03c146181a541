"""What a thing's contour tells: whether something nearer hides a part of it, and what it stands on.

The lowest point of a thing that is seen need not be its lowest point: what is in front of it may
hide that, or the thing itself, as a car hides its wheels from a viewer who looks down on it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.look.depths import FloorPlane, Grid

Flags = NDArray[np.bool_]
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

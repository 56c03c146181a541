"""Where a region lies: pixels become shares of the picture, or there is a reason why not."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from gnomon.look.records import Picture
from gnomon.vision.detection import Box

SLACK = 2.0  # pixels that a box may reach beyond the picture before it is worth a word
LEAST_POINTS = 3  # of an outline

Outline = tuple[tuple[float, ...], ...]


def box_of(
    x: float, y: float, width: float, height: float, picture: Picture
) -> tuple[Box | None, str]:
    """A box of pixels as shares of its picture, cut to it; and what is wrong with it, if anything.

    >>> picture = Picture(id="1", width=100, height=50)
    >>> box_of(10, 10, 20, 20, picture)
    (Box(left=0.1, top=0.2, right=0.3, bottom=0.6), '')
    >>> box_of(90, 0, 60, 50, picture)[1]
    'its box reached 50 pixels beyond the picture and was cut'
    """
    if not (width > 0 and height > 0):
        return None, "its box has no area"
    right, bottom = x + width, y + height
    if x >= 0 and y >= 0 and right <= picture.width and bottom <= picture.height:
        across, down = picture.width, picture.height
        return Box(x / across, y / down, right / across, bottom / down), ""
    return _cut(x, y, right, bottom, picture)


def _cut(
    x: float, y: float, right: float, bottom: float, picture: Picture
) -> tuple[Box | None, str]:
    if not isfinite(x + y + right + bottom):
        return None, "its box has a corner that is no number"
    box = Box(
        max(0.0, x / picture.width),
        max(0.0, y / picture.height),
        min(1.0, right / picture.width),
        min(1.0, bottom / picture.height),
    )
    if box.width <= 0 or box.height <= 0:
        return None, "its box lies outside the picture"
    beyond = max(-x, -y, right - picture.width, bottom - picture.height)
    if beyond <= SLACK:
        return box, ""
    return box, f"its box reached {beyond:.0f} pixels beyond the picture and was cut"


def polygon_of(xs: Sequence[float], ys: Sequence[float], picture: Picture) -> tuple[float, ...]:
    """A polygon of pixels as shares x, y, x, y ..., cut to the picture; empty if it is none."""
    if len(xs) != len(ys) or len(xs) < LEAST_POINTS:
        return ()
    found = []
    for x, y in zip(xs, ys, strict=True):
        if not isfinite(x + y):
            return ()
        found.append(min(1.0, max(0.0, x / picture.width)))
        found.append(min(1.0, max(0.0, y / picture.height)))
    return tuple(found)


def box_around(polygon: Sequence[float]) -> Box:
    """The box of a polygon x, y, x, y ..."""
    xs, ys = polygon[0::2], polygon[1::2]
    return Box(min(xs), min(ys), max(xs), max(ys))

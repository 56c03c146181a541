"""Which pixels of a picture a region covers: from a mask's file, runs of pixels, or an outline."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gnomon.errors import DataError, importing
from gnomon.look.records import Region
from gnomon.vision.images import size_of

Flags = NDArray[np.bool_]
AGAIN = "Check the annotations, or fetch them again."


def mask_of(region: Region, width: int, height: int) -> Flags:
    """The pixels of a region, in rows and columns; those of its box, if no more is known.

    >>> from gnomon.vision.detection import Box
    >>> half = Region(id="1", picture="1", box=Box(0, 0, 1, 1), runs=(2, 4), name="dog")
    >>> mask_of(half, 3, 2).astype(int).tolist()
    [[0, 1, 1], [0, 1, 1]]
    """
    if region.mask:
        return _resized(_marks(region.mask) == region.mark, width, height)
    if region.runs:
        return _from_runs(region.runs, width, height)
    if region.outline:
        return _from_outline(region.outline, width, height)
    box = region.box
    corners = (box.left, box.top, box.right, box.top, box.right, box.bottom, box.left, box.bottom)
    return _from_outline((corners,), width, height)


@lru_cache(maxsize=2)  # regions of one picture share a file
def _marks(file: str) -> NDArray[np.uint8]:
    """The values of a mask's file, which is a PNG."""
    with importing("Masks", "vision"):
        from PIL import Image, UnidentifiedImageError
    size_of(Path(file))  # refuses what is no picture, or a huge one
    try:
        with Image.open(file, formats=("PNG",)) as picture:
            values = np.asarray(picture)
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError) as error:
        raise DataError(f"the mask is damaged: {error}.", AGAIN, file=file) from None
    return values if values.ndim == 2 else values[:, :, 0]


def _resized(flags: Flags, width: int, height: int) -> Flags:
    if flags.shape == (height, width):
        return flags
    rows = (np.arange(height) + 0.5) * flags.shape[0] / height
    columns = (np.arange(width) + 0.5) * flags.shape[1] / width
    found: Flags = flags[rows.astype(np.intp)[:, None], columns.astype(np.intp)]
    return found


def _from_runs(runs: tuple[int, ...], width: int, height: int) -> Flags:
    """Runs of pixels outside and inside by turns, down one column after the other."""
    if min(runs) < 0 or sum(runs) != width * height:
        raise DataError(
            f"the runs of a mask make {sum(runs):,} pixels, the picture has {width * height:,}.",
            AGAIN,
        )
    inside = np.arange(len(runs)) % 2 == 1
    return np.repeat(inside, runs).reshape(width, height).T


def _from_outline(outline: tuple[tuple[float, ...], ...], width: int, height: int) -> Flags:
    """The pixels whose middles are inside one of the polygons, by the rule of even and odd."""
    flags = np.zeros((height, width), dtype=bool)
    for polygon in outline:
        points = np.asarray(polygon, dtype=np.float64)
        if len(points) < 6 or len(points) % 2 or not np.isfinite(points).all():
            raise DataError("an outline has three points at least, each of two numbers.", AGAIN)
        flags |= _filled(points.reshape(-1, 2) * (width, height), width, height)
    return flags


def _filled(points: NDArray[np.float64], width: int, height: int) -> Flags:
    """One polygon: in each row a pixel is inside if an odd number of edges lies to its left."""
    ahead = np.roll(points, -1, axis=0)
    rows = np.arange(height)[:, None] + 0.5
    low, high = np.minimum(points[:, 1], ahead[:, 1]), np.maximum(points[:, 1], ahead[:, 1])
    row, edge = np.nonzero((rows >= low) & (rows < high))
    share = (row + 0.5 - points[edge, 1]) / (ahead[edge, 1] - points[edge, 1])
    meets = points[edge, 0] + share * (ahead[edge, 0] - points[edge, 0])
    first = np.clip(np.ceil(meets - 0.5), 0, width).astype(np.intp)  # the first pixel to the right
    turns = np.zeros((height, width + 1), dtype=np.int64)
    np.add.at(turns, (row, first), 1)
    inside: Flags = np.cumsum(turns, axis=1)[:, :width] % 2 == 1
    return inside

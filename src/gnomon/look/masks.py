"""Which pixels of a picture a region covers: mask, runs or outline; and the crop around it."""

from functools import lru_cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gnomon.errors import DataError, importing
from gnomon.look.records import Region
from gnomon.records import Image
from gnomon.vision.detection import Box
from gnomon.vision.images import MOST_DECODED, Pixels, size_of

T = TypeVar("T", bound=np.generic)
Flags = NDArray[np.bool_]
AGAIN = "Check the annotations, or fetch them again."


def mask_of(region: Region, width: int, height: int) -> Flags:
    """The pixels of a region, in rows and columns; those of its box, if no more is known.

    >>> from gnomon.vision.detection import Box
    >>> half = Region(id="1", picture="1", box=Box(0, 0, 1, 1), runs=(2, 4), name="dog")
    >>> mask_of(half, 3, 2).astype(int).tolist()
    [[0, 1, 1], [0, 1, 1]]
    """
    if width * height > MOST_DECODED:
        raise DataError(f"its picture would have {width:,} x {height:,} pixels.", AGAIN)
    if region.mask:
        return resampled(_marks(region.mask) == region.mark, (height, width))
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
    with importing("Reading masks of things", "vision"):
        import PIL.Image
    size_of(Path(file))  # refuses what is no picture, or a huge one
    try:
        with PIL.Image.open(file, formats=("PNG",)) as picture:
            values = np.asarray(picture)
    except (PIL.UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError) as error:
        raise DataError(f"the mask is damaged: {error}.", AGAIN, file=file) from None
    return values if values.ndim == 2 else values[:, :, 0]


def resampled(grid: NDArray[T], shape: tuple[int, int]) -> NDArray[T]:
    """The nearest point of a grid for each point of another, of so many rows and columns."""
    rows = (np.arange(shape[0]) + 0.5) * grid.shape[0] / shape[0]
    columns = (np.arange(shape[1]) + 0.5) * grid.shape[1] / shape[1]
    found: NDArray[T] = grid[rows.astype(np.intp)[:, None], columns.astype(np.intp)]
    return found


def _from_runs(runs: tuple[int, ...], width: int, height: int) -> Flags:
    """Runs of pixels outside and inside by turns, down one column after the other."""
    wrong = problem_of_runs(runs, width, height)
    if wrong:
        raise DataError(f"{wrong}.", AGAIN)
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


DIGIT = 0b11111  # five bits of a number in each character, the lowest first
MORE = 0b100000
SIGN = 0b10000
MOST_RUNS = 10_000_000


def unpacked_runs(text: str) -> tuple[int, ...]:
    """The runs in a packed string: numbers in base 32, from the fourth on as differences.

    Each of those is the difference to the run two places before.

    >>> unpacked_runs("52203")
    (5, 2, 2, 2, 5)
    """
    runs: list[int] = []
    value = shift = 0
    for character in text:
        code = ord(character) - 48
        if not 0 <= code < 64:
            raise ValueError(f"{character!r} is no part of packed runs")
        value |= (code & DIGIT) << shift
        shift += 5
        if code & MORE:
            continue
        if code & SIGN:
            value -= 1 << shift
        if len(runs) > 2:
            value += runs[-2]
        runs.append(value)
        value = shift = 0
    if shift:
        raise ValueError("the packed runs end in the middle of a number")
    return tuple(runs)


def problem_of_runs(runs: tuple[int, ...], width: int, height: int) -> str:
    """What is wrong with runs as the mask of a picture of this size; empty if nothing is."""
    if len(runs) > MOST_RUNS or min(runs, default=-1) < 0:
        return "its mask has a run of no length, or far too many"
    if sum(runs) != width * height:
        return f"its mask has {sum(runs):,} pixels, its picture {width * height:,}"
    return ""


LEAST_SIDE = 224  # pixels: smaller boxes are enlarged around their centre


class Corners(NamedTuple):
    """Pixels of a picture: left and top inside, right and bottom outside."""

    left: int
    top: int
    right: int
    bottom: int


def corners_of(box: Box, width: int, height: int, least: int = LEAST_SIDE) -> Corners:
    """The pixels of a crop around a box: at least so many each way, but none outside the picture.

    >>> corners_of(Box(0.45, 0.0, 0.55, 0.1), 1000, 800)
    Corners(left=388, top=0, right=612, bottom=152)
    """
    left, right = _stretch(box.left * width, box.right * width, width, least)
    top, bottom = _stretch(box.top * height, box.bottom * height, height, least)
    return Corners(left, top, right, bottom)


def _stretch(low: float, high: float, most: int, least: int) -> tuple[int, int]:
    missing = max(0.0, least - (high - low)) / 2
    first = min(most - 1, max(0, int(low - missing)))
    return first, min(most, max(first + 1, round(high + missing)))


def write_crop(picture: Pixels, box: Box, file: Path, least: int = LEAST_SIDE) -> Image:
    """Write a crop as PNG; the record of the file."""
    part = picture.crop(corners_of(box, picture.width, picture.height, least))
    content = BytesIO()
    part.save(content, "PNG")
    file.write_bytes(content.getvalue())
    digest = sha256(content.getvalue()).hexdigest()
    return Image(path=str(file), sha256=digest, width=part.width, height=part.height)

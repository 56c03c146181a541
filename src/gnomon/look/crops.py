"""The part of a picture that shows a thing: enlarged to a least size, as models were shown it."""

from __future__ import annotations

from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from gnomon.records import Image
from gnomon.vision.detection import Box
from gnomon.vision.images import Pixels

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

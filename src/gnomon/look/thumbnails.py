"""Small crops of pictures for a page: what a region shows, or where two things are together."""

import base64
from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from gnomon.errors import DataError
from gnomon.files import read_jsonl
from gnomon.look.masks import corners_of
from gnomon.look.records import RegionPlace
from gnomon.vision.detection import Box
from gnomon.vision.images import Pixels, decode

SIDE = 112  # pixels of the longer side
QUALITY = 70
MARGIN = 0.15  # of a box, around it
FRAMES = ("#ffffff", "#ff9d2e")  # of the first thing and of the second


class Crop(NamedTuple):
    """What is to be shown: one region, or two of one picture."""

    regions: tuple[str, ...]


def read_places(folder: Path) -> dict[str, RegionPlace]:
    """The regions that findings name, by id."""
    file = folder / "regions.jsonl"
    if not file.exists():
        return {}
    return {place.id: place for _, place in read_jsonl(file, RegionPlace)}


def crops_as_uris(crops: Iterable[Crop], places: Mapping[str, RegionPlace]) -> dict[Crop, str]:
    """Each crop as a data URI; one whose picture is gone, or is none, is left out.

    Pictures are decoded one after the other, each once.
    """
    by_file: dict[str, list[Crop]] = {}
    for crop in crops:
        known = [places[region] for region in crop.regions if region in places]
        if len(known) == len(crop.regions) and len({place.file for place in known}) == 1:
            by_file.setdefault(known[0].file, []).append(crop)
    found = {}
    for file, wanted in by_file.items():
        try:
            picture = decode(file)
        except DataError:
            continue
        for crop in wanted:
            found[crop] = _uri(picture, [places[region].box for region in crop.regions])
    return found


def _uri(picture: Pixels, boxes: list[Box]) -> str:
    around = _around(boxes)
    corners = corners_of(around, picture.width, picture.height, least=SIDE // 2)
    small = picture.crop(corners)
    small.thumbnail((SIDE, SIDE))
    if len(boxes) > 1:
        scale = small.width / (corners.right - corners.left)
        _frame(small, picture, boxes, (corners.left, corners.top), scale)
    content = BytesIO()
    small.save(content, "JPEG", quality=QUALITY)
    return "data:image/jpeg;base64," + base64.b64encode(content.getvalue()).decode()


def _around(boxes: list[Box]) -> Box:
    """The box around some boxes, with a margin."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    box = Box(min(lefts), min(tops), max(rights), max(bottoms))
    across, down = MARGIN * box.width, MARGIN * box.height
    return Box(
        max(0.0, box.left - across),
        max(0.0, box.top - down),
        min(1.0, box.right + across),
        min(1.0, box.bottom + down),
    )


def _frame(
    small: Pixels, picture: Pixels, boxes: list[Box], start: tuple[int, int], scale: float
) -> None:
    """Draw a frame around each of two things."""
    from PIL import ImageDraw

    pen = ImageDraw.Draw(small)
    for box, colour in zip(boxes, FRAMES, strict=False):
        left = (box.left * picture.width - start[0]) * scale
        top = (box.top * picture.height - start[1]) * scale
        right = max(left + 3, (box.right * picture.width - start[0]) * scale)
        bottom = max(top + 3, (box.bottom * picture.height - start[1]) * scale)
        pen.rectangle((left, top, right, bottom), outline="#000000", width=3)
        pen.rectangle((left + 1, top + 1, right - 1, bottom - 1), outline=colour, width=1)

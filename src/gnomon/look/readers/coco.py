"""COCO: instances (boxes, polygons, runs) and captions, and whatever has the same members.

Annotations stand in any order, so the file is read twice: first it is noted where those of each
picture begin, 24 bytes each, then they are fetched picture by picture.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from gnomon.files import open_regular
from gnomon.jsonstream import JsonFile
from gnomon.look.masks import problem_of_runs, unpacked_runs
from gnomon.look.readers.scenes import (
    Outline,
    PictureReader,
    Seen,
    box_of,
    decoded_elements,
    polygon_of,
    trouble_with,
    with_file,
)
from gnomon.look.records import AnnotatedPicture, Picture, Region, SideLength, Trouble
from gnomon.vision.images import PictureFolder


class _Image(msgspec.Struct, gc=False):
    id: int | str
    file_name: str
    width: SideLength = 0
    height: SideLength = 0


class _Category(msgspec.Struct, gc=False):
    id: int
    name: str


class _Annotation(msgspec.Struct, gc=False):
    id: int | str
    image_id: int | str
    category_id: int | None = None
    bbox: tuple[float, float, float, float] | None = None
    segmentation: Any = None
    caption: str | None = None


class _Runs(msgspec.Struct):
    counts: str | list[int]
    size: tuple[int, int]  # height, width


DECODERS: dict[str, msgspec.json.Decoder[Any]] = {
    "images": msgspec.json.Decoder(_Image),
    "categories": msgspec.json.Decoder(_Category),
    "annotations": msgspec.json.Decoder(_Annotation),
}


def coco(file: Path, gallery: PictureFolder) -> PictureReader:
    """The regions of an instances file, or the captions of a captions file."""
    total = file.stat().st_size

    def scenes(tell: Callable[[int], None]) -> Iterator[Seen]:
        noted = _Notes(JsonFile(file))
        yield from noted.read()
        share = total / max(1, len(noted.images))
        for number, (image, members) in enumerate(noted.pictures(), start=1):
            tell(int(number * share))
            yield from _scene(image, members, noted, gallery)

    return PictureReader("COCO", total, scenes, needs_depth=gallery.folder is not None)


def _scene(
    image: _Image, members: list[_Annotation], noted: _Notes, gallery: PictureFolder
) -> Iterator[Seen]:
    picture = Picture(id=str(image.id), width=image.width, height=image.height)
    file_name = Path(image.file_name).name
    picture, trouble = with_file(gallery, picture, file_name, Path(file_name).stem)
    if trouble:
        yield trouble
    regions, captions = [], []
    for each in members:
        if each.caption is not None:
            captions.append(each.caption)
            continue
        region, troubles = _region(each, picture, noted.names)
        for what in troubles:
            yield trouble_with(str(each.id), picture, noted.source.file, what)
        if region is not None:
            regions.append(region)
    yield AnnotatedPicture(picture=picture, regions=tuple(regions), captions=tuple(captions))


class _Notes:
    """What the first reading of a file notes."""

    def __init__(self, source: JsonFile) -> None:
        self.source = source
        self.images: dict[int | str, _Image] = {}
        self.names: dict[int, str] = {}
        self._starts, self._lengths = array("q"), array("q")
        self._owners: list[int | str] = []  # of annotations: their pictures

    def read(self) -> Iterator[Trouble]:
        """Note where everything is; yields what cannot be read."""
        file = str(self.source.file)
        for each in decoded_elements(self.source, DECODERS, "one of its {member}"):
            if isinstance(each, Trouble):
                yield each
                continue
            element, found = each
            if isinstance(found, _Image):
                self.images[found.id] = found
            elif isinstance(found, _Category):
                self.names[found.id] = found.name
            else:
                self._starts.append(element.byte)
                self._lengths.append(len(element.text))
                self._owners.append(found.image_id)
        for member, noted in (("images", self.images), ("annotations", self._owners)):
            if not noted:
                yield Trouble(what=f"it has no {member} that can be read", file=file)
        lost = sum(owner not in self.images for owner in self._owners)
        if lost:
            what = f"{lost:,} annotations name pictures that the file does not describe"
            yield Trouble(what=what, file=file)

    def pictures(self) -> Iterator[tuple[_Image, list[_Annotation]]]:
        """Every picture with its annotations, in the order of the file."""
        numbers = {id: number for number, id in enumerate(self.images)}
        owners = np.array([numbers.get(id, -1) for id in self._owners], dtype=np.int64)
        self._owners = []
        places = np.argsort(owners, kind="stable")
        bounds = np.searchsorted(owners[places], np.arange(len(numbers) + 1))
        decode = DECODERS["annotations"].decode
        with open_regular(self.source.file) as stream:
            for number, image in enumerate(self.images.values()):
                members = []
                for place in places[bounds[number] : bounds[number + 1]].tolist():
                    stream.seek(self._starts[place])
                    members.append(decode(stream.read(self._lengths[place])))
                yield image, members


def _region(
    annotation: _Annotation, picture: Picture, names: dict[int, str]
) -> tuple[Region | None, list[str]]:
    """An annotation as a region, and what is wrong with it."""
    if annotation.bbox is None:
        return None, ["it has neither a box nor a caption"]
    if annotation.category_id not in names:
        return None, [f"its category {annotation.category_id} is not described"]
    if picture.width <= 0 or picture.height <= 0:
        return None, ["the size of its picture is not known"]
    box, wrong = box_of(*annotation.bbox, picture)
    troubles = [wrong] if wrong else []
    if box is None:
        return None, troubles
    outline: Outline = ()
    runs: tuple[int, ...] = ()
    unfit = ""
    if isinstance(annotation.segmentation, list):
        outline, unfit = _outline(annotation.segmentation, picture)
    elif annotation.segmentation is not None:
        runs, unfit = _runs(annotation.segmentation, picture)
    if unfit:
        troubles.append(unfit)
    region = Region(
        id=str(annotation.id),
        picture=picture.id,
        box=box,
        name=names[annotation.category_id],
        outline=outline,
        runs=runs,
    )
    return region, troubles


def _outline(polygons: list[Any], picture: Picture) -> tuple[Outline, str]:
    found = []
    for polygon in polygons:
        try:
            numbers = msgspec.convert(polygon, list[float])
        except msgspec.ValidationError:
            return (), "its outline is no list of numbers: its box is used"
        points = polygon_of(numbers[0::2], numbers[1::2], picture)
        if not points:
            return (), "its outline has too few points: its box is used"
        found.append(points)
    return tuple(found), ""


def _runs(value: Any, picture: Picture) -> tuple[tuple[int, ...], str]:
    try:
        packed = msgspec.convert(value, _Runs)
        if isinstance(packed.counts, str):
            runs = unpacked_runs(packed.counts)
        else:
            runs = tuple(packed.counts)
    except (msgspec.MsgspecError, ValueError) as error:
        return (), f"its mask cannot be read, so its box is used: {error}"
    if packed.size != (picture.height, picture.width):
        return (), "its mask is of another size than its picture: its box is used"
    wrong = problem_of_runs(runs, picture.width, picture.height)
    if wrong:
        return (), f"{wrong}: its box is used"
    return runs, ""

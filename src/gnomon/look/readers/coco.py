"""COCO: instances (boxes, polygons, runs) and captions, and whatever has the same members.

Annotations stand in any order, so the file is read twice: first it is noted where those of each
picture begin, 24 bytes each, then they are fetched picture by picture.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from gnomon.files import open_regular
from gnomon.jsonstream import JsonElement, JsonFile, decoded
from gnomon.look.masks import problem_of_runs, unpacked_runs
from gnomon.look.readers.scenes import (
    Outline,
    Seen,
    box_of,
    elements_until_fault,
    polygon_of,
    trouble_with,
    with_file,
)
from gnomon.look.records import AnnotatedPicture, Picture, Region, Trouble
from gnomon.vision.images import PictureFolder


class _Image(msgspec.Struct, gc=False):
    id: int | str
    file_name: str
    width: int = 0
    height: int = 0


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


class Coco:
    """The regions of an instances file, or the captions of a captions file."""

    kind = "COCO"
    names_are_clean = True
    has_true_depth = False

    def __init__(self, file: Path, gallery: PictureFolder) -> None:
        self.file = file
        self.done = 0
        self._gallery = gallery
        self.needs_depth = gallery.folder is not None

    @property
    def total(self) -> int:
        """Bytes of the file."""
        return self.file.stat().st_size

    def scenes(self) -> Iterator[Seen]:
        """Every picture with its regions and captions."""
        noted = _Notes(str(self.file))
        yield from noted.read(JsonFile(self.file))
        order, trouble = noted.ordered()
        if trouble:
            yield trouble
        share = self.total / max(1, len(noted.images))
        with open_regular(self.file) as stream:
            for number, image in enumerate(noted.images.values()):
                annotations = []
                for place in order.of(number):
                    stream.seek(noted.starts[place])
                    annotations.append(
                        DECODERS["annotations"].decode(stream.read(noted.lengths[place]))
                    )
                self.done = int((number + 1) * share)
                yield from self._scene(image, annotations, noted.names)
        self.done = self.total

    def _scene(
        self, image: _Image, annotations: list[_Annotation], names: dict[int, str]
    ) -> Iterator[Seen]:
        picture = Picture(id=str(image.id), width=image.width, height=image.height)
        file_name = Path(image.file_name).name
        picture, trouble = with_file(self._gallery, picture, file_name, Path(file_name).stem)
        if trouble:
            yield trouble
        regions, captions = [], []
        for each in annotations:
            if each.caption is not None:
                captions.append(each.caption)
                continue
            region, troubles = _region(each, picture, names)
            for what in troubles:
                yield trouble_with(str(each.id), picture, self.file, what)
            if region is not None:
                regions.append(region)
        yield AnnotatedPicture(picture=picture, regions=tuple(regions), captions=tuple(captions))


class _Notes:
    """What the first reading of a file notes."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.images: dict[int | str, _Image] = {}
        self.names: dict[int, str] = {}
        self.starts = array("q")
        self.lengths = array("q")
        self._owners: list[int | str] = []

    def read(self, source: JsonFile) -> Iterator[Trouble]:
        """Note where everything is; yields what cannot be read."""
        seen = set()
        for element in elements_until_fault(source):
            if isinstance(element, Trouble):
                yield element
                continue
            seen.add(element.member)
            if element.member not in DECODERS:
                continue
            found = decoded(element.text, DECODERS[element.member])
            if isinstance(found, str):
                what = f"one of its {element.member} is skipped: {found}"
                yield Trouble(what=what, file=self.file, byte=element.byte)
            else:
                self._note(element, found)
        for member in ("images", "annotations"):
            if member not in seen:
                yield Trouble(what=f"it has no {member}", file=self.file)

    def _note(self, element: JsonElement, found: _Image | _Category | _Annotation) -> None:
        if isinstance(found, _Image):
            self.images[found.id] = found
        elif isinstance(found, _Category):
            self.names[found.id] = found.name
        else:
            self.starts.append(element.byte)
            self.lengths.append(len(element.text))
            self._owners.append(found.image_id)

    def ordered(self) -> tuple[_Order, Trouble | None]:
        """The annotations by picture; and how many belong to none."""
        numbers = {id: number for number, id in enumerate(self.images)}
        owners = np.array([numbers.get(id, -1) for id in self._owners], dtype=np.int64)
        self._owners = []
        lost = int((owners < 0).sum())
        trouble = None
        if lost:
            what = f"{lost:,} annotations name pictures that the file does not describe"
            trouble = Trouble(what=what, file=self.file)
        return _Order(owners, len(self.images)), trouble


class _Order:
    """Which annotations each picture has, in the order of the file."""

    def __init__(self, owners: np.ndarray[Any, np.dtype[np.int64]], pictures: int) -> None:
        self._places = np.argsort(owners, kind="stable")
        self._bounds = np.searchsorted(owners[self._places], np.arange(pictures + 1))

    def of(self, picture: int) -> list[int]:
        """The places of a picture's annotations."""
        found: list[int] = self._places[self._bounds[picture] : self._bounds[picture + 1]].tolist()
        return found


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
        if not _is_numbers(polygon):
            return (), "its outline is no list of numbers: its box is used"
        points = polygon_of(polygon[0::2], polygon[1::2], picture)
        if not points:
            return (), "its outline has too few points: its box is used"
        found.append(points)
    return tuple(found), ""


def _is_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(type(number) in (int, float) for number in value)


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

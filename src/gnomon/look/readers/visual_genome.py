"""Visual Genome: region_descriptions.json, objects.json and region_graphs.json.

All are arrays with an object for each picture, in pixels. How large the pictures are stands in
image_data.json, or in the pictures themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gnomon.jsonstream import JsonElement, JsonFile, decoded
from gnomon.look.readers.scenes import (
    Seen,
    box_of,
    elements_until_fault,
    scene_of,
    trouble_with,
    with_file,
)
from gnomon.look.records import Picture, Region, Trouble
from gnomon.vision.images import PictureFolder

Regions = Iterator[Region | Trouble]


class Size(NamedTuple):
    """Of a picture, in pixels."""

    width: int
    height: int


class _ImageData(msgspec.Struct, gc=False):
    width: int
    height: int
    image_id: int


class _Description(msgspec.Struct, gc=False):
    region_id: int
    phrase: str
    x: float
    y: float
    width: float
    height: float


class _Described(msgspec.Struct, gc=False):
    id: int
    regions: list[_Description]


class _Object(msgspec.Struct, gc=False):
    object_id: int
    x: float
    y: float
    w: float
    h: float
    names: list[str] = []
    name: str = ""


class _Objects(msgspec.Struct, gc=False):
    image_id: int
    objects: list[_Object]


class _Graph(msgspec.Struct, gc=False):
    region_id: int
    objects: list[_Object]


class _Graphs(msgspec.Struct, gc=False):
    image_id: int
    regions: list[_Graph]


KINDS: dict[str, msgspec.json.Decoder[_Described | _Objects | _Graphs]] = {
    "region_descriptions": msgspec.json.Decoder(_Described),
    "objects": msgspec.json.Decoder(_Objects),
    "region_graphs": msgspec.json.Decoder(_Graphs),
}


class VisualGenome:
    """The regions of one of the three files."""

    names_are_clean = False
    has_true_depth = False

    def __init__(
        self, file: Path, kind: str, sizes: dict[int, Size], gallery: PictureFolder
    ) -> None:
        self.kind = f"Visual Genome {kind}"
        self._decoder = KINDS[kind]
        self._sizes = sizes
        self._gallery = gallery
        self.needs_depth = gallery.folder is not None
        self._source = JsonFile(file)

    @property
    def done(self) -> int:
        """Bytes that have been read."""
        return self._source.done

    @property
    def total(self) -> int:
        """Bytes of the file."""
        return self._source.file.stat().st_size

    def scenes(self) -> Iterator[Seen]:
        """Every picture with its regions."""
        for element in elements_until_fault(self._source):
            if isinstance(element, Trouble):
                yield element
            else:
                yield from self._scene(element)

    def _scene(self, element: JsonElement) -> Iterator[Seen]:
        whole = decoded(element.text, self._decoder)
        pieces: list[Any]
        if isinstance(whole, str):
            file = str(self._source.file)
            yield Trouble(what=f"a picture is skipped: {whole}", file=file, byte=element.byte)
            return
        if isinstance(whole, _Described):
            number, pieces = whole.id, whole.regions
        elif isinstance(whole, _Objects):
            number, pieces = whole.image_id, whole.objects
        else:
            number, pieces = whole.image_id, whole.regions
        yield from self._read(number, pieces, element.byte)

    def _read(self, number: int, pieces: list[Any], byte: int) -> Iterator[Seen]:
        picture = Picture(id=str(number))
        if number in self._sizes:
            width, height = self._sizes[number]
            picture = Picture(id=str(number), width=width, height=height)
        picture, trouble = with_file(self._gallery, picture, picture.id)
        if trouble:
            yield trouble
        if picture.width <= 0 or picture.height <= 0:
            what = f"its size is not known, so its {len(pieces)} regions are skipped"
            file = str(self._source.file)
            yield Trouble(what=what, file=file, picture=picture.id, byte=byte)
            return
        yield from scene_of(picture, self._regions(picture, pieces))

    def _regions(self, picture: Picture, pieces: list[Any]) -> Regions:
        if not pieces:
            return iter(())
        if isinstance(pieces[0], _Description):
            return self._described(picture, pieces)
        if isinstance(pieces[0], _Object):
            return self._objects(picture, pieces)
        return self._graphs(picture, pieces)

    def _described(self, picture: Picture, pieces: list[_Description]) -> Regions:
        file = self._source.file
        for piece in pieces:
            box, wrong = box_of(piece.x, piece.y, piece.width, piece.height, picture)
            id = f"r{piece.region_id}"
            if wrong:
                yield trouble_with(id, picture, file, wrong)
            if box is not None:
                yield Region(id=id, picture=picture.id, box=box, phrase=piece.phrase)

    def _objects(self, picture: Picture, pieces: list[_Object]) -> Regions:
        file = self._source.file
        for piece in pieces:
            box, wrong = box_of(piece.x, piece.y, piece.w, piece.h, picture)
            name = piece.names[0] if piece.names else piece.name
            id = f"o{piece.object_id}"
            if not name.strip():
                box, wrong = None, "it has no name"
            if wrong:
                yield trouble_with(id, picture, file, wrong)
            if box is not None:
                yield Region(id=id, picture=picture.id, box=box, name=name)

    def _graphs(self, picture: Picture, pieces: list[_Graph]) -> Regions:
        """The objects of all regions; one that is in several regions counts once."""
        known: set[int] = set()
        for piece in pieces:
            fresh = []
            for thing in piece.objects:
                if thing.object_id not in known:
                    known.add(thing.object_id)
                    fresh.append(thing)
            yield from self._objects(picture, fresh)


def read_sizes(file: Path, report: Callable[[Trouble], None]) -> dict[int, Size]:
    """How large each picture is, from image_data.json."""
    decoder = msgspec.json.Decoder(_ImageData)
    sizes = {}
    for element in elements_until_fault(JsonFile(file)):
        if isinstance(element, Trouble):
            report(element)
            continue
        found = decoded(element.text, decoder)
        if isinstance(found, str):
            what = f"the size of a picture is skipped: {found}"
            report(Trouble(what=what, file=str(file), byte=element.byte))
        else:
            sizes[found.image_id] = Size(found.width, found.height)
    return sizes

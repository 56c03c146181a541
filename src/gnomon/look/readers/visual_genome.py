"""Visual Genome: region_descriptions.json, objects.json and region_graphs.json.

All are arrays with an object for each picture, in pixels. How large the pictures are stands in
image_data.json, or in the pictures themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from gnomon.jsonstream import JsonFile
from gnomon.look.readers.scenes import (
    PictureReader,
    Seen,
    box_of,
    decoded_elements,
    scene_of,
    trouble_with,
    with_file,
)
from gnomon.look.records import Picture, Region, SideLength, Trouble
from gnomon.vision.images import PictureFolder, PictureSize


class _Described(msgspec.Struct, gc=False):
    region_id: int
    phrase: str
    x: float
    y: float
    width: float
    height: float


class _Thing(msgspec.Struct, gc=False):
    object_id: int
    x: float
    y: float
    w: float
    h: float
    names: list[str] = []
    name: str = ""


class _Graph(msgspec.Struct, gc=False):
    region_id: int
    objects: list[_Thing]


class _RegionDescriptions(msgspec.Struct, gc=False):
    id: int
    regions: list[_Described]


class _Objects(msgspec.Struct, gc=False):
    image_id: int
    objects: list[_Thing]


class _RegionGraphs(msgspec.Struct, gc=False):
    image_id: int
    regions: list[_Graph]


class _ImageData(msgspec.Struct, gc=False):
    width: SideLength
    height: SideLength
    image_id: int


KINDS: dict[str, msgspec.json.Decoder[_RegionDescriptions | _Objects | _RegionGraphs]] = {
    "region_descriptions": msgspec.json.Decoder(_RegionDescriptions),
    "objects": msgspec.json.Decoder(_Objects),
    "region_graphs": msgspec.json.Decoder(_RegionGraphs),
}


def visual_genome(
    file: Path, kind: str, sizes: dict[int, PictureSize], gallery: PictureFolder
) -> PictureReader:
    """The regions of one of the three files."""

    def scenes(tell: Callable[[int], None]) -> Iterator[Seen]:
        for each in decoded_elements(JsonFile(file), {"": KINDS[kind]}, "a picture"):
            if isinstance(each, Trouble):
                yield each
                continue
            element, found = each
            tell(element.byte)
            yield from _described(found, element.byte)

    def _described(
        found: _RegionDescriptions | _Objects | _RegionGraphs, byte: int
    ) -> Iterator[Seen]:
        number = found.id if isinstance(found, _RegionDescriptions) else found.image_id
        pieces = found.objects if isinstance(found, _Objects) else found.regions
        width, height = sizes.get(number, (0, 0))
        picture = Picture(id=str(number), width=width, height=height)
        picture, trouble = with_file(gallery, picture, picture.id)
        if trouble:
            yield trouble
        if picture.width <= 0 or picture.height <= 0:
            what = f"its size is not known, so its {len(pieces)} regions are skipped"
            yield Trouble(what=what, file=str(file), picture=picture.id, byte=byte)
            return
        yield from scene_of(picture, _regions(found, picture, file))

    return PictureReader(
        f"Visual Genome {kind}",
        file.stat().st_size,
        scenes,
        needs_depth=gallery.folder is not None,
        names_are_clean=False,
    )


def _regions(
    found: _RegionDescriptions | _Objects | _RegionGraphs, picture: Picture, file: Path
) -> Iterator[Region | Trouble]:
    """The regions of a picture, and what is wrong with some of them."""
    if isinstance(found, _RegionDescriptions):
        for piece in found.regions:
            box, wrong = box_of(piece.x, piece.y, piece.width, piece.height, picture)
            id = f"r{piece.region_id}"
            if wrong:
                yield trouble_with(id, picture, file, wrong)
            if box is not None:
                yield Region(id=id, picture=picture.id, box=box, phrase=piece.phrase)
        return
    for thing in _things(found):
        box, wrong = box_of(thing.x, thing.y, thing.w, thing.h, picture)
        name = thing.names[0] if thing.names else thing.name
        id = f"o{thing.object_id}"
        if not name.strip():
            box, wrong = None, "it has no name"
        if wrong:
            yield trouble_with(id, picture, file, wrong)
        if box is not None:
            yield Region(id=id, picture=picture.id, box=box, name=name)


def _things(found: _Objects | _RegionGraphs) -> list[_Thing]:
    """The things of a picture; one that is in several regions counts once."""
    if isinstance(found, _Objects):
        return found.objects
    things: dict[int, _Thing] = {}
    for region in found.regions:
        for thing in region.objects:
            things.setdefault(thing.object_id, thing)
    return list(things.values())


def read_sizes(file: Path, report: Callable[[Trouble], None]) -> dict[int, PictureSize]:
    """How large each picture is, from image_data.json."""
    decoders = {"": msgspec.json.Decoder(_ImageData)}
    sizes = {}
    for each in decoded_elements(JsonFile(file), decoders, "the size of a picture"):
        if isinstance(each, Trouble):
            report(each)
        else:
            sizes[each[1].image_id] = PictureSize(each[1].width, each[1].height)
    return sizes

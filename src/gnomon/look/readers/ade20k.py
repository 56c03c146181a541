"""ADE20K: a JSON file beside each picture, with polygons, parts and masks; its folder is the scene.

The files are written in windows-1252; those that are sound UTF-8 are taken as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gnomon.errors import DataError
from gnomon.files import first_bytes
from gnomon.look.placing import box_around, polygon_of
from gnomon.look.readers.reading import (
    PictureFolder,
    Seen,
    files_below,
    salvaged,
    scene_of,
    trouble_with,
)
from gnomon.look.records import Picture, Region, Trouble

MOST_BYTES = 64 * 2**20  # of the file of one picture
VISIBLE = 255  # pixels of an instance mask that are seen; those that something hides are 128
SAME_SCENES = {"home_office": "office"}


class _Polygon(msgspec.Struct, gc=False):
    x: list[float]
    y: list[float]


class _Parts(msgspec.Struct, gc=False):
    ispartof: Any = None  # an id, or an empty list


class _Object(msgspec.Struct, gc=False):
    id: int
    polygon: _Polygon
    raw_name: str = ""
    name: str = ""
    parts: _Parts | None = None
    instance_mask: str = ""


class _Annotation(msgspec.Struct, gc=False):
    filename: str
    imsize: list[int]  # height, width, channels
    object: list[msgspec.Raw]


class _File(msgspec.Struct, gc=False):
    annotation: _Annotation


class Ade20k:
    """All pictures below a folder."""

    kind = "ADE20K"
    has_captions = False
    names_are_clean = True
    has_true_depth = False
    needs_depth = True

    def __init__(self, folder: Path, gallery: PictureFolder) -> None:
        self.folder = folder
        self.done = 0
        self._gallery = gallery
        self._objects = msgspec.json.Decoder(_Object)
        self._files = [file for file in files_below(folder) if file.suffix == ".json"]
        self.total = len(self._files)

    def captions(self) -> Iterator[Sequence[str]]:
        """None: things have names of their own."""
        return iter(())

    def scenes(self) -> Iterator[Seen]:
        """Every picture with its regions, in the order of the paths."""
        for number, file in enumerate(self._files):
            self.done = number
            yield from self._scene(file)
        self.done = self.total

    def _scene(self, file: Path) -> Iterator[Seen]:
        try:
            text = _text_of(file)
            annotation = msgspec.json.decode(text, type=_File).annotation
        except DataError as error:
            yield Trouble(what=error.message, file=str(file))
            return
        except (msgspec.MsgspecError, RecursionError) as error:
            yield Trouble(what=f"the picture is skipped: {error}", file=str(file))
            return
        height, width = (*annotation.imsize, 0, 0)[:2]
        picture = Picture(id=file.stem, width=width, height=height, scene=scene_named(file))
        picture, trouble = self._with_file(picture, annotation.filename, file)
        if trouble:
            yield trouble
        if picture.width <= 0 or picture.height <= 0:
            what = "the picture is skipped: its size is not known"
            yield Trouble(what=what, file=str(file), picture=picture.id)
            return
        yield from scene_of(picture, self._regions(annotation, picture, file))

    def _with_file(self, picture: Picture, name: str, file: Path) -> tuple[Picture, Trouble | None]:
        """The picture that the gallery has, or the one beside its annotations."""
        if self._gallery.folder is not None:
            return self._gallery.described(picture, Path(name).name, picture.id)
        beside = _beside(file, name)
        if not beside:
            what = f"its picture {name} is missing"
            return picture, Trouble(what=what, picture=picture.id, file=str(file))
        return msgspec.structs.replace(picture, file=beside), None

    def _regions(
        self, annotation: _Annotation, picture: Picture, file: Path
    ) -> Iterator[Region | Trouble]:
        things = []
        for thing in salvaged(annotation.object, self._objects):
            if isinstance(thing, str):
                yield trouble_with("", picture, file, f"an object is skipped: {thing}")
            else:
                things.append(thing)
        names = {thing.id: _name_of(thing) for thing in things}
        for thing in things:
            yield self._region(thing, names, picture, file)

    def _region(
        self, thing: _Object, names: dict[int, str], picture: Picture, file: Path
    ) -> Region | Trouble:
        id = f"{picture.id}/{thing.id}"
        points = polygon_of(thing.polygon.x, thing.polygon.y, picture)
        if not points:
            return trouble_with(id, picture, file, "its outline has too few points")
        box = box_around(points)
        if box.area <= 0:
            return trouble_with(id, picture, file, "its outline has no area")
        if not names[thing.id]:
            return trouble_with(id, picture, file, "it has no name")
        return Region(
            id=id,
            picture=picture.id,
            box=box,
            name=names[thing.id],
            whole=_whole_of(thing, names),
            outline=(points,),
            mask=_beside(file, thing.instance_mask),
            mark=VISIBLE,
        )


def scene_named(file: Path) -> str:
    """The scene that a picture's folder names.

    >>> scene_named(Path("training/home_or_hotel/home_office/ADE_train_00000001.json"))
    'office'
    """
    folder = file.parent.name
    return SAME_SCENES.get(folder, folder)


def _name_of(thing: _Object) -> str:
    return (thing.raw_name or thing.name.partition(",")[0]).strip().lower()


def _whole_of(thing: _Object, names: dict[int, str]) -> str:
    if thing.parts is None or not isinstance(thing.parts.ispartof, int):
        return ""
    return names.get(thing.parts.ispartof, "")


def _beside(file: Path, name: str) -> str:
    """A file that annotations name, which is beside or below them; empty if it is not there."""
    if not name or "\0" in name or ".." in Path(name).parts or Path(name).is_absolute():
        return ""
    try:
        found = file.parent / name
        return str(found) if found.is_file() else ""
    except OSError:  # a name that no file can have
        return ""


def _text_of(file: Path) -> str:
    content = first_bytes(file, MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        most = MOST_BYTES // 2**20
        raise DataError(f"the file has more than {most} MB.", "Leave it out.", file=file)
    for encoding in ("utf-8-sig", "windows-1252"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise DataError("the text is neither UTF-8 nor windows-1252.", "Write it as UTF-8.", file=file)

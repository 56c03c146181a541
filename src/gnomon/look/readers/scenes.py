"""What every reader of annotations gives: scenes, in the order of its file, and troubles with what it could not use."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from gnomon.errors import DataError
from gnomon.jsonstream import FaultError, JsonElement, JsonFile
from gnomon.look.records import AnnotatedPicture, Picture, Region, Trouble
from gnomon.vision.detection import Box
from gnomon.vision.images import size_of

# What every reader of annotations gives, and where the pictures behind them are.
#
# A reader yields scenes in the order of its file, and a trouble for each thing that it could not use.


PICTURE_ENDINGS = (".jpg", ".jpeg", ".png")
Seen = AnnotatedPicture | Trouble
T = TypeVar("T")


class PictureReader(Protocol):
    """A source of scenes. `done` of `total` says how far it has been read, in units of its own."""

    kind: str
    has_captions: bool  # that names are to be made from
    names_are_clean: bool  # of a fixed list; others are checked for rare and misspelt ones
    needs_depth: bool  # pictures without distances may come
    has_true_depth: bool  # distances come with the pictures

    @property
    def done(self) -> int:
        """How much has been read."""
        ...

    @property
    def total(self) -> int:
        """How much there is."""
        ...

    def scenes(self) -> Iterator[Seen]:
        """All of them, from the start."""
        ...

    def captions(self) -> Iterator[Sequence[str]]:
        """The captions of each picture, where there are any."""
        ...


class PictureFolder:
    """The pictures below a folder, found by name or by the number that their name ends in."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._files: dict[str, str] = {}
        for file in photos_in(folder) if folder else ():
            self._files.setdefault(file.name, str(file))
            self._files.setdefault(file.stem, str(file))

    def file_of(self, *names: str) -> str:
        """The path of the picture that has one of the names; empty if there is none."""
        return next((self._files[name] for name in names if name in self._files), "")

    def described(self, picture: Picture, *names: str) -> tuple[Picture, Trouble | None]:
        """A picture with its file and size, if the gallery has it; and what is wrong otherwise."""
        if self.folder is None:
            return picture, None
        file = self.file_of(*names)
        if not file:
            return picture, Trouble(what="its picture is missing", picture=picture.id)
        try:
            size = size_of(Path(file))
        except DataError as error:
            return picture, Trouble(what=error.message, picture=picture.id, file=file)
        found = msgspec.structs.replace(picture, file=file, width=size.width, height=size.height)
        if picture.width and (size.width, size.height) != (picture.width, picture.height):
            what = (
                f"its picture has {size.width} x {size.height} pixels, "
                f"the annotations say {picture.width} x {picture.height}: their boxes are scaled"
            )
            # Shares are of the annotated size; the file may be a smaller copy.
            return msgspec.structs.replace(picture, file=file), Trouble(
                what=what, picture=picture.id, file=file
            )
        return found, None


def photos_in(folder: Path) -> Iterator[Path]:
    """Every picture file below a folder, in the order of their paths."""
    if not folder.is_dir():
        raise DataError("there is no such folder.", "Check the path.", file=folder)
    for file in files_below(folder):
        if file.suffix.lower() in PICTURE_ENDINGS:
            yield file


def files_below(folder: Path) -> Iterator[Path]:
    """Every file below a folder, in the order of their paths; hidden ones are left out."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield Path(place, name)


def elements_until_fault(source: JsonFile) -> Iterator[JsonElement | Trouble]:
    """The elements of a file; a fault in its JSON is its last trouble."""
    try:
        yield from source.elements()
    except FaultError as fault:
        yield Trouble(
            what=f"{fault.what}; nothing behind this byte is read",
            file=str(source.file),
            byte=fault.byte,
        )


def decoded(element: JsonElement, decoder: msgspec.json.Decoder[T]) -> T | str:
    """An element as a record, or what is wrong with it."""
    return _decoded(element.text, decoder)


def _decoded(text: bytes, decoder: msgspec.json.Decoder[T]) -> T | str:
    try:
        if not text.isascii():
            text.decode()  # fields that are passed over are not looked into
        return decoder.decode(text)
    except UnicodeDecodeError as error:
        return f"byte {error.start} of the element is not UTF-8"
    except (msgspec.MsgspecError, RecursionError) as error:
        return str(error)


def loosely_decoded(element: JsonElement, decoder: msgspec.json.Decoder[T]) -> T | None:
    """An element with a fault, as far as it can be read; none if nothing can."""
    try:
        return decoder.decode(element.text)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None


def salvaged(items: Iterable[msgspec.Raw], decoder: msgspec.json.Decoder[T]) -> Iterator[T | str]:
    """The members of a list that has a fault in one of them, each by itself."""
    for raw in items:
        found: T | str = _decoded(bytes(raw), decoder)
        yield found


def trouble_with(region: str, picture: Picture, file: Any, what: str) -> Trouble:
    """What is wrong with one region."""
    return Trouble(what=what, file=str(file), picture=picture.id, region=region)


def scene_of(picture: Picture, regions: Iterable[Region | Trouble]) -> Iterator[Seen]:
    """The troubles of a picture's regions, then the picture with those that are sound."""
    sound: list[Region] = []
    for region in regions:
        if isinstance(region, Trouble):
            yield region
        else:
            sound.append(region)
    yield AnnotatedPicture(picture=picture, regions=tuple(sound))


# Where a region lies: pixels become shares of the picture, or there is a reason why not.


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

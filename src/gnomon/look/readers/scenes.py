"""What every reader of annotations gives: pictures with regions, and troubles on the way.

Both come in the order of the file; what cannot be used is a trouble, never silently lost.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from gnomon.errors import DataError
from gnomon.jsonstream import FaultError, JsonElement, JsonFile, decoded
from gnomon.look.records import AnnotatedPicture, Picture, Region, Trouble
from gnomon.vision.detection import Box
from gnomon.vision.images import PictureFolder, size_of

Seen = AnnotatedPicture | Trouble
T = TypeVar("T")


class PictureReader:
    """A source of scenes. `done` of `total` says how far it has been read, in units of its own.

    `read` gives all scenes from the start; it is given a function that it tells how much is done.
    """

    done = 0

    def __init__(
        self,
        kind: str,
        total: int,
        read: Callable[[Callable[[int], None]], Iterator[Seen]],
        *,
        needs_depth: bool = True,  # pictures without distances may come
        has_true_depth: bool = False,  # distances come with the pictures
        names_are_clean: bool = True,  # of a fixed list; others may be rare and misspelt
    ) -> None:
        self.kind, self.total, self._read = kind, total, read
        self.needs_depth, self.has_true_depth = needs_depth, has_true_depth
        self.names_are_clean = names_are_clean

    def scenes(self) -> Iterator[Seen]:
        """All of them, from the start."""
        yield from self._read(self._tell)
        self.done = self.total

    def _tell(self, done: int) -> None:
        self.done = done


def folder_reader(
    kind: str, files: Sequence[Path], read: Callable[[Path], Iterator[Seen]], **about: bool
) -> PictureReader:
    """A reader of files one by one, in their order."""

    def scenes(tell: Callable[[int], None]) -> Iterator[Seen]:
        for number, file in enumerate(files):
            tell(number)
            yield from read(file)

    return PictureReader(kind, len(files), scenes, **about)


def with_file(
    folder: PictureFolder, picture: Picture, *names: str
) -> tuple[Picture, Trouble | None]:
    """A picture with its file and size, if the folder has it; and what is wrong otherwise."""
    if folder.folder is None:
        return picture, None
    file = folder.file_of(*names)
    if not file:
        return picture, Trouble(what="its picture is missing", picture=picture.id)
    try:
        size = size_of(Path(file))
    except DataError as error:
        return picture, Trouble(what=error.message, picture=picture.id, file=file)
    if not picture.width or (size.width, size.height) == (picture.width, picture.height):
        sized = msgspec.structs.replace(picture, file=file, width=size.width, height=size.height)
        return sized, None
    what = (
        f"its picture has {size.width} x {size.height} pixels, "
        f"the annotations say {picture.width} x {picture.height}: their boxes are scaled"
    )
    # Shares are of the annotated size; the file may be a smaller copy.
    scaled = msgspec.structs.replace(picture, file=file)
    return scaled, Trouble(what=what, picture=picture.id, file=file)


def decoded_elements(
    source: JsonFile, decoders: Mapping[str, msgspec.json.Decoder[T]], skipped: str
) -> Iterator[tuple[JsonElement, T] | Trouble]:
    """The elements of a file by the decoders of its members, and what cannot be read of it.

    `skipped` is what is said of an element that is not as it should be. A fault in the file's JSON
    is its last trouble.
    """
    file = str(source.file)
    for element in source.elements_or_fault():
        if isinstance(element, FaultError):
            what = f"{element.what}; nothing behind this byte is read"
            yield Trouble(what=what, file=file, byte=element.byte)
        elif element.member in decoders:
            found = decoded(element.text, decoders[element.member])
            if isinstance(found, str):
                what = f"{skipped.format(member=element.member)} is skipped: {found}"
                yield Trouble(what=what, file=file, byte=element.byte)
            else:
                yield element, found


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

"""What readers give, and the readers of photographs and of rendered scenes.

Both come in the order of the file; what cannot be used is a trouble, never silently lost.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from gnomon.errors import DataError
from gnomon.items.writing import atomic_file
from gnomon.jsonstream import FaultError, JsonElement, JsonFile, decoded
from gnomon.keep import Keep, key_of
from gnomon.look.records import AnnotatedPicture, Picture, Region, Trouble
from gnomon.scenes.pictures import PictureSurvey, draw, png, scene_file, scene_in, write_png
from gnomon.scenes.scenes import Scene as World
from gnomon.scenes.scenes import read_scene
from gnomon.scenes.things import thing_named
from gnomon.vision.detection import Box, Detection, ObjectFinder
from gnomon.vision.images import PictureFolder, decode, describe, files_below, photos_in, size_of

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
FARTHEST = 1e9  # pixels at which a point of an outline may lie

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
    if not max(map(abs, (x, y, right, bottom))) < FARTHEST:
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
        if not (abs(x) < FARTHEST and abs(y) < FARTHEST):  # nor if it is no number
            return ()
        found.append(min(1.0, max(0.0, x / picture.width)))
        found.append(min(1.0, max(0.0, y / picture.height)))
    return tuple(found)


def box_around(polygon: Sequence[float]) -> Box:
    """The box of a polygon x, y, x, y ..."""
    xs, ys = polygon[0::2], polygon[1::2]
    return Box(min(xs), min(ys), max(xs), max(ys))


# Pictures without annotations: photos, in which a detector finds things, and scenes of our own.
#
# What is found in a photo is kept by its bytes, so that no photo is looked at twice. A scene is a
# JSON file, or a picture that carries its scene (`gnomon scene -o FILE.png`): everything in it is
# known, so masks, distances and names are exact. It is drawn into the working folder once.


LEAST_SURE = 0.5  # confidence that a detection needs


def photos(
    folder: Path, detector: str, open_detector: Callable[[], ObjectFinder], store: Keep
) -> PictureReader:
    """All photos below a folder, with what a detector finds in them."""
    opened = cache(open_detector)  # when the first photo is new

    def detections(file: Path, sha256: str) -> list[Detection]:
        def find() -> list[Detection]:
            every = opened().find(decode(file))
            return [found for found in every if found.confidence >= LEAST_SURE]

        key = key_of("detections", detector, LEAST_SURE, sha256)
        return store.kept(key, list[Detection], find)

    def read(file: Path) -> Iterator[Seen]:
        id = str(file.relative_to(folder).with_suffix(""))
        try:
            image = describe(file)
            found = detections(file, image.sha256)
        except DataError as error:
            yield Trouble(what=error.message, picture=id, file=str(file))
            return
        regions = []
        for number, (label, confidence, box) in enumerate(found):
            place = f"{id}/{number}"
            regions.append(Region(id=place, picture=id, box=box, name=label, confidence=confidence))
        picture = Picture(id=id, file=str(file), width=image.width, height=image.height)
        yield AnnotatedPicture(picture=picture, regions=tuple(regions))

    return folder_reader("photos", list(photos_in(folder)), read)


# Scenes of our own: everything in them is known, so masks, distances and names are exact.


SIDE = 384  # pixels


def rendered(path: Path, store: Keep) -> PictureReader:
    """All scenes below a folder, or one scene."""
    work = store.folder / "rendered"

    def read(file: Path) -> Iterator[Seen]:
        work.mkdir(parents=True, exist_ok=True)
        try:
            world = world_in(file)
        except DataError as error:
            yield Trouble(what=error.message, file=str(file))
            return
        name = file.stem.removesuffix(".scene")
        key = key_of("rendered", world.digest(), name, SIDE, str(work))
        yield store.kept(key, AnnotatedPicture, lambda: _drawn(world, name, work))

    files = scene_files(path)
    return folder_reader("rendered scenes", files, read, needs_depth=False, has_true_depth=True)


def _drawn(world: World, name: str, work: Path) -> AnnotatedPicture:
    drawn = draw(world, SIDE)
    base = work / world.digest()
    with atomic_file(base.with_suffix(".png")) as part:
        write_png(part, drawn.rgb)
    with atomic_file(base.with_suffix(".mask.png")) as part:
        part.write_bytes(png(drawn.survey.mask[:, :, None].repeat(3, axis=2)))
    with atomic_file(base.with_suffix(".npy")) as part, part.open("wb") as stream:
        np.save(stream, drawn.survey.depth)
    picture = Picture(
        id=name,
        file=f"{base}.png",
        width=SIDE,
        height=SIDE,
        scene=world.place,
        depth=f"{base}.npy",
    )
    return AnnotatedPicture(picture=picture, regions=_regions(world, picture, drawn.survey))


def _regions(world: World, picture: Picture, survey: PictureSurvey) -> tuple[Region, ...]:
    """What is seen of each thing; what is hidden is no region."""
    found = []
    for number, placed in enumerate(world.things, start=1):
        corners = survey.boxes[placed.id]
        if corners is None:
            continue
        left, top, right, bottom = corners
        box, _ = box_of(left, top, right - left, bottom - top, picture)
        assert box is not None, "what is seen has an area"
        found.append(
            Region(
                id=f"{picture.id}/{placed.id}",
                picture=picture.id,
                box=box,
                name=thing_named(placed.thing).name,
                mask=picture.depth.removesuffix(".npy") + ".mask.png",
                mark=number,
            )
        )
    return tuple(found)


def scene_files(path: Path) -> list[Path]:
    """The files that may hold scenes: one, or those below a folder."""
    if not path.is_dir():
        return [path]
    found = []
    for file in files_below(path):
        is_picture = file.suffix == ".png" and not scene_file(file).is_file()
        if is_picture or file.suffix == ".json":
            found.append(file)
    return found


def world_in(file: Path) -> World:
    """The scene in a file."""
    if file.suffix != ".png":
        return read_scene(file)
    world = scene_in(file)
    if world is None:
        raise DataError("the picture carries no scene.", "Give the scene's JSON.", file=file)
    return world

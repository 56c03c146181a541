"""Pictures without annotations: photos, in which a detector finds things, and scenes of our own.

What is found in a photo is kept by its bytes, so that no photo is looked at twice. A scene is a
JSON file, or a picture that carries its scene (`gnomon scene -o FILE.png`): everything in it is
known, so masks, distances and names are exact. It is drawn into the working folder once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np

from gnomon.errors import DataError
from gnomon.items.writing import atomic_file
from gnomon.keep import Keep, key_of
from gnomon.look.readers.scenes import Seen, box_of
from gnomon.look.records import AnnotatedPicture, Picture, Region, Trouble
from gnomon.scenes.pictures import PictureSurvey, draw, png, scene_in, write_png
from gnomon.scenes.scenes import Scene as World
from gnomon.scenes.scenes import read_scene
from gnomon.scenes.things import thing_named
from gnomon.vision.detection import Detection, ObjectFinder
from gnomon.vision.images import decode, describe, files_below, photos_in

LEAST_SURE = 0.5  # confidence that a detection needs


class Photos:
    """All photos below a folder."""

    kind = "photos"
    names_are_clean = True
    has_true_depth = False
    needs_depth = True

    def __init__(
        self, folder: Path, detector: str, open_detector: Callable[[], ObjectFinder], store: Keep
    ) -> None:
        self.folder = folder
        self.done = 0
        self._detector = detector
        self._open_detector = open_detector
        self._opened: ObjectFinder | None = None
        self._store = store
        self._files = list(photos_in(folder))
        self.total = len(self._files)

    def scenes(self) -> Iterator[Seen]:
        """Every photo with what the detector found, in the order of the paths."""
        for number, file in enumerate(self._files):
            self.done = number
            yield self._scene(file)
        self.done = self.total

    def _scene(self, file: Path) -> Seen:
        id = str(file.relative_to(self.folder).with_suffix(""))
        try:
            image = describe(file)
            found = self._detections(file, image.sha256)
        except DataError as error:
            return Trouble(what=error.message, picture=id, file=str(file))
        picture = Picture(id=id, file=str(file), width=image.width, height=image.height)
        regions = []
        for number, detection in enumerate(found):
            regions.append(
                Region(
                    id=f"{id}/{number}",
                    picture=id,
                    box=detection.box,
                    name=detection.label,
                    confidence=detection.confidence,
                )
            )
        return AnnotatedPicture(picture=picture, regions=tuple(regions))

    def _detections(self, file: Path, sha256: str) -> list[Detection]:
        key = key_of("detections", self._detector, LEAST_SURE, sha256)
        kept = self._store.read(key)
        if kept is not None:
            return msgspec.msgpack.decode(kept, type=list[Detection])
        if self._opened is None:
            self._opened = self._open_detector()
        found = []
        for detection in self._opened.find(decode(file)):
            if detection.confidence >= LEAST_SURE:
                found.append(detection)
        self._store.write(key, msgspec.msgpack.encode(found))
        return found


# Scenes of our own: everything in them is known, so masks, distances and names are exact.


SIDE = 384  # pixels


class Rendered:
    """All scenes below a folder, or one scene."""

    kind = "rendered scenes"
    names_are_clean = True
    needs_depth = False
    has_true_depth = True

    def __init__(self, path: Path, store: Keep) -> None:
        self.done = 0
        self._store = store
        self._work = store.folder / "rendered"
        self._files = scene_files(path)
        self.total = len(self._files)

    def scenes(self) -> Iterator[Seen]:
        """Every scene with all that is seen in it, in the order of the paths."""
        self._work.mkdir(parents=True, exist_ok=True)
        for number, file in enumerate(self._files):
            self.done = number
            try:
                world = world_in(file)
            except DataError as error:
                yield Trouble(what=error.message, file=str(file))
                continue
            yield self._kept(world, file.stem)
        self.done = self.total

    def _kept(self, world: World, name: str) -> AnnotatedPicture:
        """A scene as it was drawn before, or drawn now."""
        key = key_of("rendered", world.digest(), name, SIDE, str(self._work))
        kept = self._store.read(key)
        if kept is not None:
            return msgspec.msgpack.decode(kept, type=AnnotatedPicture)
        scene = self._scene(world, name)
        self._store.write(key, msgspec.msgpack.encode(scene))
        return scene

    def _scene(self, world: World, name: str) -> AnnotatedPicture:
        drawn = draw(world, SIDE)
        base = self._work / world.digest()
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
        if file.suffix in (".json", ".png"):
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

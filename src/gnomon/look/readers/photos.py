"""Pictures without annotations: photos, in which a detector finds things, and scenes of our own.

What is found in a photo is kept by its bytes, so that no photo is looked at twice. A scene is a
JSON file, or a picture that carries its scene (`gnomon scene -o FILE.png`): everything in it is
known, so masks, distances and names are exact. It is drawn into the working folder once.
"""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np

from gnomon.errors import DataError
from gnomon.items.writing import atomic_file
from gnomon.keep import Keep, key_of
from gnomon.look.readers.scenes import PictureReader, Seen, box_of, folder_reader
from gnomon.look.records import AnnotatedPicture, Picture, Region, Trouble
from gnomon.scenes.pictures import PictureSurvey, draw, png, scene_file, scene_in, write_png
from gnomon.scenes.scenes import Scene as World
from gnomon.scenes.scenes import read_scene
from gnomon.scenes.things import thing_named
from gnomon.vision.detection import Detection, ObjectFinder
from gnomon.vision.images import decode, describe, files_below, photos_in

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

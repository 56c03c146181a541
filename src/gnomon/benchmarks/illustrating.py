"""The pictures of items, as far as they are asked: those of scenes drawn, and mirrored ones.

They are made in a folder or in the cache.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from gnomon.downloads.catalogue import cache_folder
from gnomon.errors import DataError
from gnomon.records import Image, Item
from gnomon.scenes.drawing import PART, draw_missing, is_whole, keep_within
from gnomon.scenes.pictures import png
from gnomon.scenes.scenes import Scene
from gnomon.scenes.sketches import plan_pixels
from gnomon.vision.images import describe, mirrored

FIRST_BATCH, BATCH = 32, 512  # items whose pictures are drawn before the first of them is given
MOST_BYTES = 2**30  # of pictures in the cache


def mirror(items: Iterable[Item], *, folder: Path | None = None, **_: Any) -> Iterator[Item]:
    """Make the mirrored pictures of published items; the photographs stay where they are."""
    place = folder or cache_folder() / "pictures"
    for item in items:
        images = [_shown(item, image, place) for image in item.images]
        yield replace(item, images=tuple(images))


def _shown(item: Item, image: Image, place: Path) -> Image:
    """A picture as the item shows it."""
    if item.tags.get("way") != "mirror":
        return image
    if not image.sha256:
        raise DataError(
            f"the photograph of '{item.id}' is not here, so that it cannot be mirrored.",
            "Fetch the images with `gnomon data get vsr-images`, or give their folder with "
            "--images.",
            file=image.path,
        )
    return mirrored(image, place / "mirrored")


def draw_pictures(
    items: Iterable[Item],
    scenes: Mapping[str, Scene],
    *,
    size: int,
    meshes: bool = False,
    folder: Path | None = None,
    processes: int = 0,
    watch: Callable[[int, int], None] | None = None,
    **_: Any,
) -> Iterator[Item]:
    """Draw the pictures of items that are not there yet, and say where they are.

    `scenes` are those of all items, by the names of their pictures.
    """
    place = folder or cache_folder() / "pictures"
    if meshes:  # other pictures of the same scenes
        place = place / "meshes"
    if folder is None:
        keep_within(place, MOST_BYTES, scenes)
    chosen = list(items)
    total = len(_names(chosen))
    done: set[str] = set()
    for batch in _batches(chosen):
        new = sorted(_names(batch) - done)
        draw_missing(
            {name: scenes[name] for name in new},
            place,
            size,
            meshes=meshes,
            processes=processes,
            watch=_counted(watch, len(done), total),
        )
        done.update(new)
        if folder is None:
            for name in new:
                os.utime(place / name)  # it was used now, and is the last to be removed
        for item in batch:
            drawn = [describe(place / image.path) for image in item.images]
            images = [_shown(item, image, place) for image in drawn]
            yield replace(item, images=tuple(images))


def draw_plans(
    items: Iterable[Item], plans: Mapping[str, Scene], *, size: int, folder: Path | None
) -> None:
    """Draw the plans that items show and that are not there yet, to lie beside the pictures."""
    place = folder or cache_folder() / "pictures"
    place.mkdir(parents=True, exist_ok=True)
    for name in sorted(_names(items) & plans.keys()):
        file = place / name
        if is_whole(file, size):
            continue
        part = place / f".{name}.{os.getpid()}{PART}"
        part.write_bytes(png(plan_pixels(plans[name], size)))
        part.replace(file)


def _batches(items: list[Item]) -> Iterator[list[Item]]:
    """A few items, so that the first one comes soon, and then many at a time."""
    if items:
        yield items[:FIRST_BATCH]
    for start in range(FIRST_BATCH, len(items), BATCH):
        yield items[start : start + BATCH]


def _names(items: Iterable[Item]) -> set[str]:
    found: set[str] = set()
    for item in items:
        found.update(image.path for image in item.images)
    return found


def _counted(
    watch: Callable[[int, int], None] | None, before: int, total: int
) -> Callable[[int, int], None] | None:
    if watch is None:
        return None
    return lambda done, _: watch(before + done, total)

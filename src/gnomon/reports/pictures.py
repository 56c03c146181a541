"""Pictures beside what was asked about them: small copies that are part of the page.

A picture is shown only if its file still is what the run recorded: a page must not show another
picture than the model saw, nor a file that a stranger's run merely names.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from gnomon.errors import GnomonError
from gnomon.records import Image, Item

LARGE = 640  # pixels of the longer side of a picture that stands alone
MOST_BYTES = 12_000_000  # of thumbnails in one page, and of sketches


class Album:
    """What one page shows of its items' pictures, until its room is used up."""

    def __init__(self, room: int = MOST_BYTES) -> None:
        self._room = room
        self._kept: dict[tuple[str, str], str] = {}

    def thumbnails(self, item: Item) -> tuple[str, ...]:
        """Data URIs of an item's pictures, without those that cannot be shown."""
        return self._all(item, thumbnail_of)

    def pictures(self, item: Item) -> tuple[str, ...]:
        """The same, large enough to look at closely."""
        return self._all(item, picture_of)

    def sketches(self, item: Item) -> tuple[str, ...]:
        """The scenes behind an item's pictures as drawings that can be turned, and their plans."""
        return self._all(item, sketches_of)

    def shown(self, image: Image) -> str:
        """The data URI of a picture; empty if it cannot be shown."""
        return self._one(image, thumbnail_of)

    def _all(self, item: Item, show: Callable[[Image], str]) -> tuple[str, ...]:
        found = [self._one(image, show) for image in item.images]
        return tuple(filter(None, found))

    def _one(self, image: Image, show: Callable[[Image], str]) -> str:
        key = (show.__name__, image.sha256)
        if key not in self._kept:
            self._kept[key] = self._within_room(show(image))
        return self._kept[key]

    def _within_room(self, shown: str) -> str:
        if len(shown) > self._room:
            return ""
        self._room -= len(shown)
        return shown


@lru_cache(maxsize=512)
def thumbnail_of(image: Image) -> str:
    """A data URI; empty if the file is gone, has changed or cannot be decoded."""
    return _drawn(image)


@lru_cache(maxsize=32)
def picture_of(image: Image) -> str:
    """The same of a larger copy, to look at closely."""
    return _drawn(image, LARGE)


def _drawn(image: Image, *side: int) -> str:
    from gnomon.vision.images import thumbnail

    try:
        return thumbnail(image.path, *side) if _is_same(image) else ""
    except (GnomonError, OSError, ValueError):  # ValueError: a path that no file can have
        return ""


@lru_cache(maxsize=512)
def sketches_of(image: Image) -> str:
    """A view to turn and a plan of the scene that a picture was drawn from; empty for photos."""
    from gnomon.scenes.pictures import scene_in
    from gnomon.scenes.sketches import plan, turnable

    try:
        scene = scene_in(image.path) if _is_same(image) else None
    except (GnomonError, OSError, ValueError):
        return ""
    if scene is None:
        return ""
    return turnable(scene) + plan(scene)


def _is_same(image: Image) -> bool:
    """Whether the file still is the picture that was asked about."""
    from gnomon.vision.images import describe

    return describe(image.path).sha256 == image.sha256

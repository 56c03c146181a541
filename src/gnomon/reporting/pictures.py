"""Pictures beside what was asked about them: small copies that are part of the page.

A picture is shown only if its file still is what the run recorded: a page must not show another
picture than the model saw, nor a file that a stranger's run merely names.
"""

from __future__ import annotations

from functools import lru_cache

from gnomon.errors import GnomonError
from gnomon.records import Image, Item

MOST_BYTES = 12_000_000  # of thumbnails in one page


class Album:
    """The thumbnails of one page, as data URIs, until its room is used up."""

    def __init__(self, room: int = MOST_BYTES) -> None:
        self._room = room
        self._kept: dict[str, str] = {}

    def of(self, item: Item) -> tuple[str, ...]:
        """The thumbnails of an item's pictures, without those that cannot be shown."""
        found = [self._one(image) for image in item.images]
        return tuple(filter(None, found))

    def _one(self, image: Image) -> str:
        if image.sha256 not in self._kept:
            small = thumbnail_of(image)
            if len(small) > self._room:
                small = ""
            self._room -= len(small)
            self._kept[image.sha256] = small
        return self._kept[image.sha256]


@lru_cache(maxsize=512)
def thumbnail_of(image: Image) -> str:
    """A data URI; empty if the file is gone, has changed or cannot be decoded."""
    from gnomon.vision.decoding import thumbnail
    from gnomon.vision.images import describe

    try:
        if describe(image.path).sha256 != image.sha256:
            return ""
        return thumbnail(image.path)
    except (GnomonError, OSError, ValueError):  # ValueError: a path that no file can have
        return ""

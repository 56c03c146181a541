"""Pictures as people see them: pixels and nothing else that a file may hold.

A rendered picture holds its scene, and a name or comment may hold the answer: neither is sent.
"""

from __future__ import annotations

from collections import OrderedDict
from io import BytesIO
from pathlib import Path
from threading import Lock

from gnomon.errors import DataError
from gnomon.records import Image

LONGER_SIDE = 1280  # pixels
QUALITY = 88
ROOM = 96 * 2**20  # bytes of pictures that are kept at hand


def check_picture(image: Image) -> None:
    """Refuse a picture that is not there, or not the one that is asked about."""
    from gnomon.vision.images import describe

    if "://" in image.path:
        raise DataError(
            f"The picture {image.path} is not on this machine.",
            "Fetch the pictures, and make the items with the folder that holds them (--images).",
        )
    found = describe(image.path)
    if image.sha256 and found.sha256 != image.sha256:
        raise DataError(
            "the picture is not the one that the items were made with.",
            "Restore the file from a copy.",
            file=image.path,
        )


class Gallery:
    """The pictures at hand; those that were not shown for long are made again when needed."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._lock = Lock()

    def shown(self, image: Image) -> bytes:
        """The picture as a JPEG file that holds pixels and nothing else."""
        with self._lock:
            if image.path in self._kept:
                self._kept.move_to_end(image.path)
                return self._kept[image.path]
        check_picture(image)
        content = _plain_jpeg(Path(image.path))
        with self._lock:
            self._keep(image.path, content)
        return content

    def _keep(self, path: str, content: bytes) -> None:
        if path in self._kept or len(content) > self._room:
            return
        self._kept[path] = content
        self._room -= len(content)
        while self._room < 0:
            _, dropped = self._kept.popitem(last=False)
            self._room += len(dropped)


def _plain_jpeg(file: Path) -> bytes:
    from gnomon.vision.images import decode

    pixels = decode(file)
    pixels.thumbnail((LONGER_SIDE, LONGER_SIDE))
    pixels.info.clear()
    out = BytesIO()
    pixels.save(out, "JPEG", quality=QUALITY)
    return out.getvalue()

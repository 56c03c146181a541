"""Pictures that rows name or hold: paths below one folder, addresses, or bytes within the file.

A path that leads out of the folder is refused, so that a stranger's file cannot have other files
shown to a model. Bytes are kept in the cache, each picture once.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from gnomon.items.values import OddCellError
from gnomon.items.writing import atomic_file
from gnomon.records import Image
from gnomon.vision.images import MOST_BYTES, describe, size_in


class PictureFinder:
    """Finds the pictures of rows below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, value: Any) -> Image:
        """The record of a picture: from its path or address, or from its bytes."""
        if isinstance(value, Mapping):
            if value.get("bytes"):
                return _kept(value["bytes"])
            value = value.get("path")
        if isinstance(value, bytes):
            return _kept(value)
        if not isinstance(value, str) or not value:
            raise OddCellError("the picture is neither a path nor bytes")
        if value.startswith(("https://", "http://")):
            return Image(path=value)
        return self._below(value)

    def _below(self, name: str) -> Image:
        if "\0" in name:
            raise OddCellError("the path of a picture has a zero byte in it")
        root = self.folder.resolve()
        try:
            path = (root / name).resolve()
        except (OSError, RuntimeError):  # a link that leads back to itself
            raise OddCellError(f"the picture '{name[:200]}' is a link to itself") from None
        if not path.is_relative_to(root):
            raise OddCellError(
                f"the picture '{name[:200]}' lies outside the folder {self.folder}; "
                "give its folder with --images"
            )
        if not path.is_file():
            raise OddCellError(f"there is no picture '{name[:200]}' in {self.folder}")
        return describe((self.folder / name).as_posix())


class NamedPictures(PictureFinder):
    """Takes pictures by their names alone, for those who look at none."""

    def __init__(self) -> None:
        super().__init__(Path())

    def find(self, value: Any) -> Image:
        """The name of a picture; of one that the file holds, a digest."""
        if isinstance(value, Mapping):
            value = value.get("path") or value.get("bytes")
        if isinstance(value, bytes):
            value = sha256(value).hexdigest()
        if not isinstance(value, str | int):
            raise OddCellError("the picture has no name")
        return Image(path=str(value))


def _kept(content: bytes) -> Image:
    """A picture that the file itself holds, in the cache."""
    if len(content) > MOST_BYTES:
        raise OddCellError(f"a picture has more than {MOST_BYTES // 2**20} MB")
    name = sha256(content).hexdigest()
    size = size_in(io.BytesIO(content), Path("a picture within the file"))
    ending = ".png" if content.startswith(b"\x89PNG") else ".jpg"
    file = _cache() / f"{name}{ending}"
    if not file.is_file() or file.stat().st_size != len(content):
        file.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(file) as part:
            part.write_bytes(content)
    return Image(path=file.as_posix(), sha256=name, width=size.width, height=size.height)


def _cache() -> Path:
    from gnomon.downloads.catalogue import cache_folder

    return cache_folder() / "own-pictures"

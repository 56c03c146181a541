"""What a picture file is, from its first bytes: kind, size in pixels, sha256. Nothing is decoded.

Pictures come from strangers: only regular files are opened, at most a few headers of each are read,
and a picture of more pixels than a photograph can have is refused.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import IO, NamedTuple

from gnomon.errors import DataError
from gnomon.files import open_regular
from gnomon.fingerprint import sha256_of
from gnomon.records import Image

MOST_PIXELS = 2**28  # a quarter of a gigapixel
MOST_BYTES = 2**28  # of a file
MOST_SEGMENTS = 1000  # of a JPEG before its frame; real ones have about ten
PNG = b"\x89PNG\r\n\x1a\n"
JPEG = b"\xff\xd8"
# The markers that begin a frame: C0 to CF without the tables C4, C8 and CC.
FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
BARE = frozenset({0x01, *range(0xD0, 0xD8)})  # markers without a length
FETCH_AGAIN = "Remove the file and fetch or copy it again."


class PictureSize(NamedTuple):
    """Width and height in pixels, as stored: a turn that the file asks for is not made."""

    width: int
    height: int


def describe(path: str | Path) -> Image:
    """The record of a picture file, JPEG or PNG: where it is, its sha256, its width and height.

    A file is hashed once in a process, and again if its size or time of change differs.
    """
    file = Path(path)
    try:
        state = file.stat()
    except OSError as error:
        raise DataError(f"{error.strerror}.", "Check the path.", file=file) from None
    return _described(str(path), state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=2**16)
def _described(path: str, length: int, changed: int) -> Image:
    file = Path(path)
    size = size_of(file)
    if length > MOST_BYTES:
        raise DataError(
            f"the picture has more than {MOST_BYTES // 2**20} MB.", "Scale it down.", file=file
        )
    return Image(path=path, sha256=sha256_of(file), width=size.width, height=size.height)


def size_of(file: Path) -> PictureSize:
    """The size of a JPEG or PNG file, from its header."""
    try:
        with open_regular(file) as stream:
            return size_in(stream, file)
    except OSError as error:
        raise DataError(f"{error.strerror}.", "Check the path.", file=file) from None


def size_in(stream: IO[bytes], file: Path) -> PictureSize:
    """The size of the JPEG or PNG picture that a stream holds; `file` is for error messages."""
    size = _read_size(stream)
    if size is None:
        raise DataError("this is not a complete JPEG or PNG picture.", FETCH_AGAIN, file=file)
    if not 0 < size.width * size.height <= MOST_PIXELS:
        shown = f"{size.width:,} x {size.height:,}"
        raise DataError(f"a picture of {shown} pixels is not read.", FETCH_AGAIN, file=file)
    return size


def _read_size(stream: IO[bytes]) -> PictureSize | None:
    head = stream.read(2)
    if head == JPEG:
        return _jpeg_size(stream)
    head += stream.read(22)
    if head.startswith(PNG) and head[12:16] == b"IHDR" and len(head) == 24:
        return PictureSize(int.from_bytes(head[16:20]), int.from_bytes(head[20:24]))
    return None


def _jpeg_size(stream: IO[bytes]) -> PictureSize | None:
    """The size in the frame header, which stands behind any number of other segments."""
    for _ in range(MOST_SEGMENTS):
        marker = _next_marker(stream)
        if marker in FRAMES:
            frame = stream.read(7)  # length, bits, height, width
            if len(frame) < 7:
                return None
            return PictureSize(int.from_bytes(frame[5:7]), int.from_bytes(frame[3:5]))
        if marker is None or marker in (0xD9, 0xDA):  # the picture ends, or its data begin
            return None
        if marker in BARE:
            continue
        length = int.from_bytes(stream.read(2))
        if length < 2:
            return None
        stream.seek(length - 2, 1)
    return None


def _next_marker(stream: IO[bytes]) -> int | None:
    """The byte after FF, of which there may be several; none where there is no marker."""
    if stream.read(1) != b"\xff":
        return None
    for _ in range(MOST_SEGMENTS):
        byte = stream.read(1)
        if byte != b"\xff":
            return byte[0] if byte else None
    return None

"""The one place where a stranger's picture is decoded: bounded, complete, and always plain RGB.

Header, number of pixels and kind are checked by `images` before a decoder sees a byte. What a
picture says of itself is left alone: a turn in its EXIF data is not made, no link is followed, and
of an animation only the first frame counts.
"""

from __future__ import annotations

import base64
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias

from gnomon.errors import DataError, importing
from gnomon.files import open_regular
from gnomon.vision.images import FETCH_AGAIN, size_in

if TYPE_CHECKING:
    import PIL.Image

Pixels: TypeAlias = "PIL.Image.Image"  # a decoded picture, for annotations: Pillow loads late
MOST_DECODED = 64_000_000  # pixels: 192 MB as RGB
LARGE = 8_000_000  # pixels: pictures beyond that are not decoded ahead, to bound memory
_here = threading.local()  # whether this thread decodes small pictures only
_ONE_WARNING = threading.Lock()
FORMATS = ("JPEG", "PNG")
THUMBNAIL = 160  # pixels of the longer side
QUALITY = 70


def check_decoder() -> None:
    """Refuse to begin where pictures cannot be decoded."""
    with importing("Pictures", "vision"):
        import PIL.Image  # noqa: F401


class LargePictureError(Exception):
    """The picture is too large to be decoded before its turn."""


@contextmanager
def small_only() -> Iterator[None]:
    """Inside, this thread raises `LargePictureError` instead of decoding a large picture."""
    _here.small_only = True
    try:
        yield
    finally:
        _here.small_only = False


def decode(path: str | Path) -> Pixels:
    """The picture in a file as 8-bit RGB; whatever is transparent shows white."""
    file = Path(path)
    try:
        with open_regular(file) as stream:
            return _decoded(stream, file)
    except OSError as error:
        raise DataError(f"{error.strerror}.", "Check the path.", file=file) from None


def decode_bytes(content: bytes, file: Path) -> Pixels:
    """The picture in some bytes, as `decode` gives it; `file` is for error messages."""
    return _decoded(BytesIO(content), file)


def thumbnail(path: str | Path, side: int = THUMBNAIL) -> str:
    """A small copy as a data URI, for pages that must not load anything from outside."""
    file = Path(path)
    try:
        with open_regular(file) as stream:
            small = _decoded(stream, file, shrink_to=side)
    except OSError as error:
        raise DataError(f"{error.strerror}.", "Check the path.", file=file) from None
    small.thumbnail((side, side))
    kept = BytesIO()
    small.save(kept, "JPEG", quality=QUALITY)
    return "data:image/jpeg;base64," + base64.b64encode(kept.getvalue()).decode()


def _decoded(stream: IO[bytes], file: Path, *, shrink_to: int = 0) -> Pixels:
    check_decoder()
    from PIL import Image, UnidentifiedImageError

    size = size_in(stream, file)
    pixels = size.width * size.height
    if pixels > MOST_DECODED:
        shown = f"{size.width:,} x {size.height:,}"
        raise DataError(f"a picture of {shown} pixels is not decoded.", "Scale it down.", file=file)
    if pixels > LARGE and getattr(_here, "small_only", False):
        raise LargePictureError
    stream.seek(0)
    try:
        picture = _opened(stream)
        if shrink_to:
            picture.draft("RGB", (shrink_to, shrink_to))  # a JPEG can be read smaller
        picture.load()
        return _plain(picture)
    except (
        UnidentifiedImageError,
        Image.DecompressionBombError,
        OSError,
        SyntaxError,
        ValueError,
        EOFError,
    ) as error:
        reason = " ".join(str(error).split())[:120]
        raise DataError(f"the picture is damaged: {reason}.", FETCH_AGAIN, file=file) from None


def _opened(stream: IO[bytes]) -> Pixels:
    """The picture, its header read: what damaged EXIF data it has is not used, nor warned of."""
    from PIL import Image

    with _ONE_WARNING, warnings.catch_warnings():  # which all threads share
        warnings.simplefilter("ignore")
        return Image.open(stream, formats=FORMATS)


def _plain(picture: Pixels) -> Pixels:
    """8-bit RGB. Deeper greys are scaled, and what is transparent is laid on white."""
    from PIL import Image

    if picture.mode.startswith("I"):  # 16-bit grey, which `convert` would cut off at 255
        picture = picture.point(lambda value: value * (1 / 256)).convert("L")
    if picture.mode in ("LA", "PA", "RGBA") or "transparency" in picture.info:
        over = picture if picture.mode == "RGBA" else picture.convert("RGBA")
        white = Image.new("RGB", over.size, "white")
        white.paste(over, mask=over.getchannel("A"))
        return white
    return picture.convert("RGB")

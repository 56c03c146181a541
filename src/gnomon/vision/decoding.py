"""The one place where a stranger's picture is decoded: bounded, complete, and always plain RGB.

Header, number of pixels and kind are checked by `images` before a decoder sees a byte. What a
picture says of itself is left alone: a turn in its EXIF data is not made, no link is followed, and
of an animation only the first frame counts.
"""

from __future__ import annotations

import base64
import warnings
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import DataError, MissingExtraError
from gnomon.files import open_regular
from gnomon.vision.images import FETCH_AGAIN, size_of

if TYPE_CHECKING:
    from PIL.Image import Image as Pixels

MOST_DECODED = 64_000_000  # pixels: 192 MB as RGB
FORMATS = ("JPEG", "PNG")
THUMBNAIL = 160  # pixels of the longer side
QUALITY = 70


def decode(path: str | Path) -> Pixels:
    """The picture in a file as 8-bit RGB; whatever is transparent shows white."""
    return _decoded(Path(path), shrink_to=0)


def thumbnail(path: str | Path, side: int = THUMBNAIL) -> str:
    """A small copy as a data URI, for pages that must not load anything from outside."""
    small = _decoded(Path(path), shrink_to=side)
    small.thumbnail((side, side))
    kept = BytesIO()
    small.save(kept, "JPEG", quality=QUALITY)
    return "data:image/jpeg;base64," + base64.b64encode(kept.getvalue()).decode()


def _decoded(file: Path, *, shrink_to: int) -> Pixels:
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise MissingExtraError("Pictures", "vision") from None
    size = size_of(file)
    if size.width * size.height > MOST_DECODED:
        shown = f"{size.width:,} x {size.height:,}"
        raise DataError(f"a picture of {shown} pixels is not decoded.", "Scale it down.", file=file)
    try:
        with open_regular(file) as stream, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of damaged EXIF data, which is not used
            picture = Image.open(stream, formats=FORMATS)
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


def _plain(picture: Pixels) -> Pixels:
    """8-bit RGB. Deeper greys are scaled, and what is transparent is laid on white."""
    from PIL import Image

    if picture.mode.startswith("I"):  # 16-bit grey, which `convert` would cut off at 255
        picture = picture.point(lambda value: value * (1 / 256)).convert("L")
    if picture.mode in ("LA", "PA", "RGBA") or "transparency" in picture.info:
        over = picture.convert("RGBA")
        white = Image.new("RGBA", over.size, "white")
        return Image.alpha_composite(white, over).convert("RGB")
    return picture.convert("RGB")

"""Pictures as a mirror shows them: made once, exact, and never beside the original file."""

from __future__ import annotations

import os
from pathlib import Path

from gnomon.errors import DataError
from gnomon.records import Image
from gnomon.vision.decoding import Pixels
from gnomon.vision.images import describe
from gnomon.vision.pictures import pixels

DIGITS = 24  # of the sha256 in a name: no two pictures will ever share them


def mirrored(image: Image, folder: Path) -> Image:
    """The picture with left and right changed, as a PNG file in a folder.

    It is named by the sha256 of the original, and made only if it is not there yet.
    """
    file = folder / f"mirrored-{image.sha256[:DIGITS]}.png"
    if not file.is_file():
        _write(_turned(pixels(image)), file)
    return describe(file)


def _turned(picture: Pixels) -> Pixels:
    from PIL.Image import Transpose

    return picture.transpose(Transpose.FLIP_LEFT_RIGHT)


def _write(picture: Pixels, file: Path) -> None:
    """Write beside its place, then move: no half picture is left under the name."""
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        picture.save(part, "PNG")
        part.replace(file)
    except OSError as error:
        part.unlink(missing_ok=True)
        hint = "Check the path and its permissions."
        raise DataError(f"{error.strerror}.", hint, file=file) from None

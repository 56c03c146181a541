"""Which pixels of a picture a region covers: by its mask, its outline, or else its box."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gnomon.vision.look.records import Region

    Flags = NDArray[np.bool_]


def mask_of(region: Region, width: int, height: int) -> Flags:
    """[height, width] which pixels the region covers; its box where nothing finer is known."""
    if region.mask:
        return _from_image(region, width, height)
    if region.runs:
        return _from_runs(region.runs, width, height)
    if region.outline:
        return _from_outline(region, width, height)
    return _from_box(region, width, height)


def _from_box(region: Region, width: int, height: int) -> Flags:
    import numpy as np

    box = region.box
    left, top = int(box.left * width), int(box.top * height)
    right = max(left + 1, round(box.right * width))
    bottom = max(top + 1, round(box.bottom * height))
    covered = np.zeros((height, width), dtype=bool)
    covered[top:bottom, left:right] = True
    return covered


def _from_outline(region: Region, width: int, height: int) -> Flags:
    import numpy as np
    from PIL import Image, ImageDraw

    drawing = Image.new("1", (width, height))
    pen = ImageDraw.Draw(drawing)
    for polygon in region.outline:
        points = []
        for x, y in zip(polygon[0::2], polygon[1::2], strict=True):
            points.append((x * width - 0.5, y * height - 0.5))
        pen.polygon(points, fill=1)
    return np.asarray(drawing, dtype=bool)


def _from_image(region: Region, width: int, height: int) -> Flags:
    import numpy as np
    from PIL import Image

    try:
        with Image.open(region.mask) as image:
            marks = np.asarray(image)
    except (OSError, SyntaxError, ValueError):
        raise DataError(
            "the mask is no picture that can be read.",
            "Fetch it again, or remove it: then the outline is used.",
            file=Path(region.mask),
        ) from None
    if marks.ndim == 3:
        marks = marks[:, :, 0]
    return _fitted(marks == region.mark, width, height)


def _from_runs(runs: tuple[int, ...], width: int, height: int) -> Flags:
    import numpy as np

    inside = np.arange(len(runs)) % 2 == 1
    flat = np.repeat(inside, runs)
    covered: Flags = flat.reshape(width, height).T
    return covered


def _fitted(covered: Flags, width: int, height: int) -> Flags:
    """A mask of another size, by the nearest pixel."""
    import numpy as np

    if covered.shape == (height, width):
        return covered
    rows = np.arange(height) * covered.shape[0] // height
    columns = np.arange(width) * covered.shape[1] // width
    found: Flags = covered[rows][:, columns]
    return found

"""VinVL's tables of regions: long lines of base64, found by their first field and read one by one.

Three forms are in use, the features always 32-bit numbers in base64:
  KEY, {"num_boxes": 2, "features": "..."}
  KEY, 2, "..."
  KEY, [{"rect": [...], "feature": "..."}, ...], or {"objects": [...]} with such a list
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gnomon.errors import DataError
from gnomon.files import open_regular

if TYPE_CHECKING:
    from numpy.typing import NDArray

    # features, and boxes in pixels where there are any
    Parsed = tuple[NDArray[np.float32], NDArray[np.float32] | None]

MOST_BYTES = 32 * 2**20  # of one line: a thousand regions of 2,054 features take 11 MB
FIX = "Make the row again with the detector, or remove it."


class _VinvlRegion(msgspec.Struct, frozen=True):
    """One region of a row."""

    feature: str
    rect: tuple[float, float, float, float] | None = None  # in pixels


class _VinvlRow(msgspec.Struct, frozen=True):
    """The JSON of a row: regions one by one, or the features of all as one text."""

    objects: list[_VinvlRegion] = []
    num_boxes: int = 0
    features: str = ""


class RegionTable:
    """Rows by their first field. One pass over the file notes where each begins."""

    def __init__(self, file: Path, most: int) -> None:
        self.file = file
        self._begins: dict[str, tuple[int, int]] = {}  # line and offset
        self._note_rows(most)

    def row(self, key: str) -> Parsed | None:
        """The features of a row, and its boxes in pixels if it has them; none if there is none."""
        if key not in self._begins:
            return None
        line, offset = self._begins[key]
        with open_regular(self.file) as stream:
            stream.seek(offset)
            text = stream.readline(MOST_BYTES)
        fields = text.rstrip(b"\r\n").split(b"\t")
        try:
            return _parsed(fields)
        except (msgspec.MsgspecError, binascii.Error, ValueError) as error:
            reason = " ".join(str(error).split())[:160]
            raise self._problem(f"the row cannot be read: {reason}", line) from None

    def _note_rows(self, most: int) -> None:
        offset = line = 0
        try:
            with open_regular(self.file) as stream:
                while text := stream.readline(MOST_BYTES + 1):
                    line += 1
                    self._note(text, line, offset)
                    offset += len(text)
                    if line > most:
                        raise self._problem(f"the table has more than {most:,} rows", line)
        except OSError as error:
            raise self._problem(error.strerror or str(error), line) from None

    def _note(self, text: bytes, line: int, offset: int) -> None:
        if len(text) > MOST_BYTES:
            raise self._problem(f"the line is longer than {MOST_BYTES // 2**20} MB", line)
        if not text.strip():
            return
        key, tab, _ = text.partition(b"\t")
        if not tab or len(key) > 1000:
            raise self._problem("the line has no name of a picture, with a tab after it", line)
        name = key.decode("utf-8", "replace").strip()
        if name in self._begins:
            raise self._problem(f"{name[:60]} is there twice", line)
        self._begins[name] = (line, offset)

    def _problem(self, what: str, line: int) -> DataError:
        return DataError(f"{what}.", FIX, file=self.file, line=line)


def _parsed(fields: list[bytes]) -> Parsed:
    if len(fields) == 3:
        return _features(fields[2], int(fields[1])), None
    if len(fields) != 2:
        raise ValueError(f"it has {len(fields)} fields, not 2 or 3")
    if fields[1].startswith(b"["):
        return _of_regions(msgspec.json.decode(fields[1], type=list[_VinvlRegion]))
    row = msgspec.json.decode(fields[1], type=_VinvlRow)
    if row.objects:
        return _of_regions(row.objects)
    return _features(row.features.encode(), row.num_boxes), None


def _of_regions(regions: list[_VinvlRegion]) -> Parsed:
    if not regions:
        raise ValueError("it has no regions")
    rows = [_features(region.feature.encode(), 1) for region in regions]
    if len({row.shape for row in rows}) > 1:
        raise ValueError("its regions have features of different lengths")
    boxes = [region.rect for region in regions if region.rect]
    if not boxes:
        return np.concatenate(rows), None
    if len(boxes) < len(regions):
        raise ValueError("only some of its regions have a rect")
    return np.concatenate(rows), np.array(boxes, dtype=np.float32)


def _features(text: bytes, count: int) -> NDArray[np.float32]:
    """Numbers in base64 as so many rows."""
    raw = b64decode(text, validate=True)
    if count < 1 or not raw or len(raw) % (4 * count):
        raise ValueError(f"{len(raw)} bytes of features are not those of {count} regions")
    return np.frombuffer(raw, dtype="<f4").reshape(count, -1).astype(np.float32)

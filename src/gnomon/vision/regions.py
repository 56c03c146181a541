"""What a detector saw in pictures, read from files: features and boxes of regions.

Some models see regions rather than pixels, and their detectors are programs of their own. Three
kinds of files are read: the folder that VSR's authors make (features.pt, boxes.pt, names.txt),
VinVL's tables (feature.tsv, predictions.tsv), and a folder of our own, one safetensors file for
each picture. All are strangers' files: nothing in them is run, and none is read whole.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from gnomon.errors import DataError, importing
from gnomon.files import open_regular, read_lines
from gnomon.fingerprint import fingerprint
from gnomon.records import Image
from gnomon.vision.images import describe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Parsed = tuple[NDArray[np.float32], NDArray[np.float32] | None]

MOST_REGIONS = 1000  # of one picture; detectors keep 10 to 100
MOST_FEATURES = 2**16  # of one region; detectors give 1,024 to 2,054
MOST_PICTURES = 2_000_000
MOST_BYTES = 2**28  # of the file of one picture
GEOMETRY = 6  # numbers that VinVL writes behind a region's features: its corners, width and height
MAKE_AGAIN = "Make the file again, or fetch it again."


class RegionFeatures(NamedTuple):
    """The regions of one picture: a row of features for each, and its corners as shares of it."""

    features: NDArray[np.float32]
    boxes: NDArray[np.float32] | None  # left, top, right, bottom; none if the file has none

    def fitted(self, size: int, image: Image) -> RegionFeatures:
        """The regions with features of a size, without the geometry that may stand behind them."""
        features, boxes = self.features, self.boxes
        if features.shape[1] == size + GEOMETRY:
            boxes = boxes if boxes is not None else features[:, size : size + 4]
            features = features[:, :size]
        if features.shape[1] != size:
            raise DataError(
                f"regions have {features.shape[1]} features each, the model takes {size}.",
                "Give features of the detector that the model was trained with.",
                file=image.path,
            )
        return RegionFeatures(features, boxes)


def open_regions(path: str) -> RegionFiles:
    """The region files that a path names: a folder, or a table of VinVL."""
    place = Path(path).expanduser()
    if place.is_dir() and (place / "features.pt").exists():
        return AuthorsFolder(place)
    if place.is_dir() and any(place.glob("*.safetensors")):
        return OwnFolder(place)
    if place.is_dir():
        for name in ("predictions.tsv", "feature.tsv", "features.tsv"):
            if (place / name).exists():
                return VinvlTable(place / name)
    if place.suffix == ".tsv" and place.is_file():
        return VinvlTable(place)
    raise DataError(
        "there are no region features that can be read.",
        "Give a folder with features.pt and names.txt, a folder of .safetensors files, "
        "or a feature.tsv or predictions.tsv of VinVL.",
        file=place,
    )


class AuthorsFolder:
    """A folder with features.pt (pictures x regions x features), boxes.pt and names.txt."""

    kind = "features.pt"

    def __init__(self, folder: Path) -> None:
        self.file = folder / "features.pt"
        self._features = _tensor(self.file)
        boxes = folder / "boxes.pt"
        self._boxes = _tensor(boxes) if boxes.exists() else None
        self._places = _places(folder / "names.txt", len(self._features))
        if self._boxes is not None and self._boxes.shape != (*self._features.shape[:2], 4):
            raise DataError(
                f"the boxes have the shape {tuple(self._boxes.shape)}, "
                f"the features {tuple(self._features.shape)}.",
                MAKE_AGAIN,
                file=boxes,
            )

    def fingerprint(self) -> str:
        """A hash of features, boxes and names."""
        names = fingerprint(self.file.with_name("names.txt"))
        return f"{fingerprint(self.file.parent)[:20]}{names[:20]}"

    def regions(self, image: Image) -> RegionFeatures:
        """The regions of a picture, without the rows of zeros that fill it up to a fixed number."""
        place = self._places.get(_stem(image))
        if place is None:
            raise _absent(image, self.file)
        features = self._features[place].float().numpy()
        filled = np.flatnonzero(features.any(axis=1))
        count = int(filled[-1]) + 1 if len(filled) else 0
        boxes = None
        if self._boxes is not None:
            boxes = self._boxes[place][:count].float().numpy()
        return checked(RegionFeatures(features[:count], boxes), self.file)


class OwnFolder:
    """A folder of safetensors files with the tensors `features` and `boxes`.

    Each is named by its picture: the sha256 of its bytes, or the name of its file.
    """

    kind = "safetensors"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fingerprint(self) -> str:
        """A hash of all files."""
        return fingerprint(self.folder)[:40]

    def regions(self, image: Image) -> RegionFeatures:
        """The regions of a picture."""
        for name in (image.sha256, _stem(image)):
            file = self.folder / f"{name}.safetensors"
            if name and file.is_file():
                return checked(_own_regions(file), file)
        raise _absent(image, self.folder)


class VinvlTable:
    """A table of VinVL, in which rows are found by their first field.

    One pass over the file notes where each begins.
    """

    kind = "VinVL table"

    def __init__(self, file: Path) -> None:
        self.file = file
        self._begins: dict[str, tuple[int, int]] = {}  # line and offset
        offset = line = 0
        try:
            with open_regular(file) as stream:
                while text := stream.readline(MOST_LINE_BYTES + 1):
                    line += 1
                    self._note(text, line, offset)
                    offset += len(text)
                    if line > MOST_PICTURES:
                        what = f"the table has more than {MOST_PICTURES:,} rows"
                        raise self._problem(what, line)
        except OSError as error:
            raise self._problem(error.strerror or str(error), line) from None

    def fingerprint(self) -> str:
        """A hash of the table."""
        return fingerprint(self.file)[:40]

    def regions(self, image: Image) -> RegionFeatures:
        """The regions of a picture, named as in the table: by its file's name, or its number."""
        stem = _stem(image)
        for key in (stem, stem.lstrip("0"), Path(image.path).name):
            if key in self._begins:
                features, boxes = self._row(*self._begins[key])
                if boxes is not None:
                    boxes = boxes / _size(image)
                return checked(RegionFeatures(features, boxes), self.file)
        raise _absent(image, self.file)

    def _row(self, line: int, offset: int) -> Parsed:
        """The features of a row, and its boxes in pixels if it has them."""
        with open_regular(self.file) as stream:
            stream.seek(offset)
            text = stream.readline(MOST_LINE_BYTES)
        try:
            return _parsed(text.rstrip(b"\r\n").split(b"\t"))
        except (msgspec.MsgspecError, binascii.Error, ValueError) as error:
            reason = " ".join(str(error).split())[:160]
            raise self._problem(f"the row cannot be read: {reason}", line) from None

    def _note(self, text: bytes, line: int, offset: int) -> None:
        if len(text) > MOST_LINE_BYTES:
            raise self._problem(f"the line is longer than {MOST_LINE_BYTES // 2**20} MB", line)
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


RegionFiles = AuthorsFolder | OwnFolder | VinvlTable


def checked(found: RegionFeatures, file: Path) -> RegionFeatures:
    """Regions that a model can be shown, or what is wrong with them."""
    features, boxes = found
    if features.ndim != 2 or not features.size:
        problem = "a picture has no regions"
    elif len(features) > MOST_REGIONS:
        problem = f"a picture has {len(features):,} regions, at most {MOST_REGIONS:,} are read"
    elif boxes is not None and boxes.shape != (len(features), 4):
        problem = f"a picture has {len(features)} regions, but boxes of the shape {boxes.shape}"
    elif not np.isfinite(features).all():
        problem = "a feature is not a number"
    elif boxes is not None and not _are_shares(boxes):
        problem = "a box does not lie in its picture: corners are shares of it, from 0 to 1"
    else:
        return found
    raise DataError(f"{problem}.", MAKE_AGAIN, file=file)


def _are_shares(boxes: NDArray[np.float32]) -> bool:
    within = (boxes > -0.01) & (boxes < 1.01)  # detectors round
    ordered = (boxes[:, 0] <= boxes[:, 2]) & (boxes[:, 1] <= boxes[:, 3])
    return bool(within.all() and ordered.all())


def _own_regions(file: Path) -> RegionFeatures:
    with importing("Reading region features", "hf"):
        from safetensors.numpy import load_file
    if file.stat().st_size > MOST_BYTES:
        raise DataError(f"the file has more than {MOST_BYTES // 2**20} MB.", MAKE_AGAIN, file=file)
    found = _read(lambda: load_file(file), file)
    if "features" not in found:
        raise DataError("there is no tensor named features.", MAKE_AGAIN, file=file)
    boxes = found.get("boxes")
    if boxes is not None:
        boxes = boxes.astype(np.float32)
    return RegionFeatures(found["features"].astype(np.float32), boxes)


def _tensor(file: Path) -> Any:
    """The one tensor of a file, which stays on disk until a part of it is asked for."""
    with importing("Reading region features", "hf"):
        import torch

    def load() -> Any:
        return torch.load(file, map_location="cpu", weights_only=True, mmap=True)

    found = _read(load, file)
    if not isinstance(found, torch.Tensor) or found.ndim != 3 or not found.is_floating_point():
        raise DataError(
            "this is not one tensor of pictures, regions and numbers.",
            "Stack the pictures' tensors to one, and save it with torch.save.",
            file=file,
        )
    if found.shape[1] > MOST_REGIONS or found.shape[2] > MOST_FEATURES:
        raise DataError(
            f"{found.shape[1]:,} regions of {found.shape[2]:,} features are too many: at most "
            f"{MOST_REGIONS:,} of {MOST_FEATURES:,} are read.",
            MAKE_AGAIN,
            file=file,
        )
    return found


def _read(load: Callable[[], Any], file: Path) -> Any:
    """What a library reads from a stranger's file; whatever it raises is said in a sentence."""
    try:
        return load()
    except Exception as error:
        reason = " ".join(str(error).split())[:160]
        raise DataError(f"the file cannot be read: {reason}", MAKE_AGAIN, file=file) from None


def _places(file: Path, count: int) -> dict[str, int]:
    """The place of each picture, by the name of its file without its ending."""
    found: dict[str, int] = {}
    for line, text in read_lines(file):
        name = Path(text.strip()).stem
        if name in found:
            raise DataError(
                f"{name[:60]} is there twice.", "Remove one of the two.", file=file, line=line
            )
        found[name] = len(found)
    if len(found) != count:
        raise DataError(
            f"there are {len(found):,} names, but features of {count:,} pictures.",
            "Take names.txt and features.pt from one extraction.",
            file=file,
        )
    return found


def _stem(image: Image) -> str:
    return Path(image.path).stem


def _size(image: Image) -> NDArray[np.float32]:
    """Width and height, twice: what the corners of a box are divided by."""
    if not image.width:
        image = describe(image.path)
    return np.array([image.width, image.height] * 2, dtype=np.float32)


def _absent(image: Image, file: Path) -> DataError:
    name = Path(image.path).name
    return DataError(
        f"there are no regions of the picture {name[:80]}.",
        "Run the detector on this picture, too.",
        file=file,
    )


# VinVL's tables of regions: long lines of base64, found by their first field and read one by one.
#
# Three forms are in use, the features always 32-bit numbers in base64:
#   KEY, {"num_boxes": 2, "features": "..."}
#   KEY, 2, "..."
#   KEY, [{"rect": [...], "feature": "..."}, ...], or {"objects": [...]} with such a list


MOST_LINE_BYTES = 32 * 2**20  # of one line: a thousand regions of 2,054 features take 11 MB
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

"""Pictures that are there already: a folder of files for items, or a gallery of photos.

An id may hold anything, so its file is looked for under its quoted name (size%2Fant%2Fbird.png),
and below the folder as the path that it looks like. Nothing outside the folder is read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from gnomon.errors import DataError, UsageError, check_no_name
from gnomon.files import open_regular, read_jsonl, read_table
from gnomon.fingerprint import sha256_of
from gnomon.keep import Keep
from gnomon.models.detectors import open_detector
from gnomon.paint.factory import as_model
from gnomon.paint.model import MOST_BYTES
from gnomon.paint.records import (
    Made,
    OneByOne,
    PaintedPicture,
    PaintQuestion,
    PaintRequest,
    PaintTrouble,
    asked_of,
)
from gnomon.records import Item
from gnomon.vision.detection import class_of
from gnomon.vision.images import decode

TABLES = ("pictures.csv", "pictures.jsonl", "pictures.tsv")
ENDINGS = (".png", ".jpg", ".jpeg")
LONGEST_NAME = 200  # characters of a file's name; longer ids are named by a digest
MOST_FILES = 1_000_000


class _FolderRow(msgspec.Struct):
    """A line of a table in JSON."""

    id: str
    file: str


@as_model
def folder(name: str) -> FolderPainter:
    """Pictures of a folder: DIR/ID.png, DIR/ID_0.png, DIR/ID_1.png ..., or a table id,file.

    The table is DIR/pictures.csv or DIR/pictures.jsonl, or is given itself: images:TABLE.csv. Its
    files are below its own folder. With --set pictures=0 all pictures of an item vote.
    """
    if not name:
        raise UsageError("images needs a folder.", "Write images:DIR, or images:TABLE.csv.")
    place = Path(name).expanduser()
    if place.is_file():
        return FolderPainter(name, place.parent, read_index(place))
    if not place.is_dir():
        raise DataError("there is no such folder.", "Check the path.", file=place)
    for table in TABLES:
        if (place / table).is_file():
            return FolderPainter(name, place, read_index(place / table))
    return FolderPainter(name, place, named_files(place))


class FolderPainter(OneByOne):
    """Shows pictures that are there already."""

    batch = 64

    def __init__(self, name: str, place: Path, index: dict[str, list[Path]]) -> None:
        self.spec = f"images:{name}"
        self._place, self._index = place, index

    def describe(self) -> dict[str, Any]:
        """What determines the pictures: the files there are, by name and size."""
        known = sha256()
        for key in sorted(self._index):
            for file in self._index[key]:
                size = file.stat().st_size if file.is_file() else -1
                known.update(f"{key}\0{file.name}\0{size}\n".encode(errors="surrogateescape"))
        return {"pictures": sum(map(len, self._index.values())), "sha256": known.hexdigest()}

    def count(self, item: Item) -> int:
        """How many pictures of an item there are."""
        return len(self.files_of(item.id))

    def paint_one(self, request: PaintRequest) -> Made:
        """The picture of a request, or why there is none."""
        files = self.files_of(request.item.id)
        if request.number >= len(files):
            return PaintTrouble("there is no picture of this item")
        file = files[request.number]
        if not file.resolve().is_relative_to(self._place.resolve()):
            return PaintTrouble("the picture is outside its folder")
        return _picture_in(file)

    def files_of(self, id: str) -> list[Path]:
        """The pictures of an item, in order."""
        return self._index.get(id) or self._index.get(file_stem(id), [])


def _picture_in(file: Path) -> Made:
    try:
        with open_regular(file) as stream:
            return PaintedPicture(stream.read(MOST_BYTES + 1))
    except OSError as error:
        return PaintTrouble(f"the picture cannot be read: {error.strerror}")
    except DataError as error:
        return PaintTrouble(error.message)


def file_stem(id: str) -> str:
    """The name under which the pictures of an item are looked for, without number and ending.

    >>> file_stem("size/scene/ant/bird"), file_stem("../etc")
    ('size%2Fscene%2Fant%2Fbird', '..%2Fetc')
    """
    quoted = quote(id, safe=" ,;()'", errors="surrogatepass")
    if len(quoted) <= LONGEST_NAME:
        return quoted
    return sha256(id.encode(errors="surrogatepass")).hexdigest()


def named_files(place: Path) -> dict[str, list[Path]]:
    """The pictures below a folder, by the stem of an id; several of one stand by their numbers."""
    found: dict[str, list[tuple[int, Path]]] = {}
    for number, file in enumerate(sorted(place.rglob("*"))):
        if number > MOST_FILES:
            raise DataError("the folder has too many files.", "Give a smaller one.", file=place)
        if file.suffix.lower() not in ENDINGS:
            continue
        path = file.relative_to(place).with_suffix("").as_posix()
        stem = file_stem(unquote(path, errors="surrogatepass"))
        found.setdefault(stem, []).append((-1, file))
        numbered = re.fullmatch(r"(.+)_(\d{1,6})", stem)
        if numbered:
            found.setdefault(numbered[1], []).append((int(numbered[2]), file))
    ordered: dict[str, list[Path]] = {}
    for stem, files in found.items():
        ordered[stem] = [file for _, file in sorted(files)]
    return ordered


def read_index(table: Path) -> dict[str, list[Path]]:
    """The pictures of each item as a table lists them, in its order."""
    found: dict[str, list[Path]] = {}
    rows: Iterator[tuple[str, str]]
    if table.suffix == ".jsonl":
        rows = ((row.id, row.file) for _, row in read_jsonl(table, _FolderRow))
    else:
        delimiter = "\t" if table.suffix == ".tsv" else ","
        read = read_table(table, ("id", "file"), delimiter=delimiter)
        rows = ((row["id"], row["file"]) for _, row in read)
    for id, file in rows:
        found.setdefault(id, []).append(table.parent / file)
    return found


# `synth:gallery`: photographs of a folder in which a detector sees both things of an item.
#
# It answers what photographs show, without a painter: a baseline for those that learned from
# them. Each photograph is looked at once in a run, and what was seen is kept.


MOST_PHOTOS = 200_000
SEEN = "gallery"  # a folder of what was seen, by the digest of the photograph


@as_model
def gallery(name: str, *, dir: str, finder: str = "ssd", sure: float = 0.3) -> PhotoGallery:
    """Photographs of a folder in which both things of an item are seen.

    dir        the folder with the photographs, JPEG or PNG
    finder     the detector that finds them: ssd, or hf:NAME with classes of its own
    sure       how sure it must be of a thing, from 0 to 1
    """
    check_no_name("synth:gallery", name, "Give --set dir=FOLDER.")
    folder = Path(dir).expanduser()
    if not folder.is_dir():
        raise DataError("there is no such folder.", "Check --set dir=FOLDER.", file=folder)
    if not 0 < sure < 1:
        raise UsageError(f"sure must be between 0 and 1, not {sure}.", "Try 0.3.")
    return PhotoGallery(folder, finder, sure)


class PhotoGallery(OneByOne):
    """Shows photographs, in an order that is drawn for each item."""

    spec = "synth:gallery"
    batch = 16

    def __init__(self, folder: Path, finder: str, sure: float) -> None:
        self._files = _photographs(folder)
        self._finder, self._sure = finder, sure
        self._detector = open_detector(finder)
        if self._detector.labels is None:
            raise UsageError(
                f"{finder} finds what it is told to find, and has no classes of its own.",
                "Choose ssd, or a detector such as hf:facebook/detr-resnet-50.",
            )
        self._store: Keep | None = None

    def describe(self) -> dict[str, Any]:
        """What determines the pictures: the photographs, and who looks at them."""
        known = sha256("\n".join(self._digests.values()).encode()).hexdigest()
        about = {"finder": self._finder, "sure": self._sure, "photographs": len(self._files)}
        return {**about, "sha256": known}

    def keep(self, folder: Path) -> None:
        """Keep what was seen in this folder."""
        self._store = Keep(folder / SEEN)

    def count(self, item: Item) -> int:
        """How many photographs show both things."""
        return len(self._showing(item))

    def paint_one(self, request: PaintRequest) -> Made:
        """The picture of a request, or why there is none."""
        photos = self._showing(request.item)
        if request.number >= len(photos):
            return PaintTrouble("no photograph shows both things")
        return _picture_in(photos[request.number])

    def _showing(self, item: Item) -> list[Path]:
        asked = asked_of(item)
        wanted = self._classes(asked) if asked else None
        if not wanted:
            return []
        found = [file for file, seen in self._photos.items() if seen >= wanted]
        Random(item.id).shuffle(found)
        return found

    def _classes(self, asked: PaintQuestion) -> Counter[str]:
        """How many of each class an item names; nothing if the detector knows one of them not."""
        found: Counter[str] = Counter()
        for name in (asked.first, asked.second):
            label = class_of(name, self._detector.labels)
            if label is None:
                return Counter()
            found[label] += 1
        return found

    @cached_property
    def _digests(self) -> dict[Path, str]:
        return {file: sha256_of(file) for file in self._files}

    @cached_property
    def _photos(self) -> dict[Path, Counter[str]]:
        """What is seen in each photograph, which is looked at once in a run."""
        found = {}
        for file, own in self._digests.items():
            look = partial(self._seen, file)
            seen = self._store.kept(own, dict[str, int], look) if self._store else look()
            found[file] = Counter(seen)
        return found

    def _seen(self, file: Path) -> dict[str, int]:
        try:
            picture = decode(file)
        except DataError:
            return {}
        labels: Counter[str] = Counter()
        for each in self._detector.find(picture):
            if each.confidence >= self._sure:
                labels[each.label] += 1
        return dict(labels)


def _photographs(folder: Path) -> list[Path]:
    every = sorted(folder.rglob("*"))
    found = [file for file in every if file.suffix.lower() in ENDINGS and file.is_file()]
    if not found:
        raise DataError("the folder has no photographs.", "Give another with dir=.", file=folder)
    if len(found) > MOST_PHOTOS:
        raise DataError("the folder has too many photographs.", "Give fewer.", file=folder)
    return found


# Our own renderer as a painter: exact pictures of what is right, with all that is known of them.
#

"""Pictures made elsewhere: files named by item and number, or a table that says which are whose.

An id may hold anything, so its file is looked for under its quoted name (size%2Fant%2Fbird.png),
and below the folder as the path that it looks like. Nothing outside the folder is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from gnomon.errors import DataError, UsageError
from gnomon.files import open_regular, read_jsonl, read_table
from gnomon.paint.factory import as_model
from gnomon.paint.keeping import MOST_BYTES
from gnomon.paint.records import PaintedPicture, PaintRequest, PaintTrouble
from gnomon.records import Item

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
    files are below its own folder. With --pictures 0 all pictures of an item vote.
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


class FolderPainter:
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

    def paint(
        self, requests: Sequence[PaintRequest]
    ) -> Iterator[tuple[PaintRequest, PaintedPicture | PaintTrouble]]:
        """Each request with the file that is there for it."""
        for request in requests:
            yield request, self._show(request)

    def _show(self, request: PaintRequest) -> PaintedPicture | PaintTrouble:
        files = self.files_of(request.item.id)
        if request.number >= len(files):
            return PaintTrouble("there is no picture of this item")
        file = files[request.number]
        if not file.resolve().is_relative_to(self._place.resolve()):
            return PaintTrouble("the picture is outside its folder")
        try:
            with open_regular(file) as stream:
                return PaintedPicture(stream.read(MOST_BYTES + 1))
        except OSError as error:
            return PaintTrouble(f"the picture cannot be read: {error.strerror}")
        except DataError as error:
            return PaintTrouble(error.message)

    def files_of(self, id: str) -> list[Path]:
        """The pictures of an item, in order."""
        return self._index.get(id) or self._index.get(file_stem(id), [])


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

"""Captions from the files in which they are published, one at a time.

COCO's and Visual Genome's JSON, tables such as CC3M's (caption, address), JSON lines with a
`caption`, and plain lines. Nothing is read whole. What is damaged is told with its place and left
out: one broken line must not cost three million sound ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from gnomon.errors import DataError
from gnomon.files import read_lines
from gnomon.jsonstream import FaultError, JsonElement, JsonFile, decoded

KINDS = "COCO captions or Visual Genome regions (.json), .jsonl with a caption, .tsv, or lines"
EXAMPLES = 5  # damaged places of which each is told
HEADERS = ("caption", "captions", "text")  # first fields of a table that has names of columns


class Caption(NamedTuple):
    """What is said of a picture."""

    text: str
    image: str = ""  # which picture it is; empty if the file does not say


class Damage(NamedTuple):
    """A part of a file that cannot be read."""

    file: str
    place: str  # "line 12" or "byte 3400"
    what: str

    def __str__(self) -> str:
        return f"{self.file}, {self.place}: {self.what}"


Report = Callable[[Damage], None]


class Damages:
    """What could not be read: how much, and the first places."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[str] = []

    def __call__(self, damage: Damage) -> None:
        """Take one more in."""
        self.count += 1
        if len(self.first) < EXAMPLES:
            self.first.append(str(damage))


def read_captions(file: Path, report: Report) -> Iterator[Caption]:
    """The captions of a file, by its ending; a file without any is refused."""
    found = False
    for caption in _reader(file)(file, report):
        found = True
        yield caption
    if not found:
        raise DataError("there are no captions in it.", f"Give {KINDS}.", file=file)


def _reader(file: Path) -> Callable[[Path, Report], Iterator[Caption]]:
    ending = Path(file.name.removesuffix(".gz")).suffix.lower()
    return READERS.get(ending, _from_lines)


class _CocoCaption(msgspec.Struct, gc=False):
    image_id: int | str
    caption: str


class _Region(msgspec.Struct, gc=False):
    phrase: str


class _Regions(msgspec.Struct, gc=False):
    id: int | str
    regions: list[_Region]


class _Line(msgspec.Struct, gc=False):
    caption: str
    image: int | str = ""


COCO = msgspec.json.Decoder(_CocoCaption)
REGIONS = msgspec.json.Decoder(_Regions)
LINE = msgspec.json.Decoder(_Line)


def _from_json(file: Path, report: Report) -> Iterator[Caption]:
    """COCO's file is an object with a member `annotations`, Visual Genome's an array."""
    for element in JsonFile(file).elements_or_fault():
        if isinstance(element, FaultError):
            report(
                Damage(
                    str(file),
                    f"byte {element.byte}",
                    f"{element.what}; nothing behind this byte is read",
                )
            )
        elif element.member == "annotations":
            yield from _of_coco(element, file, report)
        elif not element.member:
            yield from _of_visual_genome(element, file, report)


def _of_coco(element: JsonElement, file: Path, report: Report) -> Iterator[Caption]:
    found = decoded(element.text, COCO)
    if isinstance(found, str):
        report(Damage(str(file), f"byte {element.byte}", found))
    else:
        yield Caption(found.caption, str(found.image_id))


def _of_visual_genome(element: JsonElement, file: Path, report: Report) -> Iterator[Caption]:
    found = decoded(element.text, REGIONS)
    if isinstance(found, str):
        report(Damage(str(file), f"byte {element.byte}", found))
        return
    for region in found.regions:
        yield Caption(region.phrase, str(found.id))


def _from_jsonl(file: Path, report: Report) -> Iterator[Caption]:
    for number, line in _sound_lines(file, report):
        try:
            found = LINE.decode(line)
        except (msgspec.MsgspecError, RecursionError) as error:
            report(Damage(str(file), f"line {number}", str(error)))
            continue
        yield Caption(found.caption, str(found.image))


def _from_table(file: Path, report: Report) -> Iterator[Caption]:
    """Two fields a line: the caption and the address of its picture, by which it is known."""
    for number, line in _sound_lines(file, report):
        fields = line.split("\t")
        if number == 1 and fields[0].strip().lower() in HEADERS:
            continue
        if len(fields) != 2:
            what = f"{len(fields)} fields, where a caption and an address are expected"
            report(Damage(str(file), f"line {number}", what))
            continue
        yield Caption(*fields)


def _from_lines(file: Path, report: Report) -> Iterator[Caption]:
    for _, line in _sound_lines(file, report):
        yield Caption(line)


def _sound_lines(file: Path, report: Report) -> Iterator[tuple[int, str]]:
    def skip(number: int) -> None:
        report(Damage(str(file), f"line {number}", "not UTF-8 text"))

    return read_lines(file, skip=skip)


READERS = {".json": _from_json, ".jsonl": _from_jsonl, ".tsv": _from_table}

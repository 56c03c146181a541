"""Captions from the files in which they are published, and which of them are held out.

COCO's and Visual Genome's JSON, tables such as CC3M's (caption, address), JSON lines with a
`caption`, and plain lines. Nothing is read whole. What is damaged is told with its place and left
out: one broken line must not cost three million sound ones.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from gnomon.errors import DataError
from gnomon.files import read_lines
from gnomon.jsonstream import FaultError, JsonFile, decoded

KINDS = "COCO captions or Visual Genome regions (.json), .jsonl with a caption, .tsv, or lines"
EXAMPLES = 5  # damaged places of which each is told
HEADERS = ("caption", "captions", "text")  # first fields of a table that has names of columns


class CorpusCaption(NamedTuple):
    """What is said of a picture."""

    text: str
    image: str = ""  # which picture it is; empty if the file does not say


Report = Callable[[str], None]  # told what cannot be read, and where


class Damages:
    """What could not be read: how much, and the first places."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[str] = []

    def __call__(self, damage: str) -> None:
        """Take one more in."""
        self.count += 1
        if len(self.first) < EXAMPLES:
            self.first.append(damage)


def read_captions(file: Path, report: Report) -> Iterator[CorpusCaption]:
    """The captions of a file, by its ending; a file without any is refused."""
    found = False
    ending = Path(file.name.removesuffix(".gz")).suffix.lower()
    for caption in READERS.get(ending, _from_lines)(file, report):
        found = True
        yield caption
    if not found:
        raise DataError("there are no captions in it.", f"Give {KINDS}.", file=file)


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


# of the elements of a JSON file, by the member that they are in
ELEMENTS: dict[str, msgspec.json.Decoder[_CocoCaption | _Regions]] = {
    "annotations": msgspec.json.Decoder(_CocoCaption),
    "": msgspec.json.Decoder(_Regions),
}
LINE = msgspec.json.Decoder(_Line)


def _from_json(file: Path, report: Report) -> Iterator[CorpusCaption]:
    """COCO's file is an object with a member `annotations`, Visual Genome's an array."""
    for element in JsonFile(file).elements_or_fault():
        place = f"{file}, byte {element.byte}"
        if isinstance(element, FaultError):
            report(f"{place}: {element.what}; nothing behind this byte is read")
        elif element.member in ELEMENTS:
            found = decoded(element.text, ELEMENTS[element.member])
            if isinstance(found, str):
                report(f"{place}: {found}")
            elif isinstance(found, _CocoCaption):
                yield CorpusCaption(found.caption, str(found.image_id))
            else:
                for region in found.regions:
                    yield CorpusCaption(region.phrase, str(found.id))


def _from_jsonl(file: Path, report: Report) -> Iterator[CorpusCaption]:
    for number, line in _sound_lines(file, report):
        try:
            found = LINE.decode(line)
        except (msgspec.MsgspecError, RecursionError) as error:
            report(f"{file}, line {number}: {error}")
            continue
        yield CorpusCaption(found.caption, str(found.image))


def _from_table(file: Path, report: Report) -> Iterator[CorpusCaption]:
    """Two fields a line: the caption and the address of its picture, by which it is known."""
    for number, line in _sound_lines(file, report):
        fields = line.split("\t")
        if number == 1 and fields[0].strip().lower() in HEADERS:
            continue
        if len(fields) != 2:
            what = f"{len(fields)} fields, where a caption and an address are expected"
            report(f"{file}, line {number}: {what}")
            continue
        yield CorpusCaption(*fields)


def _from_lines(file: Path, report: Report) -> Iterator[CorpusCaption]:
    for _, line in _sound_lines(file, report):
        yield CorpusCaption(line)


def _sound_lines(file: Path, report: Report) -> Iterator[tuple[int, str]]:
    return read_lines(file, skip=lambda number: report(f"{file}, line {number}: not UTF-8 text"))


READERS = {".json": _from_json, ".jsonl": _from_jsonl, ".tsv": _from_table}


# Which captions are held out: by picture where pictures are named, and never a text of training.
#
# Pictures are drawn by a hash of their names, so the draw needs no memory and stays the same when
# files are read again. A caption is often said of several pictures: one whose text is held out is
# left out of training, whatever its picture.


Part = Literal["training", "held out", "shared"]
Half = Literal["development", "test"]
WHOLE = 2**64


class Split(NamedTuple):
    """The pictures below a mark are held out, and so are the texts of their captions."""

    seed: int
    mark: int  # of 2**64
    texts: frozenset[int]  # held out, as hashes

    def part(self, caption: CorpusCaption) -> Part:
        """Where a caption belongs; `shared` is a text that is held out, said of another picture."""
        if _place(caption, self.seed) < self.mark:
            return "held out"
        if text_hash(caption.text) in self.texts:
            return "shared"
        return "training"

    def half(self, caption: CorpusCaption) -> Half:
        """Whether a caption that is held out chooses or tests; a picture does one of the two."""
        return "development" if _hash(f"{self.seed}\0half\0{_name(caption)}") % 2 else "test"


def split(captions: Iterable[CorpusCaption], share: float, most: int, seed: int) -> Split:
    """Hold out a share of the pictures, but at most so many captions.

    Without pictures, each text is one of its own. Memory is that of the captions held out.
    """
    mark = int(share * WHOLE)
    kept: list[tuple[int, int]] = []  # of the held out, the last picture first
    for caption in captions:
        place = _place(caption, seed)
        if place >= mark:
            continue
        heapq.heappush(kept, (-place, text_hash(caption.text)))
        if len(kept) > most:
            mark = -heapq.heappop(kept)[0]
            while kept and -kept[0][0] >= mark:  # a picture is held out with all its captions
                heapq.heappop(kept)
    return Split(seed, mark, frozenset(text for _, text in kept))


def text_hash(text: str) -> int:
    """What tells a text from others; case is none of it, since many tokenizers lose it."""
    return _hash(text.casefold())


def _place(caption: CorpusCaption, seed: int) -> int:
    """Where the picture of a caption, or else its text, lies between 0 and 2**64."""
    return _hash(f"{seed}\0{_name(caption)}")


def _name(caption: CorpusCaption) -> str:
    if caption.image:
        return f"image\0{caption.image}"
    return f"text\0{caption.text.casefold()}"


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")

"""Which captions are held out: by picture where pictures are named, and never a text of training.

Pictures are drawn by a hash of their names, so the draw needs no memory and stays the same when
files are read again. A caption is often said of several pictures: one whose text is held out is
left out of training, whatever its picture.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from hashlib import blake2b
from typing import Literal, NamedTuple

from gnomon.train.captions.reading import CorpusCaption

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

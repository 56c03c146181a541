"""Texts that share a long beginning are encoded from near the end of it on.

Whether that gives the same tokens is checked before it is relied on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

WORTHWHILE = 256  # characters that texts must share before their beginning is treated apart
CHECKED = 4  # texts on which a short cut is compared with the long way
KEPT = 8  # seams

Encode = Callable[[Sequence[str]], list[list[int]]]


class Seam(NamedTuple):
    """How a beginning is joined: texts are encoded from `cut` on, their first tokens replaced."""

    beginning: str
    cut: int
    skip: int  # tokens that are dropped
    tokens: list[int]  # those put in their place

    def encode(self, texts: Sequence[str], raw: Encode) -> list[list[int]]:
        """The tokens of texts that have this beginning."""
        ends = raw([text[self.cut :] for text in texts])
        return [self.tokens + ids[self.skip :] for ids in ends]


class Seams:
    """The seams that were found so far, for one tokenizer."""

    def __init__(self, raw: Encode) -> None:
        self.raw = raw
        self._found: list[Seam] = []

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The same tokens as `raw` gives."""
        seam = self._seam(texts)
        if seam is None:
            return self.raw(texts)
        return seam.encode(texts, self.raw)

    def _seam(self, texts: Sequence[str]) -> Seam | None:
        beginning = _common_beginning(texts)
        if len(beginning) < WORTHWHILE:
            return None
        for seam in self._found:
            longest = len(seam.beginning) + WORTHWHILE
            if beginning.startswith(seam.beginning) and len(beginning) < longest:
                return seam

        made = _make_seam(beginning, self.raw)
        some = texts[:CHECKED]
        if made is None or made.encode(some, self.raw) != self.raw(some):
            return None
        self._found = [made, *self._found[: KEPT - 1]]
        return made


def _common_beginning(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)  # what these two share, all share
    for place, (one, other) in enumerate(zip(first, last, strict=False)):
        if one != other:
            return first[:place]
    return first


def _make_seam(beginning: str, raw: Encode) -> Seam | None:
    """A place a few words before the end of a beginning, from where on its tokens are the same."""
    whole = raw([beginning])[0]
    for words in (8, 16):
        last_words = beginning.rsplit(" ", words)[1:]
        cut = len(beginning) - len(" ".join(last_words)) - 1
        if cut <= 0:
            return None
        last = raw([beginning[cut:]])[0]
        for skip in range(4):
            rest = last[skip:]
            if len(rest) > words // 2 and whole[-len(rest) :] == rest:
                return Seam(beginning, cut, skip, whole[: len(whole) - len(rest)])
    return None

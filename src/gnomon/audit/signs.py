"""Texts as the signs that occur in them: words, and pairs of neighbouring words, as sparse rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from gnomon.measures.columns import CodeBook

WORD = re.compile(r"\w+(?:'\w+)?|<|>|=")


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case and in order.

    >>> words_of("The cat isn't on the mat.")
    ['the', 'cat', "isn't", 'on', 'the', 'mat']
    """
    return WORD.findall(text.lower())


def words_and_pairs(text: str) -> list[str]:
    """The words of a text and the pairs of neighbours among them.

    >>> words_and_pairs("On the mat")
    ['on', 'the', 'mat', 'on the', 'the mat']
    """
    words = words_of(text)
    return words + [f"{one} {two}" for one, two in pairwise(words)]


@dataclass(frozen=True)
class Signs:
    """Which signs occur in which row: the signs of row i are codes[starts[i] : starts[i + 1]]."""

    codes: np.ndarray
    starts: np.ndarray
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def rows(self) -> np.ndarray:
        """The row of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))


def signs_of(texts: Sequence[str], split: Callable[[str], list[str]] = words_and_pairs) -> Signs:
    """The signs of each text, each once."""
    names = CodeBook()
    known: dict[str, list[int]] = {}  # sets of templates repeat their texts
    codes: list[int] = []
    lengths = []
    for text in texts:
        mine = known.get(text)
        if mine is None:
            mine = known[text] = [names[sign] for sign in dict.fromkeys(split(text))]
        codes += mine
        lengths.append(len(mine))
    starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return Signs(np.array(codes, dtype=np.int64), starts, tuple(names))

"""Phrases of the lexicon: how they are written, and finding them in a row of words.

A phrase is words with holes (capital letters) and choices: "(just|right|) next to B" stands for
three phrases. A capital N is a number; every other capital is something that the sentence names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from gnomon.grouped import grouped

_CHOICE = re.compile(r"\(([^()]*)\)")
HOLE = re.compile(r"[A-Z]")
NUMBERS: dict[str, float] = {"a": 1, "half": 0.5, "once": 1, "twice": 2, "twelve": 12}
for _number, _word in enumerate(
    ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=1
):
    NUMBERS[_word] = _number


class Phrase(NamedTuple):
    """Words with holes, and what they mean."""

    words: tuple[str, ...]
    meaning: Any


def spelled_out(text: str) -> Iterator[tuple[str, ...]]:
    """Every row of words that a phrase stands for.

    >>> list(spelled_out("(just|) beside B"))
    [('just', 'beside', 'B'), ('beside', 'B')]
    """
    match = _CHOICE.search(text)
    if match is None:
        yield tuple(text.split())
        return
    for choice in match.group(1).split("|"):
        yield from spelled_out(text[: match.start()] + choice + text[match.end() :])


def _first_word(phrase: Phrase) -> str:
    """The word that a phrase begins with; empty where it begins with a hole."""
    first = next(iter(phrase.words), "")
    return "" if HOLE.fullmatch(first) else first


class Index:
    """Phrases by their first word, the longest first."""

    def __init__(self, phrases: Iterable[Phrase]) -> None:
        longest_first = sorted(phrases, key=lambda phrase: -len(phrase.words))
        self._by_first = grouped(longest_first, _first_word)

    def starting(self, word: str) -> Iterator[Phrase]:
        """The phrases that can begin with a word."""
        yield from self._by_first.get(word, ())
        yield from self._by_first.get("", ())

    def words(self) -> set[str]:
        """Every word of the phrases."""
        found: set[str] = set()
        for listed in self._by_first.values():
            for phrase in listed:
                found.update(word for word in phrase.words if not HOLE.fullmatch(word))
        return found


def index_of(entries: dict[str, Any]) -> Index:
    """The phrases of a section of the lexicon: text to meaning."""
    found = []
    for text, meaning in entries.items():
        for words in spelled_out(text):
            found.append(Phrase(words, meaning))
    return Index(found)

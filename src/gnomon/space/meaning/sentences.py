"""Sentences to words: patterns with slots, or free text in which nouns and names are found."""

from __future__ import annotations

import re

from gnomon.space.meaning.lexicon import Lexicon

_MARKER = re.compile(r"\{(?:(?:a|the|bare) )?([A-Z][A-Z0-9]*)(?:('s)|:([^|}]+)(?:\|[^}]*)?)?\}")
_PIECE = re.compile(r"@[^\s,]+|[^\s,]+|,")


def pattern_words(text: str, lexicon: Lexicon) -> list[str]:
    """The words of a sentence with slots; each slot is a name.

    >>> from gnomon.space.meaning.lexicon import lexicon
    >>> pattern_words("{X} {X:is} now on {Y}, too", lexicon())
    ['@X', 'is', 'on', '@Y']
    """
    return plain_words(_MARKER.sub(_shown, text), lexicon)


def _shown(marker: re.Match[str]) -> str:
    slot, possessive, word = marker.groups()
    if possessive:
        return f"@{slot} 's"
    if word in ("it", "they", "them"):
        return f"@{slot}"
    return word or f"@{slot}"


def plain_words(text: str, lexicon: Lexicon) -> list[str]:
    """The words of a sentence in which names are marked with "@"."""
    text = re.sub(r"(@[\w-]+)'s\b", r"\1 's", text.strip().rstrip("."))
    words = []
    for word in _PIECE.findall(text):
        words.append(word if word.startswith("@") else word.lower().replace("may", "May"))
    line = f" {' '.join(words)} ".replace(" its ", " it 's ")
    for phrase, simpler in lexicon.rewrite.items():
        line = line.replace(f" {phrase} ", f" {simpler} " if simpler else " ")
    return line.split()

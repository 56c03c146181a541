"""Sentences to words: patterns with slots, or free text in which nouns and names are found."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gnomon.proofs.meaning.lexicon import GrammarWords

_MARKER = re.compile(r"\{(?:(?:a|the|bare) )?([A-Z][A-Z0-9]*)(?:('s)|:([^|}]+)(?:\|[^}]*)?)?\}")
_DETERMINERS = ("the", "a", "an", "my", "your", "his", "her", "their", "our", "this", "that")
_PARTS = frozenset(
    "left right front back rear top bottom foot middle center edge side sides same other opposite "
    "near far first last one two way direction".split()
)
_STRANGE = re.compile(r"[^\w\s,'-]")  # signs that no sentence needs
_OTHER_MARKER = re.compile(r"\{[^{}]*\}")  # words of a slot of its own: "at once"
_PIECE = re.compile(r"@[^\s,]+|[^\s,]+|,")


def pattern_words(text: str, lexicon: GrammarWords) -> list[str]:
    """The words of a sentence with slots; each slot is a name.

    >>> from gnomon.proofs.meaning.lexicon import grammar_words
    >>> pattern_words("{X} {X:is} now on {Y}, too", grammar_words())
    ['@X', 'is', 'on', '@Y']
    """
    shown = _MARKER.sub(_shown, text)
    return plain_words(_OTHER_MARKER.sub("", shown), lexicon)


def _shown(marker: re.Match[str]) -> str:
    slot, possessive, word = marker.groups()
    if possessive:
        return f"@{slot} 's"
    if word in ("it", "they", "them"):
        return f"@{slot}"
    return word or f"@{slot}"


def plain_words(text: str, lexicon: GrammarWords) -> list[str]:
    """The words of a sentence in which names are marked with "@"."""
    text = re.sub(r"(@[\w-]+)'s\b", r"\1 's", text.strip().rstrip("."))
    words = []
    for word in _PIECE.findall(text):
        words.append(word if word.startswith("@") else word.lower().replace("may", "May"))
    line = f" {' '.join(words)} ".replace(" its ", " it 's ")
    for phrase, simpler in lexicon.rewrite.items():
        line = line.replace(f" {phrase} ", f" {simpler} " if simpler else " ")
    return line.split()


def free_words(
    text: str, lexicon: GrammarWords, nouns: Mapping[str, object], *, bold: bool = False
) -> list[str]:
    """The words of a free sentence: known nouns, other nouns after "the", and names are marked.

    `bold` takes a word of the lexicon after "the" for a noun, too, unless it is a side or a part.

    >>> from gnomon.proofs.meaning.lexicon import grammar_words
    >>> nouns = {"cup": 1, "kitchen table": 1}
    >>> free_words("The cup is on the kitchen table. ", grammar_words(), nouns)
    ['@cup', 'is', 'on', '@kitchen-table']
    """
    text = _STRANGE.sub(" ", text)
    words = _PIECE.findall(text.strip().replace("'s", " 's"))
    marked = []
    at = 0
    while at < len(words):
        length = _noun_length(words, at, lexicon, nouns, bold)
        if not length:
            marked.append(words[at])
            at += 1
            continue
        if marked and marked[-1].lower() in _DETERMINERS:
            marked.pop()
        noun = "-".join(words[at : at + length])
        marked.append(f"@{noun if words[at][0].isupper() else noun.lower()}")
        at += length
    return plain_words(" ".join(marked), lexicon)


def _noun_length(
    words: list[str], at: int, lexicon: GrammarWords, nouns: Mapping[str, object], bold: bool
) -> int:
    """How many words from here on are a noun or a name; 0 if there is none."""
    determined = at > 0 and words[at - 1].lower() in _DETERMINERS
    for length in (3, 2, 1):
        noun = " ".join(words[at : at + length])
        if noun in nouns and (determined or noun[0].isupper()):
            return length
    word, following = words[at], [word.lower() for word in words[at + 1 : at + 2]]
    if word.lower() in lexicon.known or word.lower() in _DETERMINERS:
        is_noun = bold and determined and word.lower() not in _PARTS
        return int(is_noun)
    if not determined:
        return int(word[0].isupper())
    ends_here = all(each == "," or each in lexicon.known for each in following)
    return 1 if ends_here else 2

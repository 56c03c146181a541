"""Where a text names the labels: the words of each choice, and the letters of multiple choice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_lowercase

from gnomon.models.reading.assertion import Mention, asserted

_EDGE = r"""[\s.,;:!?"'()\[\]{}-]*"""
_BLANK = re.compile(r"[\s_-]+")
_LETTER_NAME = rf"{_EDGE}(?:option |choice |answer )?[a-z]?{_EDGE}"
_TRUTH = (("true", "false"), ("yes", "no"), ("correct", "incorrect"), ("right", "wrong"))
_INFLECTED = {  # verbs of labels that are nouns
    "entailment": ("entails", "entailed"),
    "contradiction": ("contradicts", "contradicted", "contradictory"),
}


class Vocabulary:
    """The words of all choices, compiled."""

    def __init__(self, words: Sequence[Sequence[str]], letters: bool) -> None:
        self._table, own_letters = _sorted_out(words)
        self._pattern = _any_word(self._table)
        self._opposite = _opposites(self._table) if len(words) == 2 else {}
        self._letters = own_letters
        if letters and not own_letters:
            places = range(len(words))
            self._letters = dict(zip(ascii_lowercase, places, strict=False))
        self._in_prose, self._anywhere = _letter_patterns(self._letters)

    def asserted(self, segment: str, *, prose: bool) -> set[int]:
        """The choices that a segment asserts; in prose a letter must look like an option."""
        mentions = self._mentions(segment) + self._letter_mentions(segment, prose=prose)
        found: set[int] = set()
        for mention in mentions:
            found |= asserted(segment, mention, self._opposite)
        return found

    def alone(self, segment: str) -> set[int]:
        """The choices of those lines of a segment that are a label and nothing else."""
        found: set[int] = set()
        for line in segment.split(" \n "):
            found |= self._alone(line)
        return found

    def _alone(self, line: str) -> set[int]:
        mentions = self._mentions(line)
        found: set[int] = set()
        for letter in self._letter_mentions(line, prose=False):
            found |= asserted(line, letter, self._opposite)
        rest = line
        for mention in reversed(mentions):
            rest = rest[: mention.start] + rest[mention.end :]
        if not re.fullmatch(_LETTER_NAME if found else _EDGE, rest):
            return set()
        for mention in mentions:
            found |= mention.choices
        return found

    def _mentions(self, segment: str) -> list[Mention]:
        """Each word of a choice, where it stands."""
        found = []
        for match in self._pattern.finditer(segment):
            word = _BLANK.sub(" ", match[0])
            choices = self._table.get(word) or self._table.get(match[0])
            if choices:
                found.append(Mention(choices, word, match.start(), match.end()))
        return found

    def _letter_mentions(self, segment: str, *, prose: bool) -> list[Mention]:
        if not self._letters:
            return []
        matches = list(self._in_prose.finditer(segment))
        if not prose:
            matches += self._anywhere.finditer(segment)
        found = []
        for match in matches:
            letter = match[match.lastindex or 1]
            choices = frozenset({self._letters[letter]})
            found.append(Mention(choices, letter, match.start(), match.end()))
        return found


def _sorted_out(words: Sequence[Sequence[str]]) -> tuple[dict[str, frozenset[int]], dict[str, int]]:
    """Each word with the choices that it stands for; and letters that are answers themselves."""
    table: dict[str, frozenset[int]] = {}
    letters: dict[str, int] = {}
    for place, group in enumerate(words):
        for word in group:
            key = " ".join(word.replace("_", " ").split())
            if len(key) == 1 and key.isalpha():
                letters[key] = place
            elif key:
                table[key] = table.get(key, frozenset()) | {place}
    for noun, verbs in _INFLECTED.items():
        for verb in verbs:
            if noun in table:
                table.setdefault(verb, table[noun])
    return table, letters


def _any_word(table: dict[str, frozenset[int]]) -> re.Pattern[str]:
    """Longest first, so that "not entailed" is found before "entailed"."""
    alternatives = []
    for word in sorted(table, key=len, reverse=True) or ["(no words)"]:
        alternatives.append(re.escape(word).replace(r"\ ", r"[\s_-]+"))
    return re.compile(rf"(?<!\w)(?:{'|'.join(alternatives)})(?!\w|'t\b)")


def _opposites(table: dict[str, frozenset[int]]) -> dict[str, int]:
    """Of two choices: "not true" is false, but "not larger" is not smaller."""
    found: dict[str, int] = {}
    for pair in _TRUTH:
        sides = [table.get(word, frozenset()) for word in pair]
        if all(len(side) == 1 for side in sides):
            (first,), (second,) = sides
            found |= {pair[0]: second, pair[1]: first}
    return found


def _letter_patterns(letters: dict[str, int]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """How a letter is written as an option, and how it may be written where prose is unlikely."""
    some = "".join(letters) or "-"
    after = r"(?=\)|[.,:;!]|\W*$|\s+(?:because|since|as|but|not|and|or|rather|instead)\b|\s+-)"
    in_prose = rf"\(([{some}])\)|\b(?:option|choice|answer|choose|pick) \(?([{some}])\b(?! \w)"
    return re.compile(in_prose), re.compile(rf"(?<![\w'])([{some}]){after}")

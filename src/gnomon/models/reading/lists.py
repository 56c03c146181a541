"""The labels that a reply lists: all of a set, or an order of all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from gnomon.models.reading.segments import RULES, clean, lines_of, sentences_of
from gnomon.records import letter_of

LONGEST = 8_000  # characters that are looked at, from the end
DECIDING = ("whole", "boxed", "announced", "corrected", "concluded", "last line")
_LEFT_OUT = re.compile(
    r"\b(?:but not|and not|not|except(?: for)?|excluding|without|rather than|neither|nor|isn't|"
    r"aren't|doesn't)\b[^.;:\n]*"
)
_ALL = re.compile(
    r"\W*(?:all|every(?:thing)?|both|all \w+)"
    r"(?: (?:of )?(?:the )?(?:above|them|these|options|choices))?\W*"
)
_NONE = re.compile(r"\W*(?:none|nothing|neither)(?: of (?:the |them)?\w*)*\W*")
_NONE_LABEL = re.compile(r"none\b.*|no(?:ne)? of .*|neither\b.*|nothing\b.*")
_ARROW = re.compile(r"\s*(?:->|→|≻|≺|>>)\s*|\s+[<>]\s+")
_LETTER = re.compile(r"(?<![\w'])\(?([a-z])\)?(?![\w'])")
_RUN = re.compile(r"\W*([a-z]{2,26})\W*")
_FILLER = re.compile(
    r"\b(?:options?|choices?|answers?|letters?|and|then|the|are|is|or|correct|right|order|first|"
    r"second|third|last|finally|next|followed by|before|after|comes?)\b|[\d\W_]+"
)


class ListReading(NamedTuple):
    """The labels that were read, and by which rule; none if there are none."""

    labels: tuple[str, ...] | None
    rule: str


class _Labels(NamedTuple):
    """Labels, the pattern that finds them, and whether letters stand for them."""

    names: tuple[str, ...]
    by_words: dict[str, str]  # as they stand in plain text
    pattern: re.Pattern[str]
    letters: bool

    def in_order(self, text: str) -> list[str]:
        """The labels that a text names, in its order, each as often as it does."""
        found = [self.by_words[match[0]] for match in self.pattern.finditer(text)]
        if found or not self.letters:
            return found
        return self._by_letters(text)

    def _by_letters(self, text: str) -> list[str]:
        by_letter = {letter_of(place): name for place, name in enumerate(self.names)}
        run = _RUN.fullmatch(text)
        if run and len(set(run[1])) == len(run[1]) and set(run[1]) <= set(by_letter):
            return [by_letter[letter] for letter in run[1]]
        said = _LETTER.findall(text)
        rest = _FILLER.sub("", _LETTER.sub("", text))
        if rest or not set(said) <= set(by_letter):
            return []
        return [by_letter[letter] for letter in said]


@lru_cache(maxsize=256)
def _labels(names: tuple[str, ...], letters: bool) -> _Labels:
    by_words = {clean(name): name for name in names}
    longest_first = sorted(by_words, key=len, reverse=True)
    words = "|".join(map(re.escape, longest_first))
    return _Labels(names, by_words, re.compile(rf"(?<!\w)(?:{words})(?!\w)"), letters)


def read_set(reply: str, choices: Sequence[str], *, letters: bool = False) -> ListReading:
    """All labels that a reply takes.

    >>> read_set("The sofa and the lamp, but not the bed.", ["bed", "lamp", "sofa"]).labels
    ('lamp', 'sofa')
    """
    known = _labels(tuple(choices), letters)
    for rule, segment in _segments(_plain(reply)):
        whole = _whole_set(segment, known.names)
        if whole:
            return ListReading(whole, rule)
        if rule == "whole" and not _is_plain_list(segment, known):
            continue
        taken = set(known.in_order(_LEFT_OUT.sub(" ", segment)))
        if taken:
            return ListReading(tuple(name for name in known.names if name in taken), rule)
    return ListReading(None, "none")


def _plain(reply: str) -> str:
    """A reply as plain text, with commas where it has arrows."""
    return clean(_ARROW.sub(", ", reply[-LONGEST:]))


def _segments(text: str) -> Iterator[tuple[str, str]]:
    """The parts of a reply that decide, surest first."""
    for rule in RULES:
        if rule.name in DECIDING:
            for segment in rule.segments(text):
                yield rule.name, segment.strip()


def _whole_set(segment: str, names: Sequence[str]) -> tuple[str, ...]:
    """What "all of them" and "none of the above" mean."""
    none = tuple(name for name in names if _NONE_LABEL.fullmatch(name.strip().casefold()))
    if _ALL.fullmatch(segment):
        return tuple(name for name in names if name not in none)
    return none if _NONE.fullmatch(segment) else ()


def _is_plain_list(segment: str, known: _Labels) -> bool:
    """Whether a reply is one sentence, or lines that each begin with a label."""
    if len(sentences_of(segment)) <= 1 and len(lines_of(segment)) <= 1:
        return True
    return all(known.in_order(line) and len(line) < 200 for line in lines_of(segment))


def read_order(reply: str, choices: Sequence[str], *, letters: bool = False) -> ListReading:
    """The order in which a reply puts all labels.

    >>> read_order("bee, then cat, then cow", ["cat", "cow", "bee"]).labels
    ('bee', 'cat', 'cow')
    """
    known = _labels(tuple(choices), letters)
    text = _plain(reply)
    for rule, segment in _segments(text):
        found = known.in_order(segment)
        if _is_order(found, choices):
            return ListReading(tuple(found), rule)
    found = known.in_order(text)
    count = len(choices)
    last = found[-count:]
    repeats = len(found) > count and _is_order(found[:count], choices)
    if _is_order(last, choices) and (not repeats or found[:count] == last):
        return ListReading(tuple(last), "sole")
    return ListReading(None, "several" if found else "none")


def _is_order(found: Sequence[str], choices: Sequence[str]) -> bool:
    return len(found) == len(choices) == len(set(found))

"""The number that a reply gives, in the unit that was asked for.

A bare number is in that unit; one with another unit of its kind is converted; one whose unit is of
another kind, or two numbers that do not agree, are no answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from gnomon.lexicon.quantities import (
    Quantity,
    Token,
    converted,
    quantities,
    quantity_words,
    spelled_plainly,
    stray_units,
    tokens_of,
)
from gnomon.models.reading.segments import RULES, clean, without_thoughts

LONGEST = 8_000  # characters that are looked at, from the end
SAME = 0.1  # relative difference of two numbers that say one thing: "2 m (about 6.6 feet)"
SKIPPED = ("thought", "approved", "closing")  # rules that are for letters and labels
_POINT = re.compile(r"(?<=\d)\.(?=\d)")
_COMMA = re.compile(r"(?<=\d),(?=\d)")
_MARKER = re.compile(r"(?m)^\s*\d{1,2}[.)]\s+(?=\D)")
_NONE = re.compile(r"\b(?:none|nothing|not any|no one)\b|\b(?:no|zero) (?P<noun>\w+)")
_SETTLES = re.compile(
    r"[=≈]|\bno,|"
    r"\b(?:makes?|in total|in all|altogether|actually|closer to|put it at|or rather|so)\b"
)
_WORD = re.compile(r"[^\W\d_]{3,}")
_KEPT = str.maketrans({"·": ".", "‚": ","})


class NumberReading(NamedTuple):
    """The number that was read, and by which rule; none if there is none."""

    value: float | None
    rule: str


class _Asked(NamedTuple):
    """What is asked for: a unit, or things that are counted; and the unit of bare numbers."""

    unit: str
    nouns: frozenset[str]
    bare: str = ""  # another unit that the reply says its numbers are in


class _DisagreementError(Exception):
    """Two numbers that do not agree, or one in a unit of another kind."""


def read_number(reply: str, unit: str = "", question: str = "") -> NumberReading:
    """The number that a reply gives.

    >>> read_number("It is about one and a half metres.", "cm")
    NumberReading(value=150.0, rule='whole')
    >>> read_number("There are 3 chairs and 2 tables.", "", "How many chairs are there?").value
    3.0
    """
    text = clean(spelled_plainly(without_thoughts(reply)[-LONGEST:]))
    if len(_MARKER.findall(text)) > 1:
        text = _MARKER.sub("", text)
    text = _COMMA.sub("‚", _POINT.sub("·", text))
    asked = _Asked(unit, frozenset() if unit else _nouns(question))
    try:
        if unit:
            asked = asked._replace(bare=_unit_of_bare(text.translate(_KEPT), unit))
        return _by_rules(text, asked)
    except _DisagreementError:
        return NumberReading(None, "several")


def _by_rules(text: str, asked: _Asked) -> NumberReading:
    for rule in RULES:
        if rule.name in SKIPPED:
            continue
        for segment in rule.segments(text):
            plain = segment.translate(_KEPT)
            if rule.alone and not _is_alone(plain):
                continue
            value = _said(plain, asked)
            if value is not None:
                return NumberReading(value, rule.name)
    return NumberReading(None, "none")


@lru_cache(maxsize=1024)
def _nouns(question: str) -> frozenset[str]:
    return frozenset(map(_stem, _WORD.findall(question.casefold())))


def _stem(word: str) -> str:
    """A noun without its plural, as far as that matters for counting."""
    return word.removesuffix("s")


def _is_alone(segment: str) -> bool:
    """Whether a segment is one amount and words that only hedge it."""
    found = quantities(segment)
    if not found:
        return False
    hedges = quantity_words().hedges
    inside = {place for each in found for place in range(each.start, each.end)}
    for place, token in enumerate(tokens_of(segment)):
        is_word = token.text[0].isalnum()
        if place not in inside and is_word and token.text not in hedges:
            return False
    return True


def _said(segment: str, asked: _Asked) -> float | None:
    """The number that a segment commits itself to; none if it names none."""
    segment = _settled(segment)
    tokens = tokens_of(segment)
    found = quantities(segment)
    if any(_is_bounded(tokens, each) for each in found):
        raise _DisagreementError
    if not found:
        return _none_of(segment, asked)
    if asked.unit:
        return _agreed(_in_unit(tokens, found, asked))
    return _agreed(_counted(tokens, found, asked))


def _settled(segment: str) -> str:
    """Of a reply that adds up or takes something back, what stands behind that."""
    if len(quantities(segment)) < 2:
        return segment
    for mark in reversed(list(_SETTLES.finditer(segment))):
        rest = segment[mark.end() :]
        if quantities(rest):
            return rest
    return segment


def _is_bounded(tokens: Sequence[Token], found: Quantity) -> bool:
    """Whether a number is only said to be less or more: "less than 1 m", not "just under 2 m"."""
    words = quantity_words()
    before = [token.text for token in tokens[max(0, found.start - 4) : found.start]]
    if words.near & set(before):
        return False
    last_two = " ".join(before[-2:])
    return last_two in words.bounds or " ".join(before[-1:]) in words.bounds


def _unit_of_bare(text: str, unit: str) -> str:
    """The unit in which a reply says that its bare numbers are: "in feet: 10", "unit": "feet".

    Another unit of the same kind that only stands somewhere tells nothing, and none is sure.
    """
    said = unit
    for stray, before in stray_units(text):
        if stray == unit or converted(1.0, stray, unit) is None:
            continue
        said = stray if before in ("in", "unit", "units", ":", "(", "=") else ""
    return said


def _in_unit(tokens: Sequence[Token], found: Sequence[Quantity], asked: _Asked) -> list[Quantity]:
    """Those that measure what was asked for; bare numbers where there is no other."""
    unit = asked.unit
    measured = []
    for each in found:
        if not each.unit:
            continue
        low, high = converted(each.low, each.unit, unit), converted(each.high, each.unit, unit)
        if low is not None and high is not None:
            measured.append(each._replace(low=low, high=high))
    if measured:
        return measured
    bare = [each for each in found if not each.unit]
    unknown = any(_may_be_unit(tokens, each) for each in bare)
    if len(bare) < len(found) or unknown or not asked.bare:
        raise _DisagreementError  # it has a unit, of another kind or of one that is not known
    times = converted(1.0, asked.bare, unit) or 1.0
    return [each._replace(low=each.low * times, high=each.high * times) for each in bare]


def _may_be_unit(tokens: Sequence[Token], found: Quantity) -> bool:
    """Whether the word after a bare number may be a unit that is not known: "3 furlongs"."""
    after = tokens[found.end].text if found.end < len(tokens) else ""
    words = quantity_words()
    return bool(after) and after[0].isalpha() and after not in words.hedges | words.after


def _counted(tokens: Sequence[Token], found: Sequence[Quantity], asked: _Asked) -> list[Quantity]:
    """Those that count things: what the question names, where a number stands before it."""
    bare = [each for each in found if not each.unit]
    if not bare:
        raise _DisagreementError
    named = [each for each in bare if _noun_after(tokens, each) in asked.nouns]
    return named or bare


def _noun_after(tokens: Sequence[Token], found: Quantity) -> str:
    """The word after a number; the one after that, where an adjective stands between."""
    following = tokens[found.end : found.end + 2]
    return _stem(following[0].text) if following else ""


def _none_of(segment: str, asked: _Asked) -> float | None:
    """Zero, where a segment says that there are none of what is counted."""
    match = _NONE.search(segment) if not asked.unit else None
    if match is None:
        return None
    noun = match["noun"]
    return 0.0 if noun is None or _stem(noun) in asked.nouns else None


def _agreed(found: Sequence[Quantity]) -> float:
    """What numbers amount to that say one thing, the first of them."""
    first = found[0]
    for other in found[1:]:
        largest = max(abs(first.middle), abs(other.middle))
        near = SAME * largest if other.unit != first.unit else 0.0
        if abs(other.middle - first.middle) > near:
            raise _DisagreementError
    return first.middle

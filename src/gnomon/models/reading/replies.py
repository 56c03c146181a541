"""From free text to a label: rules in a fixed order, of which the first that finds one decides.

A reply that no rule can read, or that asserts several labels, is none: never guessed, always
counted. Each label has its words ("larger", "bigger"), taken from the prompt that asked; the rules
are listed in `places.RULES` and in docs/models.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from gnomon.errors import DataError
from gnomon.models.reading.cleaning import clean
from gnomon.models.reading.mentions import Vocabulary
from gnomon.models.reading.places import RULES, Rule, conclusions, takes_back, withholds
from gnomon.records import Answer, Item

# a model that asks itself the next question
_NEXT_QUESTION = re.compile(r"\n\s*(?:question|q|user|human)\s*\d*\s*:")
# and one that goes on to the next item, which counts only after a lone label
_NEXT_ITEM = re.compile(r"\n\s*(?:statement|text|context|premise|passage|hypothesis)\s*\d*\s*:")
_CONTRAST = re.compile(r"[^.!?\n]*?\bbut\b([^.!?\n]*)")


class Reading(NamedTuple):
    """Which choice was read (its place) and by which rule; no place if the reply is unreadable."""

    place: int | None
    # a name in RULES; or "several" (labels contradict each other), "none" (no label is asserted)
    rule: str


SEVERAL = Reading(None, "several")
NONE = Reading(None, "none")


def read(reply: str, words: Sequence[Sequence[str]], *, letters: bool = True) -> int | None:
    """The place of the choice that the reply asserts, or none.

    `words` holds the accepted words of each choice.

    >>> size = [["larger", "bigger"], ["smaller"]]
    >>> read("An ant is tiny, so it is not larger. The answer is **smaller**.", size)
    1
    >>> read("It could be larger or smaller.", size) is None
    True
    """
    return explain(reply, words, letters=letters).place


def read_reply(
    reply: str, words: Sequence[Sequence[str]], *, letters: bool = True
) -> Reading | None:
    """The place of the choice that the reply asserts and the rule that found it, or none.

    >>> read_reply("Smaller, because birds are large.", [["larger"], ["smaller"]])
    Reading(place=1, rule='lead')
    """
    found = explain(reply, words, letters=letters)
    return None if found.place is None else found


def explain(reply: str, words: Sequence[Sequence[str]], *, letters: bool = True) -> Reading:
    """The same, and why a reply cannot be read. `letters` reads "(b)" as the second choice.

    >>> explain("It is both larger and smaller.", [["larger"], ["smaller"]])
    Reading(place=None, rule='several')
    """
    if not isinstance(reply, str):
        raise DataError(
            f"a reply is a {type(reply).__name__}, not a text.",
            "Give each reply as one text, in quotes.",
        )
    text = clean(reply)
    known = _vocabulary(tuple(tuple(group) for group in words), letters)
    own = _NEXT_QUESTION.split(text, maxsplit=1)[0]
    if own != text:
        found = _read(own, known)
        if found.place is not None:
            return found
    alone = _NEXT_ITEM.split(text, maxsplit=1)[0]
    if alone != text:
        found = _read(alone, known)
        if found.rule == "whole":
            return found
    return _read(text, known)


def as_answer(
    item: Item, reply: str, words: Sequence[Sequence[str]], *, tokens: int | None = None
) -> Answer:
    """A reply as an answer.

    It is read by the words that the prompt uses for each choice, and by the label itself.
    """
    accepted = [[*ways, label] for ways, label in zip(words, item.choices, strict=True)]
    found = explain(reply, accepted)
    if found.place is None:
        return Answer(item=item.id, reply=reply, tokens=tokens)
    choice = item.choices[found.place]
    return Answer(item=item.id, choice=choice, reply=reply, rule=found.rule, tokens=tokens)


@lru_cache(maxsize=256)
def _vocabulary(words: tuple[tuple[str, ...], ...], letters: bool) -> Vocabulary:
    """The words of each choice, compiled once for the many replies that they read."""
    cleaned = []
    for group in words:
        cleaned.append([clean(word) for word in group])
    return Vocabulary(cleaned, letters)


def _read(text: str, known: Vocabulary) -> Reading:
    for rule in RULES:
        found = _first_asserted(rule, text, known)
        if len(found) > 1:
            return SEVERAL
        if found:
            overturned = rule.name == "lead" and _overturned(text, known, found)
            return SEVERAL if overturned else Reading(found.pop(), rule.name)
        if rule.name == "corrected" and takes_back(text):
            return NONE  # "True. Wait, no.": what it said first no longer holds
        if rule.name == "announced" and withholds(text):
            return NONE  # "The answer is not possible": what else it says is not the answer
    return NONE


def _first_asserted(rule: Rule, text: str, known: Vocabulary) -> set[int]:
    """The choices that the first segment of a rule asserts, of those that assert any."""
    for segment in rule.segments(text):
        if rule.alone:
            found = known.alone(segment)
        else:
            found = known.asserted(segment, prose=rule.prose)
        if found:
            return found
    return set()


def _overturned(text: str, known: Vocabulary, found: set[int]) -> bool:
    """Whether a reply that opens with one label goes on "but" with another, or ends with it."""
    contrast = _CONTRAST.match(text)
    if contrast and known.alone(contrast[1]) - found:
        return True
    for segment in conclusions(text):
        later = known.asserted(segment, prose=True)
        if later:
            return later != found
    return False

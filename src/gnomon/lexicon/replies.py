"""What else a reply may say for a choice: other words for the words that the prompt uses.

And how replies put things around these words, as patterns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec

from gnomon.files import package_data, read_yaml
from gnomon.lexicon.relations import Lexicon, Words, lexicon


class ReplyWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words for words; data/lexicon/replies.yaml says when each kind of them counts."""

    strong: Words
    weak: Words
    undetermined: frozenset[str]
    of_the_answer: frozenset[str]
    converse: dict[str, str]
    degrees: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    ordinals: tuple[tuple[str, str, str, str], ...]
    option_nouns: tuple[str, ...]
    last: tuple[str, ...]
    by_place: dict[int, dict[int, tuple[str, ...]]]
    nouns: tuple[tuple[str, ...], ...]
    possible: tuple[str, ...]
    impossible: tuple[str, ...]
    exclusive: tuple[frozenset[str], ...]
    elsewhere: Words = {}  # of other languages, and signs


def reply_words() -> ReplyWords:
    """All that the reader of replies knows, with the words for relations."""
    return _with_relations(lexicon())


@cache
def _with_relations(known: Lexicon) -> ReplyWords:
    own = msgspec.convert(read_yaml(package_data("lexicon/replies.yaml")), ReplyWords)
    elsewhere = msgspec.convert(read_yaml(package_data("lexicon/languages.yaml")), Words)
    truth = {"true": elsewhere["yes"], "false": elsewhere["no"]}
    return msgspec.structs.replace(
        own,
        strong=_merged(known.strong_replies, own.strong),
        weak=_merged(known.weak_replies, own.weak),
        elsewhere=_merged(elsewhere, truth),
        converse=own.converse | known.reply_converses,
    )


def _merged(some: Words, others: Words) -> Words:
    merged = dict(some)
    for word, further in others.items():
        merged[word] = (*merged.get(word, ()), *further)
    return merged


def further_words(words: Iterable[str], known: Words, taken: Iterable[str]) -> set[str]:
    """The synonyms of some words, but for those that are taken.

    >>> sorted(further_words(["gray"], reply_words().strong, taken=["black"]))
    ['grey']
    """
    further: set[str] = set()
    for word in words:
        further.update(known.get(word, ()))
    return further - set(taken)


def degree_in(text: str) -> str:
    """The first degree that a text names, as a question asks for it; empty if there is none.

    >>> degree_in("which point is closer to the camera?")
    'closer'
    """
    match = any_degree().search(text)
    return match[0] if match else ""


@cache
def any_degree() -> re.Pattern[str]:
    """Where a text names a degree or its opposite."""
    words: set[str] = set()
    for high, low in reply_words().degrees:
        words.update(high, low)
    return re.compile(rf"(?<!\w)(?:{any_of(words)})(?!\w)")


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of some words, the longest first, by their first letters: that is fast."""
    rests: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        rests.setdefault(word[:1], []).append(re.escape(word[1:]))
    alternatives = [f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in rests.items()]
    return "|".join(alternatives) or "(?!)"


@cache
def phrase(name: str) -> re.Pattern[str]:
    """How replies put something, by its name in data/lexicon/phrases.yaml."""
    return re.compile(_phrase_text(name))


def _phrase_text(name: str) -> str:
    text = "".join(_phrases()[name])
    return re.sub(r"<<(\w+)>>", lambda match: _phrase_text(match[1]), text)


@cache
def _phrases() -> Any:
    return read_yaml(package_data("lexicon/phrases.yaml"))

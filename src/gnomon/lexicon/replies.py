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
    whole: Words
    whole_of_two: Words
    undetermined: frozenset[str]
    of_the_answer: frozenset[str]
    converse: dict[str, str]


def reply_words() -> ReplyWords:
    """All that the reader of replies knows, with the words for relations."""
    return _with_relations(lexicon())


@cache
def _with_relations(known: Lexicon) -> ReplyWords:
    own = msgspec.convert(read_yaml(package_data("lexicon/replies.yaml")), ReplyWords)
    return msgspec.structs.replace(
        own,
        strong=own.strong | known.strong_replies,
        weak=own.weak | known.weak_replies,
        converse=own.converse | known.reply_converses,
    )


def further_words(words: Iterable[str], known: Words, taken: Iterable[str]) -> set[str]:
    """The synonyms of some words, but for those that are taken.

    >>> sorted(further_words(["gray"], reply_words().strong, taken=["black"]))
    ['grey']
    """
    further: set[str] = set()
    for word in words:
        further.update(known.get(word, ()))
    return further - set(taken)


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

"""A small check of English surface forms: agreement, articles, doubled words, capitals, spaces.

It reads finished sentences and knows only the nouns of the mini world, so it can judge what
`surface` or a pattern's author has written. It is made to be right when it complains, not to find
everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from gnomon.language.surface import AGREEMENT, indefinite_article
from gnomon.language.world import Entity, World

SINGULAR, PLURAL = frozenset(AGREEMENT), frozenset(AGREEMENT.values())
_DETERMINERS = frozenset(["the", "a", "an", "some"])
# A clause may start after these, so that a noun phrase behind them is a subject.
_CLAUSE = frozenset(["that", "when", "while", "because", "but", "then", "where", "if", "so"])
# Words in -s that follow a subject without being a verb in the third person.
_NOT_VERBS = frozenset(
    "towards always perhaps sometimes afterwards upwards downwards across its".split()
)
# Verbs of place in the bare form, which a singular subject cannot take.
_BARE_VERBS = frozenset(
    """
    stand lie lean hang face sit rest live walk drive run go come stay touch surround contain
    belong flow lead border
    """.split()
)
_TOKEN = re.compile(r"[\w'’-]+|,")


class Phrase(NamedTuple):
    """A noun phrase in a sentence: its noun, where it ends, and its number."""

    noun: Entity
    end: int
    plural: bool


class Grammar:
    """Knows the nouns of a world.

    >>> nouns = (Entity("jeans", frozenset(["plural"])), Entity("box"))
    >>> world = World(nouns, {}, {}, {}, {"jeans": 0, "box": 1})
    >>> list(Grammar(world).complaints("The jeans is in a box."))
    ["'jeans' does not agree with 'is'"]
    """

    def __init__(self, world: World) -> None:
        self._nouns = {tuple(entity.name.lower().split()): entity for entity in world.entities}
        self._longest = max((len(words) for words in self._nouns), default=1)

    def complaints(self, sentence: str) -> Iterator[str]:
        """What is wrong with a sentence that ends with its full stop."""
        if not sentence[:1].isupper() and not sentence[:1].isdigit():
            yield "it does not start with a capital"
        if not sentence.endswith(".") or sentence.endswith(".."):
            yield "it does not end with one full stop"
        if re.search(r"  | [,.]|[{}_]", sentence):
            yield "it holds a stray space, brace or underscore"
        words = [token.lower() for token in _TOKEN.findall(sentence)]
        for first, second in pairwise(words):
            if first == second:
                yield f"the word '{first}' is doubled"
        yield from self._articles(words)
        yield from self._agreement(words)

    def _noun_at(self, words: Sequence[str], start: int) -> Phrase | None:
        """The longest noun that starts here."""
        for length in range(min(self._longest, len(words) - start), 0, -1):
            found = self._nouns.get(tuple(words[start : start + length]))
            if found is not None:
                return Phrase(found, start + length, "plural" in found.flags)
        return None

    def _phrase_at(self, words: Sequence[str], start: int) -> Phrase | None:
        """A noun phrase that starts here: a noun behind its determiner, or a name."""
        if start >= len(words):
            return None
        found = self._noun_at(words, start)
        if words[start] in _DETERMINERS:
            return found or self._noun_at(words, start + 1)
        if found and "proper" in found.noun.flags:
            return found
        return None

    def _articles(self, words: Sequence[str]) -> Iterator[str]:
        for i, word in enumerate(words[:-1]):
            if word not in _DETERMINERS:
                continue
            if self._noun_at(words, i):  # "the Netherlands" may be a name with its article
                continue
            found = self._noun_at(words, i + 1)
            if found:
                yield from _wrong_before(word, found.noun)
            elif word in ("a", "an"):
                yield from _wrong_sound(word, Entity(words[i + 1]))

    def _agreement(self, words: Sequence[str]) -> Iterator[str]:
        subject = self._subject(words)
        if subject and subject.end < len(words) and _disagrees(words[subject.end], subject.plural):
            yield f"'{subject.noun.name}' does not agree with '{words[subject.end]}'"
        for i, word in enumerate(words):
            if word in SINGULAR | PLURAL:
                yield from self._auxiliary(words, i, subject)
                subject = None  # later ones may have subjects that only a parser could find

    def _subject(self, words: Sequence[str]) -> Phrase | None:
        """The noun phrase that opens the sentence, or follows what opens it ("In the photo, ...").

        Of "A, B and C" it is the last one, and plural.
        """
        subject = self._phrase_at(words, 0)
        if subject is None and "," in words:
            subject = self._phrase_at(words, words.index(",") + 1)
        while subject and subject.end < len(words) and words[subject.end] in (",", "and"):
            following = self._phrase_at(words, subject.end + 1)
            if following is None:
                break
            subject = following._replace(plural=True)
        return subject

    def _auxiliary(self, words: Sequence[str], at: int, subject: Phrase | None) -> Iterator[str]:
        found = self._clause_subject(words, at)
        in_main_clause = not _CLAUSE & set(words[:at])
        if found is None and subject and subject.end <= at and in_main_clause:
            found = subject
        if found and (words[at] in SINGULAR) == found.plural:
            yield f"'{found.noun.name}' does not agree with '{words[at]}'"

    def _clause_subject(self, words: Sequence[str], at: int) -> Phrase | None:
        """The noun phrase right before a verb of an inner clause ("when the jeans were ...")."""
        for start in range(max(1, at - self._longest - 1), at):
            found = self._phrase_at(words, start)
            if found and found.end == at and words[start - 1] in _CLAUSE:
                return found
        return None


def _wrong_before(word: str, noun: Entity) -> Iterator[str]:
    """What is wrong with a determiner before a noun of the world."""
    countless = bool(noun.flags & {"plural", "mass"})
    if "proper" in noun.flags and not (word == "the" and "the" in noun.flags):
        yield f"the name '{noun.name}' has an article"
    elif word in ("a", "an") and countless:
        yield f"'{noun.name}' cannot have '{word}'"
    elif word in ("a", "an"):
        yield from _wrong_sound(word, noun)
    elif word == "some" and not countless:
        yield f"'{noun.name}' cannot have 'some'"


def _wrong_sound(article: str, noun: Entity) -> Iterator[str]:
    if article != indefinite_article(noun):
        yield f"'{article} {noun.name}' has the wrong article"


def _disagrees(verb: str, plural: bool) -> bool:
    """Whether a verb cannot follow a subject of this number."""
    if not plural:
        return verb in _BARE_VERBS
    third_person = re.fullmatch(r"[a-z]{2,}[^s']s", verb)
    return bool(third_person) and verb not in _NOT_VERBS | SINGULAR

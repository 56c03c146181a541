"""A small check of English surface forms: agreement, articles, doubled words, capitals, spaces.

It reads finished sentences and knows only the nouns of the mini world, so it can judge what
`surface` or a pattern's author has written. It is made to be right when it complains, not to find
everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from gnomon.language.surface import AGREEMENT, indefinite_article
from gnomon.language.world import Entity, World

SINGULAR, PLURAL = frozenset(AGREEMENT), frozenset(AGREEMENT.values())
_DETERMINERS = frozenset(["the", "a", "an", "some"])
# A clause may start after these, so that a noun phrase behind them is a subject.
_CLAUSE = frozenset(["that", "when", "while", "because", "but", "then", "where", "if", "so"])
# Words in -s that follow a subject without being a verb in the third person.
_NOT_VERBS = frozenset(
    [
        "towards",
        "always",
        "perhaps",
        "sometimes",
        "afterwards",
        "upwards",
        "downwards",
        "across",
        "its",
    ]
)
# Verbs of place in the bare form, which a singular subject cannot take.
_BARE_VERBS = frozenset(
    [
        "stand",
        "lie",
        "lean",
        "hang",
        "face",
        "sit",
        "rest",
        "live",
        "walk",
        "drive",
        "run",
        "go",
        "come",
        "stay",
        "touch",
        "surround",
        "contain",
        "belong",
        "flow",
        "lead",
        "border",
    ]
)
_TOKEN = re.compile(r"[\w'’-]+|,")


class Grammar:
    """Knows the nouns of a world.

    >>> world = World((Entity("jeans", frozenset(["plural"])), Entity("box")), {}, {}, {}, {"jeans": 0, "box": 1})
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

    def _noun_at(self, words: Sequence[str], start: int) -> tuple[Entity, int] | None:
        """The longest noun that starts here, and where it ends."""
        for length in range(min(self._longest, len(words) - start), 0, -1):
            found = self._nouns.get(tuple(words[start : start + length]))
            if found is not None:
                return found, start + length
        return None

    def _phrase_at(self, words: Sequence[str], start: int) -> tuple[Entity, int] | None:
        """A noun phrase that starts here: a noun behind its determiner, or a name."""
        if start < len(words) and words[start] in _DETERMINERS:
            return self._noun_at(words, start) or self._noun_at(words, start + 1)
        found = self._noun_at(words, start) if start < len(words) else None
        return found if found and "proper" in found[0].flags else None

    def _articles(self, words: Sequence[str]) -> Iterator[str]:
        for i, word in enumerate(words[:-1]):
            if word not in _DETERMINERS or self._noun_at(
                words, i
            ):  # "the Netherlands" may be a name with its article
                continue
            found = self._noun_at(words, i + 1)
            entity = found[0] if found else Entity(words[i + 1])
            flags = entity.flags
            if found and "proper" in flags and not (word == "the" and "the" in flags):
                yield f"the name '{entity.name}' has an article"
            elif word in ("a", "an"):
                if found and flags & {"plural", "mass"}:
                    yield f"'{entity.name}' cannot have '{word}'"
                elif word != indefinite_article(entity):
                    yield f"'{word} {entity.name}' has the wrong article"
            elif word == "some" and found and not flags & {"plural", "mass"}:
                yield f"'{entity.name}' cannot have 'some'"

    def _agreement(self, words: Sequence[str]) -> Iterator[str]:
        subject, plural = self._subject(words)
        if subject:
            yield from self._verb(words, subject, plural)
        first = True  # later auxiliaries may have subjects that only a parser could find
        for i, word in enumerate(words):
            if word in SINGULAR | PLURAL:
                yield from self._auxiliary(words, i, subject if first else None, plural)
                first = False

    def _subject(self, words: Sequence[str]) -> tuple[tuple[Entity, int] | None, bool]:
        """The noun phrase that opens the sentence, or follows what opens it ("In the photo, ...").

        Of "A, B and C" it is the last one, and plural.
        """
        opening = self._phrase_at(words, 0)
        subject = opening or (
            self._phrase_at(words, words.index(",") + 1) if "," in words else None
        )
        plural = subject is not None and "plural" in subject[0].flags
        while subject and subject[1] < len(words) and words[subject[1]] in (",", "and"):
            following = self._phrase_at(words, subject[1] + 1)
            if following is None:
                break
            subject, plural = following, True
        return subject, plural

    def _auxiliary(
        self, words: Sequence[str], at: int, subject: tuple[Entity, int] | None, plural: bool
    ) -> Iterator[str]:
        near = self._clause_subject(words, at)
        if near is not None:
            name, is_plural = near.name, "plural" in near.flags
        elif subject and subject[1] <= at and not _CLAUSE & set(words[:at]):
            name, is_plural = subject[0].name, plural
        else:
            return
        if (words[at] in SINGULAR) == is_plural:
            yield f"'{name}' does not agree with '{words[at]}'"

    def _clause_subject(self, words: Sequence[str], at: int) -> Entity | None:
        """The noun phrase right before a verb that starts an inner clause ("when the jeans were
        ...")."""
        for start in range(max(0, at - self._longest - 1), at):
            found = self._phrase_at(words, start)
            if found and found[1] == at and start and words[start - 1] in _CLAUSE:
                return found[0]
        return None

    def _verb(
        self, words: Sequence[str], subject: tuple[Entity, int], plural: bool
    ) -> Iterator[str]:
        verb = words[subject[1]] if subject[1] < len(words) else ""
        if plural and re.fullmatch(r"[a-z]{2,}[^s']s", verb) and verb not in _NOT_VERBS | SINGULAR:
            yield f"'{subject[0].name}' does not agree with '{verb}'"
        if not plural and verb in _BARE_VERBS:
            yield f"'{subject[0].name}' does not agree with '{verb}'"

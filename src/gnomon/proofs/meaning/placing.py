"""Phrases that say where something is: one place, several, or one or the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gnomon.proofs.meaning.context import Context, Located, Part
from gnomon.proofs.meaning.phrases import Phrase
from gnomon.proofs.meaning.statements import Filler
from gnomon.proofs.meaning.words import Words

JOINTS = (",", "but", "and")


class Places:
    """Reads places from the words of a sentence."""

    def __init__(self, words: Words) -> None:
        self.words = words

    def all(
        self, start: int, context: Context, *, owner: tuple[str, ...] = ()
    ) -> Iterator[Located]:
        """Every way to read a place here; `owner` is whose left and right counts."""
        first_word = start
        if self.words.at(start) in ("either", "both"):
            first_word += 1
        for first in self._one(first_word, context, owner):
            yield from self._longer(first, owner)

    def fronted(self, start: int, context: Context) -> Iterator[Located]:
        """Places before the subject, also with "from": "From inside the house, ..."."""
        if self.words.at(start) == "with":
            return
        yield from self.all(start, context)
        if self.words.at(start) == "from":
            yield from self.all(start + 1, context)

    def plain(self, start: int, context: Context) -> Iterator[Located]:
        """A single place."""
        return self._one(start, context, ())

    def _longer(self, first: Located, owner: tuple[str, ...]) -> Iterator[Located]:
        words = self.words
        if words.at(first.end) == "or":
            for other in self._one(first.end + 1, first.context, owner):
                yield other._replace(parts=first.parts, others=other.parts)
        joint = first.end
        while words.at(joint) in JOINTS:
            joint += 1
        if joint > first.end and words.at(joint) in ("with", "by"):
            yield first
            return
        contrast = words.at(joint - 1) == "but"
        for other in self._one(joint, first.context, owner):
            added = [part._replace(contrast=contrast) for part in other.parts]
            both = other._replace(parts=(*first.parts, *added))
            yield from self._longer(both, owner)
        yield first

    def _one(self, start: int, context: Context, owner: tuple[str, ...]) -> Iterator[Located]:
        words = self.words
        yield from self._named(start, context, owner, denied=False)
        if words.at(start) == "not":
            yield from self._named(start + 1, context, owner, denied=True)
        if context.open_ground and context.grounds:
            ground = context.grounds[-1]
            closed = context._replace(open_ground=False)
            yield self._located(start, closed, Part(self.there(ground), {"B": ground}))

    def _named(
        self, start: int, context: Context, owner: tuple[str, ...], *, denied: bool
    ) -> Iterator[Located]:
        words = self.words
        for match in words.matches(words.lexicon.places, start, context):
            fillers = {**words.referents(context), **match.fillers}
            whose = owner or context.subject
            if whose:
                fillers["O"] = whose[0]
            meaning = meaning_in(match.phrase, context.setting)
            later = self.found(match.context, match.phrase, match.fillers)
            yield self._located(match.end, later, Part(meaning, fillers, denied))
        if words.at(start) == "there" and context.there:
            meaning, ground = context.there
            fillers = {**words.referents(context), "B": ground}
            yield self._located(start + 1, context, Part(meaning, fillers, denied))

    def _located(self, end: int, context: Context, part: Part) -> Located:
        located = Located(end, context, (part,))
        remembered = context._replace(where=located._replace(context=Context()))
        return located._replace(context=remembered)

    def found(self, context: Context, phrase: Phrase, fillers: dict[str, Filler]) -> Context:
        """The context after a place: what `it` and `there` stand for."""
        named: list[str] = []
        for hole in phrase.words:
            filler = fillers.get(hole)
            if hole != "A" and isinstance(filler, str):
                named.append(filler)
            if hole != "A" and isinstance(filler, tuple):
                named.extend(filler)
        grounds = [name for name in named if not self.words.names.is_a(name, "living", "thing")]
        if not grounds:
            return context
        ground = grounds[0]
        there = self.there(ground)
        if isinstance(phrase.meaning, dict):
            there = phrase.meaning.get("there", there)
        return context._replace(
            grounds=(*context.grounds, *grounds), there=(there.replace("V", "B"), ground)
        )

    def there(self, ground: str) -> str:
        """What "there" means of a ground, if no preposition has said it."""
        inner = ("hollow", "room", "building", "city", "country", "area")
        if self.words.names.is_a(ground, *inner):
            return "inside(A, B)"
        return "beside(A, B)"


def meaning_in(phrase: Phrase, setting: str) -> Any:
    """What a phrase means in a setting such as a queue."""
    if isinstance(phrase.meaning, dict) and setting in phrase.meaning:
        return phrase.meaning[setting]
    return phrase.meaning

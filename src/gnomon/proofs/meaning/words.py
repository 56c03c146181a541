"""Finding phrases and names in the words of a sentence. A name is a word that begins with "@"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gnomon.proofs.meaning.context import Context, Names
from gnomon.proofs.meaning.lexicon import GrammarWords
from gnomon.proofs.meaning.phrases import HOLE, NUMBERS, Index, Phrase
from gnomon.proofs.meaning.statements import Filler

PRONOUNS = ("it", "they", "them")
# Holes that only something of a kind can fill, and those for numbers.
KINDS_OF_HOLES = {"S": "divider", "T": "table", "V": "vehicle", "G": "area"}
NUMBER_HOLES = ("N", "J")


class Match(NamedTuple):
    """A phrase that was found, with its holes filled."""

    phrase: Phrase
    fillers: dict[str, Filler]
    end: int
    context: Context


class Words:
    """The words of one sentence, against the lexicon and the names of a story."""

    def __init__(self, lexicon: GrammarWords, names: Names, words: list[str]) -> None:
        self.lexicon = lexicon
        self.names = names
        self.words = words

    def __len__(self) -> int:
        return len(self.words)

    def at(self, number: int) -> str:
        """The word of a number; nothing after the end."""
        return self.words[number] if number < len(self.words) else ""

    def matches(self, index: Index, start: int, context: Context) -> Iterator[Match]:
        """Every phrase of a section that begins at a word, the longest first."""
        for phrase in index.starting(self.at(start)):
            for fillers, end, later in self._filled(phrase.words, 0, start, context):
                yield Match(phrase, fillers, end, later)

    def ends(self, index: Index, start: int, context: Context) -> Iterator[int]:
        """Where phrases without holes end."""
        for match in self.matches(index, start, context):
            yield match.end

    def _filled(
        self, words: tuple[str, ...], number: int, start: int, context: Context
    ) -> Iterator[tuple[dict[str, Filler], int, Context]]:
        if number == len(words):
            yield {}, start, context
            return
        word = words[number]
        if not HOLE.fullmatch(word):
            if self.at(start) == word:
                yield from self._filled(words, number + 1, start + 1, context)
            return
        for filler, end, later in self._fillers(word, start, context):
            for rest, last, final in self._filled(words, number + 1, end, later):
                yield {word: filler, **rest}, last, final

    def _fillers(
        self, hole: str, start: int, context: Context
    ) -> Iterator[tuple[Filler, int, Context]]:
        if hole in NUMBER_HOLES:
            if self.at(start) in NUMBERS:
                yield NUMBERS[self.at(start)], start + 1, context
            return
        kind = KINDS_OF_HOLES.get(hole)
        for names, end, later in self.noun_phrases(start, context, kind=kind, hole=True):
            if kind and not self.names.is_a(names[0], kind):
                continue
            yield (names if len(names) > 1 else names[0]), end, later

    def noun_phrases(
        self, start: int, context: Context, *, kind: str | None = None, hole: bool = False
    ) -> Iterator[tuple[tuple[str, ...], int, Context]]:
        """Who or what is named at a word: several, one, or whom a pronoun stands for."""
        word = self.at(start)
        if word.startswith("@"):
            single = ((word[1:],), start + 1, context.naming(word[1:]))
            if hole:  # "on the table and the cup under it": one is likelier than both
                yield single
            yield from self._lists(start, context)
            if not hole:
                yield single
            return
        if word in PRONOUNS:
            name = self._antecedent(context, kind, hole)
            if name:
                yield (name,), start + 1, context
            return
        for match in self.matches(self.lexicon.implied, start, context):
            name = " ".join(match.phrase.words)
            yield (name,), match.end, context.naming(name)

    def _lists(
        self, start: int, context: Context
    ) -> Iterator[tuple[tuple[str, ...], int, Context]]:
        """X, Y and Z."""
        names: list[str] = []
        end = start
        while self.at(end).startswith("@"):
            names.append(self.at(end)[1:])
            end += 1
            if self.at(end) == "and" and self.at(end + 1).startswith("@"):
                names.append(self.at(end + 1)[1:])
                yield tuple(names), end + 2, context.naming(*names)
                return
            if self.at(end) != ",":
                return
            end += 1

    def _antecedent(self, context: Context, kind: str | None, hole: bool) -> str:
        """Whom a pronoun stands for: the last ground; as a subject, who was mentioned last."""
        if not hole:
            return context.mentioned[-1] if context.mentioned else ""
        for name in (*reversed(context.grounds), *reversed(context.mentioned)):
            if name in context.subject or self.names.is_a(name, "person"):
                continue
            if not kind or self.names.is_a(name, kind):
                return name
        return ""

    def referents(self, context: Context) -> dict[str, Filler]:
        """What meanings can refer to without a hole: it, place, one and two, other, divider."""
        found: dict[str, Filler] = {}
        mentioned = list(reversed(context.mentioned))
        places = [name for name in mentioned if self.names.is_a(name, "ground")]
        grounds = []
        for name in dict.fromkeys([*reversed(context.grounds), *places]):
            if name not in context.subject:
                grounds.append(name)
        if grounds:
            found["it"] = grounds[0]
        if len(grounds) > 1:
            found["one"], found["two"] = grounds[1], grounds[0]
        if context.there:
            found["place"] = context.there[1]
        for name in mentioned:
            if self.names.is_a(name, "living") and name not in context.subject:
                found.setdefault("other", name)
            for kind in ("divider", "building"):
                if self.names.is_a(name, kind):
                    found.setdefault(kind, name)
        return found

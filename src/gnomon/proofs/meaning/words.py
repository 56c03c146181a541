"""Finding phrases, names and places in the words of a sentence."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from gnomon.proofs.meaning.clauses import Context, Filler, Located, PhrasePart, StoryNames
from gnomon.proofs.meaning.vocabulary import (
    HOLE,
    ORDINALS,
    GrammarPhrase,
    GrammarWords,
    Index,
    is_number,
    number_of,
)

PRONOUNS = ("it", "they", "them", "he", "she", "him")
PERSONAL = ("he", "she", "him")
# Holes that only something of a kind can fill, and those for numbers.
KINDS_OF_HOLES = {
    "P": "person",
    "S": "divider",
    "T": "table",
    "V": "vehicle",
    "G": "area",
    "W": "water",
    "H": "hollow",
}
NUMBER_HOLES = ("N", "J")
UNIT_HOLE = "U"  # of lengths
ORDINAL_HOLE = "K"  # of floors


class Match(NamedTuple):
    """A phrase that was found, with its holes filled."""

    phrase: GrammarPhrase
    fillers: dict[str, Filler]
    end: int
    context: Context


class Words:
    """The words of one sentence, against the lexicon and the names of a story."""

    def __init__(self, lexicon: GrammarWords, names: StoryNames, words: list[str]) -> None:
        self.lexicon = lexicon
        self.names = names
        self.words = words
        self._present = frozenset(words)
        self._possible: dict[int, Iterable[GrammarPhrase]] = {}  # begun by a hole, by section

    def __len__(self) -> int:
        return len(self.words)

    def at(self, number: int) -> str:
        """The word of a number; nothing after the end."""
        return self.words[number] if number < len(self.words) else ""

    def matches(self, index: Index, start: int, context: Context) -> Iterator[Match]:
        """Every phrase of a section that begins at a word, the longest first."""
        for phrase in self._phrases(index, start):
            for fillers, end, later in self._filled(phrase.words, 0, start, context):
                yield Match(phrase, fillers, end, later)

    def _phrases(self, index: Index, start: int) -> Iterator[GrammarPhrase]:
        yield from index.starting(self.at(start))
        if id(index) not in self._possible:
            self._possible[id(index)] = index.begun_by_hole(self._present)
        yield from self._possible[id(index)]

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
                if rest.get(word, filler) == filler:  # one hole stands for one thing
                    yield {word: filler, **rest}, last, final

    def _fillers(
        self, hole: str, start: int, context: Context
    ) -> Iterator[tuple[Filler, int, Context]]:
        if hole in NUMBER_HOLES:
            if is_number(self.at(start)):
                yield number_of(self.at(start)), start + 1, context
            return
        if hole == ORDINAL_HOLE:
            if self.at(start) in ORDINALS:
                yield ORDINALS.index(self.at(start)), start + 1, context
            return
        if hole == UNIT_HOLE:
            if self.at(start) in self.lexicon.units:
                yield self.lexicon.units[self.at(start)], start + 1, context
            return
        kind = KINDS_OF_HOLES.get(hole)
        for names, end, later in self.noun_phrases(start, context, kind=kind, hole=True):
            if kind and not self.names.is_a(names[0], kind):
                continue
            yield (names if len(names) > 1 else names[0]), end, later

    def noun_phrases(
        self,
        start: int,
        context: Context,
        *,
        kind: str | None = None,
        hole: bool = False,
        moved: bool = False,
    ) -> Iterator[tuple[tuple[str, ...], int, Context]]:
        """Who or what is named at a word: several, one, or whom a pronoun stands for.

        `hole` is one in a phrase; what is `moved` is a thing that can be carried, if there is one.
        """
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
            name = self._antecedent(context, kind, hole and word not in PERSONAL)
            if moved and word in ("it", "them"):
                name = self._last_thing(context) or name
            if word in PERSONAL:
                name = self._last_person(context) or context.figure
            if not name and word in self.names.implied:
                name = word
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

    def _last_person(self, context: Context) -> str:
        for name in reversed(context.mentioned):
            if self.names.is_a(name, "person"):
                return name
        return ""

    def _last_thing(self, context: Context) -> str:
        """What was mentioned last and can be moved: no person, and not where it was put."""
        place = context.there[1] if context.there else ""
        for name in reversed(context.mentioned):
            unsure = name in context.grounds and not self.names.is_a(name, "thing", "ground")
            if name != place and not unsure and not self.names.is_a(name, "person", "fixed"):
                return name
        return ""

    def _antecedent(self, context: Context, kind: str | None, hole: bool) -> str:
        """Whom a pronoun stands for: the last ground; as a subject, who was mentioned last."""
        if not hole:
            return context.figure or (context.mentioned[-1] if context.mentioned else "")
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


# Phrases that say where something is: one place, several, or one or the other.


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
        if self.words.at(start) in ("with", "seen", "viewed", "visible", "hidden"):
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
            yield self._located(start, closed, PhrasePart(self.there(ground), {"B": ground}))

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
            yield self._located(match.end, later, PhrasePart(meaning, fillers, denied))
        for end in words.ends(words.lexicon.adverbs, start, context):
            adverb = " ".join(words.words[start:end])
            for located in self._named(end, context, owner, denied=denied):
                yield located._replace(parts=_narrowed(located.parts, adverb))
        if words.at(start) == "there" and context.there:
            meaning, ground = context.there
            fillers = {**words.referents(context), "B": ground}
            yield self._located(start + 1, context, PhrasePart(meaning, fillers, denied))

    def _located(self, end: int, context: Context, part: PhrasePart) -> Located:
        located = Located(end, context, (part,))
        remembered = context._replace(where=located._replace(context=Context()))
        return located._replace(context=remembered)

    def found(self, context: Context, phrase: GrammarPhrase, fillers: dict[str, Filler]) -> Context:
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
        ground = grounds[-1] if phrase.words[0] == "from" else grounds[0]
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


def _narrowed(parts: tuple[PhrasePart, ...], adverb: str) -> tuple[PhrasePart, ...]:
    """Parts that say more than their words alone: how much more is not analysed."""
    found = []
    for part in parts:
        meaning = part.meaning["is"] if isinstance(part.meaning, dict) else part.meaning
        named = "A, B" if "B" in part.fillers else "A"
        found.append(part._replace(meaning=f'({meaning}) and fact("{adverb}", {named})'))
    return tuple(found)


def meaning_in(phrase: GrammarPhrase, setting: str) -> Any:
    """What a phrase means in a setting such as a queue."""
    if isinstance(phrase.meaning, dict) and setting in phrase.meaning:
        return phrase.meaning[setting]
    return phrase.meaning

"""The lexicon: one record per relation and thing, and what replies call them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

import msgspec

from gnomon.files import package_data, read_yaml

Frame = Literal["none", "viewer", "own", "subject", "both"]
Grade = Literal["a", "b", "c"]
Layout = Literal["pair", "stacked", "linked", "ring"]
Use = Literal["loosely", "directly", "pictured"]
Words = dict[str, tuple[str, ...]]
LAST = 10_000  # the turn of a contrast that has none: after all others


class Converse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of the two things the other way round, by where that is certain."""

    always: str = ""
    scenes: str = ""
    captions: str = ""
    drawings: str = ""
    without_fronts: str = ""
    replies: str = ""


class ProverFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The relations of the prover that must hold, in each use of a word."""

    loosely: tuple[str, ...] = ()
    directly: tuple[str, ...] = ()
    pictured: tuple[str, ...] = ()
    reversed: bool = False

    @property
    def any(self) -> bool:
        """Whether the word is read in some use."""
        return bool(self.loosely or self.directly or self.pictured)

    def of(self, use: Use) -> tuple[str, ...]:
        """The relations for a use; none if the word is not read there."""
        return {"loosely": self.loosely, "directly": self.directly, "pictured": self.pictured}[use]


class OpposedPair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two relations of the same two things, each true where the other one is false."""

    first: str = ""  # in the file the contrast stands in the record of this relation
    second: str = msgspec.field(default="", name="to")
    layout: Layout = "pair"
    needs: tuple[str, ...] = ()
    apart: bool = False
    swapped: bool = False
    ratio: float = 4.0
    turn: int = LAST
    share: int = 1

    @property
    def grade(self) -> str:
        """The weaker of the grades of its relations."""
        known = lexicon().relations
        return max(known[name].grade for name in (self.first, self.second))


class Relation(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All that is known of one word for a relation; the file says what each field is."""

    name: str
    says: tuple[str, ...] = ()
    verb: str = ""
    verbs: dict[str, str] = {}
    meaning: str = ""
    frame: Frame = "none"
    grade: Grade = "c"
    rule: str = ""
    category: str = ""
    opposite: str = ""
    symmetric: bool = False
    converse: Converse = Converse()
    mirrored: str = ""
    excludes: tuple[str, ...] = ()
    implies: tuple[str, ...] = ()
    contrasts: tuple[OpposedPair, ...] = ()
    probes: tuple[OpposedPair, ...] = ()
    clear_by: str = ""
    box: str = ""
    facts: ProverFacts = ProverFacts()
    proof: str | dict[str, str] = ""
    replies: tuple[str, ...] = ()
    weak_replies: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Every word for it, as it is said of one thing."""
        return (self.name, *self.says, *self.verbs)


class Lexicon:
    """The relations by name, and what follows from their records."""

    def __init__(self, relations: Mapping[str, Relation]) -> None:
        self.relations = dict(relations)

    def find(self, word: str) -> Relation | None:
        """The relation that a word stands for, in any of its forms; none if it is not known.

        >>> lexicon().find("underneath").name, lexicon().find("contain").name
        ('below', 'contains')
        """
        name = self._names.get(word)
        return None if name is None else self.relations[name]

    @cached_property
    def _names(self) -> dict[str, str]:
        names: dict[str, str] = {}
        for relation in self.relations.values():
            for word in relation.words:
                names.setdefault(word, relation.name)
        for one, several in self.verbs.items():
            names.setdefault(several, names[one])
        return names

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Every word for a relation, also as said of several things; the longest first."""
        return tuple(sorted(self._names, key=lambda word: (-len(word), word)))

    def alike(self, word: str) -> tuple[str, ...]:
        """All words for relations with the meaning of a word."""
        relation = self.find(word)
        if relation is None or not relation.meaning:
            return (word,)
        found = [word, relation.name]
        for other in self.relations.values():
            if other.meaning == relation.meaning:
                found.extend(other.words)
        return tuple(found)

    @cached_property
    def words_with_facts(self) -> tuple[str, ...]:
        """The words that stand for facts of the prover in plain sentences."""
        return tuple(word for word in self.words if self.relations[self._names[word]].facts.any)

    @cached_property
    def verbs(self) -> dict[str, str]:
        """Words that take no "is": as said of one thing, and of several."""
        verbs: dict[str, str] = {}
        for relation in self.relations.values():
            if relation.verb:
                verbs[relation.name] = relation.verb
            verbs |= relation.verbs
        return verbs

    @cached_property
    def shown(self) -> dict[str, Relation]:
        """The relations that scenes can show."""
        return {name: relation for name, relation in self.relations.items() if relation.meaning}

    @cached_property
    def contrasts(self) -> tuple[OpposedPair, ...]:
        """The pairs of relations that oppose one another, in the order of their turns."""
        listed = ((r.name, other) for r in self.shown.values() for other in r.contrasts)
        return _in_turn(listed)

    @cached_property
    def probes(self) -> tuple[OpposedPair, ...]:
        """The pairs of relations for which frames differ."""
        listed = ((r.name, other) for r in self.shown.values() for other in r.probes)
        return _in_turn(listed)

    @cached_property
    def strong_replies(self) -> Words:
        """What else a reply may say for a word."""
        words: Words = {}
        for relation in self.relations.values():
            for word in relation.words:
                others = tuple(other for other in relation.words if other != word)
                if others or relation.replies:
                    words[word] = (*others, *relation.replies)
        return words

    @cached_property
    def weak_replies(self) -> Words:
        """What else a reply may say for a word as a clause of its own."""
        return {r.name: r.weak_replies for r in self.relations.values() if r.weak_replies}

    @cached_property
    def reply_converses(self) -> dict[str, str]:
        """What a reply says of the two things the other way round; "to the left of" keeps "to"."""
        converses: dict[str, str] = {}
        for relation in self.relations.values():
            other = relation.converse.replies
            if not other:
                continue
            theirs = self.relations[other].words
            for number, word in enumerate(relation.words):
                converses[word] = theirs[number] if number < len(theirs) else other
        return converses


def _in_turn(listed: Iterator[tuple[str, OpposedPair]]) -> tuple[OpposedPair, ...]:
    in_order = sorted(listed, key=lambda pair: pair[1].turn)
    return tuple(msgspec.structs.replace(contrast, first=name) for name, contrast in in_order)


def lexicon() -> Lexicon:
    """The lexicon of data/lexicon/relations.yaml."""
    return _shipped()


def read_lexicon(*files: Path) -> Lexicon:
    """The lexicon of some files; a later record of the same name takes the place of an earlier."""
    records: dict[str, Relation] = {}
    for file in files:
        entries: dict[str, Any] = read_yaml(file)["relations"]
        for name, entry in entries.items():
            records[name] = msgspec.convert({**(entry or {}), "name": name}, Relation)
    return Lexicon(records)


@cache
def _shipped() -> Lexicon:
    return read_lexicon(package_data("lexicon/relations.yaml"))


# What else a reply may say for a choice: other words for the words that the prompt uses.
#
# And how replies put things around these words, as patterns.


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


def may_say(name: str, text: str) -> bool:
    """Whether a text has one of the words without which a phrase is not said: that is fast."""
    return any(map(text.__contains__, _needed_words(name)))


def phrase_in(name: str, text: str) -> re.Match[str] | None:
    """Where a text first says a phrase that has words without which it is not said."""
    return phrase(name).search(text) if may_say(name, text) else None


@cache
def _needed_words(name: str) -> tuple[str, ...]:
    return tuple(_phrases()["needed_words"][name])


def _phrase_text(name: str) -> str:
    text = "".join(_phrases()[name])
    return re.sub(r"<<(\w+)>>", lambda match: _phrase_text(match[1]), text)


@cache
def _phrases() -> Any:
    return read_yaml(package_data("lexicon/phrases.yaml"))


# The words for things that several parts of the program share (data/lexicon/things.yaml).


class ThingWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Other nouns by name, nouns by class, and which things have a front, a face, a plural."""

    nouns: dict[str, tuple[str, ...]]
    classes: dict[str, tuple[str, ...]]
    fronts: frozenset[str]
    faces: frozenset[str]
    plurals: dict[str, str]


@cache
def thing_words() -> ThingWords:
    """The words that ship."""
    return msgspec.convert(read_yaml(package_data("lexicon/things.yaml")), ThingWords)


@cache
def names_by_noun() -> dict[str, str]:
    """The name of a thing by each other noun for it.

    >>> names_by_noun()["sofa"]
    'couch'
    """
    names: dict[str, str] = {}
    for name, nouns in thing_words().nouns.items():
        names |= dict.fromkeys(nouns, name)
    return names

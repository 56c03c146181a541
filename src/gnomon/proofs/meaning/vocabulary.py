"""The words of the grammar: phrases, relations of the lexicon, nouns, sentences as words."""

import re
from collections.abc import Iterable, Iterator, Set
from functools import cache
from typing import Any, NamedTuple

from gnomon.errors import GnomonError
from gnomon.files import package_data, read_yaml
from gnomon.grouped import grouped
from gnomon.language.patterns import Pattern
from gnomon.language.world import World, parse_world
from gnomon.lexicon.relations import Lexicon, Relation, lexicon, thing_words
from gnomon.scenes.things import Thing, things


class NotUnderstoodError(GnomonError):
    """A sentence that the lexicon or the grammar does not know."""


# Phrases of the lexicon: how they are written, and finding them in a row of words.
#
# A phrase is words with holes (capital letters) and choices: "(just|right|) next to B" stands for
# three phrases. A capital N is a number; every other capital is something that the sentence
# names.


_CHOICE = re.compile(r"\(([^()]*)\)")
HOLE = re.compile(r"[A-Z]")
NUMBERS: dict[str, float] = {"a": 1, "half": 0.5, "once": 1, "twice": 2}
for _number, _word in enumerate(
    "one two three four five six seven eight nine ten eleven twelve".split(), start=1
):
    NUMBERS[_word] = _number


def is_number(word: str) -> bool:
    """Whether a word or its figures are a number.

    >>> is_number("three"), is_number("2.5"), is_number("tree")
    (True, True, False)
    """
    return word in NUMBERS or word.replace(".", "", 1).isdecimal()


def number_of(word: str) -> float:
    """The number that a word is."""
    return NUMBERS[word] if word in NUMBERS else float(word)


ORDINALS = ("ground", *"first second third fourth fifth sixth seventh eighth ninth tenth".split())


EVERY = frozenset("all every each both".split())
NO = frozenset("no none neither".split())
SOME = frozenset("some several most many any".split())
QUANTIFIERS = EVERY | NO | SOME


class GrammarPhrase(NamedTuple):
    """Words with holes, and what they mean."""

    words: tuple[str, ...]
    meaning: Any

    @property
    def fixed(self) -> frozenset[str]:
        """Its words without the holes."""
        return frozenset(word for word in self.words if not HOLE.fullmatch(word))


def spelled_out(text: str) -> Iterator[tuple[str, ...]]:
    """Every row of words that a phrase stands for.

    >>> list(spelled_out("(just|) beside B"))
    [('just', 'beside', 'B'), ('beside', 'B')]
    """
    match = _CHOICE.search(text)
    if match is None:
        yield tuple(text.split())
        return
    for choice in match.group(1).split("|"):
        yield from spelled_out(text[: match.start()] + choice + text[match.end() :])


def _first_word(phrase: GrammarPhrase) -> str:
    """The word that a phrase begins with; empty where it begins with a hole."""
    first = next(iter(phrase.words), "")
    return "" if HOLE.fullmatch(first) else first


class Index:
    """Phrases by their first word, the longest first."""

    def __init__(self, phrases: Iterable[GrammarPhrase]) -> None:
        longest_first = sorted(phrases, key=lambda phrase: -len(phrase.words))
        self._by_first = grouped(longest_first, _first_word)
        self._begun_by_hole = [(one.fixed, one) for one in self._by_first.pop("", [])]

    def starting(self, word: str) -> Iterator[GrammarPhrase]:
        """The phrases that begin with a word."""
        yield from self._by_first.get(word, ())

    def begun_by_hole(self, present: Set[str]) -> Iterable[GrammarPhrase]:
        """The phrases that begin with a hole and whose other words are all there."""
        return [phrase for fixed, phrase in self._begun_by_hole if fixed <= present]

    def words(self) -> set[str]:
        """Every word of the phrases."""
        found: set[str] = set()
        for listed in self._by_first.values():
            for phrase in listed:
                found |= phrase.fixed
        for fixed, _ in self._begun_by_hole:
            found |= fixed
        return found


def index_of(entries: dict[str, Any]) -> Index:
    """The phrases of a section of the lexicon: text to meaning."""
    found = []
    for text, meaning in entries.items():
        for words in spelled_out(text):
            found.append(GrammarPhrase(words, meaning))
    return Index(found)


# The words of the grammar: relations of the lexicon, and data/space/meaning/*.yaml.


# Words of the grammar itself: auxiliaries, joints, pronouns.
JOINTS = frozenset(
    "is are was were been be being has have had does do did can could cannot not never and but "
    "while as then who which where it they them he she him there either both or unlike with from "
    "neither nor only nothing nobody everything everybody , 's".split()
)
FILES = ("grammar", "places", "motion", "frames", "opaque")


class GrammarWords:
    """All that is known of words."""

    def __init__(self, sections: dict[str, Any]) -> None:
        self.kinds: dict[str, list[str]] = sections["kinds"]
        self.rewrite = _rewriting(sections["rewrite"])
        self.adverbs = index_of(dict.fromkeys(sections["adverbs"]))
        self.times = index_of(sections["times"])
        self.settings = index_of(sections["settings"])
        self.implied = index_of(sections["implied"])
        self.kinds_of_implied = _frozen(sections["implied"])
        self.places = index_of(sections["places"] | sections["spots"])
        self.paths = index_of(sections["paths"])
        self.postures = index_of(dict.fromkeys(sections["postures"]))
        self.frames = index_of(sections["frames"])
        self.together = index_of(sections["together"])
        self.whole = index_of(sections["whole"])
        self.units: dict[str, str] = {}  # "metres" is a meter
        for unit, words in sections["units"].items():
            self.units |= dict.fromkeys([unit, *words], unit)
        self.adjectives = frozenset(sections["adjectives"])
        self.modifiers = frozenset(sections["modifiers"])
        self.colours: list[str] = sections["colours"]
        self.carries = frozenset(sections["carries"])
        self.goes = frozenset(sections["goes"])
        self.moves = _verbs(sections["moves"])
        self.puts = _verbs(sections["puts"])
        self.locates = _verbs(sections["locates"])
        self.opaque = _verbs(sections["opaque"])
        self.known = self._known(sections["fillers"])

    @property
    def indexes(self) -> list[Index]:
        """All sections of phrases."""
        return [part for part in vars(self).values() if isinstance(part, Index)]

    def _known(self, fillers: list[str]) -> frozenset[str]:
        """Every word that some phrase uses, and those that clauses may hold besides."""
        found = JOINTS | NUMBERS.keys() | QUANTIFIERS | self.units.keys() | set(ORDINALS)
        for line in fillers:
            found |= set(line.split())
        for phrase in self.rewrite:
            found |= set(phrase.split())
        for index in self.indexes:
            found |= index.words()
        return found


def _rewriting(entries: dict[str, str]) -> dict[str, str]:
    """What each row of words is replaced with."""
    found = {}
    for text, simpler in entries.items():
        for words in spelled_out(text):
            found[" ".join(words)] = simpler
    return found


def _frozen(kinds: dict[str, list[str]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(own) for name, own in kinds.items()}


def _verbs(entries: list[str]) -> Index:
    """Verbs, each a phrase; a regular one is given by "walk*" and stands for all its forms."""
    found = []
    for entry in entries:
        for words in spelled_out(entry):
            for forms in _forms(words):
                found.append(GrammarPhrase(forms, None))
    return Index(found)


def _forms(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    verb, *rest = words
    if not verb.endswith("*"):
        return [words]
    stem = verb[:-1]
    bare = stem[:-1] if stem.endswith("e") else stem
    past = f"{stem[:-1]}ied" if stem.endswith("y") and stem[-2] not in "aeiou" else f"{bare}ed"
    forms = [stem, f"{stem}s", past, f"{bare}ing"]
    return [(form, *rest) for form in forms]


def grammar_words(*, opaque: bool = False) -> GrammarWords:
    """The words that ship, with the relations of the lexicon that is in use.

    `opaque` has also those that geometry does not analyse ("to", "along"): a sentence is read with
    them only if it cannot be read without, since the grammar knows finer uses of the same words.
    """
    return _with_relations(lexicon(), opaque)


@cache
def _with_relations(known: Lexicon, opaque: bool) -> GrammarWords:
    sections: dict[str, Any] = {}
    for file in FILES:
        sections |= read_yaml(package_data(f"space/meaning/{file}.yaml"))
    for measure, words in sections["measures"].items():
        sections["places"] |= _comparisons(measure, *words)
        sections["together"][f"(equally {words[0]}|the same {words[5]})"] = (
            f'times(A, B, "{measure}")'
        )
    for relation in known.relations.values():
        if not (relation.proof or opaque):
            continue
        for word in relation.words:
            several = known.verbs.get(word)
            section = sections["frames" if several else "places"]
            for form in (word, several or word):
                section.setdefault(f"{form} B", _proof(relation))
    return GrammarWords(sections)


def _comparisons(
    measure: str, plain: str, more: str, most: str, less: str, least: str, noun: str
) -> dict[str, Any]:
    """The phrases that compare things by a measure."""
    found: dict[str, Any] = {
        f"(just|exactly|) as {plain} as B": {
            "is": f'times(A, B, "{measure}")',
            "denial": f'exceeds(B, A, "{measure}")',
        },
        f"(of|) the same {noun} as B": f'times(A, B, "{measure}")',
        f"N (times|) as {plain} as B": f'times(A, B, "{measure}", N)',
        f"(exactly|) N U {plain}": f'measured(A, "{measure}", "exactly", N, U)',
    }
    for sign in ("more", "less"):
        found[f"{sign} than N U {plain}"] = f'measured(A, "{measure}", "{sign}", N, U)'
    for word, best, pair, order in ((more, most, "A, B", "most"), (less, least, "B, A", "least")):
        if not word:
            continue
        found[f"(much|slightly|a little|a bit|far|) {word} than B"] = (
            f'exceeds({pair}, "{measure}")'
        )
        found[f"N U {word} than B"] = f'surpasses({pair}, "{measure}", N, U)'
        found[f"the {best} (of B|of all|in B|)"] = f'tops(A, "{measure}", "{order}")'
    return found


def _proof(relation: Relation) -> str | dict[str, str]:
    """What a relation means in sentences; a fact of its own if geometry does not analyse it."""
    fact = f'fact(A, "{relation.meaning or relation.name}", B)'
    return relation.proof or fact


# Of what kind things are: from the classes of a mini world, or from the things that are drawn.


Kinds = dict[str, frozenset[str]]
PERSON = frozenset({"living", "person", "fronted"})
_OF_WORLD: dict[int, tuple[World, list[frozenset[str]]]] = {}


def kinds_of_slots(patterns: Iterable[Pattern]) -> Kinds:
    """The kinds that all fillers of a slot share; none where a world does not tell."""
    found: Kinds = {}
    for pattern in patterns:
        by_number = _kinds_by_number(pattern.world)
        for slot in pattern.slots:
            if slot.words:
                continue
            shared: frozenset[str] | None = None
            for filler in slot.domain:
                own = by_number[filler]
                shared = own if shared is None else shared & own
            found[slot.name] = shared or frozenset()
    return found


def _kinds_by_number(world: World) -> list[frozenset[str]]:
    """The kinds of each entity of a world; worked out once."""
    known = _OF_WORLD.get(id(world))
    if known is not None and known[0] is world:
        return known[1]
    gathered: list[set[str]] = [set() for _ in world.entities]
    for name, members in world.classes.items():
        for number in members:
            gathered[number].update(grammar_words().kinds.get(name, ()))
    found = [frozenset(kinds) for kinds in gathered]
    _OF_WORLD.clear()
    _OF_WORLD[id(world)] = (world, found)
    return found


@cache
def kinds_of_nouns() -> Kinds:
    """The kinds of the nouns that are known: of the mini world, of things drawn, and of others.

    >>> "room" in kinds_of_nouns()["kitchen"]
    True
    """
    found: Kinds = {}
    for name, thing in things().items():
        found[name] = _kinds_of_thing(thing)
    world = parse_world(package_data("patterns/world.yaml").read_text(encoding="utf-8"))
    for entity, kinds in zip(world.entities, _kinds_by_number(world), strict=True):
        found[entity.name] = kinds | found.get(entity.name, frozenset())
    words = thing_words()
    for name, nouns in words.classes.items():
        for noun in nouns:
            found[noun] = found.get(noun, frozenset()) | frozenset(grammar_words().kinds[name])
    for name, nouns in words.nouns.items():
        for noun in nouns:
            found.setdefault(noun, found.get(name, frozenset()))
    return found


def kinds_of_names(sentences: Iterable[list[str]]) -> Kinds:
    """The kinds of those whom free sentences name.

    An unknown name is a person's, unless somebody is in it or on the way to it. Of any other
    unknown noun nothing is taken for granted.
    """
    found: Kinds = {}
    for words in sentences:
        for number, word in enumerate(words):
            if not word.startswith("@"):
                continue
            name = word[1:]
            known = PERSON if name in ("me", "you") else _kinds_of_noun(name)
            is_person = len(name) > 1 and name[0].isupper() and not _is_place(words, number)
            if known is None and is_person:
                known = found.get(name, PERSON)
            found[name] = known or frozenset()
    return found


def _kinds_of_noun(name: str) -> frozenset[str] | None:
    """The kinds of a noun, or of the noun that it ends in: "red-box" is a box."""
    nouns, words = kinds_of_nouns(), name.split("-")
    for start in range(len(words)):
        noun = " ".join(words[start:])
        if noun in nouns:
            return nouns[noun]
    return None


_BEFORE_PLACES = frozenset(
    "in into inside to from through towards toward reached left entered outside".split()
)


def _is_place(words: list[str], number: int) -> bool:
    return number > 0 and words[number - 1] in _BEFORE_PLACES


def _kinds_of_thing(thing: Thing) -> frozenset[str]:
    found = {"ground"}
    if thing.living:
        found |= {"living", "person"} if thing.name == "person" else {"living"}
    if thing.front:
        found.add("fronted")
    if thing.cavity:
        found.add("hollow")
    if thing.beneath:
        found.add("legged")
    return frozenset(found)

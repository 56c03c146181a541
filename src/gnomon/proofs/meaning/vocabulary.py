"""The words of the grammar: phrases, relations of the lexicon, nouns, sentences as words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache
from typing import Any, NamedTuple

from gnomon.files import package_data, read_yaml
from gnomon.grouped import grouped
from gnomon.language.patterns import Pattern
from gnomon.language.world import World, parse_world
from gnomon.lexicon.relations import Lexicon, Relation, lexicon
from gnomon.lexicon.things import thing_words
from gnomon.scenes.things import Thing, things

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
    NUMBERS |= {_word: _number, str(_number): _number}


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
    ", 's".split()
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
        found = JOINTS | NUMBERS.keys()
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
    for relation in known.relations.values():
        if not (relation.proof or opaque):
            continue
        for word in relation.words:
            several = known.verbs.get(word)
            section = sections["frames" if several else "places"]
            for form in (word, several or word):
                section.setdefault(f"{form} B", _proof(relation))
    return GrammarWords(sections)


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


# Sentences to words: patterns with slots, or free text in which nouns and names are found.


_MARKER = re.compile(r"\{(?:(?:a|the|bare) )?([A-Z][A-Z0-9]*)(?:('s)|:([^|}]+)(?:\|[^}]*)?)?\}")
_DETERMINERS = ("the", "a", "an", "my", "your", "his", "her", "their", "our", "this", "that", "no")
_BEFORE_PLACES = frozenset(
    "in into inside to from through towards toward reached left entered".split()
)
_ASKING = frozenset("is are was were does do did has have can could".split())
_BE = frozenset("is are was were".split())
_PARTS_OF_THINGS = ("floor", "roof", "walls", "wall", "door")
_MOST_WORDS_OF_A_NOUN = 4
_PARTS = frozenset(
    "left right front back rear top bottom foot middle center edge side sides same other opposite "
    "near far first last one two way direction".split()
)
_OF_PERSONS = re.compile(r"\b(?:to|on|at) (my|your|his|her|their) (left|right)(?: side)?\b")
_SPEAKER = re.compile(r"\bI (?:am|was)\b|\bI'm\b")
_HEARER = re.compile(r"(?<!@)\b(?:[Yy]ou|me)\b")
_PERSONS = {"my": "@me", "your": "@you", "his": "him", "her": "him", "their": "them"}
_SHORTENED = re.compile(r"\b(\w+)n't\b")
_LABELLED = re.compile(r"\b(?:[Tt]he )?(?:[Oo]bjects?|[Aa]gents?) (?:label+ed )?(?=[A-Z]\b)")
_HOUR = re.compile(r"\b(1?\d):00\b")
_STRANGE = re.compile(r"[^@\w\s,'-]")  # signs that no sentence needs
_OTHER_MARKER = re.compile(r"\{[^{}]*\}")  # words of a slot of its own: "at once"
_PIECE = re.compile(r"@[^\s,]+|[^\s,]+|,")


def pattern_words(text: str, lexicon: GrammarWords) -> list[str]:
    """The words of a sentence with slots; each slot is a name.

    >>> from gnomon.proofs.meaning.vocabulary import grammar_words
    >>> pattern_words("{X} {X:is} now on {Y}, too", grammar_words())
    ['@X', 'is', 'on', '@Y']
    """
    shown = _MARKER.sub(_shown, text)
    return plain_words(_OTHER_MARKER.sub("", shown), lexicon)


def _shown(marker: re.Match[str]) -> str:
    slot, possessive, word = marker.groups()
    if possessive:
        return f"@{slot} 's"
    if word in ("it", "they", "them"):
        return f"@{slot}"
    return word or f"@{slot}"


def plain_words(text: str, lexicon: GrammarWords) -> list[str]:
    """The words of a sentence in which names are marked with "@"."""
    text = re.sub(r"(@[\w-]+)'s\b", r"\1 's", text.strip().rstrip("."))
    words = []
    for word in _PIECE.findall(text):
        words.append(word if word.startswith("@") else word.lower().replace("may", "May"))
    line = f" {' '.join(words)} ".replace(" its ", " it 's ")
    for phrase, simpler in lexicon.rewrite.items():
        line = line.replace(f" {phrase} ", f" {simpler} " if simpler else " ")
    return line.split()


def free_words(
    text: str, lexicon: GrammarWords, nouns: Mapping[str, object], *, bold: bool = False
) -> list[str]:
    """The words of a free sentence: known nouns, other nouns after "the", and names are marked.

    `bold` takes a word of the lexicon after "the" for a noun, too, unless it is a side or a part.

    >>> from gnomon.proofs.meaning.vocabulary import grammar_words
    >>> nouns = {"cup": 1, "kitchen table": 1}
    >>> free_words("The cup is on the kitchen table. ", grammar_words(), nouns)
    ['@cup', 'is', 'on', '@kitchen-table']
    """
    text = _LABELLED.sub("", _SHORTENED.sub(_in_full, text.replace("\u2019", "'")))
    text = _SPEAKER.sub("@me is", _OF_PERSONS.sub(_of_person, text))
    text = _HEARER.sub(lambda match: f"@{match[0].lower()}", text)
    text = _STRANGE.sub(" ", _HOUR.sub(r"\1 o'clock", text))
    words = _PIECE.findall(text.strip().replace("'s", " 's"))
    marked: list[str] = []
    at = 0
    while at < len(words):
        length = _noun_length(words, at, lexicon, nouns, bold)
        if not length:
            marked.append(words[at])
            at += 1
            continue
        if marked and marked[-1].lower() in _DETERMINERS:
            determiner = marked.pop().lower()
            marked += ["not"] if determiner == "no" else []
        noun = "-".join(words[at : at + length])
        marked.append(f"@{noun if words[at][0].isupper() else noun.lower()}")
        at += length
    return _stated(plain_words(" ".join(marked), lexicon))


def _of_person(side: re.Match[str]) -> str:
    return f"to the {side[2]} of {_PERSONS[side[1]]}"


def _in_full(shortened: re.Match[str]) -> str:
    verb = shortened[1]
    return f"{ {'ca': 'can', 'wo': 'will'}.get(verb, verb) } not"


def _stated(words: list[str]) -> list[str]:
    """A question as the statement that it asks about, and "there is a cup" as "a cup is".

    >>> _stated(["is", "@cup", "on", "@table"]), _stated(["there", "is", "not", "@cup", "in", "it"])
    (['@cup', 'is', 'on', '@table'], ['@cup', 'is', 'not', 'in', 'it'])
    """
    first = words[0] if words else ""
    end = _end_of_names(words, 1)
    if first in _ASKING and end > 1:
        words = [*words[1:end], first, *words[end:]]
    if words[:1] != ["there"] or words[1:2] == [] or words[1] not in _BE:
        return words
    denied = words[2:3] == ["not"]
    start = 3 if denied else 2
    end = _end_of_names(words, start)
    if end == start:
        return words
    return [*words[start:end], *words[1:start], *words[end:]]


def _end_of_names(words: list[str], start: int) -> int:
    """Where the names end that begin at a word: "@cup", "@Ann and @Bob", "it"."""
    if words[start : start + 1] and words[start] in ("it", "they", "he", "she", "there"):
        return start + 1
    end = start
    while end < len(words) and words[end].startswith("@"):
        end += 1
        joined = words[end : end + 1] in (["and"], [","])
        if not joined or not words[end + 1 : end + 2] or not words[end + 1].startswith("@"):
            break
        end += 1
    return end


def _noun_length(
    words: list[str], at: int, lexicon: GrammarWords, nouns: Mapping[str, object], bold: bool
) -> int:
    """How many words from here on are a noun or a name; 0 if there is none."""
    word = words[at].lower()
    determined = at > 0 and words[at - 1].lower() in _DETERMINERS
    proper = words[at][0].isupper()
    if words[at] == "A" and not _is_letter(words, at, lexicon):
        return 0
    if determined or proper:
        length = _known_noun(words, at, nouns)
        if length:
            return length
    is_letter = proper and len(word) == 1
    if not is_letter and (word in lexicon.known or word in _DETERMINERS):
        is_noun = bold and determined and word not in _PARTS
        return int(is_noun)
    if not determined and not proper:
        return 0
    end = at + 1
    while end < min(len(words), at + _MOST_WORDS_OF_A_NOUN):
        length = 0 if proper else _known_noun(words, end, nouns)
        if length:
            return end + length - at
        following = words[end].lower()
        stops = following in lexicon.known or following in _DETERMINERS or following == ","
        if stops or (proper and not (at and words[end][0].isupper())):
            break
        end += 1
    return end - at


def _is_letter(words: list[str], at: int, lexicon: GrammarWords) -> bool:
    """Whether an "A" is a name, not an article."""
    following = words[at + 1].lower() if at + 1 < len(words) else ","
    return at > 0 or following in lexicon.known or following in (",", "'s")


def _known_noun(words: list[str], at: int, nouns: Mapping[str, object]) -> int:
    for length in (3, 2, 1):
        noun = " ".join(words[at : at + length])
        of_something = length == 1 and words[at + 1 : at + 2] == ["of"] and noun in _PARTS_OF_THINGS
        if (noun in nouns or noun.removesuffix("s") in nouns) and not of_something:
            return length
    return 0

"""The words of captions about where things are: a caption's opposite, negation, stem and question.

A caption reads "The horse is left of the car.", with a verb of its own ("contains") or "There is a
horse." Which relation is opposed to which is data (data/space/opposites.yaml).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

import msgspec

from gnomon.files import package_data, read_yaml

EXISTENCE = re.compile(r"There (?P<verb>is|are) (?P<no>no )?(?P<article>an? )?(?P<thing>.+)")
COPULA = re.compile(r"(?P<before>.+?) (?P<auxiliary>is|are)(?P<no> not)?(?P<after> .+)")
LOWERED = ("The ", "A ", "An ", "There ", "From ")  # first words that are no names


class OppositeFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of data/space/opposites.yaml."""

    opposites: dict[str, str]
    verbs: dict[str, str]  # of one thing: of several


class Clause(NamedTuple):
    """A caption taken apart: "The horse", "is", "left of", " the car."."""

    before: str
    auxiliary: str  # is, are, does, do, or nothing before a verb
    relation: str  # empty if it is not known where the relation ends
    after: str  # with the space before it
    denied: bool = False

    def said(self, *words: str) -> str:
        """The clause with other words between its two things."""
        return " ".join(word for word in (self.before, *words) if word) + self.after

    @property
    def is_copular(self) -> bool:
        """Whether it is said with is or are."""
        return self.auxiliary in ("is", "are")

    @property
    def do(self) -> str:
        """What a verb is denied and asked with."""
        return "does" if self.relation in opposite_file().verbs else "do"


@cache
def opposite_file() -> OppositeFile:
    """The relations and their opposites that ship."""
    return msgspec.convert(read_yaml(package_data("space/opposites.yaml")), OppositeFile)


def opposite(caption: str, relation: str = "") -> str:
    """The caption with the opposite relation; its negation if the relation has none.

    >>> opposite("The horse is left of the car.", "left of")
    'The horse is right of the car.'
    >>> opposite("The box contains the cat.")
    'The box does not contain the cat.'
    """
    found = clause(caption, relation)
    if found is None or found.denied or found.relation not in opposite_file().opposites:
        return negation(caption, relation)
    return found.said(found.auxiliary, opposite_file().opposites[found.relation])


def negation(caption: str, relation: str = "") -> str:
    """The caption denied; a denied one affirmed.

    >>> negation("The cats are on the bed."), negation("There is an owl.")
    ('The cats are not on the bed.', 'There is no owl.')
    >>> negation("A dog sleeps.")
    'It is not true that a dog sleeps.'
    """
    existence = EXISTENCE.fullmatch(caption)
    if existence:
        return _denied_existence(existence)

    found = clause(caption, relation)
    if found is None:
        return f"It is not true that {_lower_first(caption)}"
    if found.is_copular and found.denied:
        return found.said(found.auxiliary, found.relation)
    if found.is_copular:
        return found.said(found.auxiliary, "not", found.relation)
    if found.denied:
        return found.said(_inflected(found.relation, found.auxiliary))
    return found.said(found.do, "not", _infinitive(found.relation))


def stem(caption: str, relation: str = "") -> str:
    """The caption up to its relation; empty if it is not known where that ends.

    >>> stem("The horse is left of the car.")
    'The horse is left of'
    """
    found = clause(caption, relation)
    if found is None or not found.relation:
        return ""
    return caption.removesuffix(found.after)


def question(caption: str, relation: str = "") -> str:
    """Whether the caption is true.

    >>> question("The horse is left of the car."), question("The box contains the cat.")
    ('Is the horse left of the car?', 'Does the box contain the cat?')
    >>> question("From where the viewer stands, the cat is behind the dog.")
    'From where the viewer stands, is the cat behind the dog?'
    """
    if EXISTENCE.fullmatch(caption):
        _, verb, rest = caption.split(" ", 2)
        return _asked(f"{verb.capitalize()} there {rest}")

    found = clause(caption, relation)
    if found is None or found.denied:
        return _asked(f"Is it true that {_lower_first(caption)}")

    lead, comma, subject = found.before.rpartition(", ")
    plain = found._replace(before=_lower_first(subject))
    verb, rest = found.do, plain.said(_infinitive(found.relation))
    if found.is_copular:
        verb, rest = found.auxiliary, plain.said(found.relation)
    if not lead:
        verb = verb.capitalize()
    return _asked(f"{lead}{comma}{verb} {rest}")


def clause(caption: str, relation: str = "") -> Clause | None:
    """The parts of a caption; none if it has neither a copula nor a verb that is known.

    The relation is looked for if it is not given. Of several that fit, the longest counts.
    """
    known = (relation, _infinitive(relation)) if relation else _relations()
    found = _pattern(known).fullmatch(caption)
    if found is None:
        found = COPULA.fullmatch(caption)
        if found is None:
            return None
        return Clause(found["before"], found["auxiliary"], "", found["after"], bool(found["no"]))

    auxiliary = found["copula"] or found["do"] or ""
    name = found["relation"] or found["denied"] or found["verb"]
    return Clause(
        found["before"], auxiliary, name, found["after"], bool(found["no"] or found["do"])
    )


@lru_cache(maxsize=256)
def _pattern(known: tuple[str, ...]) -> re.Pattern[str]:
    """Captions with one of some relations: is on, is not on, does not contain, contains."""
    names = "|".join(map(re.escape, known))
    verbs = "|".join(name for name in known if name in _verbs()) or "(?!)"
    return re.compile(
        r"(?P<before>.+?) (?:"
        rf"(?P<copula>is|are)(?P<no> not)? (?P<relation>{names})"
        rf"|(?P<do>does|do) not (?P<denied>{names})"
        rf"|(?P<verb>{verbs})"
        r")(?P<after> .+)"
    )


def _denied_existence(found: re.Match[str]) -> str:
    thing, verb = found["thing"], found["verb"]
    if not found["no"]:
        return f"There {verb} no {thing}"
    if verb == "are":
        return f"There are {thing}"
    article = "an" if thing[0] in "aeiou" else "a"
    return f"There is {article} {thing}"


@cache
def _relations() -> tuple[str, ...]:
    """All relations that are known, the longest first."""
    table = opposite_file()
    names = {*table.opposites, *table.opposites.values(), *_verbs()}
    return tuple(sorted(names, key=lambda name: (-len(name), name)))


@cache
def _verbs() -> frozenset[str]:
    verbs = opposite_file().verbs
    return frozenset((*verbs, *verbs.values()))


def _infinitive(relation: str) -> str:
    """A verb as it is said of several things; other relations stay as they are."""
    return opposite_file().verbs.get(relation, relation)


def _inflected(relation: str, auxiliary: str) -> str:
    """A verb without the does or do that it was said with."""
    if auxiliary == "do":
        return relation
    of_one = {several: one for one, several in opposite_file().verbs.items()}
    return of_one.get(relation, relation)


def _asked(text: str) -> str:
    return f"{text.rstrip('.')}?"


def _lower_first(text: str) -> str:
    """The text as it stands within a sentence; a name keeps its capital."""
    if text.startswith(LOWERED):
        return text[0].lower() + text[1:]
    return text

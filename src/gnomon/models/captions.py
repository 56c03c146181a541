"""The words of captions about where things are: a caption's opposite, negation, stem and question.

A caption reads "The horse is left of the car.", with a verb of its own ("contains") or "There is a
horse." Which relation is opposed to which is data (data/space/opposites.yaml).
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

import msgspec

from gnomon.files import package_data, read_yaml

EXISTENCE = re.compile(r"There (?P<verb>is|are) (?P<no>no )?(?P<article>an? )?(?P<thing>.+)")
COPULA = r"(?P<before>.+?) (?P<verb>is|are) (?P<no>not )?"


class OppositeFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of data/space/opposites.yaml."""

    opposites: dict[str, str]
    verbs: dict[str, str]  # of one thing: of several


class Clause(NamedTuple):
    """A caption taken apart: "The horse", "is", "left of", " the car."."""

    before: str
    verb: str  # is, are, or the relation itself
    relation: str  # empty if it is not known where the relation ends
    after: str  # with the space before it
    denied: bool = False


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
    other = opposite_file().opposites[found.relation]
    return f"{found.before} {found.verb} {other}{found.after}"


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
    if found.denied:
        return _affirmed(found)
    if found.verb in ("is", "are"):
        space = " " if found.relation else ""
        return f"{found.before} {found.verb} not{space}{found.relation}{found.after}"
    auxiliary = "does" if found.verb in opposite_file().verbs else "do"
    return f"{found.before} {auxiliary} not {_infinitive(found.verb)}{found.after}"


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
    existence = EXISTENCE.fullmatch(caption)
    if existence:
        rest = caption.split(" ", 2)[2]
        return f"{existence['verb'].capitalize()} there {_asked(rest)}"

    found = clause(caption, relation)
    if found is None or found.denied:
        return f"Is it true that {_asked(_lower_first(caption))}"
    lead, comma, subject = found.before.rpartition(", ")
    subject = _lower_first(subject)
    if found.verb in ("is", "are"):
        space = " " if found.relation else ""
        verb, rest = found.verb, f"{subject}{space}{found.relation}{found.after}"
    else:
        verb = "does" if found.verb in opposite_file().verbs else "do"
        rest = f"{subject} {_infinitive(found.verb)}{found.after}"
    if not lead:
        verb = verb.capitalize()
    return f"{lead}{comma}{verb} {_asked(rest)}"


def clause(caption: str, relation: str = "") -> Clause | None:
    """The parts of a caption; none if it has neither a copula nor a verb that is known.

    The relation is looked for if it is not given. Of several that fit, the longest counts.
    """
    known = [relation, _plural(relation)] if relation else _relations()
    names = "|".join(map(re.escape, known))
    found = re.fullmatch(rf"{COPULA}(?P<relation>{names})(?P<after> .+)", caption)
    if found:
        parts = (found["before"], found["verb"], found["relation"], found["after"])
        return Clause(*parts, denied=bool(found["no"]))

    denied = rf"(?P<before>.+?) (?P<verb>does|do) not (?P<relation>{names})(?P<after> .+)"
    found = re.fullmatch(denied, caption)
    if found:
        return Clause(found["before"], found["verb"], found["relation"], found["after"], True)

    verbs = [name for name in known if name in _verbs()]
    found = re.fullmatch(
        rf"(?P<before>.+?) (?P<verb>{'|'.join(verbs)})(?P<after> .+)" if verbs else "", caption
    )
    if found:
        return Clause(found["before"], found["verb"], found["verb"], found["after"])

    found = re.fullmatch(rf"{COPULA}(?P<after>.+)", caption)
    if found:
        rest = f" {found['after']}"
        return Clause(found["before"], found["verb"], "", rest, bool(found["no"]))
    return None


def _affirmed(found: Clause) -> str:
    """A denied clause without its denial."""
    if found.verb in ("is", "are"):
        space = " " if found.relation else ""
        return f"{found.before} {found.verb}{space}{found.relation}{found.after}"
    verb = found.relation
    if found.verb == "does":
        singular = {several: one for one, several in opposite_file().verbs.items()}
        verb = singular.get(verb, verb)
    return f"{found.before} {verb}{found.after}"


def _denied_existence(found: re.Match[str]) -> str:
    if not found["no"]:
        return f"There {found['verb']} no {found['thing']}"
    article = ""
    if found["verb"] == "is":
        article = "an " if found["thing"][0] in "aeiou" else "a "
    return f"There {found['verb']} {article}{found['thing']}"


@cache
def _relations() -> list[str]:
    """All relations that are known, the longest first."""
    table = opposite_file()
    names = {*table.opposites, *table.opposites.values(), *_verbs()}
    return sorted(names, key=lambda name: (-len(name), name))


@cache
def _verbs() -> frozenset[str]:
    verbs = opposite_file().verbs
    return frozenset((*verbs, *verbs.values()))


def _plural(relation: str) -> str:
    """A verb as it is said of several things; other relations stay as they are."""
    return opposite_file().verbs.get(relation, relation)


def _infinitive(verb: str) -> str:
    return _plural(verb)


def _asked(text: str) -> str:
    return f"{text.rstrip('.')}?"


def _lower_first(text: str) -> str:
    """The text as it stands within a sentence; a name keeps its capital."""
    for word in ("The ", "A ", "An ", "There ", "From "):
        if text.startswith(word):
            return text[0].lower() + text[1:]
    return text

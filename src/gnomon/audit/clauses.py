"""Plain sentences about two things as facts: "The cup is not left of the jug".

The words and what they stand for are in data/audit/clauses.yaml. A sentence of any other form is
not read at all: what is not understood is not judged.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

import msgspec

from gnomon.files import package_data, read_yaml

Use = Literal["loosely", "directly", "pictured"]
# words that a plain name has not: with them, the sentence says more than the two names
_MORE = frozenset("a and as at by for from his her in is of on than that the to who with".split())
_LONGEST = 3  # words of a name
_JOINTS = re.compile(r"(?<=[.!?])\s+|,?\s+and\s+(?=the\s)", re.IGNORECASE)


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words that say the same of two things, and the relations that must hold in each use."""

    says: tuple[str, ...]
    loosely: tuple[str, ...] = ()
    directly: tuple[str, ...] = ()
    pictured: tuple[str, ...] = ()
    reversed: bool = False

    def facts(self, use: Use) -> tuple[str, ...]:
        """The relations for a use; none if the words are not read there."""
        found: tuple[str, ...] = getattr(self, use)
        return found


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    relations: tuple[Said, ...]
    verbs: tuple[Said, ...]


class Clause(NamedTuple):
    """One sentence about two things, which may deny what it says."""

    said: Said
    first: str
    second: str
    denied: bool


@cache
def _words() -> tuple[re.Pattern[str], dict[str, Said]]:
    """The form of a sentence, and what its words say."""
    content = msgspec.convert(read_yaml(package_data("audit/clauses.yaml")), _File)
    meanings: dict[str, Said] = {}
    for said in (*content.relations, *content.verbs):
        meanings |= dict.fromkeys(said.says, said)
    relations = [words for said in content.relations for words in said.says]
    verbs = [words for said in content.verbs for words in said.says]
    said_of_two = rf"(?:is|are) (not )?({_any_of(relations)})|({_any_of(verbs)})"
    return re.compile(rf"the (.+?) (?:{said_of_two}) the (.+)", re.IGNORECASE), meanings


def _any_of(words: list[str]) -> str:
    longest_first = sorted(words, key=len, reverse=True)
    return "|".join(map(re.escape, longest_first))


@cache
def clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of a text; none at all if one of its sentences is of another form.

    >>> [(one.first, one.second, one.denied) for one in clauses("The cup is not near the jug.")]
    [('cup', 'jug', True)]
    >>> clauses("The cup is lovely.")
    ()
    """
    form, meanings = _words()
    found = []
    for sentence in _JOINTS.split(text.strip()):
        match = form.fullmatch(sentence.strip().rstrip(".!"))
        if match is None:
            return ()
        first, denied, relation, verb, second = match.groups()
        if not (_is_name(first) and _is_name(second)):
            return ()
        said = meanings[(relation or verb).lower()]
        if said.reversed:
            first, second = second, first
        found.append(Clause(said, first.lower(), second.lower(), bool(denied)))
    return tuple(found)


def _is_name(text: str) -> bool:
    words = text.lower().split()
    return len(words) <= _LONGEST and _MORE.isdisjoint(words)

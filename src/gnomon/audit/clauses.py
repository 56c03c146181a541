"""Plain sentences about two things as facts: "The cup is not left of the jug".

What the words stand for the lexicon says. A sentence of any other form is not read at all: what is
not understood is not judged.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from gnomon.lexicon.relations import Lexicon, ProverFacts, lexicon
from gnomon.lexicon.statements import PRESENT, read_clause

# words that a plain name has not: with them, the sentence says more than the two names
_MORE = frozenset("a and as at by for from his her in is of on than that the to who with".split())
_LONGEST = 3  # words of a name
_MOST_KEPT = 100_000  # texts
_JOINTS = re.compile(r"(?<=[.!?])\s+|,?\s+and\s+(?=the\s)", re.IGNORECASE)
_NAMES = re.compile(r"the (.+)", re.IGNORECASE)


class PlainClause(NamedTuple):
    """One sentence about two things, which may deny what it says."""

    said: ProverFacts
    first: str
    second: str
    denied: bool


def clauses(text: str) -> tuple[PlainClause, ...]:
    """The clauses of a text; none at all if one of its sentences is of another form.

    >>> [(one.first, one.second, one.denied) for one in clauses("The cup is not near the jug.")]
    [('cup', 'jug', True)]
    >>> clauses("The cup is lovely.")
    ()
    """
    return _clauses(text, lexicon())


@lru_cache(maxsize=_MOST_KEPT)
def _clauses(text: str, known: Lexicon) -> tuple[PlainClause, ...]:
    read = []
    for sentence in _JOINTS.split(text.strip()):
        clause = _clause(sentence.strip().rstrip(".!"), known)
        if clause is None:
            return ()
        read.append(clause)
    return tuple(read)


def _clause(sentence: str, known: Lexicon) -> PlainClause | None:
    clause = read_clause(sentence, known.words_with_facts)
    if clause is None or clause.meant is None:
        return None
    if clause.auxiliary and clause.auxiliary.lower() not in PRESENT:
        return None
    first, second = _name(clause.before), _name(clause.after.strip())
    if not (first and second):
        return None
    facts = clause.meant.facts
    if facts.reversed:
        first, second = second, first
    return PlainClause(facts, first, second, clause.denied)


def _name(text: str) -> str:
    """What a plain name such as "the red cup" names; empty for any other words."""
    match = _NAMES.fullmatch(text)
    if match is None:
        return ""
    words = match[1].lower().split()
    if len(words) > _LONGEST or not _MORE.isdisjoint(words):
        return ""
    return match[1].lower()

"""Clauses given to the prover: what follows, and what cannot hold together.

A problem is proved once for each shape: what the things are called does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from gnomon.audit.clauses import PlainClause
from gnomon.lexicon.relations import Use
from gnomon.proofs.meaning.formulas import Formula, every
from gnomon.proofs.meaning.readings import reading_named
from gnomon.proofs.meaning.stories import Story
from gnomon.proofs.prove import ORDINARY, Case, formula_of

FRONTED = frozenset({"fronted"})  # "in front of" is meant by the things' own fronts
SHARP = "sharp limits"  # things of any size: what clashes even so, clashes


class Shape(NamedTuple):
    """A clause without names: relations that must hold between two numbered things, or not."""

    relations: tuple[str, ...]
    first: int
    second: int
    denied: bool


def shapes_of(clauses: Sequence[PlainClause], use: Use) -> tuple[Shape, ...] | None:
    """Clauses as shapes; none if the words of one have no meaning in this use."""
    numbers: dict[str, int] = {}
    found = []
    for clause in clauses:
        relations = clause.said.of(use)
        if not relations or clause.first == clause.second:
            return None
        first = numbers.setdefault(clause.first, len(numbers))
        second = numbers.setdefault(clause.second, len(numbers))
        found.append(Shape(relations, first, second, clause.denied))
    return tuple(found)


@cache
def verdict(shapes: tuple[Shape, ...]) -> str:
    """What the clauses before the last make of the last one.

    It is entailment, contradiction or neutral, or inconsistent if they clash themselves.
    """
    return _case(shapes, ORDINARY, claims=1).proof(needed=False).verdict


@cache
def clashing(shapes: tuple[Shape, ...]) -> tuple[int, ...]:
    """The numbers of clauses that cannot hold together, as few as there are; none if all can."""
    return _case(shapes, SHARP).clash() or ()


def _case(shapes: Sequence[Shape], reading: str, *, claims: int = 0) -> Case:
    """All clauses as premises, or the last ones as claims."""
    kinds: dict[str, frozenset[str]] = {}
    for shape in shapes:
        kinds |= dict.fromkeys((_name(shape.first), _name(shape.second)), FRONTED)
    story = Story(kinds, reading_named(reading))
    formulas = [_formula(story, shape) for shape in shapes]
    premises = len(formulas) - claims
    return Case(story, formulas[:premises], formulas[premises:])


def _formula(story: Story, shape: Shape) -> Formula:
    names = _name(shape.first), _name(shape.second)
    found = every([formula_of(story, (relation, *names)) for relation in shape.relations])
    return ~found if shape.denied else found


def _name(number: int) -> str:
    return f"thing {number}"

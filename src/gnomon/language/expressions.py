"""The small language of sets and of conditions between slots.

A set is written "person | {dog} - tall", a condition "on(X, Y) and X != Y".

These are the trees that `parsing` makes of a text; `world` and `conditions` give them a meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Comparison = Literal["<", "<=", ">", ">=", "=", "!="]
COMPARISONS: tuple[Comparison, ...] = ("<", "<=", ">", ">=", "=", "!=")


class ExpressionError(ValueError):
    """The text is not an expression; the message says where and what was expected."""


@dataclass(frozen=True)
class Named:
    """The entities of a class."""

    name: str


@dataclass(frozen=True)
class Listed:
    """The entities in braces."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Combined:
    """Two sets joined by | (either), & (both) or - (the first without the second)."""

    operator: str
    left: Set
    right: Set


Set = Named | Listed | Combined


@dataclass(frozen=True)
class Member:
    """A slot's filler is in a set."""

    slot: str
    members: Set


@dataclass(frozen=True)
class Same:
    """Two slots have the same filler."""

    left: str
    right: str


@dataclass(frozen=True)
class Related:
    """The fillers stand in a relation of the world."""

    relation: str
    slots: tuple[str, ...]


@dataclass(frozen=True)
class Compared:
    """A slot's level on a scale compares with another slot's, or with a named level."""

    scale: str
    slot: str
    comparison: Comparison
    other: str  # a slot, if `level` is empty
    level: str = ""


@dataclass(frozen=True)
class Not:
    """The part does not hold."""

    part: Condition


@dataclass(frozen=True)
class All:
    """All parts hold."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Some:
    """At least one part holds."""

    parts: tuple[Condition, ...]


Condition = Member | Same | Related | Compared | Not | All | Some


def slots_of(condition: Condition) -> frozenset[str]:
    """The slots that a condition speaks of."""
    match condition:
        case Member(slot, _):
            return frozenset([slot])
        case Same(left, right):
            return frozenset([left, right])
        case Related(_, slots):
            return frozenset(slots)
        case Compared(_, slot, _, other, _):
            return frozenset([slot, other] if other else [slot])
        case Not(part):
            return slots_of(part)
        case All(parts) | Some(parts):
            return frozenset().union(*map(slots_of, parts))

"""The small language of sets and of conditions between slots.

A set is written "person | {dog} - tall", a condition "on(X, Y) and X != Y".

These are the trees that `parsing` makes of a text; `world` and `conditions` give them a meaning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Comparison = Literal["<", "<=", ">", ">=", "=", "!="]
COMPARISONS: tuple[Comparison, ...] = ("<", "<=", ">", ">=", "=", "!=")


class ExpressionError(ValueError):
    """The text is not an expression; the message says where and what was expected."""


@dataclass(frozen=True)
class ClassName:
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


Set = ClassName | Listed | Combined


@dataclass(frozen=True)
class MemberOf:
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
class ComparedSets:
    """A slot's level on a scale compares with another slot's, or with a named level."""

    scale: str
    slot: str
    comparison: Comparison
    other: str  # a slot, if `level` is empty
    level: str = ""


@dataclass(frozen=True)
class NotCondition:
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


Condition = MemberOf | Same | Related | ComparedSets | NotCondition | All | Some


def slots_of(condition: Condition) -> frozenset[str]:
    """The slots that a condition speaks of."""
    match condition:
        case MemberOf(slot, _):
            return frozenset([slot])
        case Same(left, right):
            return frozenset([left, right])
        case Related(_, slots):
            return frozenset(slots)
        case ComparedSets(_, slot, _, other, _):
            return frozenset([slot, other] if other else [slot])
        case NotCondition(part):
            return slots_of(part)
        case All(parts) | Some(parts):
            return frozenset().union(*map(slots_of, parts))


# Reading sets and conditions: a tokeniser and a recursive descent, nothing is ever executed.
#
# Length and depth are bounded, so that no text can take long or exhaust the stack.


LENGTH_LIMIT = 2000  # characters
DEPTH_LIMIT = 100  # parentheses, negations and joined sets inside each other

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<name>[A-Za-z][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*)
    | (?P<braces>\{[^{}]*\})
    | (?P<mark><=|>=|!=|[<>=()|&,*-])
    )""",
    re.VERBOSE,
)


def parse_set(text: str) -> Set:
    """A set.

    >>> parse_set("person - {Nora}")
    Combined(operator='-', left=ClassName(name='person'), right=Listed(names=('Nora',)))
    """
    parser = _Parser(text)
    found = parser.set()
    parser.end()
    return found


def parse_product(text: str) -> list[Set]:
    """Sets joined by `*`: a row of a relation."""
    parser = _Parser(text)
    sets = [parser.set()]
    while parser.take("*"):
        sets.append(parser.set())
    parser.end()
    return sets


def parse_condition(text: str) -> Condition:
    """A condition between slots.

    >>> parse_condition("not X in person")
    NotCondition(part=MemberOf(slot='X', members=ClassName(name='person')))
    """
    parser = _Parser(text)
    found = parser.condition()
    parser.end()
    return found


class _Parser:
    """Recursive descent over the tokens; `depth` counts the levels that are left."""

    def __init__(self, text: str) -> None:
        if len(text) > LENGTH_LIMIT:
            raise ExpressionError(f"the expression is longer than {LENGTH_LIMIT} characters")
        self.tokens: list[tuple[str, str]] = []
        self.at = 0
        self.depth = DEPTH_LIMIT
        position, text = 0, text.rstrip()
        while position < len(text):
            found = _TOKEN.match(text, position)
            if found is None:
                rest = text[position:].strip()
                raise ExpressionError(
                    f"'{rest[:20]}' cannot be read"
                    + (" (a brace is not closed)" if rest[0] == "{" else "")
                )
            self.tokens.append((str(found.lastgroup), found[0].strip()))
            position = found.end()

    def peek(self, ahead: int = 0) -> tuple[str, str]:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else ("end", "the end")

    def take(self, token: str) -> bool:
        if self.peek()[1] == token and self.peek()[0] != "end":
            self.at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        if not self.take(token):
            raise ExpressionError(f"expected '{token}' but found {self.found()}")

    def found(self) -> str:
        kind, token = self.peek()
        return token if kind == "end" else f"'{token[:40]}'"

    def name(self, what: str) -> str:
        kind, token = self.peek()
        if kind != "name" or token in ("and", "or", "not", "in"):
            raise ExpressionError(f"expected {what} but found {self.found()}")
        self.at += 1
        return token

    def end(self) -> None:
        if self.at < len(self.tokens):
            raise ExpressionError(f"expected the end but found {self.found()}")

    def deeper(self) -> None:
        self.depth -= 1
        if self.depth < 0:
            raise ExpressionError(f"the expression is nested more than {DEPTH_LIMIT} levels deep")

    # sets: & binds tighter than | and -
    def set(self) -> Set:
        left = self.both()
        while self.peek()[1] in ("|", "-"):
            operator = self.peek()[1]
            self.at += 1
            left = self.joined(operator, left, self.both())
        return left

    def both(self) -> Set:
        left = self.single()
        while self.take("&"):
            left = self.joined("&", left, self.single())
        return left

    def joined(self, operator: str, left: Set, right: Set) -> Set:
        self.deeper()  # a long chain is a deep tree
        return Combined(operator, left, right)

    def single(self) -> Set:
        if self.take("("):
            self.deeper()
            found = self.set()
            self.expect(")")
            return found
        kind, token = self.peek()
        if kind == "braces":
            self.at += 1
            names = tuple(" ".join(name.split()) for name in token[1:-1].split(","))
            if not all(names):
                raise ExpressionError("the braces hold an empty name")
            return Listed(names)
        return ClassName(self.name("a class or {entities}"))

    def condition(self) -> Condition:
        parts = [self.conjunction()]
        while self.take("or"):
            parts.append(self.conjunction())
        if len(parts) == 1:
            return parts[0]
        return Some(tuple(parts))

    def conjunction(self) -> Condition:
        parts = [self.negation()]
        while self.take("and"):
            parts.append(self.negation())
        if len(parts) == 1:
            return parts[0]
        return All(tuple(parts))

    def negation(self) -> Condition:
        if self.take("not"):
            self.deeper()
            return NotCondition(self.negation())
        if self.take("("):
            self.deeper()
            found = self.condition()
            self.expect(")")
            return found
        return self.statement()

    def statement(self) -> Condition:
        name = self.name("a slot or a relation")
        if self.take("("):
            return self.applied(name)
        if self.take("in"):
            return MemberOf(name, self.set())
        if self.take("not"):
            self.expect("in")
            return NotCondition(MemberOf(name, self.set()))
        if self.take("="):
            return self.same(name)
        if self.take("!="):
            return NotCondition(self.same(name))
        raise ExpressionError(
            f"expected 'in', '=', '!=' or '(' after '{name}' but found {self.found()}"
        )

    def same(self, name: str) -> Condition:
        if self.peek()[0] == "braces":
            return MemberOf(name, self.single())
        return Same(name, self.name("a slot"))

    def applied(self, name: str) -> Condition:
        slots = [self.name("a slot")]
        while self.take(","):
            slots.append(self.name("a slot"))
        self.expect(")")
        comparison = self.peek()[1]
        if comparison not in COMPARISONS or self.peek()[0] == "end":
            return Related(name, tuple(slots))
        self.at += 1
        if len(slots) != 1:
            raise ExpressionError(
                f"a level is compared for one slot, but {name}(...) has {len(slots)}"
            )
        other = self.name("a level or a scale")
        if not self.take("("):
            return ComparedSets(name, slots[0], comparison, "", other)
        if other != name:
            raise ExpressionError(f"'{name}' cannot be compared with '{other}'")
        second = self.name("a slot")
        self.expect(")")
        return ComparedSets(name, slots[0], comparison, second)

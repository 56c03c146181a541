"""Formulas of linear arithmetic: what a meaning is made of.

Terms are sums of named quantities. A formula can be written for a solver (`smt`) and held against
numbers (`holds`), so that what one says can be checked by the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

Number = int | float | Fraction


@dataclass(frozen=True, slots=True)
class Term:
    """A sum of quantities, each with a factor, and a constant."""

    parts: tuple[tuple[str, Number], ...] = ()
    constant: Number = 0

    def __add__(self, other: Term | Number) -> Term:
        if not isinstance(other, Term):
            return Term(self.parts, self.constant + other)
        factors = dict(self.parts)
        for name, factor in other.parts:
            total = factors.get(name, 0) + factor
            if total:
                factors[name] = total
            else:
                factors.pop(name, None)
        return Term(tuple(factors.items()), self.constant + other.constant)

    def __sub__(self, other: Term | Number) -> Term:
        return self + other * -1

    def __mul__(self, factor: Number) -> Term:
        parts = []
        for name, own in self.parts:
            parts.append((name, own * factor))
        return Term(tuple(parts), self.constant * factor)

    def __lt__(self, other: Term | Number) -> Formula:
        return Inequality(self - other, "<")

    def __le__(self, other: Term | Number) -> Formula:
        return Inequality(self - other, "<=")

    def __gt__(self, other: Term | Number) -> Formula:
        return Inequality(self * -1 + other, "<")

    def __ge__(self, other: Term | Number) -> Formula:
        return Inequality(self * -1 + other, "<=")

    def same(self, other: Term | Number) -> Formula:
        """Both are equal."""
        return Inequality(self - other, "=")

    def value(self, values: Mapping[str, Number]) -> Number:
        """The sum for given quantities."""
        total = self.constant
        for name, factor in self.parts:
            total += values[name] * factor
        return total


class Formula:
    """Something that is true or false; `&`, `|` and `~` combine formulas."""

    __slots__ = ()

    def __and__(self, other: Formula) -> Formula:
        return every((self, other))

    def __or__(self, other: Formula) -> Formula:
        return some((self, other))

    def __invert__(self) -> Formula:
        if isinstance(self, Negation):
            return self.part
        if self == TRUE:
            return FALSE
        if self == FALSE:
            return TRUE
        return Negation(self)

    def implies(self, other: Formula) -> Formula:
        """If this holds, the other one does."""
        return ~self | other


@dataclass(frozen=True, slots=True)
class Inequality(Formula):
    """A term compared with zero: "<", "<=" or "="."""

    term: Term
    sign: str


@dataclass(frozen=True, slots=True)
class Turn(Formula):
    """One product of two terms is greater than another: on which side of a line a point is."""

    first: Term
    second: Term
    third: Term
    fourth: Term


@dataclass(frozen=True, slots=True)
class Proposition(Formula):
    """A statement that is not analysed further."""

    name: str


@dataclass(frozen=True, slots=True)
class And(Formula):
    """All parts hold."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Or(Formula):
    """At least one part holds."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Negation(Formula):
    """The part does not hold."""

    part: Formula


TRUE: Formula = And(())
FALSE: Formula = Or(())


def quantity(name: str) -> Term:
    """A term of one quantity."""
    return Term(((name, 1),))


def every(parts: Iterable[Formula]) -> Formula:
    """All of the formulas, without those that always hold."""
    return _combined(And, parts, FALSE)


def some(parts: Iterable[Formula]) -> Formula:
    """At least one of the formulas."""
    return _combined(Or, parts, TRUE)


def _combined(kind: type[And] | type[Or], parts: Iterable[Formula], decisive: Formula) -> Formula:
    """One formula of its kind without others of it inside; `decisive` decides it by itself."""
    kept: list[Formula] = []
    for part in parts:
        if isinstance(part, kind):
            kept.extend(part.parts)
        else:
            kept.append(part)
    if decisive in kept:
        return decisive
    return kept[0] if len(kept) == 1 else kind(tuple(kept))


def exactly_one(parts: Iterable[Formula]) -> Formula:
    """One of the formulas and no other."""
    listed = list(parts)
    not_both = [~one | ~other for one, other in combinations(listed, 2)]
    return every([some(listed), *not_both])


def holds(formula: Formula, values: Mapping[str, Number], flags: Mapping[str, bool]) -> bool:
    """Whether a formula is true of given numbers; no solver is involved."""
    match formula:
        case Inequality(term, sign):
            value = term.value(values)
            if sign == "<":
                return value < 0
            return value <= 0 if sign == "<=" else value == 0
        case Turn(first, second, third, fourth):
            greater = first.value(values) * second.value(values)
            return greater > third.value(values) * fourth.value(values)
        case Proposition(name):
            return flags[name]
        case And(parts):
            return all(holds(part, values, flags) for part in parts)
        case Or(parts):
            return any(holds(part, values, flags) for part in parts)
        case Negation(part):
            return not holds(part, values, flags)
    raise TypeError(formula)


class Names:
    """The quantities and flags that formulas speak of."""

    def __init__(self) -> None:
        self.quantities: dict[str, None] = {}
        self.flags: dict[str, None] = {}

    def declarations(self) -> str:
        """Their declarations for a solver."""
        lines = [f"(declare-const |{name}| Real)" for name in self.quantities]
        lines += [f"(declare-const |{name}| Bool)" for name in self.flags]
        return "\n".join(lines)


def smt(formula: Formula, names: Names) -> str:
    """The formula in the language of solvers (SMT-LIB 2); `names` collects what it speaks of."""
    match formula:
        case Inequality(term, sign):
            return f"({sign} {_sum(term, names)} {_number(-term.constant)})"
        case Turn(first, second, third, fourth):
            products = []
            for one, other in ((first, second), (third, fourth)):
                products.append(f"(* {_sum(one, names)} {_sum(other, names)})")
            return f"(> {' '.join(products)})"
        case Proposition(name):
            names.flags[name] = None
            return f"|{name}|"
        case And(parts):
            return _joined("and", parts, names, "true")
        case Or(parts):
            return _joined("or", parts, names, "false")
        case Negation(part):
            return f"(not {smt(part, names)})"
    raise TypeError(formula)


def _joined(word: str, parts: tuple[Formula, ...], names: Names, empty: str) -> str:
    if not parts:
        return empty
    return f"({word} {' '.join([smt(part, names) for part in parts])})"


def _sum(term: Term, names: Names) -> str:
    summands = []
    for name, factor in term.parts:
        names.quantities[name] = None
        summands.append(f"|{name}|" if factor == 1 else f"(* {_number(factor)} |{name}|)")
    if not summands:
        return "0.0"
    return summands[0] if len(summands) == 1 else f"(+ {' '.join(summands)})"


@lru_cache(maxsize=1024)
def _number(number: Number) -> str:
    exact = Fraction(number)
    sign, size = exact < 0, abs(exact)
    text = f"{size.numerator}.0"
    if size.denominator != 1:
        text = f"(/ {text} {size.denominator}.0)"
    return f"(- {text})" if sign else text

"""What a clause says: a meaning of the lexicon with its holes filled, at a moment.

Meanings are written as Python expressions of relations: "before(inside(A, B)) and after(outside(A,
B))". They are read, never executed: only names, strings, numbers, calls, and, or, not are known.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from gnomon.proofs.meaning.formulas import Formula, every, some
from gnomon.proofs.meaning.relations import RELATIONS
from gnomon.proofs.meaning.stories import EARLIER, MIDDLE, MOMENTS, NOW, START, Story, When

Filler = str | float | tuple[str, ...]
EVER, ALWAYS = -1, -2  # for a clause that speaks of some moment, or of all


@dataclass(frozen=True)
class Said:
    """One clause: its meaning, who fills the holes, when, and whether it is denied."""

    meaning: str
    fillers: Mapping[str, Filler] = field(default_factory=dict)
    at: int = NOW
    denied: bool = False
    lasting: bool = True  # false for a result that need not have lasted, in a reading that says so

    def of(self, name: str) -> Said:
        """The same said of somebody, where the sentence had not yet named the subject."""
        fillers = dict(self.fillers)
        for hole, filler in fillers.items():
            if filler == UNNAMED:
                fillers[hole] = name
        return replace(self, fillers=fillers)

    def formula(self, story: Story) -> Formula:
        """What it says about a story."""
        after = NOW
        at = self.at
        if self.lasting is False and story.reads("passing"):
            after = at = MIDDLE
        if self.at in (EVER, ALWAYS):
            parts = [self._formula(story, When(moment)) for moment in MOMENTS]
            found = some(parts) if self.at == EVER else every(parts)
        elif self.at == START:
            found = self._formula(story, When(START, EARLIER, START))
        else:
            found = self._formula(story, When(at, START, after))
        return ~found if self.denied else found

    def _formula(self, story: Story, when: When) -> Formula:
        return _evaluated(_parsed(self.meaning), story, when, self.fillers)


UNNAMED = "?"  # the subject of a phrase that comes before it


@dataclass(frozen=True)
class Either:
    """One or the other is said."""

    ways: tuple[Said, ...]

    def of(self, name: str) -> Either:
        """The same said of somebody."""
        return Either(tuple(way.of(name) for way in self.ways))

    def formula(self, story: Story) -> Formula:
        """What it says about a story."""
        return some(way.formula(story) for way in self.ways)


@cache
def _parsed(meaning: str) -> ast.expr:
    return ast.parse(meaning, mode="eval").body


def _evaluated(node: ast.expr, story: Story, when: When, fillers: Mapping[str, Filler]) -> Formula:
    match node:
        case ast.BoolOp(op=op, values=values):
            parts = [_evaluated(value, story, when, fillers) for value in values]
            return every(parts) if isinstance(op, ast.And) else some(parts)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return ~_evaluated(operand, story, when, fillers)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            if name in TIMES:
                parts = []
                for moment in TIMES[name](when):
                    parts.append(_evaluated(arguments[0], story, moment, fillers))
                return some(parts) if name == "ever" else every(parts)
            related: list[str | float] = []
            for argument in arguments:
                related += _values(argument, fillers)
            return RELATIONS[name](story, when, *related)
    raise ValueError(f"not a meaning: {ast.unparse(node)}")


def _values(node: ast.expr, fillers: Mapping[str, Filler]) -> list[str | float]:
    match node:
        case ast.Name(id=hole):
            filler = fillers[hole]
            return list(filler) if isinstance(filler, tuple) else [filler]
        case ast.Constant(value=(str() | int() | float()) as value):
            return [value]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return [-value for value in _values(operand, fillers) if not isinstance(value, str)]
    raise ValueError(f"not a thing: {ast.unparse(node)}")


TIMES = {
    "before": lambda when: [when._replace(at=when.before)],
    "after": lambda when: [when._replace(at=when.after)],
    "now": lambda when: [when._replace(at=NOW)],
    "midway": lambda when: [when._replace(at=MIDDLE)],
    "ever": lambda when: [when._replace(at=moment) for moment in MOMENTS],
    "always": lambda when: [when._replace(at=moment) for moment in MOMENTS],
}

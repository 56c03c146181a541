"""Relations in words: everyday clauses, or made-up verbs that are defined by them."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from gnomon.files import package_data, read_yaml
from gnomon.proofs.calculus import Cell, Relation

WAYS = ("plain", "anonymous")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Speaker:
    """How the items of one quad are put: three names, a wording, and a verb for each relation."""

    calculus: str
    clauses: Mapping[str, str]
    axes: Sequence[str]  # what precedes the clause of each axis; empty where there is one
    scene: str
    names: tuple[str, str, str]
    verbs: Mapping[str, str]  # made up, of the relations that occur
    opening: str  # of the definitions
    definition: str
    possible: str  # a question about a clause
    which: str

    def question(self, way: str, asked: Relation) -> str:
        """May A be so to C?"""
        return self.possible.format(clause=self._clause(way, asked))

    def list_of(self, way: str, relations: Iterable[Relation]) -> str:
        """Which of these must hold of A and C?"""
        listed = []
        for number, relation in enumerate(relations, 1):
            listed.append(f"({number}) {self._clause(way, relation)}.")
        return " ".join([self.which, *listed])

    def premises(self, way: str, cell: Cell) -> str:
        """The scene, what made-up words mean, and how A is to B and B to C."""
        a, b, c = self.names
        parts = [self.scene]
        if way == "anonymous":
            parts += [self.opening, *self._definitions()]
        for relation, one, two in ((cell[0], a, b), (cell[1], b, c)):
            said = self._said(way, relation, one, two)
            parts.append(f"{said[0].upper()}{said[1:]}.")
        return " ".join(parts)

    def _clause(self, way: str, relation: Relation) -> str:
        return self._said(way, relation, self.names[0], self.names[2])

    def _definitions(self) -> Iterable[str]:
        for name, verb in self.verbs.items():
            clause = self.clauses[name].format(X="X", Y="Y")
            yield self.definition.format(verb=verb, clause=clause)

    def _said(self, way: str, relation: Relation, one: str, two: str) -> str:
        parts = []
        for name in relation:
            if way == "anonymous":
                parts.append(f"{one} {self.verbs[name]} {two}")
            else:
                parts.append(self.clauses[name].format(X=one, Y=two))
        if not self.axes:
            return parts[0]
        placed = [f"{axis} {part}" for axis, part in zip(self.axes, parts, strict=True)]
        return ", and ".join(placed)


def speaker(calculus: str, used: Iterable[Relation], seed: str) -> Speaker:
    """A speaker for the relations of a quad; the seed draws names, verbs and wordings."""
    random = Random(f"{seed}/{calculus}/words")
    words = _words()
    own = words[calculus]
    a, b, c = random.sample(words["names"], 3)
    occurring = sorted({name for relation in used for name in relation})
    random.shuffle(occurring)
    verbs = random.sample(words["verbs"], len(occurring))
    return Speaker(
        calculus=calculus,
        clauses=own["clauses"],
        axes=own.get("axes", ()),
        scene=own["scene"].format(A=a, B=b, C=c),
        names=(a, b, c),
        verbs=dict(zip(occurring, verbs, strict=True)),
        opening=random.choice(words["definitions"]),
        definition=words["definition"],
        possible=random.choice(words["questions"]["possible"]),
        which=random.choice(words["questions"]["which"]),
    )


def likeness(calculus: str) -> Callable[[Cell, Relation], tuple[Hashable, ...]]:
    """How far a conclusion repeats premises: at all, which on each axis, and in how many words.

    >>> likeness("cardinal")((("north",), ("east",)), ("north",))
    (True, (True, False), (6, 6, 7), 6)
    """
    clauses = _words()[calculus]["clauses"]
    known = {name: frozenset(_WORD.findall(clause)) for name, clause in clauses.items()}

    def words_of(*relations: Relation) -> set[str]:
        found: set[str] = set()
        for relation in relations:
            found.update(*[known[name] for name in relation])
        return found

    def signs(cell: Cell, asked: Relation) -> tuple[Hashable, ...]:
        found: list[Hashable] = []
        for one, two, three in zip(*cell, asked, strict=True):
            found.append((one == three, two == three))
        said = words_of(asked)
        premises = words_of(*cell)
        shared = len(said & premises)
        return asked in cell, *found, (len(said), shared, len(premises)), shared

    return signs


@cache
def _words() -> dict[str, Any]:
    content: dict[str, Any] = read_yaml(package_data("calculi/words.yaml"))
    return content

"""Composition tables: if A is r to B and B is s to C, which relations may A have to C?

Allen's and the cardinal one are computed by trying all arrangements of three; that of the rectangle
algebra is two of Allen's, one for each axis. RCC-8 ships as data (a test computes it from boxes).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from gnomon.files import package_data, read_yaml
from gnomon.proofs.calculi.allen import ALLEN_RELATIONS, allen_triples
from gnomon.proofs.calculi.cardinal import CARDINAL_RELATIONS, cardinal_triples

Relation = tuple[str, ...]  # one name, or one for each axis
Cell = tuple[Relation, Relation]  # A to B, B to C
NAMES = ("rcc8", "allen", "cardinal", "rectangle")


@dataclass(frozen=True)
class Calculus:
    """Relations of which exactly one holds between two things, and how they compose on each axis.

    >>> table = calculus("cardinal")
    >>> sorted(table.compose(("north",), ("east",)))
    [('north-east',)]
    """

    name: str
    names: tuple[str, ...]  # of the relations on one axis
    table: Mapping[tuple[str, str], frozenset[str]]
    axes: int = 1

    @property
    def relations(self) -> Iterator[Relation]:
        """Every relation."""
        return product(self.names, repeat=self.axes)

    @property
    def cells(self) -> Iterator[Cell]:
        """Every pair of premises."""
        return product(self.relations, self.relations)

    def compose(self, first: Relation, second: Relation) -> frozenset[Relation]:
        """The relations that A may have to C."""
        per_axis = [self.table[pair] for pair in zip(first, second, strict=True)]
        return frozenset(product(*per_axis))

    def possibilities(self, first: Relation, second: Relation) -> int:
        """How many relations A may have to C."""
        found = 1
        for pair in zip(first, second, strict=True):
            found *= len(self.table[pair])
        return found

    def is_open(self, cell: Cell) -> bool:
        """Whether the premises rule nothing out."""
        every = len(list(self.relations))
        return self.possibilities(*cell) == every


@cache
def calculus(name: str) -> Calculus:
    """The calculus of that name."""
    if name == "rcc8":
        return _rcc8()
    if name == "cardinal":
        return Calculus(name, CARDINAL_RELATIONS, _table(cardinal_triples()))
    axes = 2 if name == "rectangle" else 1
    return Calculus(name, ALLEN_RELATIONS, _allen_table(), axes)


@cache
def _allen_table() -> Mapping[tuple[str, str], frozenset[str]]:
    return _table(allen_triples())


def _table(triples: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str], frozenset[str]]:
    found: dict[tuple[str, str], set[str]] = {}
    for first, second, both in triples:
        found.setdefault((first, second), set()).add(both)
    return {cell: frozenset(possible) for cell, possible in found.items()}


def _rcc8() -> Calculus:
    """The table of Randell, Cui and Cohn (1992), as it ships."""
    content: dict[str, dict[str, str]] = read_yaml(package_data("calculi/rcc8.yaml"))
    names = tuple(content)
    table = {}
    for first, row in content.items():
        for second, possible in row.items():
            table[first, second] = frozenset(_listed(possible, names))
    return Calculus("rcc8", names, table)


def _listed(text: str, names: Sequence[str]) -> Sequence[str]:
    return names if text == "any" else text.split()

"""The mini world: entities in classes, scales of classes, relations as unions of products of sets.

Sets are frozensets of entity numbers. A relation is never spelled out: it stays a list of rows that
add or take away a product of sets, so its size does not matter (docs/patterns.md describes the
YAML).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gnomon.language.expressions import Combined, ExpressionError, Listed, Named, Set
from gnomon.yamlnodes import shown

Members = frozenset[int]
_OPERATORS: Mapping[str, Callable[[Members, Members], Members]] = {
    "|": frozenset.__or__,
    "&": frozenset.__and__,
    "-": frozenset.__sub__,
}


@dataclass(frozen=True)
class Entity:
    """A noun or a name, and what English needs to know of it."""

    name: str
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Row:
    """One row of a relation: adds or takes away a product of sets, or another relation.

    The other relation may be turned round (`inverse`).
    """

    adds: bool
    sets: tuple[Members, ...] = ()
    relation: Relation | None = None
    inverse: bool = False

    def holds(self, fillers: Sequence[int]) -> bool:
        """Whether the row speaks of these entities, in this order."""
        if self.relation is None:
            return all(map(frozenset.__contains__, self.sets, fillers))
        if self.inverse:
            fillers = fillers[::-1]
        return self.relation.holds(fillers)


@dataclass(frozen=True)
class Relation:
    """A union of rows; a later row overrules an earlier one."""

    name: str
    arity: int
    rows: tuple[Row, ...]

    def holds(self, fillers: Sequence[int]) -> bool:
        """Whether the entities stand in the relation."""
        for row in reversed(self.rows):
            if row.holds(fillers):
                return row.adds
        return False

    def places(self) -> Iterator[tuple[int, Members]]:
        """Every set that decides the relation, with the place it stands in."""
        for row in self.rows:
            if row.relation is None:
                yield from enumerate(row.sets)
            else:
                for place, members in row.relation.places():
                    yield self._place(row, place), members

    def projection(self, place: int) -> Members:
        """The entities that may stand in a place: more than those that do, where rows take away."""
        found: Members = frozenset()
        for row in self.rows:
            if not row.adds:
                continue
            if row.relation is not None:
                found |= row.relation.projection(self._place(row, place))
            elif all(row.sets):
                found |= row.sets[place]
        return found

    def _place(self, row: Row, place: int) -> int:
        """A place of this relation in that of a row, or the reverse."""
        if row.inverse:
            return self.arity - 1 - place
        return place


@dataclass(frozen=True, eq=False)
class World:
    """What patterns speak of."""

    entities: tuple[Entity, ...]
    classes: Mapping[str, Members]
    scales: Mapping[str, tuple[str, ...]]
    relations: Mapping[str, Relation]
    numbers: Mapping[str, int]  # of each entity, by name
    # What entities look like in sentences, see surface.forms_of.
    forms: dict[Hashable, tuple[str, ...]] = field(default_factory=dict, repr=False)

    def members(self, expression: Set) -> Members:
        """The entities of a set; an unknown class or entity is an ExpressionError."""
        match expression:
            case Named(name):
                if name not in self.classes:
                    raise ExpressionError(unknown_name("class", name, self.classes))
                return self.classes[name]
            case Listed(names):
                for name in names:
                    if name not in self.numbers:
                        raise ExpressionError(unknown_name("entity", name, self.numbers))
                return frozenset(self.numbers[name] for name in names)
            case Combined(operator, left, right):
                return _OPERATORS[operator](self.members(left), self.members(right))

    def level(self, scale: str) -> tuple[Members, ...]:
        """The entities on each level of a scale, from low to high."""
        return tuple(self.classes[name] for name in self.scales[scale])


def unknown_name(kind: str, name: str, known: Mapping[str, object]) -> str:
    """Say that a name is unknown, with the nearest one."""
    from difflib import get_close_matches

    problem = f"there is no {kind} '{shown(name)}'"
    near = get_close_matches(name, list(known)[:20_000], n=1)
    if near:
        problem += f" (did you mean {near[0]}?)"
    return problem

"""The mini world: entities in classes, scales of classes, relations as unions of products of sets.

Sets are frozensets of entity numbers. A relation is never spelled out: it stays a list of rows that
add or take away a product of sets, so its size does not matter (docs/patterns.md describes the
YAML).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from gnomon.language.expressions import (
    ClassName,
    Combined,
    ExpressionError,
    Listed,
    Set,
    parse_product,
    parse_set,
)
from gnomon.yamlnodes import Node, parse_document, shown

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
class RelationRow:
    """One row of a relation: adds or takes away a product of sets, or another relation.

    The other relation may be turned round (`inverse`).
    """

    adds: bool
    sets: tuple[Members, ...] = ()
    relation: WorldRelation | None = None
    inverse: bool = False

    def holds(self, fillers: Sequence[int]) -> bool:
        """Whether the row speaks of these entities, in this order."""
        if self.relation is None:
            return all(map(frozenset.__contains__, self.sets, fillers))
        if self.inverse:
            fillers = fillers[::-1]
        return self.relation.holds(fillers)


@dataclass(frozen=True)
class WorldRelation:
    """A union of rows; a later row overrules an earlier one."""

    name: str
    arity: int
    rows: tuple[RelationRow, ...]

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

    def _place(self, row: RelationRow, place: int) -> int:
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
    relations: Mapping[str, WorldRelation]
    numbers: Mapping[str, int]  # of each entity, by name
    # What entities look like in sentences, see surface.forms_of.
    forms: dict[Hashable, tuple[str, ...]] = field(default_factory=dict, repr=False)

    def members(self, expression: Set) -> Members:
        """The entities of a set; an unknown class or entity is an ExpressionError."""
        match expression:
            case ClassName(name):
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


# Reading a mini world from YAML (docs/patterns.md): names resolved, complaints with their line.


FLAGS = ("plural", "proper", "the", "mass", "a", "an")
SECTIONS = ("classes", "scales", "entities", "relations")
NAME_LIMIT, LEVEL_LIMIT, ARITY_LIMIT = 60, 20, 8
ENTITY_LIMIT = 100_000
NOT_IN_NAMES = set("{}[],*|&:%")
DEPTH_LIMIT = 100  # names that depend on each other in a row
ROW_LIMIT = 2_000  # rows of a relation, with those of the relations inside it
S = TypeVar("S")
T = TypeVar("T")


def parse_world(text: str, file: str = "") -> World:
    """The mini world that a YAML text describes.

    >>> entities = "entities: {person: [Nora, teacher], pet: [dog]}"
    >>> world = parse_world(f"{entities}\\nclasses: {{person: , pet: }}")
    >>> sorted(world.classes["person"])
    [0, 1]
    """
    return build_world([parse_document(text, file)])


def build_world(documents: Sequence[Node]) -> World:
    """The mini world of several documents, each adding to those before."""
    return _Builder(documents).world()


class _Builder:
    """Collects the sections of all documents, then resolves names in the order of dependence."""

    def __init__(self, documents: Sequence[Node]) -> None:
        self.sections: dict[str, list[Node]] = {section: [] for section in SECTIONS}
        for document in documents:
            for section, node in document.mapping("a mini world", SECTIONS).items():
                self.sections[section].append(node)
        self.parents: dict[str, list[tuple[str, Node]]] = {}
        self.own: dict[str, set[int]] = {}  # entities listed under a class itself
        self.equals: dict[str, Node] = {}
        self.class_flags: dict[str, frozenset[str]] = {}
        self.class_nodes: dict[str, Node] = {}
        self.names: dict[str, int] = {}
        self.flags: list[set[str]] = []
        self.relation_nodes: dict[str, Node] = {}
        self.row_counts: dict[str, int] = {}

    def world(self) -> World:
        for node in self.sections["classes"]:
            for name, body in node.mapping("classes").items():
                self.add_class(name, body)
        for node in self.sections["entities"]:
            for name, body in node.mapping("entities").items():
                self.add_entities(name, body)
        classes = self.resolve_classes()
        entities = tuple(
            Entity(name, frozenset(flags))
            for name, flags in zip(self.names, self.flags, strict=True)
        )
        world = World(entities, classes, self.scales(classes), {}, self.names)
        for node in self.sections["relations"]:
            for name, body in node.mapping("relations").items():
                _check_name(name, "a relation", body)
                if name in self.relation_nodes:
                    body.fail(f"the relation '{name}' is given twice.", "Keep one of them.")
                self.relation_nodes[name] = body
        relations: dict[str, WorldRelation] = {}
        resolve_in_order(
            self.relation_nodes,
            lambda name, need: self.relation(name, world, relations, need),
            "relation",
        )
        return World(entities, classes, world.scales, relations, self.names)

    def add_class(self, name: str, body: Node) -> None:
        _check_name(name, "a class", body)
        if name in self.class_nodes:
            body.fail(f"the class '{name}' is given twice.", "Keep one of them.")
        keys = body.mapping(f"the class '{name}'", ("is", "flags", "equals"))
        self.class_nodes[name] = body
        self.parents[name] = keys["is"].texts("'is'") if "is" in keys else []
        self.own[name] = set()
        self.class_flags[name] = _flags(keys["flags"]) if "flags" in keys else frozenset()
        if "equals" in keys:
            if "is" in keys:
                body.fail(
                    f"the class '{name}' has both 'equals' and 'is'.",
                    "A class that equals a set needs no 'is'.",
                )
            self.equals[name] = keys["equals"]

    def add_entities(self, name: str, body: Node) -> None:
        if name not in self.class_nodes:
            body.fail(
                unknown_name("class", name, self.class_nodes) + ".", "Declare it under 'classes'."
            )
        if name in self.equals:
            body.fail(
                f"the class '{name}' equals a set and cannot list entities.",
                "List them under another class.",
            )
        for node in body.sequence(f"the entities of '{name}'"):
            for entity, flags in _entity(node):
                number = self.names.setdefault(entity, len(self.names))
                if number == len(self.flags):
                    self.flags.append(set())
                self.flags[number] |= flags | self.class_flags[name]
                self.own[name].add(number)
        if len(self.names) > ENTITY_LIMIT:
            body.fail(
                f"the mini world has more than {ENTITY_LIMIT:,} entities.",
                "Keep those that patterns use.",
            )

    def resolve_classes(self) -> dict[str, Members]:
        children: dict[str, list[str]] = {name: [] for name in self.class_nodes}
        for name, parents in self.parents.items():
            for parent, node in parents:
                if parent not in self.class_nodes:
                    node.fail(
                        unknown_name("class", parent, self.class_nodes) + ".",
                        "Declare it under 'classes'.",
                    )
                if parent in self.equals:
                    node.fail(
                        f"the class '{parent}' equals a set and cannot have subclasses.",
                        "Name another class.",
                    )
                children[parent].append(name)
        classes: dict[str, Members] = {}
        partial = World((), classes, {}, {}, self.names)

        def equal(node: Node, need: Callable[[str], None]) -> Members:
            expression = read_expression(parse_set, node.scalar("'equals'"), node)
            for used in _classes_in(expression):
                if used in self.class_nodes:
                    need(used)
            return read_expression(partial.members, expression, node)

        def resolve(name: str, need: Callable[[str], None]) -> None:
            if name in self.equals:
                classes[name] = equal(self.equals[name], need)
            else:
                found = set(self.own[name])
                for child in children[name]:
                    need(child)
                    found |= classes[child]
                classes[name] = frozenset(found)
            if not classes[name]:
                self.class_nodes[name].fail(
                    f"the class '{name}' is empty.", "List entities under it, or remove it."
                )

        resolve_in_order(self.class_nodes, resolve, "class")
        return classes

    def scales(self, classes: Mapping[str, Members]) -> dict[str, tuple[str, ...]]:
        scales: dict[str, tuple[str, ...]] = {}
        for section in self.sections["scales"]:
            for name, body in section.mapping("scales").items():
                _check_name(name, "a scale", body)
                if name in scales:
                    body.fail(f"the scale '{name}' is given twice.", "Keep one of them.")
                scales[name] = self.levels(name, body, classes)
        return scales

    def levels(self, name: str, body: Node, classes: Mapping[str, Members]) -> tuple[str, ...]:
        """The classes of a scale, no entity in two of them."""
        levels = [level for level, _ in body.texts(f"the scale '{name}'")]
        if not 2 <= len(levels) <= LEVEL_LIMIT:
            body.fail(
                f"the scale '{name}' has {len(levels)} levels.",
                f"Name 2 to {LEVEL_LIMIT} classes, from low to high.",
            )
        seen: dict[int, str] = {}
        for level in levels:
            if level not in classes:
                problem = unknown_name("class", level, classes)
                body.fail(f"{problem}.", "The levels of a scale are classes.")
            for number in classes[level]:
                first = seen.setdefault(number, level)
                if first != level:
                    entity = list(self.names)[number]
                    body.fail(
                        f"'{entity}' is on two levels of '{name}': {first} and {level}.",
                        "Keep it in one.",
                    )
        return tuple(levels)

    def relation(
        self, name: str, world: World, known: dict[str, WorldRelation], need: Callable[[str], None]
    ) -> None:
        node = self.relation_nodes[name]
        rows: list[RelationRow] = []
        arity = 0
        for text, row_node in node.texts(f"the relation '{name}'"):
            row, length = self.row(text, row_node, world, known, need)
            arity = arity or length
            if length != arity:
                row_node.fail(
                    f"this row of '{name}' has {length} places, the first has {arity}.",
                    "Give all rows the same number.",
                )
            rows.append(row)
        if not rows or not rows[0].adds:
            node.fail(
                f"the relation '{name}' has no first row that adds something.",
                "Write a product such as: person * vehicle",
            )
        known[name] = WorldRelation(name, arity, tuple(rows))
        # Relations inside relations could double with every level; the sum is known before anyone
        # goes through them.
        count = 0
        for row in rows:
            count += self.row_counts[row.relation.name] if row.relation else 1
        self.row_counts[name] = count
        if self.row_counts[name] > ROW_LIMIT:
            node.fail(
                f"the relation '{name}' has more than {ROW_LIMIT:,} rows.",
                "Use classes to say it in fewer rows.",
            )

    def row(
        self,
        text: str,
        node: Node,
        world: World,
        known: Mapping[str, WorldRelation],
        need: Callable[[str], None],
    ) -> tuple[RelationRow, int]:
        adds = not text.startswith("not ")
        text = text.removeprefix("not ").strip()
        inverse = text.startswith("inverse of ")
        other = text.removeprefix("inverse of ").strip()
        if other in self.relation_nodes:
            need(other)
            return RelationRow(adds, (), known[other], inverse), known[other].arity
        if inverse:
            node.fail(
                unknown_name("relation", other, self.relation_nodes) + ".",
                "Name a relation of this world.",
            )
        expressions = read_expression(parse_product, text, node)
        if len(expressions) > ARITY_LIMIT:
            node.fail(f"the row has more than {ARITY_LIMIT} places.")
        sets = tuple(read_expression(world.members, expression, node) for expression in expressions)
        for place, members in enumerate(sets, 1):
            if not members:
                node.fail(
                    f"place {place} of the row '{shown(text)}' is an empty set.",
                    "Name a class with entities in it.",
                )
        return RelationRow(adds, sets), len(sets)


def _entity(node: Node) -> Iterator[tuple[str, frozenset[str]]]:
    """The entities that a node names, with their flags: a text, or a mapping of names to flags."""
    if node.kind == "text":
        found = {node.scalar("an entity"): frozenset[str]()}
    else:
        found = {name: _flags(flags) for name, flags in node.mapping("an entity").items()}
    for name, flags in found.items():
        if len(name) > NAME_LIMIT or not name.isprintable() or set(name) & NOT_IN_NAMES:
            node.fail(
                f"'{shown(name)}' cannot be the name of an entity.",
                f"Write at most {NAME_LIMIT} letters, without any of {{}}[],*|&:%",
            )
        yield name, flags


def _flags(node: Node) -> frozenset[str]:
    return frozenset(item.choice("a flag", FLAGS) for _, item in node.texts("flags"))


def _check_name(name: str, what: str, node: Node) -> None:
    if name in ("and", "or", "not", "in", "inverse", "words"):
        node.fail(
            f"'{name}' cannot be the name of {what}: conditions use the word.",
            "Choose another: inside, fits-in.",
        )
    if len(name) > NAME_LIMIT or not _is_name(name):
        node.fail(
            f"'{shown(name)}' cannot be the name of {what}.",
            "Use letters, digits and hyphens: can-enter.",
        )


def _is_name(name: str) -> bool:
    try:
        return parse_set(name) == ClassName(name)
    except ExpressionError:
        return False


def _classes_in(expression: Set) -> Iterator[str]:
    if isinstance(expression, ClassName):
        yield expression.name
    elif isinstance(expression, Combined):
        yield from _classes_in(expression.left)
        yield from _classes_in(expression.right)


def read_expression(function: Callable[[S], T], argument: S, node: Node) -> T:
    """Apply a reader of expressions; its errors are reported at the node."""
    try:
        return function(argument)
    except ExpressionError as error:
        node.fail(f"{error}.", "docs/patterns.md shows how sets are written.")


def resolve_in_order(
    nodes: Mapping[str, Node], resolve: Callable[[str, Callable[[str], None]], None], kind: str
) -> None:
    """Resolve each name after the names that it needs; a circle is an error that shows it."""
    done: set[str] = set()
    path: list[str] = []

    def visit(name: str) -> None:
        if name in done:
            return
        if name in path:
            circle = " -> ".join([*path[path.index(name) :], name])
            nodes[name].fail(
                f"the {kind} '{name}' depends on itself: {circle}.", "Break the circle."
            )
        if len(path) >= DEPTH_LIMIT:
            nodes[name].fail(
                f"the {kind} '{name}' depends on more than {DEPTH_LIMIT} others in a row.",
                "Define it with fewer steps.",
            )
        path.append(name)
        resolve(name, visit)
        path.pop()
        done.add(name)

    for name in nodes:
        visit(name)

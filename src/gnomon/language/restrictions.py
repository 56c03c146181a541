"""The mini world of SpaceNLI's authors (selection_restriction.yaml), read as ours.

Their file writes sets as YAML mappings without values and joins them by repeated merge keys, `{<<:
*A, <<: *B, c}`; relations are lists of products, of tuples, or of other relations. It is built from
parse events with limits, since merging and aliases can make a small file explode. Entities are
numbered in the order of their phrases, as the authors' generator enumerates them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from gnomon.errors import DataError
from gnomon.files import read_text
from gnomon.language.documents import shown
from gnomon.language.world import Entity, Members, Relation, Row, World

SIZE_LIMIT, DEPTH_LIMIT, MERGE_LIMIT, ROW_LIMIT = 2**20, 24, 1_000_000, 10_000
_UNARY = re.compile(r"(.+)_(n|a|pn)")
_RELATION = re.compile(r"(.+)_[a-z]+([1-9])")
_HINT = "Is this the authors' selection_restriction.yaml?"


@dataclass(frozen=True, eq=False)
class Signature:
    """The authors' predicates by their full names ("person_n", "in_p2"), over a world of
    entities."""

    world: World
    predicates: Mapping[str, Relation]
    file: str

    def resolve(self, symbol: str, arity: int) -> Relation | None:
        """The predicate that "in(NP1,NP2)" means: its name is the symbol with a suffix; none if
        none or several fit."""
        found = [
            p for name, p in self.predicates.items() if p.arity == arity and _symbol(name) == symbol
        ]
        return found[0] if len(found) == 1 else None


def read_signature(file: str | Path) -> Signature:
    """The authors' mini world."""
    top = _load(read_text(file, limit=SIZE_LIMIT), str(file))
    if not isinstance(top, dict):
        raise DataError("the file is not a mapping of predicates.", _HINT, file=file)
    sets: dict[str, dict[str, Any]] = {}
    products: dict[str, list[tuple[frozenset[str], ...]]] = {}
    for name, value in top.items():
        if _UNARY.fullmatch(name):
            if not isinstance(value, dict):
                raise DataError(f"'{shown(name)}' is not a set.", _HINT, file=file)
            sets[name] = value
        elif name != "MOD_2":  # modifiers, which no pattern uses
            products[name] = _products(name, value, str(file))
    for name in list(
        products
    ):  # what is known to be above is above; only where the plain relation exists
        if name.startswith("k_") and name[2:] in products:
            products[name[2:]] = products[name[2:]] + products[name]
    world = _world(sets)
    predicates = {
        name: _relation(name, [(frozenset(names),)], world) for name, names in sets.items()
    }
    predicates |= {name: _relation(name, rows, world) for name, rows in products.items()}
    return Signature(world, predicates, str(file))


def _world(sets: Mapping[str, Mapping[str, Any]]) -> World:
    proper = {name for key, names in sets.items() if key.endswith("_pn") for name in names}
    common = {name for key, names in sets.items() if key.endswith("_n") for name in names} - proper
    phrases = sorted([(name, name) for name in proper] + [(f"the {name}", name) for name in common])
    entities = tuple(
        Entity(name, frozenset(["proper"] if name in proper else [])) for _, name in phrases
    )
    return World(
        entities, {}, {}, {}, {entity.name: number for number, entity in enumerate(entities)}
    )


def _relation(name: str, rows: list[tuple[frozenset[str], ...]], world: World) -> Relation:
    def members(
        names: frozenset[str],
    ) -> Members:  # a name outside the domain (bed, boat ...) can fill no slot
        return frozenset(world.numbers[entity] for entity in names if entity in world.numbers)

    return Relation(
        name, len(rows[0]), tuple(Row(True, tuple(members(names) for names in row)) for row in rows)
    )


def _symbol(name: str) -> str:
    found = _UNARY.fullmatch(name) or _RELATION.fullmatch(name)
    return found[1] if found else name


def _products(name: str, value: Any, file: str) -> list[tuple[frozenset[str], ...]]:
    """The rows of a relation: each item is a product of sets, a tuple of names, or the items of
    another relation."""
    found = _RELATION.fullmatch(name)
    rows: list[tuple[frozenset[str], ...]] = []
    waiting: list[Any] = list(value) if isinstance(value, list) else [None]
    while waiting and found:
        item = waiting.pop(0)
        if not isinstance(item, list) or not item or len(rows) + len(waiting) > ROW_LIMIT:
            found = None
        elif all(isinstance(part, list) for part in item):
            waiting[:0] = item
        else:
            row = tuple(
                frozenset(part) if isinstance(part, dict) else frozenset([part])
                for part in item
                if isinstance(part, (dict, str))
            )
            rows.append(row)
            if len(row) != len(item) or len(row) != int(found[2]):
                found = None
    if not found or not rows:
        raise DataError(
            f"'{shown(name)}' is not a relation whose rows have as many places as its last digit says.",
            _HINT,
            file=file,
        )
    return rows


def _load(text: str, file: str) -> Any:
    """YAML as texts, lists and dicts; a set is a dict without values. Aliases share what they
    name."""
    import yaml

    try:
        events = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        for event in events:
            if isinstance(event, yaml.NodeEvent):
                return _Builder(events, file).value(event)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise DataError(f"not YAML: {error.problem}.", _HINT, file=file, line=line) from None
    except (yaml.YAMLError, ValueError) as error:
        raise DataError(
            f"not YAML: {shown(str(error).splitlines()[0])}.", _HINT, file=file
        ) from None
    return None


class _Builder:
    def __init__(self, events: Iterator[Any], file: str) -> None:
        self.events, self.file = events, file
        self.anchors: dict[str, Any] = {}
        self.merged = 0

    def value(self, event: Any, depth: int = 0) -> Any:
        import yaml

        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                self.fail(event, f"the alias '*{shown(str(event.anchor))}' is not defined above.")
            return self.anchors[event.anchor]
        if depth > DEPTH_LIMIT:
            self.fail(event, "the file is nested too deeply.")
        value: Any
        if isinstance(event, yaml.ScalarEvent):
            value = event.value
        elif isinstance(event, yaml.SequenceStartEvent):
            value = []
            while not isinstance(inner := next(self.events), yaml.SequenceEndEvent):
                value.append(self.value(inner, depth + 1))
        else:
            value = {}
            while not isinstance(inner := next(self.events), yaml.MappingEndEvent):
                self.entry(value, inner, depth + 1)
        if event.anchor:
            self.anchors[event.anchor] = value
        return value

    def entry(self, mapping: dict[str, Any], event: Any, depth: int) -> None:
        key, value = self.value(event, depth), self.value(next(self.events), depth)
        if not isinstance(key, str):
            self.fail(event, "a key is not a name.")
        if key != "<<":
            mapping[key] = value
            return
        for part in value if isinstance(value, list) else [value]:
            if not isinstance(part, dict):
                self.fail(event, "only sets can be merged with <<.")
            self.merged += len(part)
            if self.merged > MERGE_LIMIT:
                self.fail(event, "the sets merged with << grow too large.")
            for name in part:
                mapping.setdefault(name, part[name])

    def fail(self, event: Any, message: str) -> NoReturn:
        raise DataError(message, _HINT, file=self.file, line=event.start_mark.line + 1)

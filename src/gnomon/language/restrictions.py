"""The mini world of SpaceNLI's authors (selection_restriction.yaml), read as ours.

Their file writes sets as YAML mappings without values and joins them by repeated merge keys, `{<<:
*A, <<: *B, c}`; relations are lists of products, of tuples, or of other relations. It is built from
parse events with limits, since merging and aliases can make a small file explode. Entities are
numbered in the order of their phrases, as the authors' generator enumerates them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from gnomon.errors import DataError
from gnomon.files import read_text
from gnomon.language.world import Entity, Members, RelationRow, World, WorldRelation
from gnomon.yamlnodes import shown

Rows = list[tuple[frozenset[str], ...]]  # of a relation: the sets that may stand in its places
SIZE_LIMIT, DEPTH_LIMIT, MERGE_LIMIT, ROW_LIMIT = 2**20, 24, 1_000_000, 10_000
_UNARY = re.compile(r"(.+)_(n|a|pn)")
_RELATION = re.compile(r"(.+)_[a-z]+([1-9])")
_HINT = "It must be selection_restriction.yaml from the authors' repository, unchanged."


@dataclass(frozen=True, eq=False)
class Signature:
    """The authors' predicates by full name ("person_n", "in_p2"), over a world of entities."""

    world: World
    predicates: Mapping[str, WorldRelation]
    file: str

    def resolve(self, symbol: str, arity: int) -> WorldRelation | None:
        """The predicate that "in(NP1,NP2)" means: its name is the symbol with a suffix.

        None if none fits, or several do.
        """
        found = []
        for name, predicate in self.predicates.items():
            if predicate.arity == arity and _symbol(name) == symbol:
                found.append(predicate)
        if len(found) != 1:
            return None
        return found[0]


def read_signature(file: str | Path) -> Signature:
    """The authors' mini world."""
    top = _load(read_text(file, limit=SIZE_LIMIT), str(file))
    if not isinstance(top, dict):
        raise DataError("the file is not a mapping of predicates.", _HINT, file=file)
    sets: dict[str, dict[str, Any]] = {}
    products: dict[str, Rows] = {}
    for name, value in top.items():
        if _UNARY.fullmatch(name):
            if not isinstance(value, dict):
                raise DataError(f"'{shown(name)}' is not a set.", _HINT, file=file)
            sets[name] = value
        elif name != "MOD_2":  # modifiers, which no pattern uses
            products[name] = _products(name, value, str(file))
    for name in list(products):  # what is known to be above is above
        plain = name.removeprefix("k_")
        if plain != name and plain in products:
            products[plain] = products[plain] + products[name]
    world = _world(sets)
    rows_of: dict[str, Rows] = {name: [(frozenset(names),)] for name, names in sets.items()}
    rows_of |= products
    predicates = {name: _relation(name, rows, world) for name, rows in rows_of.items()}
    return Signature(world, predicates, str(file))


def _world(sets: Mapping[str, Mapping[str, Any]]) -> World:
    proper: set[str] = set()
    common: set[str] = set()
    for key, names in sets.items():
        if key.endswith("_pn"):
            proper.update(names)
        elif key.endswith("_n"):
            common.update(names)
    phrases = {name: name for name in proper}
    for name in common - proper:
        phrases[f"the {name}"] = name
    entities = []
    numbers = {}
    for number, phrase in enumerate(sorted(phrases)):
        name = phrases[phrase]
        flags = frozenset(["proper"]) if name in proper else frozenset[str]()
        entities.append(Entity(name, flags))
        numbers[name] = number
    return World(tuple(entities), {}, {}, {}, numbers)


def _relation(name: str, rows: Rows, world: World) -> WorldRelation:
    def members(names: frozenset[str]) -> Members:
        known = names & world.numbers.keys()  # others (bed, boat ...) can fill no slot
        return frozenset(world.numbers[entity] for entity in known)

    found = [RelationRow(True, tuple(map(members, row))) for row in rows]
    return WorldRelation(name, len(rows[0]), tuple(found))


def _symbol(name: str) -> str:
    found = _UNARY.fullmatch(name) or _RELATION.fullmatch(name)
    if found is None:
        return name
    return found[1]


def _products(name: str, value: Any, file: str) -> Rows:
    """The rows of a relation.

    Each item is a product of sets, a tuple of names, or the items of another relation.
    """
    known = _RELATION.fullmatch(name)
    rows = _rows(value, int(known[2])) if known else None
    if not rows:
        raise DataError(
            f"'{shown(name)}' is not a relation whose rows have as many places as its last digit "
            "says.",
            _HINT,
            file=file,
        )
    return rows


def _rows(value: Any, arity: int) -> Rows | None:
    """The rows, each of so many sets; none if one is something else."""
    if not isinstance(value, list):
        return None
    rows: Rows = []
    waiting: list[Any] = list(value)
    while waiting:
        item = waiting.pop(0)
        if not isinstance(item, list) or not item or len(rows) + len(waiting) > ROW_LIMIT:
            return None
        if all(isinstance(part, list) for part in item):
            waiting[:0] = item
            continue
        row = tuple(_set(part) for part in item)
        if len(row) != arity or not all(isinstance(part, (dict, str)) for part in item):
            return None
        rows.append(row)
    return rows


def _set(part: Any) -> frozenset[str]:
    """A set of names, or the set of one name."""
    if isinstance(part, str):
        return frozenset([part])
    return frozenset(part)


def _load(text: str, file: str) -> Any:
    """YAML as texts, lists and dicts; a set is a dict without values.

    Aliases share what they name.
    """
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
        parts = value if isinstance(value, list) else [value]
        for part in parts:
            if not isinstance(part, dict):
                self.fail(event, "only sets can be merged with <<.")
            self.merged += len(part)
            if self.merged > MERGE_LIMIT:
                self.fail(event, "the sets merged with << grow too large.")
            for name in part:
                mapping.setdefault(name, part[name])

    def fail(self, event: Any, message: str) -> NoReturn:
        raise DataError(message, _HINT, file=self.file, line=event.start_mark.line + 1)

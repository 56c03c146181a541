"""The patterns of SpaceNLI's authors (problem_patterns.xml), read as ours.

Slots are `NP1` (any entity, with its article), `word_r_01` (the lemmas of a WordNet sense) and
`_text` (that text, or nothing). Restrictions, Boolean constraints and attributes of a group hold
for its problems too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice, pairwise
from pathlib import Path
from typing import Any

from gnomon.errors import DataError
from gnomon.files import package_data, read_text, read_yaml
from gnomon.language.conditions import (
    Condition,
    EitherCondition,
    Equal,
    Every,
    Never,
    Stands,
    Within,
)
from gnomon.language.patterns import CLASSES, LABELS, Bank, Pattern, PatternSlot
from gnomon.language.restrictions import Signature
from gnomon.language.surface import SlottedSentence, WordForm, forms_of
from gnomon.language.world import Members, RelationRow, WorldRelation
from gnomon.yamlnodes import shown

# The Boolean constraints in SpaceNLI's pattern file: Python there, read here without running it.
#
# Python's parser gives a tree, a whitelist of its nodes becomes our conditions. As in the authors'
# generator they speak of surface phrases ("the hill"), not of entities ("hill"): `NP2 not in
# ["hill"]` excludes nothing, and stays so.


LENGTH_LIMIT = 2000


class BooleanError(ValueError):
    """The constraint is not one of those that the pattern file may use."""


def parse_boolean(
    text: str,
    places: Mapping[str, int],
    phrases: Sequence[Sequence[str]],
    predicates: Mapping[str, WorldRelation],
    names: Sequence[str],
) -> Condition:
    """A constraint as a condition.

    `phrases` are the surface forms for each place, `names` the entities' own names.

    >>> phrases = ["Ada", "the hill"]
    >>> parse_boolean("NP1 != NP2", {"NP1": 0, "NP2": 1}, [phrases, phrases], {}, [])
    Never(part=Equal(left=0, right=1))
    """
    if len(text) > LENGTH_LIMIT:
        raise BooleanError(f"it is longer than {LENGTH_LIMIT} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        return _Reader(places, phrases, predicates, names).condition(tree)
    except BooleanError:
        raise
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BooleanError("it is not an expression") from None


class _Reader:
    def __init__(
        self,
        places: Mapping[str, int],
        phrases: Sequence[Sequence[str]],
        predicates: Mapping[str, WorldRelation],
        names: Sequence[str],
    ) -> None:
        self.places, self.phrases, self.predicates, self.names = places, phrases, predicates, names

    def condition(self, node: ast.expr) -> Condition:
        match node:
            case ast.BoolOp(op=ast.And(), values=parts):
                return Every(tuple(map(self.condition, parts)))
            case ast.BoolOp(op=ast.Or(), values=parts):
                return EitherCondition(tuple(map(self.condition, parts)))
            case ast.UnaryOp(op=ast.Not(), operand=part):
                return Never(self.condition(part))
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                return self.comparison(left, operator, right)
            case ast.Call(
                func=ast.Name(id="diff_values"), args=[ast.List(elts=slots)], keywords=[]
            ):
                pairs = combinations(map(self.place, slots), 2)
                return Every(tuple(Never(self.equal(left, right)) for left, right in pairs))
            case ast.Call(
                func=ast.Name(id="list_is_subset"),
                args=[ast.List(elts=tuples), predicate],
                keywords=[],
            ):
                return Every(tuple(self.stands(part, predicate) for part in tuples))
        raise BooleanError(f"'{shown(ast.unparse(node))}' is not allowed")

    def comparison(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Condition:
        match operator:
            case ast.Eq():
                return self.is_equal(left, right)
            case ast.NotEq():
                return Never(self.is_equal(left, right))
            case ast.In():
                return self.is_in(left, right)
            case ast.NotIn():
                return Never(self.is_in(left, right))
        raise BooleanError(f"'{shown(ast.unparse(right))}' is not allowed here")

    def is_equal(self, left: ast.expr, right: ast.expr) -> Condition:
        if isinstance(right, ast.Constant):
            return self.within(left, [right])
        return self.equal(self.place(left), self.place(right))

    def is_in(self, left: ast.expr, right: ast.expr) -> Condition:
        if isinstance(left, ast.Tuple):
            return self.stands(left, right)
        if isinstance(right, (ast.List, ast.Tuple, ast.Set)):
            return self.within(left, right.elts)
        raise BooleanError(f"'{shown(ast.unparse(right))}' is not allowed here")

    def place(self, node: ast.expr) -> int:
        if not isinstance(node, ast.Name) or node.id not in self.places:
            raise BooleanError(f"'{shown(ast.unparse(node))}' is not a slot of the pattern")
        return self.places[node.id]

    def equal(self, left: int, right: int) -> Condition:
        if self.phrases[left] is not self.phrases[right]:
            raise BooleanError("only slots of the same kind can be compared")
        return Equal(left, right)

    def within(self, slot: ast.expr, texts: Sequence[ast.expr]) -> Condition:
        place = self.place(slot)
        wanted = {text.value for text in texts if isinstance(text, ast.Constant)}
        return Within(place, self.with_phrases(place, wanted))

    def stands(self, slots: ast.expr, predicate: ast.expr) -> Condition:
        """`(NP1, NP2)` is among the tuples of `sig['name']`.

        Phrases are sought among the names of entities.
        """
        match slots, predicate:
            case ast.Tuple(elts=elements), ast.Subscript(
                value=ast.Name(id="sig"), slice=ast.Constant(value=str(name))
            ):
                places = tuple(self.place(element) for element in elements)
                relation = self.predicates.get(name)
                if relation is None or relation.arity != len(places):
                    raise BooleanError(
                        f"sig['{shown(name)}'] is not a predicate of {len(places)} slots"
                    )
                rows = [
                    RelationRow(row.adds, self.by_phrase(places, row.sets)) for row in relation.rows
                ]
                return Stands(WorldRelation(name, relation.arity, tuple(rows)), places)
        raise BooleanError(f"'{shown(ast.unparse(predicate))}' is not allowed here")

    def by_phrase(self, places: Sequence[int], sets: Sequence[Members]) -> tuple[Members, ...]:
        found = []
        for place, members in zip(places, sets, strict=True):
            names = {self.names[number] for number in members}
            found.append(self.with_phrases(place, names))
        return tuple(found)

    def with_phrases(self, place: int, wanted: Collection[object]) -> Members:
        """The fillers of a slot whose phrase is one of these."""
        return frozenset(i for i, phrase in enumerate(self.phrases[place]) if phrase in wanted)


SIZE_LIMIT, DEPTH_LIMIT, SLOT_LIMIT, CONDITION_LIMIT = 4 * 2**20, 20, 8, 100
_SLOT = re.compile(r"\{([^{}]*)\}")
_RESTRICTION = re.compile(r"(\w+)\(([^()]*)\)")
_SENSE = re.compile(r"\w+_[ansrv]_\d\d")
_HINT = "It must be problem_patterns.xml from the authors' repository, unchanged."


@dataclass
class _Element:
    """An XML element with the line it starts on."""

    tag: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list[_Element] = field(default_factory=list)

    def all(self, tag: str) -> list[_Element]:
        """The children of that tag."""
        return [child for child in self.children if child.tag == tag]


def read_problems(file: str | Path, signature: Signature) -> Bank:
    """The authors' patterns in their order: by the number that starts an id, then by its rest."""
    senses: Mapping[str, Sequence[str]] = read_yaml(package_data("patterns/lemmas.yaml"))
    patterns = []
    for problem, group in _problems(read_xml(file)):
        if problem.all("PT"):
            reader = _PatternReader(problem, group, signature, senses, str(file))
            patterns.append(reader.pattern())
    if not patterns:
        raise DataError("the file holds no problem with a pattern.", _HINT, file=file)
    patterns.sort(key=lambda pattern: id_order(pattern.id))
    for first, second in pairwise(patterns):
        if first.id == second.id:
            raise DataError(
                f"the id '{shown(second.id)}' is given twice.", _HINT, file=file, line=second.line
            )
    return Bank(tuple(patterns), signature.world, (str(file),))


def id_order(identifier: str) -> tuple[int, str]:
    """How the authors sort ids.

    >>> sorted(["100", "99*d", "7a", "7"], key=id_order)
    ['7', '7a', '99*d', '100']
    """
    digits = re.match(r"[0-9]{1,9}", identifier)
    if digits is None:
        return 0, identifier
    return int(digits[0]), identifier[digits.end() :]


def read_xml(file: str | Path) -> _Element:
    """A small XML file as elements: no document types, no entities, bounded in size and depth."""
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import DefusedXMLParser

    text = read_text(file, limit=SIZE_LIMIT)
    target = _Target(str(file))
    parser = DefusedXMLParser(target=target, forbid_dtd=True)
    target.line = lambda: int(parser.parser.CurrentLineNumber)
    try:
        parser.feed(text)
        parser.close()
    except DefusedXmlException:
        raise DataError(
            "the file declares a document type or an entity, which is not safe to read.",
            "Remove the DOCTYPE and its entities.",
            file=file,
        ) from None
    except ParseError as error:
        line = error.position[0]
        raise DataError(f"not XML: {error}.", _HINT, file=file, line=line) from None
    assert target.root is not None  # the parser has complained about an empty document
    return target.root


class _Target:
    """Receives the parser's events; keeps depth in bounds."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.line: Any = lambda: 0
        self.open: list[_Element] = []
        self.root: _Element | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        element = _Element(tag, dict(attributes), self.line())
        if len(self.open) >= DEPTH_LIMIT:
            raise DataError(
                f"the file is nested more than {DEPTH_LIMIT} levels deep.",
                _HINT,
                file=self.file,
                line=element.line,
            )
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop()

    def data(self, text: str) -> None:
        # As in ElementTree, text after a child is not the element's own.
        if self.open and not self.open[-1].children:
            self.open[-1].text += text

    def close(self) -> None:
        """All is in `root`."""


def _problems(root: _Element) -> Iterator[tuple[_Element, _Element | None]]:
    for child in root.children:
        if child.tag == "problem":
            yield child, None
        elif child.tag == "group":
            for problem in child.all("problem"):
                yield problem, child


def _lines(text: str) -> tuple[str, ...]:
    found = []
    for line in text.strip().splitlines():
        if line.strip():
            found.append(line.strip().removeprefix("^"))
    return tuple(found)


class _PatternReader:
    """One problem with a pattern, and its group."""

    def __init__(
        self,
        problem: _Element,
        group: _Element | None,
        signature: Signature,
        senses: Mapping[str, Sequence[str]],
        file: str,
    ) -> None:
        self.problem = problem
        self.signature = signature
        self.senses = senses
        self.file = file
        self.sources = [problem]
        self.attributes = problem.attributes
        if group is not None:
            self.sources.append(group)
            self.attributes = group.attributes | problem.attributes

    def fail(self, message: str) -> DataError:
        return DataError(
            f"problem {shown(self.attributes.get('id', '?'))}: {message}",
            _HINT,
            file=self.file,
            line=self.problem.line,
        )

    def pattern(self) -> Pattern:
        identifier = self.attributes.get("id", "")
        label = self.attributes.get("label", "")
        kind = self.attributes.get("ent_type", "")
        if not re.fullmatch(r"[0-9]{1,9}[^\s]{0,40}", identifier):
            raise self.fail("an id must start with a number.")
        if label not in LABELS or kind not in CLASSES:
            raise self.fail(
                f"the label '{shown(label)}' or the class '{shown(kind)}' is not known."
            )
        lines = _lines(self.problem.all("PT")[0].text)
        if len(lines) < 2:
            raise self.fail("the pattern needs a premise and a hypothesis.")
        sentences = [_sentence(line) for line in lines]
        used: set[str] = set()
        for sentence in sentences:
            used.update(sentence.slots)
        names = sorted(used)
        if not 1 <= len(names) <= SLOT_LIMIT:
            raise self.fail(f"the pattern has {len(names)} slots.")
        slots = tuple(self.slot(name) for name in names)
        conditions = tuple(islice(self.conditions(slots), CONDITION_LIMIT + 1))
        if len(conditions) > CONDITION_LIMIT:
            raise self.fail(f"the pattern has more than {CONDITION_LIMIT} restrictions.")
        examples = tuple(_lines(example.text) for example in self.problem.all("ex"))
        expressions = [part.strip() for part in self.attributes.get("exp", "").split(",")]
        return Pattern(
            id=identifier,
            label=label,
            kind=kind,
            expressions=tuple(filter(None, expressions)),
            premises=tuple(sentences[:-1]),
            hypothesis=sentences[-1],
            slots=slots,
            conditions=conditions,
            distinct=False,
            siblings=(),
            examples=examples,
            world=self.signature.world,
            file=self.file,
            line=self.problem.line,
        )

    def slot(self, name: str) -> PatternSlot:
        if re.fullmatch(r"NP[0-9]+", name):
            return PatternSlot(name, frozenset(range(len(self.signature.world.entities))))
        if name.startswith("_") and len(name) > 1:
            # The underscores inside stay, as in the authors' samples.
            return PatternSlot(name, frozenset((0, 1)), ("", name[1:]))
        if _SENSE.fullmatch(name) and name in self.senses:
            words = tuple(sorted(self.senses[name]))
            return PatternSlot(name, frozenset(range(len(words))), words)
        raise self.fail(f"the slot '{shown(name)}' is of no known kind.")

    def conditions(self, slots: Sequence[PatternSlot]) -> Iterator[Condition]:
        places = {slot.name: place for place, slot in enumerate(slots)}
        world = self.signature.world
        phrases = [slot.words or forms_of(world, WordForm("the")) for slot in slots]
        names = [entity.name for entity in world.entities]
        for source in self.sources:
            for restriction in source.all("SR"):
                yield from self.restrictions(restriction.text, places)
            for constraint in source.all("BL"):
                try:
                    yield parse_boolean(
                        constraint.text, places, phrases, self.signature.predicates, names
                    )
                except BooleanError as error:
                    text = shown(constraint.text.strip())
                    raise self.fail(f"the constraint '{text}' cannot be read: {error}.") from None

    def restrictions(self, text: str, places: Mapping[str, int]) -> Iterator[Condition]:
        """`in(NP1,NP2); person(NP1)`, but for those that speak of a slot outside the pattern."""
        for part in text.split(";"):
            if not part.strip():
                continue
            found = _RESTRICTION.match(part.strip())
            if found is None:
                raise self.fail(f"the restriction '{shown(part.strip())}' cannot be read.")
            arguments = [argument.strip() for argument in found[2].split(",")]
            relation = self.signature.resolve(found[1], len(arguments))
            if relation is None:
                raise self.fail(
                    f"'{shown(found[1])}' with {len(arguments)} slots is not one predicate of "
                    f"{self.signature.file}."
                )
            if places.keys() >= set(arguments):
                yield Stands(relation, tuple(places[argument] for argument in arguments))


def _sentence(line: str) -> SlottedSentence:
    markers = tuple((found[1], WordForm("the")) for found in _SLOT.finditer(line))
    return SlottedSentence(
        line, _SLOT.sub("\0", line).replace("%", "%%").replace("\0", "%s"), markers
    )

"""The patterns of SpaceNLI's authors (problem_patterns.xml), read as ours.

Slots are `NP1` (any entity, with its article), `word_r_01` (the lemmas of a WordNet sense) and
`_text` (that text, or nothing). Restrictions, Boolean constraints and attributes of a group hold
for its problems too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from gnomon.errors import DataError
from gnomon.files import package_data, read_text, read_yaml
from gnomon.language.booleans import BooleanError, parse_boolean
from gnomon.language.conditions import Condition, Stands
from gnomon.language.patterns import CLASSES, LABELS, Bank, Pattern, Slot
from gnomon.language.restrictions import Signature
from gnomon.language.surface import Form, Sentence, forms_of
from gnomon.yamlnodes import shown

SIZE_LIMIT, DEPTH_LIMIT, SLOT_LIMIT, CONDITION_LIMIT = 4 * 2**20, 20, 8, 100
_SLOT = re.compile(r"\{([^{}]*)\}")
_RESTRICTION = re.compile(r"(\w+)\(([^()]*)\)")
_SENSE = re.compile(r"\w+_[ansrv]_\d\d")
_HINT = "It must be problem_patterns.xml from the authors' repository, unchanged."


@dataclass
class Element:
    """An XML element with the line it starts on."""

    tag: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        """The children of that tag."""
        return [child for child in self.children if child.tag == tag]


def read_problems(file: str | Path, signature: Signature) -> Bank:
    """The authors' patterns in their order: by the number that starts an id, then by its rest."""
    senses: Mapping[str, Sequence[str]] = read_yaml(package_data("patterns/lemmas.yaml"))
    patterns = []
    for problem, group in _problems(read_xml(file)):
        if problem.all("PT"):
            reader = _Reader(problem, group, signature, senses, str(file))
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


def read_xml(file: str | Path) -> Element:
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
        self.open: list[Element] = []
        self.root: Element | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, dict(attributes), self.line())
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


def _problems(root: Element) -> Iterator[tuple[Element, Element | None]]:
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


class _Reader:
    """One problem with a pattern, and its group."""

    def __init__(
        self,
        problem: Element,
        group: Element | None,
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

    def slot(self, name: str) -> Slot:
        if re.fullmatch(r"NP[0-9]+", name):
            return Slot(name, frozenset(range(len(self.signature.world.entities))))
        if name.startswith("_") and len(name) > 1:
            # The underscores inside stay, as in the authors' samples.
            return Slot(name, frozenset((0, 1)), ("", name[1:]))
        if _SENSE.fullmatch(name) and name in self.senses:
            words = tuple(sorted(self.senses[name]))
            return Slot(name, frozenset(range(len(words))), words)
        raise self.fail(f"the slot '{shown(name)}' is of no known kind.")

    def conditions(self, slots: Sequence[Slot]) -> Iterator[Condition]:
        places = {slot.name: place for place, slot in enumerate(slots)}
        world = self.signature.world
        phrases = [slot.words or forms_of(world, Form("the")) for slot in slots]
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


def _sentence(line: str) -> Sentence:
    markers = tuple((found[1], Form("the")) for found in _SLOT.finditer(line))
    return Sentence(line, _SLOT.sub("\0", line).replace("%", "%%").replace("\0", "%s"), markers)

"""Patterns: inferences with holes. A bank is the patterns of some files over one mini world."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import NamedTuple

from gnomon.language.conditions import Condition, satisfied
from gnomon.language.surface import MARKER, SlottedSentence, WordForm, forms_of, renderer
from gnomon.language.world import Members, World
from gnomon.yamlnodes import Node

Example = Mapping[str, str] | tuple[str, ...]  # fillers, or sentences with the hypothesis last
LABELS = ("entailment", "neutral", "contradiction")
_NOT = re.compile(r"\bnot\b|n't\b")
CLASSES = ("directional", "argument orientation", "projective", "non-projective")


@dataclass(frozen=True)
class PatternSlot:
    """A hole and what may fill it: entities, or words of its own (numbered as listed)."""

    name: str
    domain: Members
    words: tuple[str, ...] = ()


class Problem(NamedTuple):
    """A pattern with its holes filled: premises and hypothesis with capitals and full stops."""

    premises: tuple[str, ...]
    hypothesis: str

    @property
    def text(self) -> str:
        """Premises and hypothesis in one line, to tell problems apart."""
        return " ".join(self.premises) + " => " + self.hypothesis


@dataclass(frozen=True, eq=False)
class Pattern:
    """An inference whose label holds whatever fills its slots, within the restrictions."""

    id: str
    label: str
    kind: str  # one of CLASSES, the paper's "inference class"
    expressions: tuple[str, ...]
    premises: tuple[SlottedSentence, ...]
    hypothesis: SlottedSentence
    slots: tuple[PatternSlot, ...]
    conditions: tuple[Condition, ...]
    distinct: bool  # no entity fills two slots
    siblings: tuple[str, ...]
    examples: tuple[Example, ...]
    world: World
    family: str = ""
    hops: int = 0  # premises that the inference chains; 0 if not known
    note: str = ""
    file: str = ""
    line: int = 0

    @property
    def sentences(self) -> tuple[SlottedSentence, ...]:
        """Premises, then the hypothesis."""
        return (*self.premises, self.hypothesis)

    @property
    def negated(self) -> bool:
        """Whether a sentence holds the word "not" (the paper's negation row, Table 3)."""
        return any(_NOT.search(sentence.text) for sentence in self.sentences)

    def renderers(self) -> list[Callable[[Sequence[int]], str]]:
        """For each sentence a function from fillers to text, without full stop."""
        names = [slot.name for slot in self.slots]
        words = {slot.name: slot.words for slot in self.slots if slot.words}

        def tables(slot: str, form: WordForm) -> Sequence[str]:
            return words[slot] if slot in words else forms_of(self.world, form)

        return [renderer(sentence, names, tables) for sentence in self.sentences]

    def problem(self, fillers: Sequence[int]) -> Problem:
        """The problem that the fillers make."""
        *premises, hypothesis = (render(fillers) + "." for render in self.renderers())
        return Problem(tuple(premises), hypothesis)

    def phrase(self, place: int, filler: int) -> str:
        """What a filler is called: "the key", "Nora", "at once"."""
        phrases = self.slots[place].words or forms_of(self.world, WordForm("the"))
        return phrases[filler]

    def allows(self, fillers: Sequence[int]) -> bool:
        """Whether the fillers satisfy every restriction.

        This is the definition that counting and sampling must agree with.
        """
        entities = []
        for slot, filler in zip(self.slots, fillers, strict=True):
            if filler not in slot.domain:
                return False
            if not slot.words:
                entities.append(filler)
        if self.distinct and len(set(entities)) < len(entities):
            return False
        return all(satisfied(condition, fillers) for condition in self.conditions)


@dataclass(frozen=True)
class Bank:
    """Patterns in the order of their files."""

    patterns: tuple[Pattern, ...]
    world: World
    files: tuple[str, ...] = ()


# Deriving a seed example from its pattern: which fillers make exactly these sentences?


CANDIDATE_LIMIT = 200_000  # fillings tried for one example


def derive(
    pattern: Pattern, example: Mapping[str, str] | tuple[str, ...]
) -> tuple[int, ...] | None:
    """The fillers that make the example and satisfy every restriction; none if there are none."""
    if isinstance(example, Mapping):
        named = _named(pattern, example)
        if named is None or not pattern.allows(named):
            return None
        return named
    wanted = [sentence.removesuffix(".") for sentence in example]
    renderers = pattern.renderers()
    for fillers in _candidates(pattern, wanted):
        if [render(fillers) for render in renderers] == wanted and pattern.allows(fillers):
            return fillers
    return None


def _named(pattern: Pattern, example: Mapping[str, str]) -> tuple[int, ...] | None:
    found = []
    for slot in pattern.slots:
        numbers: Mapping[str, int] = pattern.world.numbers
        if slot.words:
            numbers = {word: number for number, word in enumerate(slot.words)}
        number = numbers.get(example[slot.name])
        if number is None:
            return None
        found.append(number)
    return tuple(found)


def _candidates(pattern: Pattern, sentences: list[str]) -> Iterator[tuple[int, ...]]:
    """Fillings from the entities and words that the sentences mention."""
    text = " ".join(sentences).lower()
    entities = [entity.name for entity in pattern.world.entities]
    choices = []
    for slot in pattern.slots:
        names = slot.words or entities
        mentioned = [number for number in sorted(slot.domain) if names[number].lower() in text]
        choices.append(mentioned)
    yield from islice(product(*choices), CANDIDATE_LIMIT)


# Squares: three sets of premises crossed with three hypotheses, so that no part tells the label.
#
# The premises of a row entail the hypothesis of the same number, contradict the next one and leave
# the one after that open (after the third comes the first). So each goes once with every label.


SIDE = 3  # sets of premises, and hypotheses
LABELS_OF_ROW = ("entailment", "contradiction", "neutral")  # from the hypothesis of its number on
KEYS = ("square", "id", "premises", "hypotheses", "examples", "note")


def patterns_of(square: Node) -> list[Node]:
    """The nine patterns of a square, written as a file would write them."""
    keys = square.entries
    for key in ("id", "premises", "hypotheses", "expressions"):
        if key not in keys:
            square.fail(
                f"the square has no '{key}'.", "docs/patterns.md lists the keys of a square."
            )
    rows = _three(keys["premises"], "sets of premises")
    columns = _three(keys["hypotheses"], "hypotheses")
    found = []
    for column in range(SIDE):
        for row in range(SIDE):
            found.append(_pattern(square, rows, columns, row, column))
    return found


def _three(node: Node, what: str) -> list[Node]:
    items = node.sequence(f"the {what}")
    if len(items) != SIDE:
        node.fail(f"there are {len(items)} {what}.", f"A square has {SIDE}.")
    return items


def _pattern(
    square: Node, rows: Sequence[Node], columns: Sequence[Node], row: int, column: int
) -> Node:
    """One cell: the premises of a row with the hypothesis of a column."""
    keys = square.entries
    premises, hypothesis = rows[row], columns[column]
    sentences = [text for text, _ in premises.texts("the premises")]
    sentences.append(hypothesis.scalar("a hypothesis"))
    entries = {
        "id": _text(premises, _name(square, row, column)),
        "label": _text(premises, LABELS_OF_ROW[(column - row) % SIDE]),
        "premises": premises,
        "hypothesis": hypothesis,
        "expressions": _expressions(keys["expressions"], sentences),
        "sibling": _siblings(square, row, column),
    }
    if "examples" in keys:
        entries["examples"] = _examples(keys["examples"], " ".join(sentences))
    return Node("mapping", premises.file, premises.line, entries=entries)


def _name(square: Node, row: int, column: int) -> str:
    """The id of a cell: that of the square, a letter for the premises, the hypothesis's number."""
    name = square.entries["id"].scalar("'id'")
    return f"{name}-{'abc'[row]}{column + 1}"


def _siblings(square: Node, row: int, column: int) -> Node:
    """The two other patterns with the same hypothesis."""
    found = Node("list", square.file, square.line)
    for other in range(SIDE):
        if other != row:
            found.items.append(_text(square, _name(square, other, column)))
    return found


def _expressions(node: Node, sentences: Sequence[str]) -> Node:
    """Those of the square's expressions that the sentences hold ("in front of" holds no "in")."""
    left = MARKER.sub("\0", "\n".join(sentences)).lower()
    standing = set()
    listed = [text for text, _ in node.texts("'expressions'")]
    for expression in sorted(listed, key=len, reverse=True):
        shorter = re.sub(rf"\b{re.escape(expression.lower())}\b", "\0", left)
        if shorter != left:
            standing.add(expression)
        left = shorter
    found = Node("list", node.file, node.line)
    for expression in listed:
        if expression in standing:
            found.items.append(_text(node, expression))
    return found


def _examples(node: Node, text: str) -> Node:
    """The square's examples, without the slots that a pattern does not use."""
    used = set(re.findall(r"\{(?:\w+ )?([A-Z][A-Z0-9]*)", text))
    found = Node("list", node.file, node.line)
    for example in node.sequence("'examples'"):
        fillers = {}
        for slot, filler in example.mapping("an example").items():
            if slot in used:
                fillers[slot] = filler
        found.items.append(Node("mapping", example.file, example.line, entries=fillers))
    return found


def _text(beside: Node, text: str) -> Node:
    return Node("text", beside.file, beside.line, text)

"""Squares: three sets of premises crossed with three hypotheses, so that no part tells the label.

The premises of a row entail the hypothesis of the same number, contradict the next one and leave
the one after that open (after the third comes the first). So each goes once with every label.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gnomon.language.surface import MARKER
from gnomon.yamlnodes import Node

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

"""The two tables that describe a set of patterns: its spatial expressions (SpaceNLI, Table 2) and
labels (Table 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gnomon.contracts import Listing
from gnomon.language.patterns import CLASSES, LABELS
from gnomon.language.world import Members, World


class Described(NamedTuple):
    """What the tables need to know of a pattern; `problems` is how many were made from it."""

    kind: str
    label: str
    expressions: tuple[str, ...]
    premises: int
    negated: bool
    problems: int = 1


def tables(patterns: Iterable[Described], counted: str = "problems") -> list[Listing]:
    """Tables 2 and 3 of the paper for any patterns; `counted` names what `Described.problems`
    counts."""
    patterns = list(patterns)
    return [expression_table(patterns), label_table(patterns, counted)]


def expression_table(patterns: Sequence[Described]) -> Listing:
    """Table 2: in how many patterns of each class an expression occurs, the most frequent first.

    What the paper prints as "#patterns" is the sum of a column; the last row has the true numbers
    of patterns.
    """
    counts = {
        kind: Counter(
            expression
            for pattern in patterns
            if pattern.kind == kind
            for expression in pattern.expressions
        )
        for kind in CLASSES
    }
    total = sum(counts.values(), Counter[str]())
    rows: list[tuple[str | int, ...]] = [
        (expression, *(counts[kind][expression] for kind in CLASSES), total[expression])
        for expression in sorted(total, key=lambda expression: (-total[expression], expression))
    ]
    rows.append(("(sum)", *(counts[kind].total() for kind in CLASSES), total.total()))
    rows.append(
        ("(patterns)", *(sum(p.kind == kind for p in patterns) for kind in CLASSES), len(patterns))
    )
    return Listing(
        "Patterns with each spatial expression", ("expression", *CLASSES, "all"), tuple(rows)
    )


def label_table(patterns: Sequence[Described], counted: str = "problems") -> Listing:
    """Table 3: the labels of the problems in percent, for each class, negation and number of
    premises."""
    slices = [
        *((kind, [p for p in patterns if p.kind == kind]) for kind in CLASSES),
        ("with negation", [p for p in patterns if p.negated]),
        *(
            (f"{n} premise{'s' if n > 1 else ''}", [p for p in patterns if p.premises == n])
            for n in (1, 2, 3)
        ),
        ("all", patterns),
    ]
    total = sum(pattern.problems for pattern in patterns)
    rows = []
    for name, chosen in slices:
        if not chosen:
            continue
        count = sum(pattern.problems for pattern in chosen)
        shares = [
            _percent(sum(p.problems for p in chosen if p.label == label), count) for label in LABELS
        ]
        rows.append((name, *shares, _percent(count, total), count))
    columns = ("slice", *LABELS, "% of all", counted)
    return Listing("Labels in percent", columns, tuple(rows))


def vocabulary(world: World) -> list[Listing]:
    """What there is to write patterns with: classes, scales and relations."""

    def some(members: Members) -> str:
        names = [world.entities[number].name for number in sorted(members)]
        return ", ".join(names[:8]) + (" ..." if len(names) > 8 else "")

    classes = tuple(
        (name, len(members), some(members)) for name, members in sorted(world.classes.items())
    )
    scales = tuple((name, " < ".join(levels)) for name, levels in sorted(world.scales.items()))
    relations = tuple(
        (name, place + 1, some(relation.projection(place)))
        for name, relation in sorted(world.relations.items())
        for place in range(relation.arity)
    )
    return [
        Listing("Classes", ("class", "entities", "such as"), classes),
        Listing("Scales", ("scale", "levels"), scales),
        Listing("Relations", ("relation", "place", "such as"), relations),
    ]


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2) if whole else 0.0

"""The tables that describe patterns: spatial expressions and labels (SpaceNLI, Tables 2 and 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gnomon.contracts import Listing
from gnomon.language.patterns import CLASSES, LABELS
from gnomon.language.world import Members, World

SOME = 8  # members of a class that are named
NEGATED = "with negation"
PREMISES = {
    1: "1 premise",
    2: "2 premises",
    3: "3 premises",
    4: "4 premises",
    5: "5 premises",
}
SLICES = (*CLASSES, NEGATED, *PREMISES.values(), "all")


class Described(NamedTuple):
    """What the tables need to know of a pattern; `problems` is how many were made from it."""

    kind: str
    label: str
    expressions: tuple[str, ...]
    premises: int
    negated: bool
    problems: int = 1


def tables(patterns: Iterable[Described], counted: str = "problems") -> list[Listing]:
    """Tables 2 and 3 of the paper for any patterns.

    `counted` names what `Described.problems` counts.
    """
    patterns = list(patterns)
    return [expression_table(patterns), label_table(patterns, counted)]


def expression_table(patterns: Sequence[Described]) -> Listing:
    """Table 2: in how many patterns of each class an expression occurs, the most frequent first.

    What the paper prints as "#patterns" is the sum of a column; the last row has the true numbers
    of patterns.
    """
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in CLASSES}
    sizes = Counter(pattern.kind for pattern in patterns)
    total: Counter[str] = Counter()
    for pattern in patterns:
        counts[pattern.kind].update(pattern.expressions)
        total.update(pattern.expressions)

    rows: list[tuple[str | int, ...]] = []
    for expression in sorted(total, key=lambda expression: (-total[expression], expression)):
        cells = [counts[kind][expression] for kind in CLASSES]
        rows.append((expression, *cells, total[expression]))
    sums = [counts[kind].total() for kind in CLASSES]
    rows.append(("(sum)", *sums, total.total()))
    rows.append(("(patterns)", *[sizes[kind] for kind in CLASSES], len(patterns)))
    title = "Patterns with each spatial expression"
    return Listing(title, ("expression", *CLASSES, "all"), tuple(rows))


def label_table(patterns: Sequence[Described], counted: str = "problems") -> Listing:
    """Table 3: the labels of the problems in percent, by class, negation and number of premises."""
    slices: dict[str, list[Described]] = {name: [] for name in SLICES}
    for pattern in patterns:
        for name in _slices_of(pattern):
            slices[name].append(pattern)
    total = _problems(patterns)
    rows = []
    for name, chosen in slices.items():
        if not chosen:
            continue
        count = _problems(chosen)
        shares = []
        for label in LABELS:
            alike = [pattern for pattern in chosen if pattern.label == label]
            shares.append(_percent(_problems(alike), count))
        rows.append((name, *shares, _percent(count, total), count))
    columns = ("slice", *LABELS, "% of all", counted)
    return Listing("Labels in percent", columns, tuple(rows))


def vocabulary(world: World) -> list[Listing]:
    """What there is to write patterns with: classes, scales and relations."""

    def some(members: Members) -> str:
        names = [world.entities[number].name for number in sorted(members)]
        if len(names) > SOME:
            names = [*names[:SOME], "..."]
        return ", ".join(names).replace(", ...", " ...")

    classes = []
    for name, members in sorted(world.classes.items()):
        classes.append((name, len(members), some(members)))
    scales = []
    for name, levels in sorted(world.scales.items()):
        scales.append((name, " < ".join(levels)))
    relations = []
    for name, relation in sorted(world.relations.items()):
        for place in range(relation.arity):
            relations.append((name, place + 1, some(relation.projection(place))))
    return [
        Listing("Classes", ("class", "entities", "such as"), tuple(classes)),
        Listing("Scales", ("scale", "levels"), tuple(scales)),
        Listing("Relations", ("relation", "place", "such as"), tuple(relations)),
    ]


def _slices_of(pattern: Described) -> list[str]:
    """The rows of Table 3 that a pattern belongs to."""
    names = [pattern.kind, "all"]
    if pattern.negated:
        names.append(NEGATED)
    if pattern.premises in PREMISES:
        names.append(PREMISES[pattern.premises])
    return names


def _problems(patterns: Sequence[Described]) -> int:
    return sum(pattern.problems for pattern in patterns)


def _percent(part: int, whole: int) -> float:
    if not whole:
        return 0.0
    return round(100 * part / whole, 2)

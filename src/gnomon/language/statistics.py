"""The two tables that describe a set of patterns: its spatial expressions (SpaceNLI, Table 2) and labels (Table 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from gnomon.contracts import Listing
from gnomon.language.patterns import CLASSES, LABELS


class Described(NamedTuple):
    """What the tables need to know of a pattern; `problems` is how many were made from it."""

    kind: str
    label: str
    expressions: tuple[str, ...]
    premises: int
    negated: bool
    problems: int = 1


def tables(patterns: Iterable[Described]) -> list[Listing]:
    """Tables 2 and 3 of the paper for any patterns."""
    patterns = list(patterns)
    return [expression_table(patterns), label_table(patterns)]


def expression_table(patterns: Sequence[Described]) -> Listing:
    """Table 2: how often each expression occurs in the patterns of a class.

    The number that the paper prints as "#patterns" is the sum of these counts; both are given here.
    """
    rows = []
    for kind in CLASSES:
        chosen = [pattern for pattern in patterns if pattern.kind == kind]
        counts = Counter(expression for pattern in chosen for expression in pattern.expressions)
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        rows.append((kind, len(chosen), sum(counts.values()), ", ".join(f"{name} ({count})" for name, count in ordered)))
    return Listing("Spatial expressions", ("class", "patterns", "expressions", "counts"), tuple(rows))


def label_table(patterns: Sequence[Described]) -> Listing:
    """Table 3: the labels of the problems in percent, for each class, negation and number of premises."""
    slices: list[tuple[str, Callable[[Described], bool]]] = [
        *((kind, lambda p, kind=kind: p.kind == kind) for kind in ("directional", "non-projective", "projective",  # type: ignore[misc]
                                                                   "argument orientation")),
        ("with negation", lambda p: p.negated),
        ("1 premise", lambda p: p.premises == 1),
        ("2 premises", lambda p: p.premises == 2),
        ("3 premises", lambda p: p.premises == 3),
        ("all", lambda p: True),
    ]
    total = sum(pattern.problems for pattern in patterns)
    rows = []
    for name, belongs in slices:
        chosen = [pattern for pattern in patterns if belongs(pattern)]
        count = sum(pattern.problems for pattern in chosen)
        shares = [_percent(sum(p.problems for p in chosen if p.label == label), count) for label in LABELS]
        rows.append((name, *shares, _percent(count, total), count))
    return Listing("Labels in percent", ("slice", *LABELS, "share", "problems"), tuple(rows))


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2) if whole else 0.0

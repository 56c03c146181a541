"""Figures of whole groups (pattern accuracy and its like) mean little if a group has only a few
items.

With 4 items a pattern, "90 % of them right" is the same as "all of them right"; with 1 it is plain
accuracy.
"""

from __future__ import annotations

from math import ceil

from gnomon.measures.grouping import groups
from gnomon.measures.table import Table
from gnomon.records import Score

FEWEST = 5  # pairs, triples or groups of items that a figure may be a share of
LEAST = 10  # items of a group; a threshold such as 0.95 needs more, so that one item may be wrong


def items_per_group(table: Table) -> float:
    """How many items a group has on average; 0 for an empty table."""
    return len(table) / len(groups(table).size) if len(table) else 0.0


def least_size(measure: str) -> int:
    """How many items a group needs before a measure of whole groups says something; 0 for other
    measures.

    >>> least_size("pattern_accuracy@0.95"), least_size("pattern_accuracy@1.0"), least_size("accuracy")
    (20, 10, 0)
    """
    name, _, threshold = measure.partition("@")
    if name not in ("pattern_accuracy", "without_partial_credit"):
        return 0
    share = float(threshold or 1)
    return max(LEAST, ceil(1 / (1 - share) - 1e-9)) if share < 1 else LEAST


def large_enough(measure: str, table: Table) -> bool:
    """Whether the groups of a table are large enough for a measure."""
    least = least_size(measure)
    return not least or items_per_group(table) >= least


def enough_units(score: Score, table: Table) -> bool:
    """Whether a figure is a share of items, or of enough pairs, triples or groups of them to say
    anything."""
    return score.n >= min(FEWEST, len(table))


def each(table: Table, noun: str = "items") -> str:
    """How many items the groups have, in words.

    >>> each(Table.of([]))
    '0 items each'
    """
    sizes = groups(table).size
    if not len(sizes) or int(sizes.min()) == int(sizes.max()):
        return f"{int(sizes[0]) if len(sizes) else 0:,} {noun} each"
    mean = items_per_group(table)
    return f"about {mean:,.0f} {noun} each" if mean >= 10 else f"about {mean:.1f} {noun} each"

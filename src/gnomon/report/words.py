"""Sentences about results: what a reader should know after ten seconds."""

from __future__ import annotations

from collections.abc import Sequence

NOUNS = {"spacenli": "patterns", "spatialqa": "templates", "scales": "pairs", "posrel": "scenes", "vsr": "pictures",
         "viphy": "objects", "relativesize": "pairs"}  # fmt: skip


def group_noun(benchmark: str) -> str:
    """What the groups of a benchmark are called.

    >>> group_noun("spacenli"), group_noun("my-own")
    ('patterns', 'groups')
    """
    return NOUNS.get(benchmark.partition("@")[0].partition("-")[0], "groups")


def percentage(value: float | None, digits: int = 0) -> str:
    """A fraction for a sentence or a table.

    >>> percentage(0.614), percentage(0.614, 1), percentage(None)
    ('61\xa0%', '61.4\xa0%', '–')
    """
    return "–" if value is None else f"{100 * value + 1e-9:.{digits}f}\u00a0%"


def listed(parts: Sequence[str]) -> str:
    """Words in a row, as people write them.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""


def counted(n: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "runs"), counted(2000, "items")
    ('1 run', '2,000 items')
    """
    return f"{n:,} {noun.removesuffix('s') if n == 1 else noun}"

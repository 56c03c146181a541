"""What was taken for what in a file of one's own, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from gnomon.items.mapping import ColumnMap, parse_map
from gnomon.items.resolving import IN_WORDS


def taken_in_words(options: Mapping[str, Any]) -> str:
    """Which columns were taken for what; empty if no map is among the options.

    >>> taken_in_words({"file": "a.csv", "map": "text=q,choices=A+B,gold=key,gold_is=letter"})
    'a.csv: text is q; choices are A, B; gold is key (a letter).'
    """
    if not isinstance(options.get("map"), str) or "file" not in options:
        return ""
    mapping = parse_map(options["map"])
    parts = []
    for what, columns in msgspec.structs.asdict(mapping).items():
        if columns and what != "gold_is":
            verb = "are" if what.endswith("s") else "is"
            parts.append(f"{what} {verb} {', '.join(columns)}{_way(what, mapping)}")
    if "split" in options:
        parts.append(f"split {options['split']}")
    return f"{options['file']}: {'; '.join(parts)}."


def _way(what: str, mapping: ColumnMap) -> str:
    """How right answers are named, where that is what is told of."""
    if what != "gold" or not mapping.gold_is:
        return ""
    return f" ({IN_WORDS[mapping.gold_is]})"

"""What was taken for what in a file of one's own, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from gnomon.ownitems.mapping import parse_map
from gnomon.ownitems.resolving import IN_WORDS


def taken_in_words(options: Mapping[str, Any]) -> str:
    """Which columns were taken for what; empty if no map is among the options.

    >>> taken_in_words({"file": "a.csv", "map": "text=q,choices=A+B,gold=key,gold_is=letter"})
    'a.csv: text is q; choices are A, B; gold is key (a letter).'
    """
    if not isinstance(options.get("map"), str) or "file" not in options:
        return ""
    parts = []
    for what, value in msgspec.structs.asdict(parse_map(options["map"])).items():
        if not value or what == "gold_is":
            continue
        verb = "are" if what.endswith("s") else "is"
        part = f"{what} {verb} {', '.join(value)}"
        if what == "gold":
            way = parse_map(options["map"]).gold_is
            part += f" ({IN_WORDS[way]})" if way else ""
        parts.append(part)
    if "split" in options:
        parts.append(f"split {options['split']}")
    return f"{options['file']}: {'; '.join(parts)}."

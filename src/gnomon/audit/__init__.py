"""What is wrong with a benchmark: checks of its items, before any model is asked.

import gnomon

report = gnomon.audit.audit("mine.csv", map={"text": "question", "gold": "answer"})
report.alarms
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnomon.audit.auditing import AuditReport
    from gnomon.items.source import ItemSource

__all__ = ["audit"]


def audit(
    what: ItemSource | str | Path,
    *,
    checks: Sequence[str] = (),
    allow: Sequence[str] = (),
    map: Mapping[str, str | Sequence[str]] = MappingProxyType({}),
    split: str = "",
) -> AuditReport:
    """Check a benchmark, its name, or a file: shortcuts, leaks, repeats, contradictions.

    checks  by name, instead of all
    allow   CHECK or CHECK:PART, alarms that are explained
    map     for a file, which column holds what; several columns as a list
    split   for a file, only this split

    `.alarms` are what somebody should look at; a notebook shows all findings as a table.

    >>> audit("scales", checks=["duplicates"]).alarms
    []
    """
    from gnomon.audit import auditing, sources
    from gnomon.items.source import load

    if not isinstance(what, (str, Path)):
        audited = sources.of_source(what)
    elif Path(what).is_file():
        given = ",".join(f"{field}={_columns(value)}" for field, value in map.items())
        audited = sources.of_files(Path(what).name, [Path(what)], given, split)
    else:
        audited = sources.of_source(load(str(what)))
    reasons = [*auditing.allowed(allow), *auditing.explanations()]
    return auditing.audit(audited, checks, reasons)


def _columns(value: str | Sequence[str]) -> str:
    """Columns as a map is written, the signs in their names with a backslash.

    >>> _columns("a+b"), _columns(["A", "B"])
    ('a\\\\+b', 'A+B')
    """
    names = [value] if isinstance(value, str) else value
    return "+".join(re.sub(r"([,+=\\])", r"\\\1", name) for name in names)

"""Rows and columns for notebooks: as HTML, and as a frame of pandas or polars.

Neither library is a dependency: a frame is made by the one that the user has.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from gnomon.errors import UsageError, inert

LIBRARIES = ("pandas", "polars")
STYLE = "text-align:left;vertical-align:top"
LONGEST = 300  # characters of a cell


def frame_of(columns: Mapping[str, Sequence[Any]], library: str = "") -> Any:
    """A DataFrame of pandas or of polars.

    Without a name it is of the library that was imported already, or else that is installed.
    """
    chosen = library or _library()
    if chosen not in LIBRARIES:
        raise UsageError(
            f"Frames are of pandas or polars, not of '{chosen}'.",
            'Say .to_frame("pandas") or .to_frame("polars").',
        )
    try:
        module = importlib.import_module(chosen)
    except ImportError:
        raise UsageError(
            f"{chosen} is not installed, and a frame needs it.", f"Install it: pip install {chosen}"
        ) from None
    if chosen == "polars":
        return module.DataFrame(dict(columns), strict=False)
    return module.DataFrame(dict(columns))


def _library() -> str:
    for name in LIBRARIES:
        if name in sys.modules:
            return name
    for name in LIBRARIES:
        if importlib.util.find_spec(name) is not None:
            return name
    raise UsageError(
        "A frame needs pandas or polars, and neither is installed.",
        "Install one of them: pip install pandas",
    )


def columns_of(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """Rows turned into columns.

    >>> columns_of(("a", "b"), [(1, 2), (3, 4)])
    {'a': [1, 3], 'b': [2, 4]}
    """
    found: dict[str, list[Any]] = {name: [] for name in names}
    for row in rows:
        for name, value in zip(names, row, strict=True):
            found[name].append(value)
    return found


def html_table(
    names: Sequence[str], rows: Iterable[Sequence[Any]], *, caption: str = "", below: str = ""
) -> str:
    """A small table for a notebook; everything is text, and none of it can act."""
    head = "".join(f'<th style="{STYLE}">{_cell(name)}</th>' for name in names)
    lines = [f"<thead><tr>{head}</tr></thead>", "<tbody>"]
    for row in rows:
        cells = "".join(f'<td style="{STYLE}">{_cell(value)}</td>' for value in row)
        lines.append(f"<tr>{cells}</tr>")
    title = f'<caption style="text-align:left">{_cell(caption)}</caption>' if caption else ""
    note = f"<p>{_cell(below)}</p>" if below else ""
    return "\n".join([f'<table class="gnomon">{title}', *lines, f"</tbody></table>{note}"])


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    text = inert(str(value))
    if len(text) > LONGEST:
        text = text[:LONGEST] + "…"
    return escape(text).replace("\n", "<br>")

"""Small tables for people and for papers: one Listing, five formats.

`table` fits the terminal's width, and is as wide as it needs to be where it does not go to a
terminal; `markdown`, `latex` and `csv` are for pasting; `json` is a list of objects.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Sequence
from typing import Any, Literal, get_args

import msgspec

from gnomon.contracts import Listing
from gnomon.errors import UsageError

Format = Literal["table", "json", "csv", "markdown", "latex"]
FORMATS: tuple[str, ...] = get_args(Format)
UNCUT = sys.maxsize  # a width that holds any table
LEAST = 8  # characters to which a column of text is cut at most
BLOCKS = frozenset(" ▏▎▍▌▋▊▉█")

_LATEX = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)


def render(listing: Listing, format: str = "table", *, width: int | None = None) -> str:
    """The table as text in one of the formats, without a final newline.

    >>> print(render(Listing("Two", ("name", "n"), (("a", 1), ("b", 20))), "markdown"))
    **Two**
    <BLANKLINE>
    | name | n |
    | --- | ---: |
    | a | 1 |
    | b | 20 |
    """
    if format not in FORMATS:
        raise UsageError(f"There is no format '{format}'.", f"Known: {', '.join(FORMATS)}.")
    if format == "json":
        rows = [dict(zip(listing.columns, row, strict=True)) for row in listing.rows]
        return msgspec.json.format(msgspec.json.encode(rows), indent=2).decode()
    if format == "csv":
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(listing.columns)
        writer.writerows([_plain(cell) for cell in row] for row in listing.rows)
        return out.getvalue().rstrip("\n")
    cells = [[_shown(cell) for cell in row] for row in listing.rows]
    right = [_is_numeric([row[i] for row in listing.rows]) for i in range(len(listing.columns))]
    if format == "markdown":
        return _markdown(listing, cells, right)
    if format == "latex":
        return _latex(listing, cells, right)
    return _terminal(listing, cells, right, width)


def _markdown(listing: Listing, cells: list[list[str]], right: list[bool]) -> str:
    lines = [f"**{listing.title}**", ""] if listing.title else []
    lines.append(f"| {' | '.join(listing.columns)} |")
    lines.append(f"| {' | '.join('---:' if r else '---' for r in right)} |")
    lines += [
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |"
        for row in cells
    ]
    return "\n".join(lines)


def _latex(listing: Listing, cells: list[list[str]], right: list[bool]) -> str:
    def line(row: Sequence[str]) -> str:
        return " & ".join(cell.translate(_LATEX).replace("\n", " ") for cell in row) + r" \\"

    body = "\n".join(line(row) for row in cells)
    title = f"% {listing.title}\n" if listing.title else ""
    return (
        f"{title}\\begin{{tabular}}{{{''.join('r' if r else 'l' for r in right)}}}\n\\toprule\n"
        f"{line(listing.columns)}\n\\midrule\n{body}\n\\bottomrule\n\\end{{tabular}}"
    )


def terminal_width() -> int:
    """The columns of the terminal that is printed to; without end if it is a file or a pipe, where
    nothing is cut."""
    from shutil import get_terminal_size

    return get_terminal_size((100, 24)).columns if sys.stdout.isatty() else UNCUT


def _terminal(
    listing: Listing, cells: list[list[str]], right: list[bool], width: int | None
) -> str:
    """Columns as wide as they need. Where that is too wide, bars go; then the widest text is cut,
    never a figure."""
    width = terminal_width() if width is None else width
    cells = [[cell.replace("\n", " ") for cell in row] for row in cells]
    columns = list(listing.columns)
    widths = _widths(columns, cells)
    if _total(widths) > width:
        kept = [i for i in range(len(columns)) if not _is_bars([row[i] for row in cells])]
        columns, right, cells = (
            [columns[i] for i in kept],
            [right[i] for i in kept],
            [[r[i] for i in kept] for r in cells],
        )
        widths = _widths(columns, cells)
    while _total(widths) > width:
        widest = max(
            (i for i in range(len(widths)) if not right[i]), key=lambda i: widths[i], default=-1
        )
        if widest < 0 or widths[widest] <= LEAST:
            break
        widths[widest] -= 1

    def line(row: Sequence[str]) -> str:
        fitted = [
            cell if len(cell) <= w else cell[: w - 1] + "…"
            for cell, w in zip(row, widths, strict=True)
        ]
        aligned = [
            c.rjust(w) if r else c.ljust(w) for c, w, r in zip(fitted, widths, right, strict=True)
        ]
        return "  ".join(aligned).rstrip()

    head = [listing.title] if listing.title else []
    rule = "  ".join("─" * w for w in widths)
    return "\n".join([*head, line(columns), rule, *(line(row) for row in cells)])


def _widths(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> list[int]:
    return [max(len(row[i]) for row in (columns, *cells)) for i in range(len(columns))]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def _is_bars(column: Sequence[str]) -> bool:
    return any(column) and BLOCKS.issuperset("".join(column))


def _shown(cell: Any) -> str:
    if cell is None:
        return "–"
    return (
        f"{cell:.4g}"
        if isinstance(cell, float)
        else f"{cell:,}"
        if type(cell) is int
        else str(cell)
    )


def _plain(cell: Any) -> Any:
    return "" if cell is None else cell


def _is_numeric(column: Sequence[Any]) -> bool:
    """Are all cells figures: numbers, percentages, intervals, p-values? What is missing does not
    speak against it."""

    def number(cell: Any) -> bool:
        text = str(cell).lstrip("+-−<≈ ")
        return isinstance(cell, (int, float)) or (text[:1].isdigit() and text[-1:] in "0123456789%")

    known = [cell for cell in column if cell not in (None, "", "–")]
    return all(map(number, known)) and bool(known or None in column)

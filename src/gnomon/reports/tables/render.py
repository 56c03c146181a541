"""Small tables for people and for papers: one Listing, five formats.

`table` fits the terminal's width, and is as wide as it needs to be where it does not go to a
terminal; `markdown`, `latex` and `csv` are for pasting; `json` is a list of objects. What comes
from strangers cannot act in any of them.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from gnomon.contracts import Listing
from gnomon.errors import UsageError, cut_in_middle, inert
from gnomon.items.writing import write_csv
from gnomon.reports.tables.latex import latex_text

Format = Literal["table", "json", "csv", "markdown", "latex"]
FORMATS: tuple[str, ...] = get_args(Format)
UNCUT = sys.maxsize  # a width that holds any table
LEAST = 8  # characters to which a column of text is cut at most
WORDS_OF_A_SENTENCE = 5  # fewer are a name, such as a model with its options
BLOCKS = frozenset(" ▏▎▍▌▋▊▉█")


class Column(NamedTuple):
    """A heading and the cells below it, written out."""

    head: str
    cells: list[str]
    right: bool  # figures stand to the right

    @property
    def width(self) -> int:
        """Characters of the longest cell."""
        return max(map(len, [self.head, *self.cells]))

    @property
    def is_bars(self) -> bool:
        """Whether the cells are drawings for the eye, which may go where room is scarce."""
        return any(self.cells) and BLOCKS.issuperset("".join(self.cells))

    def fitted(self, cell: str, room: int) -> str:
        """A cell in so much room: cut where it is longer, filled where it is shorter."""
        if len(cell) > room:
            cell = _cut(cell, room)
        return cell.rjust(room) if self.right else cell.ljust(room)


def _cut(cell: str, room: int) -> str:
    """A name without its middle; a sentence without its last words.

    >>> _cut("answers:results-deberta.tsv", 16), _cut("which of two objects is larger", 16)
    ('answe…eberta.tsv', 'which of two…')
    """
    if cell.count(" ") < WORDS_OF_A_SENTENCE - 1:
        return cut_in_middle(cell, room)
    words = cell[: room - 1].rpartition(" ")[0]
    return f"{words or cell[: room - 1]}…"


class Grid(NamedTuple):
    """A listing written out."""

    title: str
    columns: list[Column]

    @property
    def lines(self) -> list[tuple[str, ...]]:
        """The cells row by row, the headings first."""
        return list(zip(*([column.head, *column.cells] for column in self.columns), strict=True))

    @property
    def widths(self) -> list[int]:
        """How wide each column is if nothing is cut."""
        return [column.width for column in self.columns]


class Field(NamedTuple):
    """A column of a listing whose rows are records: its heading, and what it shows of each."""

    head: str
    cell: Callable[[Any], Any]
    wanted: bool = True


def listing_of(title: str, fields: Iterable[Field], records: Iterable[Any]) -> Listing:
    """A row for each record, with the fields that are wanted.

    >>> listing_of("Words", [Field("word", str), Field("length", len)], ["ant"]).rows
    (('ant', 3),)
    """
    wanted = [field for field in fields if field.wanted]
    rows = []
    for record in records:
        rows.append(tuple(field.cell(record) for field in wanted))
    return Listing(title, tuple(field.head for field in wanted), tuple(rows))


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
    if format == "table":
        return _terminal(listing, room(width))
    writers: dict[str, Callable[[Listing], str]] = {
        "json": _json,
        "csv": _csv,
        "markdown": _markdown,
        "latex": _latex,
    }
    if format not in writers:
        raise UsageError(f"There is no format '{format}'.", f"Choose one of: {', '.join(FORMATS)}.")
    return writers[format](listing)


def room(width: int | None) -> int:
    """The characters of a line: so many as are given, or as the terminal has."""
    return terminal_width() if width is None else width


def terminal_width() -> int:
    """The columns of the terminal; without end for a file or a pipe, where nothing is cut."""
    from shutil import get_terminal_size

    if not sys.stdout.isatty():
        return UNCUT
    return get_terminal_size((100, 24)).columns


def _json(listing: Listing) -> str:
    rows = [dict(zip(listing.columns, row, strict=True)) for row in listing.rows]
    return as_json(rows)


def as_json(value: Any) -> str:
    """Plain data as JSON that is safe to print."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    if inert(text) == text:
        return text
    return "".join(map(_json_escape, text))


def _json_escape(character: str) -> str:
    """What would act on a terminal, as JSON's own escape: the same text to a program."""
    if inert(character) == character:
        return character
    return json.dumps(character)[1:-1]


def _csv(listing: Listing) -> str:
    out = io.StringIO()
    write_csv(out, _bare(listing.columns), map(_bare, listing.rows))
    return out.getvalue().rstrip("\n")


def _bare(row: Sequence[Any]) -> list[Any]:
    """Cells as a program reads them: nothing where nothing is known, numbers in full."""
    return list(map(_bare_cell, row))


def _bare_cell(cell: Any) -> Any:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return inert(cell)
    return cell


def _markdown(listing: Listing) -> str:
    grid = _grid(listing)

    def line(row: Sequence[str]) -> str:
        escaped = [cell.replace("|", "\\|") for cell in row]
        return f"| {' | '.join(escaped)} |"

    head, *rows = map(line, grid.lines)
    rule = line(["---:" if column.right else "---" for column in grid.columns])
    title = [f"**{grid.title}**", ""] if grid.title else []
    return "\n".join([*title, head, rule, *rows])


def _latex(listing: Listing) -> str:
    grid = _grid(listing)

    def line(row: Sequence[str]) -> str:
        text = " & ".join(map(latex_text, row))
        if text.startswith(("[", "*")):  # which \\ of the line before would take for its own
            text = "{}" + text
        return text + r" \\"

    head, *rows = map(line, grid.lines)
    sides = "".join("r" if column.right else "l" for column in grid.columns)
    title = [f"% {grid.title}"] if grid.title else []
    return "\n".join(
        [
            *title,
            rf"\begin{{tabular}}{{{sides}}}",
            r"\toprule",
            head,
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _terminal(listing: Listing, width: int) -> str:
    """Columns as wide as they need, or as the terminal has room for.

    Where that is too little, bars go; then the widest text is cut, never a figure.
    """
    grid = _grid(listing)
    if _total(grid.widths) > width:
        kept = [column for column in grid.columns if not column.is_bars]
        grid = Grid(grid.title, kept)
    widths = _fitted(grid, width)

    def line(row: Sequence[str]) -> str:
        return "  ".join(map(Column.fitted, grid.columns, row, widths)).rstrip()

    head, *rows = map(line, grid.lines)
    rule = "  ".join("─" * room for room in widths)
    title = [grid.title] if grid.title else []
    return "\n".join([*title, head, rule, *rows])


def _fitted(grid: Grid, width: int) -> list[int]:
    """How wide each column may be, so that the table fits where that is possible."""
    widths = grid.widths
    texts = [i for i, column in enumerate(grid.columns) if not column.right]
    while texts and _total(widths) > width:
        widest = max(texts, key=widths.__getitem__)
        if widths[widest] <= LEAST:
            break
        widths[widest] -= 1
    return widths


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def _grid(listing: Listing) -> Grid:
    columns = []
    for i, head in enumerate(listing.columns):
        values = [row[i] for row in listing.rows]
        columns.append(Column(_one_line(head), list(map(_shown, values)), _is_numeric(values)))
    return Grid(_one_line(listing.title), columns)


def _shown(cell: Any) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:.4g}"
    if type(cell) is int:
        return f"{cell:,}"
    return _one_line(str(cell))


def _one_line(text: str) -> str:
    return inert(text).replace("\n", " ")


def _is_numeric(values: Sequence[Any]) -> bool:
    """Are all cells that are there figures: numbers, percentages, intervals, p-values?"""
    known = [value for value in values if value not in (None, "", "–")]
    if not known:
        return None in values
    return all(map(_is_figure, known))


def _is_figure(cell: Any) -> bool:
    if isinstance(cell, (int, float)):
        return True
    text = str(cell).lstrip("+-−<≈ ")
    return text[:1].isdigit() and text[-1:] in "0123456789%"

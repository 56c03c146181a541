"""The table that people see, in every format: text, HTML, Markdown, LaTeX, CSV, JSON, and frames.

`text` fits the terminal's width, and is as wide as it needs to be where it does not go to a
terminal; the others are for pasting and for programs. What comes from strangers cannot act in any
of them.
"""

import csv
import importlib.util
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import IO, Any, NamedTuple

import msgspec

from gnomon.contracts import Listing
from gnomon.errors import UsageError, cut_in_middle, inert

LIBRARIES = ("pandas", "polars")
FORMATS = ("table", "json", "csv", "markdown", "latex")
UNCUT = sys.maxsize  # a width that holds any table
LEAST = 8  # characters to which a column of text is cut at most
LONGEST = 300  # characters of a cell in a notebook
LONGEST_HEAD = 14  # characters of a line of a heading in a table of LaTeX that floats
WORDS_OF_A_SENTENCE = 5  # fewer are a name, such as a model with its options
BLOCKS = frozenset(" ▏▎▍▌▋▊▉█")
PACKAGES = r"% \usepackage{booktabs,graphicx,xcolor}"
SHRUNK = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"  # only if too wide
LEFT = "text-align:left;vertical-align:top"
GREY = "color:#5f6368"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a formula begins in a spreadsheet


class PrintedHead(NamedTuple):
    """The heading of a column: its side (l, c or r), and what stands smaller below it."""

    text: str
    side: str = "l"
    below: str = ""
    name: str = ""  # which a pointer shows


class PrintedCell(NamedTuple):
    """A cell, written out, with its marks."""

    text: str
    below: str = ""  # such as an interval
    bold: bool = False
    italic: bool = False
    raised: str = ""  # letters or stars
    dagger: bool = False


class PrintedRow(NamedTuple):
    """A row; those that are not ours are grey."""

    cells: tuple[PrintedCell, ...]
    grey: bool = False


@dataclass(frozen=True)
class PrintedTable:
    """Rows in groups, under headings: with a title above, or a caption below."""

    heads: tuple[PrintedHead, ...]
    groups: tuple[tuple[PrintedRow, ...], ...]
    title: str = ""
    caption: str = ""
    label: str = ""  # in LaTeX, of a table with a caption

    @property
    def lines(self) -> list[PrintedRow]:
        """All rows."""
        return [line for group in self.groups for line in group]


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
        return _text(_table_of(listing), room(width))
    if format == "json":
        return as_json([dict(zip(listing.columns, row, strict=True)) for row in listing.rows])
    if format == "csv":
        return as_csv(listing)
    if format not in WRITERS:
        raise UsageError(f"There is no format '{format}'.", f"Choose one of: {', '.join(FORMATS)}.")
    return WRITERS[format](_table_of(listing))


def _table_of(listing: Listing) -> PrintedTable:
    heads = []
    for place, head in enumerate(listing.columns):
        column = [row[place] for row in listing.rows]
        heads.append(PrintedHead(_one_line(head), "r" if _is_numeric(column) else "l"))
    lines = []
    for row in listing.rows:
        lines.append(PrintedRow(tuple(PrintedCell(shown_cell(value)) for value in row)))
    return PrintedTable(tuple(heads), (tuple(lines),), title=_one_line(listing.title))


def shown_cell(value: Any) -> str:
    """A value of a table, written out."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    if type(value) is int:
        return f"{value:,}"
    return _one_line(str(value))


def _one_line(text: str) -> str:
    return inert(text).replace("\n", " ")


def _is_numeric(values: Sequence[Any]) -> bool:
    """Are all cells that are there figures: numbers, percentages, intervals, p-values?"""
    known = [value for value in values if value not in (None, "", "–")]
    if not known:
        return None in values
    return all(map(_is_figure, known))


def _is_figure(value: Any) -> bool:
    if isinstance(value, (int, float)):
        return True
    text = str(value).lstrip("+-−<≈ ")
    return text[:1].isdigit() and text[-1:] in "0123456789%"


# Text, for a terminal.


def room(width: int | None) -> int:
    """The characters of a line: so many as are given, or as the terminal has."""
    return terminal_width() if width is None else width


def terminal_width() -> int:
    """The columns of the terminal; without end for a file or a pipe, where nothing is cut."""
    from shutil import get_terminal_size

    if not sys.stdout.isatty():
        return UNCUT
    return get_terminal_size((100, 24)).columns


def too_wide(text: str, width: int | None = None) -> bool:
    """Whether a table would be cut by the terminal; a file or a pipe cuts nothing."""
    return max(map(len, text.splitlines())) > room(width)


class _Column(NamedTuple):
    """A column of a table of text."""

    cells: list[str]  # the heading first
    right: bool  # figures stand to the right

    @property
    def width(self) -> int:
        return max(map(len, self.cells))

    @property
    def is_bars(self) -> bool:
        """Whether the cells are drawings for the eye, which may go where room is scarce."""
        return any(self.cells[1:]) and BLOCKS.issuperset("".join(self.cells[1:]))

    def fitted(self, room: int) -> list[str]:
        """The cells in so much room: cut where they are longer, filled where they are shorter."""
        fitted = []
        for cell in self.cells:
            kept = _cut(cell, room) if len(cell) > room else cell
            fitted.append(kept.rjust(room) if self.right else kept.ljust(room))
        return fitted


def _cut(cell: str, room: int) -> str:
    """A name without its middle; a sentence without its last words.

    >>> _cut("answers:results-deberta.tsv", 16), _cut("which of two objects is larger", 16)
    ('answe…eberta.tsv', 'which of two…')
    """
    if cell.count(" ") < WORDS_OF_A_SENTENCE - 1:
        return cut_in_middle(cell, room)
    words = cell[: room - 1].rpartition(" ")[0]
    return f"{words or cell[: room - 1]}…"


def _text(table: PrintedTable, width: int) -> str:
    """Columns as wide as they need, or as the terminal has room for.

    Where that is too little, bars go; then the widest text is cut, never a figure.
    """
    columns = []
    for place, head in enumerate(table.heads):
        cells = [head.text, *(line.cells[place].text for line in table.lines)]
        columns.append(_Column(cells, head.side == "r"))
    if _total([column.width for column in columns]) > width:
        columns = [column for column in columns if not column.is_bars]
    widths = _fitting(columns, width)
    fitted = map(_Column.fitted, columns, widths)
    heading, *rows = ("  ".join(cells).rstrip() for cells in zip(*fitted, strict=True))
    rule = "  ".join("─" * width for width in widths)
    title = [table.title] if table.title else []
    return "\n".join([*title, heading, rule, *rows])


def _fitting(columns: Sequence[_Column], width: int) -> list[int]:
    """How wide each column may be, so that the table fits where that is possible."""
    widths = [column.width for column in columns]
    texts = [place for place, column in enumerate(columns) if not column.right]
    while texts and _total(widths) > width:
        widest = max(texts, key=widths.__getitem__)
        if widths[widest] <= LEAST:
            break
        widths[widest] -= 1
    return widths


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


# Formats for pasting. Each writes a cell's marks in its own way.


class _Marks(NamedTuple):
    """How a format writes what marks a cell."""

    text: Callable[[str], str]  # makes it safe
    bold: str
    italic: str
    raised: str
    dagger: str
    star: str = "*"

    def written(self, cell: PrintedCell) -> str:
        """A cell with its marks, but for what stands below it."""
        written = self.text(cell.text)
        if cell.italic:
            written = self.italic % written
        if cell.bold:
            written = self.bold % written
        if cell.raised:
            written += self.raised % cell.raised.replace("*", self.star)
        return written + self.dagger * cell.dagger


def _markdown_text(text: str) -> str:
    """The text in one line, with what Markdown, or GitHub's formulas, would take for its own."""
    plain = " ".join(inert(text).split())
    acting = r"[\\`*\[|~$]|<(?=[\w/!?])|&(?=[\w#])|(?<!\w)_|_(?!\w)"
    return re.sub(acting, r"\\\g<0>", plain)


def markdown(table: PrintedTable) -> str:
    """A table of GitHub's Markdown."""

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cells)} |"

    heads, rule = [], []
    for head in table.heads:
        below = f"<br>{head.below}" if head.below else ""
        heads.append(_markdown_text(head.text) + below)
        rule.append("---" if head.side == "l" else "---:")
    rows = []
    for each in table.lines:
        cells = []
        for cell in each.cells:
            below = f" {cell.below}" if cell.below else ""
            cells.append(MARKDOWN.written(cell) + below)
        if each.grey:
            cells[0] = f"*{cells[0]}*"
        rows.append(line(cells))
    title = [f"**{_markdown_text(table.title)}**", ""] if table.title else []
    caption = table.caption.replace("Grey:", "Names in italics:")
    said = ["", _markdown_text(caption)] if caption else []
    return "\n".join([*title, line(heads), line(rule), *rows, *said])


def latex(table: PrintedTable) -> str:
    """A tabular with booktabs that pdflatex compiles; one with a caption floats.

    Intervals stand below their figures.
    """
    body = _latex_heads(table)
    for group in table.groups:
        body.append(r"\midrule")
        for line in group:
            body += _latex_rows(line)
    sides = "".join(head.side for head in table.heads)
    tabular = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", *body, r"\bottomrule"]
    if not table.caption:
        title = [f"% {table.title}"] if table.title else []
        return "\n".join([*title, *tabular, r"\end{tabular}"])
    label = "".join(c for c in table.label if c.isascii() and (c.isalnum() or c in ":-.+/"))
    return "\n".join(
        [
            PACKAGES,
            r"\begin{table}[t]",
            r"\centering",
            r"\small",
            SHRUNK,
            *tabular,
            r"\end{tabular}}",
            rf"\caption{{{latex_text(table.caption)}}}",
            rf"\label{{{label}}}",
            r"\end{table}",
        ]
    )


def _latex_heads(table: PrintedTable) -> list[str]:
    """The headings and, where there is any, what stands below them."""
    write = _stacked if table.caption else latex_text
    lines = [_latex_line([write(head.text) for head in table.heads])]
    below = [rf"{{\footnotesize {write(head.below)}}}" * bool(head.below) for head in table.heads]
    return [*lines, _latex_line(below)] if any(below) else lines


def _stacked(title: str) -> str:
    """A heading in several short lines, or the page would not hold the columns."""
    lines = wrap(" ".join(inert(title).split()), LONGEST_HEAD, break_long_words=False)
    if len(lines) < 2:
        return latex_text(title)
    stacked = r" \\ ".join(map(latex_text, lines))
    return rf"\shortstack{{{stacked}}}"


def _latex_rows(line: PrintedRow) -> list[str]:
    cells = list(map(LATEX.written, line.cells))
    if line.grey:
        cells = [rf"\textcolor{{gray}}{{{cell}}}" if cell else "" for cell in cells]
    below = [rf"{{\scriptsize {cell.below}}}" if cell.below else "" for cell in line.cells]
    rows = [_latex_line(cells)]
    return [*rows, _latex_line(below)] if any(below) else rows


def _latex_line(cells: Sequence[str]) -> str:
    text = " & ".join(cells)
    if text.startswith(("[", "*")):  # which \\ of the line before would take for its own
        text = "{}" + text
    return text + r" \\"


_LATEX_LETTERS = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "–": "--",
        "—": "---",
        "−": "$-$",
        "±": r"$\pm$",
        "×": r"$\times$",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "≈": r"$\approx$",
        "…": r"\ldots{}",
        "·": r"$\cdot$",
        "‘": "`",
        "’": "'",
        "“": "``",
        "”": "''",
        "\N{NO-BREAK SPACE}": "~",
    }
)
_LIGATURES = re.compile(r"(?<=-)(?=-)|(?<=[`',!?])(?=[`'])")
_ACCENTED = re.compile("[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff\u0100-\u017e]")


def latex_text(text: str) -> str:
    r"""The text in one line, with what LaTeX would take for a command escaped.

    Letters that pdflatex has no glyph for become their number: better a strange name than a paper
    that does not compile.

    >>> print(latex_text("gpt_4 & 50 % − 1"), latex_text("模"))
    gpt\_4 \& 50 \% $-$ 1 [U+6A21]
    """
    line = " ".join(inert(text).split())
    apart = _LIGATURES.sub("\0", line)
    return "".join(map(_latex_letter, apart)).replace("\0", "{}")


def _latex_letter(character: str) -> str:
    written = character.translate(_LATEX_LETTERS)
    if written.isascii() or written == "~" or _ACCENTED.match(character):
        return written
    return f"[U+{ord(character):04X}]"


def html(table: PrintedTable, *, below: str = "") -> str:
    """A table for a page or a notebook; it brings what little style it needs."""
    heads = []
    for head in table.heads:
        title = f' title="{escape(head.name)}"' if head.name else ""
        smaller = f"<br><small>{_html_text(head.below)}</small>" if head.below else ""
        style = f' style="{LEFT}"' if head.side == "l" else ""
        heads.append(f'<th scope="col"{style}{title}>{_html_text(head.text)}{smaller}</th>')
    lines = [f"<thead><tr>{''.join(heads)}</tr></thead>", "<tbody>"]
    for line in table.lines:
        style = f' style="{GREY}"' if line.grey else ""
        cells = list(map(_html_cell, table.heads, line.cells))
        if table.caption:  # a row for each of what the first column names
            cells[0] = f'<th scope="row" style="text-align:left">{HTML.written(line.cells[0])}</th>'
        lines.append(f"<tr{style}>{''.join(cells)}</tr>")
    title = f'<caption style="text-align:left">{_html_text(table.title)}</caption>'
    caption = f'<caption style="caption-side:bottom">{_html_text(table.caption)}</caption>'
    above = title * bool(table.title) + caption * bool(table.caption)
    note = f"<p>{_html_text(below)}</p>" if below else ""
    return "\n".join([f'<table class="gnomon">{above}', *lines, f"</tbody></table>{note}"])


def _html_cell(head: PrintedHead, cell: PrintedCell) -> str:
    style = f' style="{LEFT}"' if head.side == "l" else ""
    smaller = f"<br><small>{cell.below}</small>" if cell.below else ""
    return f"<td{style}>{HTML.written(cell)}{smaller}</td>"


def _html_text(text: str) -> str:
    return escape(inert(text)).replace("\n", "<br>")


def _html_words(text: str) -> str:
    """The text of a cell, not too long for a notebook."""
    plain = inert(text)
    return _html_text(plain if len(plain) <= LONGEST else plain[:LONGEST] + "…")


def html_table(
    names: Sequence[str], rows: Iterable[Sequence[Any]], *, caption: str = "", below: str = ""
) -> str:
    """A small table for a notebook; everything is text, and none of it can act."""
    heads = tuple(PrintedHead(name) for name in names)
    lines = []
    for row in rows:
        lines.append(
            PrintedRow(tuple(PrintedCell("–" if cell is None else str(cell)) for cell in row))
        )
    return html(PrintedTable(heads, (tuple(lines),), title=caption), below=below)


LATEX = _Marks(latex_text, r"\textbf{%s}", r"\textit{%s}", r"\textsuperscript{%s}", r"\dag{}")
MARKDOWN = _Marks(_markdown_text, "**%s**", "*%s*", "<sup>%s</sup>", "†", star=r"\*")
HTML = _Marks(_html_words, "<b>%s</b>", "<i>%s</i>", "<sup>%s</sup>", "†")
WRITERS: dict[str, Callable[[PrintedTable], str]] = {
    "markdown": markdown,
    "latex": latex,
    "html": html,
}


# Formats for programs.


def as_json(value: Any, indent: int = 2) -> str:
    """Plain data as JSON that is safe to print, in one line without an indent."""
    encoded = msgspec.json.encode(value)
    text = (msgspec.json.format(encoded, indent=indent) if indent else encoded).decode()
    if inert(text) == text:
        return text
    return "".join(map(_json_escape, text))


def _json_escape(character: str) -> str:
    """What would act on a terminal, as JSON's own escape: the same text to a program."""
    if inert(character) == character:
        return character
    return json.dumps(character)[1:-1]


def as_csv(listing: Listing) -> str:
    """Cells as a program reads them: nothing where nothing is known, numbers in full."""
    out = io.StringIO()
    rows = ([_bare(cell) for cell in row] for row in (listing.columns, *listing.rows))
    write_csv(out, next(rows), rows)
    return out.getvalue().rstrip("\n")


def _bare(cell: Any) -> Any:
    if cell is None:
        return ""
    return inert(cell) if isinstance(cell, str) else cell


def write_csv(stream: IO[str], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """Write a table so that a spreadsheet takes no text for a formula; return how many rows."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(spreadsheet_cell, columns))
    n = 0
    for row in rows:
        writer.writerow(map(spreadsheet_cell, row))
        n += 1
    return n


def spreadsheet_cell(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula; numbers stay as they are.

    >>> spreadsheet_cell("=1+1"), spreadsheet_cell(-1.5), spreadsheet_cell("-1.5")
    ("'=1+1", -1.5, '-1.5')
    """
    if not isinstance(value, str) or not value.lstrip(" ").startswith(_FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


# Frames. Neither library is a dependency: a frame is made by the one that the user has.


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

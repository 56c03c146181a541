"""The table for the paper in each format: LaTeX with booktabs, markdown, HTML, CSV and JSON."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from html import escape
from textwrap import wrap
from typing import Any, NamedTuple

from gnomon.errors import inert
from gnomon.items.writing import write_csv
from gnomon.reports.overview import Column
from gnomon.reports.tables.latex import latex_text
from gnomon.reports.tables.pivot import Figure, Pivot, Row
from gnomon.reports.tables.render import as_json
from gnomon.reports.words import measure_name, per_cent

PACKAGES = r"% \usepackage{booktabs,graphicx,xcolor}"
SHRUNK = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"  # only if too wide
RANK = "Mean rank"
LONGEST_HEAD = 14  # characters of a line of a heading in LaTeX
GREY = "color:#5f6368"


class Markup(NamedTuple):
    """How a format writes what marks a figure."""

    bold: str
    italic: str
    raised: str
    dagger: str
    missing: str
    star: str = "*"

    def figure(self, figure: Figure | None) -> str:
        """A figure with its marks, without its interval."""
        if figure is None:
            return self.missing
        text = per_cent(figure.value, 1)
        if figure.weak:
            text = self.italic % text
        if figure.best:
            text = self.bold % text
        if figure.mark:
            text += self.raised % figure.mark.replace("*", self.star)
        if figure.unfinished:
            text += self.dagger
        return text


LATEX = Markup(r"\textbf{%s}", r"\textit{%s}", r"\textsuperscript{%s}", r"\dag{}", "--")
MARKDOWN = Markup("**%s**", "*%s*", "<sup>%s</sup>", "†", "–", star=r"\*")
HTML = Markup("<b>%s</b>", "<i>%s</i>", "<sup>%s</sup>", "†", "–")


def written(table: Pivot, format: str) -> str:
    """The table in a format, without a final newline."""
    writers: dict[str, Callable[[Pivot], str]] = {
        "latex": as_latex,
        "markdown": as_markdown,
        "html": as_html,
        "csv": as_csv,
        "json": as_data,
    }
    return writers[format](table)


def as_latex(table: Pivot) -> str:
    """A float with booktabs that pdflatex compiles; intervals stand below their figures."""
    sides = "l" + "c" * len(table.columns) + "r" * table.ranked
    lines = [*_latex_heads(table), *_latex_body(table)]
    return "\n".join(
        [
            PACKAGES,
            r"\begin{table}[t]",
            r"\centering",
            r"\small",
            SHRUNK,
            rf"\begin{{tabular}}{{{sides}}}",
            r"\toprule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}}",
            rf"\caption{{{latex_text(table.caption)}}}",
            rf"\label{{{_latex_key(table.label)}}}",
            r"\end{table}",
        ]
    )


def _latex_heads(table: Pivot) -> list[str]:
    """The titles and, where they differ, the measures below them."""
    titles, measures = [latex_text(table.corner)], [""]
    for column in table.columns:
        titles.append(_latex_head(column.title))
        measure = _latex_head(measure_name(column.measure))
        measures.append(rf"{{\footnotesize {measure}}}")
    if table.ranked:
        titles.append(_latex_head(RANK))
        measures.append("")
    if table.one_measure:
        return [_latex_line(titles)]
    return [_latex_line(titles), _latex_line(measures)]


def _latex_body(table: Pivot) -> list[str]:
    """Our rows, chance, and those of the papers, each below a rule."""
    lines = [r"\midrule"]
    for row in table.rows:
        lines += _latex_rows(row, table)
    if table.chance:
        lines += [r"\midrule", *_latex_rows(table.chance, table)]
    if table.published:
        lines.append(r"\midrule")
    for row in table.published:
        lines += _latex_rows(row, table, grey=True)
    return lines


def _latex_head(title: str) -> str:
    """A heading in several short lines, or the page would not hold the columns."""
    lines = wrap(" ".join(inert(title).split()), LONGEST_HEAD, break_long_words=False)
    if len(lines) < 2:
        return latex_text(title)
    stacked = r" \\ ".join(map(latex_text, lines))
    return rf"\shortstack{{{stacked}}}"


def _latex_rows(row: Row, table: Pivot, *, grey: bool = False) -> list[str]:
    cells = [latex_text(row.name), *map(LATEX.figure, row.cells)]
    if table.ranked:
        cells.append(_rank(row))
    if grey:
        cells = list(map(_latex_grey, cells))
    lines = [_latex_line(cells)]
    if table.intervals and any(figure and figure.low is not None for figure in row.cells):
        below = [_latex_interval(figure) for figure in row.cells]
        lines.append(_latex_line(["", *below, *[""] * table.ranked]))
    return lines


def _latex_grey(cell: str) -> str:
    return rf"\textcolor{{gray}}{{{cell}}}" if cell else ""


def _latex_line(cells: Sequence[str]) -> str:
    text = " & ".join(cells)
    if text.startswith(("[", "*")):  # which \\ of the line before would take for its own
        text = "{}" + text
    return text + r" \\"


def _latex_interval(figure: Figure | None) -> str:
    told = _interval(figure)
    return rf"{{\scriptsize {told}}}" if told else ""


def _latex_key(label: str) -> str:
    """A label with the characters that a label may have."""
    return "".join(c for c in label if c.isascii() and (c.isalnum() or c in ":-.+/"))


def as_markdown(table: Pivot) -> str:
    """A table of GitHub's markdown, with its caption below."""
    head = [table.corner, *(_markdown_head(table, column) for column in table.columns)]
    rule = ["---", *["---:"] * len(table.columns)]
    if table.ranked:
        head.append(RANK)
        rule.append("---:")
    lines = [_markdown_line(head), _markdown_line(rule)]
    for row in _all_rows(table):
        cells = [_markdown_text(row.name)]
        cells += [_markdown_figure(figure, table) for figure in row.cells]
        if table.ranked:
            cells.append(_rank(row))
        if row in table.published:
            cells[0] = f"*{cells[0]}*"
        lines.append(_markdown_line(cells))
    caption = table.caption.replace("Grey:", "Names in italics:")
    return "\n".join([*lines, "", _markdown_text(caption)])


def _markdown_head(table: Pivot, column: Column) -> str:
    title = _markdown_text(column.title)
    if table.one_measure:
        return title
    return f"{title}<br>{measure_name(column.measure)}"


def _markdown_text(text: str) -> str:
    """The text in one line, with what markdown, or GitHub's formulas, would take for its own."""
    plain = " ".join(inert(text).split())
    return re.sub(r"[\\`*_\[<|~$&]", r"\\\g<0>", plain)


def _markdown_figure(figure: Figure | None, table: Pivot) -> str:
    text = MARKDOWN.figure(figure)
    if table.intervals and _interval(figure):
        text += f" {_interval(figure)}"
    return text


def _markdown_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def as_html(table: Pivot) -> str:
    """A table for a page or a notebook; it brings what little style it needs."""
    head = [f"<th>{escape(table.corner)}</th>"]
    for column in table.columns:
        below = "" if table.one_measure else f"<br><small>{measure_name(column.measure)}</small>"
        title = f'<th scope="col" title="{escape(column.name)}">{_html_text(column.title)}'
        head.append(f"{title}{below}</th>")
    if table.ranked:
        head.append(f'<th scope="col">{RANK}</th>')

    lines = [f"<thead><tr>{''.join(head)}</tr></thead>", "<tbody>"]
    for row in _all_rows(table):
        style = f' style="{GREY}"' if row in table.published else ""
        cells = [f'<th scope="row" style="text-align:left">{_html_text(row.name)}</th>']
        cells += [_html_figure(figure, table) for figure in row.cells]
        if table.ranked:
            cells.append(f"<td>{_rank(row)}</td>")
        lines.append(f"<tr{style}>{''.join(cells)}</tr>")
    caption = f'<caption style="caption-side:bottom">{_html_text(table.caption)}</caption>'
    return "\n".join(['<table class="gnomon">', caption, *lines, "</tbody>", "</table>"])


def _html_text(text: str) -> str:
    return escape(" ".join(inert(text).split()))


def _html_figure(figure: Figure | None, table: Pivot) -> str:
    text = HTML.figure(figure)
    if table.intervals and _interval(figure):
        text += f"<br><small>{_interval(figure)}</small>"
    return f"<td>{text}</td>"


def as_csv(table: Pivot) -> str:
    """A line for each model, with fractions in full; marks stand in columns of their own."""
    head = ["model", "kind"]
    for column in table.columns:
        head += [column.name, f"{column.name} low", f"{column.name} high", f"{column.name} mark"]
    head.append("mean_rank")
    rows = []
    for row in _all_rows(table):
        cells: list[Any] = [inert(row.name), _kind(row, table)]
        for figure in row.cells:
            if figure is None:
                cells += ["", "", "", ""]
                continue
            cells += [figure.value, _known(figure.low), _known(figure.high), figure.mark]
        cells.append(_known(row.mean_rank))
        rows.append(cells)
    out = io.StringIO()
    write_csv(out, head, rows)
    return out.getvalue().rstrip("\n")


def _known(value: float | None) -> float | str:
    return "" if value is None else value


def as_data(table: Pivot) -> str:
    """All that is known, as JSON: fractions, and every mark by its name."""
    columns = []
    for column in table.columns:
        known = ("name", "title", "measure", "chance", "items")
        columns.append({name: getattr(column, name) for name in known})
    rows = []
    for row in _all_rows(table):
        cells = {}
        for column, figure in zip(table.columns, row.cells, strict=True):
            cells[column.name] = vars(figure) if figure else None
        about = {"model": row.name, "kind": _kind(row, table), "mean_rank": row.mean_rank}
        rows.append(about | {"cells": cells})
    whole = {
        "columns": columns,
        "rows": rows,
        "level": table.level,
        "caption": table.caption,
        "notes": list(table.notes),
    }
    return as_json(whole)


def _kind(row: Row, table: Pivot) -> str:
    if row is table.chance:
        return "chance"
    return "published" if row in table.published else "run"


def _all_rows(table: Pivot) -> list[Row]:
    chance = [table.chance] if table.chance else []
    return [*table.rows, *chance, *table.published]


def _interval(figure: Figure | None) -> str:
    if figure is None or figure.low is None or figure.high is None:
        return ""
    return f"[{per_cent(figure.low, 1)}, {per_cent(figure.high, 1)}]"


def _rank(row: Row) -> str:
    return "" if row.mean_rank is None else f"{row.mean_rank:.1f}"

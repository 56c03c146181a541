"""What templates show: studies, tables and figures as plain data, every number written out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gnomon.measures.chance import verdict
from gnomon.measures.comparison import Rank
from gnomon.records import Score
from gnomon.reports.charts import svg
from gnomon.reports.charts.axes import WIDTH
from gnomon.reports.figures import Figure
from gnomon.reports.page.examples import galleries, same_facts
from gnomon.reports.page.headline import Headline, HeadlineRow, headline, sliced
from gnomon.reports.page.items import items_address
from gnomon.reports.page.notes import relation_of
from gnomon.reports.page.overviews import scale, swatch
from gnomon.reports.page.summary import sentences
from gnomon.reports.pictures import Album, walls
from gnomon.reports.study import Entrant, Study
from gnomon.reports.words import capitalised, counted, measure_name, percentage

if TYPE_CHECKING:
    from markupsafe import Markup

ROWS = 200  # of the numbers behind a chart that the page shows; the CSV has all
PLOT = 120  # units that the line from 0 to 1 is long
# pixels of a figure beside a second one: its drawing, what stands around that; letters of a line
SHOWN_WIDTH, AROUND, LINE = 510, 130, 75


def study_view(study: Study, charts: list[Figure], index: int, album: Album) -> dict[str, Any]:
    """Everything that the page says about a study."""
    table = headline(study)
    slices = []
    for part in sliced(study):
        slices.append({**_table(study, part), "title": _slice_title(study, part.title)})
    plain = [chart for chart in charts if not chart.detail]
    detail = [chart for chart in charts if chart.detail]
    return {
        "name": study.name,
        "title": study.title,
        "source": study.source,
        "asked": counted(len(study.items), "items"),
        "address": items_address(study.name),
        "about": _about(study),
        "sentences": sentences(study, table),
        "table": _table(study, table),
        "relation": relation_of(study),
        "slices": slices,
        "figures": _columns(plain, f"s{index}-"),
        "details": _columns(detail, f"s{index}-"),
        "papers": any(line.kind in ("model", "human", "chance") for line in table.lines),
        "plain": len(plain),
        "detail": len(detail),
        "galleries": _galleries(study, table, album),
        "same_facts": same_facts(study),
        "walls": walls(study, table.entrants(study), album),
    }


def _about(study: Study) -> str:
    """What the benchmark asks, and in which paper it was first asked."""
    if study.spec is None or not study.spec.summary:
        return ""
    about = capitalised(study.spec.summary)
    if study.spec.paper:
        about += f" ({study.spec.paper})"
    return f"{about}."


def _galleries(
    study: Study, table: Headline, album: Album
) -> list[tuple[str, list[dict[str, Any]]]]:
    by_model: dict[str, list[dict[str, Any]]] = {}
    for gallery in galleries(study, table.entrants(study), album):
        groups = []
        for group in gallery.groups:
            groups.append({**group._asdict(), "percent": percentage(group.share)})
        by_model.setdefault(gallery.model, []).append({"sort": gallery.sort, "groups": groups})
    return list(by_model.items())


def _table(study: Study, table: Headline) -> dict[str, Any]:
    columns = list(table.measures)  # of a table by a tag: its values, as they are
    if not table.title:
        columns = list(map(measure_name, columns))
    lines = [_line(study, line, columns) for line in table.lines]
    if table.title:  # each column of a table by a tag is about other items
        _count_in_cells(table.lines, lines)
    return {
        "columns": columns,
        "lines": lines,
        "counted": not table.title,
        "chance": not table.title and any(line["chance"] for line in lines),
        "notes": table.notes,
    }


def _count_in_cells(lines: Sequence[HeadlineRow], shown: Sequence[dict[str, Any]]) -> None:
    """Say below each figure of a run how many items, pairs or groups it rests on."""
    for line, view in zip(lines, shown, strict=True):
        for score, cell in zip(line.cells, view["cells"], strict=True):
            if score is not None and score.n:
                cell["range"] = ", ".join(filter(None, [cell["range"], f"n {score.n:,}"]))


def _line(study: Study, line: HeadlineRow, columns: Sequence[str]) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "model": line.model,
        "source": line.source,
        "paper": line.series < 0 and line.kind not in ("baseline", "people"),
        "address": "",
        "n": 0,
        "asked": "",
        "swatch": "",
        "plot": "",
        "chance": "",
        "verdict": "",
        "cells": [_cell(name, cell) for name, cell in zip(columns, line.cells, strict=True)],
    }
    if line.first is not None:
        shown |= _first(line.first)
        if line.kind in ("baseline", "people"):
            shown |= {"n": line.first.n, "asked": f"{line.first.n:,}"}
    if line.series < 0:
        return shown

    entrant = study.entrants[line.series]
    shown["n"] = len(entrant.table)
    shown["asked"] = _asked(entrant)
    shown["address"] = items_address(study.name, model=entrant.label)
    if len(study.entrants) > 1:
        shown["swatch"] = swatch(entrant.series)
    return shown


def _asked(entrant: Entrant) -> str:
    asked = f"{len(entrant.table):,}"
    if len(entrant.table) == entrant.total:
        return asked
    return f"{asked} of {entrant.total:,}"


def _first(figure: Score) -> dict[str, Any]:
    """The figure by the table's first measure, as it lies beside chance."""
    return {
        "plot": range_plot(figure),
        "chance": percentage(figure.chance, 1) if figure.chance else "",
        "verdict": verdict(figure.low, figure.high, figure.chance),
    }


def _slice_title(study: Study, title: str) -> str:
    measure, _, tag = title.partition(" by ")
    return f"{measure_name(measure)} by {study.words(tag)}"


def range_plot(figure: Score | Rank) -> Markup | str:
    """A figure and its interval on a line from 0 to 1, with an upright where chance is.

    Nothing for a figure beyond that line.
    """
    from markupsafe import Markup

    value, low, high = figure.value, figure.low, figure.high
    if value is None or not 0 <= value <= 1:  # also where it is not a number
        return ""

    parts = scale(PLOT, 8, figure.chance)
    if low is not None and high is not None and low <= high:
        parts.append(
            svg.line(svg.DrawnPoint(PLOT * low, 8), svg.DrawnPoint(PLOT * high, 8), "whisker")
        )
    parts.append(svg.tag("circle", {"cx": PLOT * value, "cy": 8, "r": 4, "class_": "dot"}))
    return Markup(  # noqa: S704 - numbers only
        f'<svg class="tiny chart" viewBox="-5 0 130 16" aria-hidden="true">{"".join(parts)}</svg>'
    )


def _cell(name: str, score: Score | None) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": name, "text": "", "sort": "", "range": ""}
    if score is None or score.value is None:
        return shown
    shown["text"] = percentage(score.value, 1)
    shown["sort"] = score.value
    if score.low is not None and score.high is not None:
        shown["range"] = f"{100 * score.low:.1f}–{100 * score.high:.1f}"
    return shown


def _columns(charts: Sequence[Figure], prefix: str) -> list[list[dict[str, Any]]]:
    """The figures in two columns of about the same height, so that no holes are left."""
    columns: list[list[dict[str, Any]]] = [[], []]
    heights = [0.0, 0.0]
    for chart in charts:
        shorter = heights.index(min(heights))
        columns[shorter].append(figure_view(chart, prefix))
        lines = len(chart.caption) / LINE
        heights[shorter] += chart.body.height * SHOWN_WIDTH / WIDTH + 20 * lines + AROUND
    return [column for column in columns if column]


def figure_view(figure: Figure, prefix: str) -> dict[str, Any]:
    """A figure as the template shows it; `prefix` keeps ids apart."""
    from markupsafe import Markup

    rows = [list(map(_number, row)) for row in figure.rows[:ROWS]]
    left = len(figure.rows) - ROWS
    more = ""
    if left > 0:
        more = f"{left:,} more rows are in the CSV that `gnomon report --figures` writes."
    return {
        "name": figure.name,
        "title": figure.title,
        "caption": figure.caption,
        "columns": figure.columns,
        "rows": rows,
        "more": more,
        "svg": Markup(figure.svg(prefix)),  # noqa: S704 - escaped as it was drawn
    }


def _number(value: Any) -> dict[str, Any]:
    if value is None:
        return {"text": "–", "number": True}
    if isinstance(value, float):
        return {"text": f"{value:.4g}", "number": True}
    if isinstance(value, int):
        return {"text": f"{value:,}", "number": True}
    return {"text": str(value), "number": False}

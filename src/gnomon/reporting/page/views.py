"""What templates show: studies, tables and figures as plain data, with every number already written
out."""

from __future__ import annotations

from typing import Any

from gnomon.records import Score
from gnomon.reporting.charts import svg
from gnomon.reporting.figures import Figure, words
from gnomon.reporting.figures.slices import guess
from gnomon.reporting.page.examples import galleries
from gnomon.reporting.page.headline import Headline, Line, headline, sliced
from gnomon.reporting.page.summary import sentences
from gnomon.reporting.published.items import relation
from gnomon.reporting.study import Study
from gnomon.reporting.words import measure_name, percentage

ROWS = 200  # of the numbers behind a chart that the page shows; the CSV has all
GUESSED = (
    ("accuracy",),
    ("relaxed_accuracy",),
)  # first measures in which a guess is worth its share of the choices
SWATCH = '<svg class="swatch chart" viewBox="0 0 14 14" aria-hidden="true">{}</svg>'


def study_view(study: Study, charts: list[Figure], index: int) -> dict[str, Any]:
    """Everything that the page says about a study."""
    table = headline(study)
    about = study.spec.summary if study.spec else ""
    if study.spec and study.spec.paper:
        about += f" ({study.spec.paper})"
    return {
        "name": study.name,
        "about": about[:1].upper() + about[1:] + "." if about else "",
        "sentences": sentences(study, table),
        "table": _table(study, table),
        "relation": relation(study.name),
        "slices": [
            {**_table(study, part), "title": _slice_title(part.title)} for part in sliced(study)
        ],
        "figures": [figure_view(chart, f"s{index}-") for chart in charts],
        "galleries": _galleries(study, table),
    }


def _galleries(study: Study, table: Headline) -> list[tuple[str, list[dict[str, Any]]]]:
    by_model: dict[str, list[dict[str, Any]]] = {}
    ranked = [study.entrants[line.series] for line in table.lines if line.series >= 0]
    for gallery in galleries(study, ranked):
        groups = [{**g._asdict(), "percent": percentage(g.share)} for g in gallery.groups]
        by_model.setdefault(gallery.model, []).append({"sort": gallery.sort, "groups": groups})
    return list(by_model.items())


def _table(study: Study, table: Headline) -> dict[str, Any]:
    from markupsafe import Markup

    lines = []
    for line in table.lines:
        e = study.entrants[line.series] if line.series >= 0 else None
        n = len(e.table) if e else 0
        asked = f"{n:,}" if e and n == e.total else f"{n:,} of {e.total:,}" if e else ""
        swatch = (
            svg.mark(svg.Point(7, 7), line.series, 5)
            if line.series >= 0 and len(study.entrants) > 1
            else ""
        )
        lines.append(
            {
                "model": line.model,
                "source": line.source,
                "n": n,
                "asked": asked,
                "swatch": Markup(SWATCH.format(swatch) if swatch else ""),  # noqa: S704
                "plot": _plot(
                    line,
                    guess(e.table)
                    if e and not table.title and table.measures[:1] in GUESSED
                    else None,
                ),
                "cells": [
                    _cell(name if table.title else measure_name(name), cell)
                    for name, cell in zip(table.measures, line.cells, strict=True)
                ],
            }
        )
    columns = (
        list(table.measures) if table.title else [measure_name(name) for name in table.measures]
    )
    return {"columns": columns, "lines": lines, "notes": table.notes}


def _slice_title(title: str) -> str:
    measure, _, tag = title.partition(" by ")
    return f"{measure_name(measure)} by {words(tag)}"


def _plot(line: Line, chance: float | None) -> Any:
    first = line.cells[0] if line.cells else None
    return range_plot(first.value, first.low, first.high, chance) if first else ""


def range_plot(
    value: float | None, low: float | None, high: float | None, chance: float | None
) -> Any:
    """A figure and its interval on a line from 0 to 1, with a tick for guessing; nothing for other
    figures."""
    from markupsafe import Markup

    if value is None or not 0 <= value <= 1:  # also where it is not a number
        return ""
    parts = [svg.line(svg.Point(0, 8), svg.Point(120, 8), "grid")]
    if chance is not None:
        parts.append(svg.line(svg.Point(120 * chance, 3), svg.Point(120 * chance, 13), "guide"))
    if low is not None and high is not None and low <= high:
        parts.append(svg.line(svg.Point(120 * low, 8), svg.Point(120 * high, 8), "whisker"))
    parts.append(svg.tag("circle", {"cx": 120 * value, "cy": 8, "r": 4, "class_": "dot"}))
    drawn = "".join(parts)
    return Markup(f'<svg class="tiny chart" viewBox="-5 0 130 16" aria-hidden="true">{drawn}</svg>')  # noqa: S704 - numbers only


def _cell(name: str, score: Score | None) -> dict[str, Any]:
    known = score is not None and score.value is not None
    value, low, high = (score.value, score.low, score.high) if score else (None, None, None)
    return {
        "name": name,
        "text": percentage(value, 1) if known else "",
        "sort": value if known else "",
        "range": f"{100 * low:.1f}–{100 * high:.1f}"
        if known and low is not None and high is not None
        else "",
    }


def figure_view(figure: Figure, prefix: str) -> dict[str, Any]:
    """A figure as the template shows it; `prefix` keeps ids apart."""
    from markupsafe import Markup

    rows = [[_number(value) for value in row] for row in figure.rows[:ROWS]]
    more = (
        f"{len(figure.rows) - ROWS:,} more rows are in the CSV that `gnomon report --figures` writes."
        if len(figure.rows) > ROWS
        else ""
    )
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
    return {
        "text": f"{value:,}" if isinstance(value, int) else str(value),
        "number": isinstance(value, int),
    }

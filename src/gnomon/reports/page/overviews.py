"""The overview as pages show it: what all models and each of them know, and the table behind it.

The report and the viewer show the same; where a model, a benchmark and a figure lead is each one's.
"""

from collections.abc import Callable, Sequence
from math import isnan
from typing import Any, NamedTuple

from gnomon.registry import role
from gnomon.reports.charts import svg
from gnomon.reports.overview import (
    Overview,
    OverviewCell,
    OverviewColumn,
    in_words,
    skills_of,
)
from gnomon.reports.page.items import items_address
from gnomon.reports.study import Study
from gnomon.reports.words import axis_name, counted, interval_of, listed, per_cent, percentage

NAMED = 4  # skills that the sentence about all models names
# All, some or none of the models: at the beginning of a sentence, and later in it.
OF_TWO = {
    "all": ("Both models are", "both are"),
    "some": ("One of the two models is", "one is"),
    "none": ("Neither model is", "neither is"),
}
OF_MANY = {
    "all": ("All {} models are", "all are"),
    "some": ("Some of the {} models are", "some are"),
    "none": ("None of the {} models is", "none is"),
}
STARS = {"*": "★", "~": "☆"}  # as pages draw these marks
STRIP, LANE = 260, 10  # units: how long the line from 0 to 100 % is, how high that of a model


class Leads(NamedTuple):
    """Where the parts of an overview lead, and how its figures are written."""

    model: Callable[[OverviewCell], str]  # by one of the model's figures
    column: Callable[[OverviewColumn], str]
    cell: Callable[[OverviewColumn, OverviewCell], str]
    digits: int = 0


def report_leads(studies: Sequence[Study]) -> Leads:
    """Within the report: a benchmark leads to its section, a figure to its items."""
    sections = {study.name: f"#s{place}" for place, study in enumerate(studies)}
    labels = {id(each.run): each.label for study in studies for each in study.entrants}

    def items(column: OverviewColumn, cell: OverviewCell) -> str:
        return items_address(column.name, model=labels[id(cell.run)])

    return Leads(lambda _: "", lambda column: sections[column.name], items)


def overview_view(found: Overview, leads: Leads) -> dict[str, Any]:
    """Sentences and table, as templates show them."""
    names = sorted(found.models, key=lambda name: _is_baseline(found, name))  # models first
    models = [_model(found, name, leads) for name in names]
    said = [model for model in models if model["words"] and not model["baseline"]]
    rows = [_row(found, column, names, leads) for column in found.columns]
    return {
        "conclusion": conclusion(found),
        "models": models,
        "said": said or [model for model in models if model["words"]],
        "rows": rows,
        "ranked": any(model["rank"] for model in models),
        "notes": found.notes,
        "legend": {STARS.get(sign, sign): told for sign, told in found.legend.items()},
    }


def _model(found: Overview, name: str, leads: Leads) -> dict[str, Any]:
    return {
        "name": name,
        "address": leads.model(_cells_of(found, name)[0]),
        "swatch": swatch(found.models.index(name)),  # as `draw_alike` counts them
        "words": in_words(found, name),
        "baseline": _is_baseline(found, name),
        "rank": found.rank(name),
    }


def _is_baseline(found: Overview, model: str) -> bool:
    return any(role(cell.run.model) for cell in _cells_of(found, model))


def _cells_of(found: Overview, model: str) -> list[OverviewCell]:
    return [cell for (name, _), cell in found.cells.items() if name == model]


def conclusion(found: Overview) -> str:
    """What all, some and none of the models do better than chance, of what all were asked."""
    models = [model for model in found.models if not _is_baseline(found, model)]
    if len(models) < 2:
        return ""
    skills: dict[str, list[str]] = {"all": [], "some": [], "none": []}
    for column, skill in zip(found.columns, skills_of(found.columns), strict=True):
        who = _better_than_chance(found, models, column)
        if who:
            skills[who].append(skill)

    parts: list[str] = []
    for who, names in skills.items():
        if names:
            first, later = (OF_TWO if len(models) == 2 else OF_MANY)[who]
            start = later if parts else f"{first.format(len(models))} better than chance"
            parts.append(f"{start} at {_few(names)}")
    return f"{'; '.join(parts)}." if parts else ""


def _better_than_chance(found: Overview, models: Sequence[str], column: OverviewColumn) -> str:
    """Who of the models: all, some or none; empty where that of any is not known."""
    cells = [found.cells.get((model, column.name)) for model in models]
    sides = {cell.verdict if cell else "unknown" for cell in cells}
    if "unknown" in sides:
        return ""
    if sides == {"above"}:
        return "all"
    if "open" in sides and "above" not in sides:
        return ""  # nothing was shown of any
    return "some" if "above" in sides else "none"


def _few(names: Sequence[str]) -> str:
    if len(names) <= NAMED + 1:
        return listed(names)
    return listed([*names[:NAMED], f"{len(names) - NAMED} more"])


def _row(
    found: Overview, column: OverviewColumn, models: Sequence[str], leads: Leads
) -> dict[str, Any]:
    cells = []
    for model in models:
        cell = found.cells.get((model, column.name))
        if cell is None or isnan(cell.value):
            cells.append({"model": model, "text": ""})
        else:
            address = leads.cell(column, cell)
            cells.append({"model": model, "address": address, **_cell(cell, leads.digits)})
    return {
        "title": column.title,
        "name": column.name,
        "address": leads.column(column),
        "measure": "" if column.measure == "accuracy" else axis_name(column.measure),
        "chance": percentage(column.chance) if column.chance is not None else "",
        "asked": counted(column.items, "items"),
        "strip": _strip(found, column, models),
        "cells": cells,
    }


def _cell(cell: OverviewCell, digits: int) -> dict[str, Any]:
    return {
        "text": per_cent(cell.value, digits),
        "sort": cell.value,
        "range": interval_of(cell.low, cell.high),
        "marks": "".join(STARS.get(mark, mark) for mark in cell.marks),
        "verdict": cell.verdict,
        "best": cell.best,
        "open": not cell.finished,
        "told": cell.told,
    }


def _strip(found: Overview, column: OverviewColumn, models: Sequence[str]) -> str:
    """A row of the forest plot: each model's figure and interval, with an upright at chance."""
    cells = [(model, found.cells.get((model, column.name))) for model in models]
    drawn = [(model, cell) for model, cell in cells if cell and 0 <= cell.value <= 1]
    tall = LANE * len(drawn) + 4
    parts = []
    for at in (0, STRIP / 2, STRIP):
        parts.append(svg.line(at, 0, at, tall, "grid"))
    if column.chance is not None:
        at = STRIP * column.chance
        parts.append(svg.line(at, 0, at, tall, "chance"))
    for lane, (model, cell) in enumerate(drawn):
        series = found.models.index(model)
        middle = 2 + LANE * (lane + 0.5)
        ends = interval_of(cell.low, cell.high)
        if ends:
            low, high = STRIP * max(cell.low, 0), STRIP * min(cell.high, 1)
            parts.append(svg.line(low, middle, high, middle, f"range l{svg.hue(series)}"))
        place = svg.DrawnPoint(STRIP * cell.value, middle)
        parts.append(svg.mark(place, series, 4.2, f"{model}: {percentage(cell.value)} {ends}"))
    box = f"-6 0 {STRIP + 12} {tall}"
    return f'<svg class="strip chart" viewBox="{box}" aria-hidden="true">{"".join(parts)}</svg>'


def scale(length: float, middle: float, chance: float | None) -> list[str]:
    """A line from 0 to 1 with its marks, and an upright where chance is."""
    parts = [svg.line(0, middle, length, middle, "grid")]
    for end in (0, 0.5, 1):
        at = length * end
        parts.append(svg.line(at, middle - 3, at, middle + 3, "grid"))
    if chance is not None:
        at = length * chance
        parts.append(svg.line(at, 1, at, 2 * middle - 1, "chance"))
    return parts


def swatch(series: int) -> str:
    """The colour and shape of a series, to stand before its name."""
    mark = svg.mark(svg.DrawnPoint(7, 7), series, 5)
    return f'<svg class="swatch chart" viewBox="0 0 14 14" aria-hidden="true">{mark}</svg>'

"""The overview as a page shows it: models by benchmarks, to be read, sorted and copied."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

from gnomon.registry import role
from gnomon.reporting.overview import Cell, Column, Overview, in_words
from gnomon.reporting.study import labels_of
from gnomon.reporting.viewer.addresses import benchmark_address, model_address, run_address
from gnomon.reporting.words import measure_name, percentage

MARKS = {"above": "▲", "at": "=", "below": "▼", "unknown": ""}
VERDICTS = {
    "above": "better than chance",
    "at": "no better than chance",
    "below": "worse than chance",
    "unknown": "",
}


def matrix(found: Overview) -> dict[str, Any]:
    """The whole table, models before baselines."""
    rows = [_row(found, model) for model in found.models]
    rows.sort(key=lambda row: row["baseline"])
    return {
        "columns": [_column(column) for column in found.columns],
        "rows": rows,
        "ranked": bool(found.mean_rank),
        "notes": list(found.notes),
        "markdown": markdown(found, [row["model"] for row in rows]),
    }


def _column(column: Column) -> dict[str, Any]:
    return {
        "title": column.title,
        "name": column.name,
        "url": benchmark_address(column.name),
        "measure": measure_name(column.measure),
        "chance": percentage(column.chance),
        "items": f"{column.items:,}",
    }


def _row(found: Overview, model: str) -> dict[str, Any]:
    cells = [found.cells.get((model, column.name)) for column in found.columns]
    first = next(cell for cell in cells if cell is not None)
    return {
        "model": model,
        "url": model_address(labels_of([first.run])[0]),
        "baseline": bool(role(first.run.model)),
        "words": in_words(found, model),
        "rank": _rank(found, model),
        "cells": [_cell(cell) for cell in cells],
    }


def _rank(found: Overview, model: str) -> str:
    rank = found.mean_rank.get(model)
    return "" if rank is None else f"{rank:.1f}"


def _cell(cell: Cell | None) -> dict[str, Any] | None:
    if cell is None or isnan(cell.value):
        return None
    told = [VERDICTS[cell.verdict]]
    if cell.best:
        told.append("the best here")
    if cell.tied:
        told.append("does not differ significantly from the best")
    if not cell.finished:
        told.append(f"not finished: {cell.items:,} items so far")
    return {
        "text": f"{100 * cell.value:.1f}",
        "sort": cell.value,
        "range": "" if isnan(cell.low) else f"{100 * cell.low:.0f}–{100 * cell.high:.0f}",
        "mark": MARKS[cell.verdict],
        "verdict": cell.verdict,
        "told": ", ".join(filter(None, told)),
        "best": cell.best,
        "tied": cell.tied,
        "finished": cell.finished,
        "url": run_address(cell.run),
    }


def markdown(found: Overview, models: Sequence[str]) -> str:
    """The overview as a table in Markdown, with chance as its last row."""
    heads = ["Model", *(column.title for column in found.columns)]
    lines = [_line(heads), "|---|" + "---:|" * len(found.columns)]
    for model in models:
        cells = [_plain(found.cells.get((model, column.name))) for column in found.columns]
        lines.append(_line([model, *cells]))
    chances = [percentage(column.chance, 1, " ") for column in found.columns]
    lines.append(_line(["chance", *chances]))
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_escaped(cell) for cell in cells) + " |"


def _escaped(text: str) -> str:
    """A cell that cannot end its row, nor bring markup along."""
    line = " ".join(text.split())
    for sign in "\\|<`[":
        line = line.replace(sign, "\\" + sign)
    return line


def _plain(cell: Cell | None) -> str:
    if cell is None or isnan(cell.value):
        return "–"
    text = f"{100 * cell.value:.1f}"
    if not isnan(cell.low):
        text += f" ({100 * cell.low:.1f}–{100 * cell.high:.1f})"
    if MARKS[cell.verdict]:
        text += f" {MARKS[cell.verdict]}"
    return f"**{text}**" if cell.best else text

"""The overview as a page shows it: models by benchmarks, to be read, sorted and copied."""

from __future__ import annotations

from math import isnan
from typing import Any

from gnomon.registry import role
from gnomon.reports.overview import SIDES, Cell, Column, Overview, in_words
from gnomon.reports.study import labels_of
from gnomon.reports.tables.pivot import pivot, written
from gnomon.reports.viewer.addresses import benchmark_address, model_address, run_address
from gnomon.reports.words import interval_of, measure_name, per_cent, percentage


def matrix(found: Overview) -> dict[str, Any]:
    """The whole table, models before baselines."""
    rows = [_row(found, model) for model in found.models]
    rows.sort(key=lambda row: row["baseline"])
    return {
        "columns": [_column(column) for column in found.columns],
        "rows": rows,
        "ranked": bool(found.mean_rank),
        "notes": list(found.notes),
        "markdown": written(pivot(found, ()), "markdown"),
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
    return {
        "text": per_cent(cell.value, 1),
        "sort": cell.value,
        "range": interval_of(cell.low, cell.high),
        "mark": SIDES[cell.verdict],
        "verdict": cell.verdict,
        "told": cell.told,
        "best": cell.best,
        "tied": cell.tied,
        "finished": cell.finished,
        "url": run_address(cell.run),
    }

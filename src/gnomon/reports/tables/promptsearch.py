"""A search for prompts as people and scripts read it: fold by fold, or every prompt in a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from gnomon.contracts import Listing
from gnomon.measures.prompts import Search
from gnomon.records import Score
from gnomon.reports.tables.scores import interval, percent
from gnomon.reports.words import known


def fold_listing(search: Search, prompts: Sequence[str], objects: Sequence[int]) -> Listing:
    """A row for each fold: what it chose by how many items, and how that does on the others."""
    rows = []
    for number, fold in enumerate(search.folds):
        values = [percent(fold.values[name]) for name in search.measures]
        rows.append(
            (
                number + 1,
                objects[number],
                fold.choosing,
                percent(fold.chosen_by),
                fold.n,
                *values,
                prompts[fold.chosen],
            )
        )
    columns = ("fold", "objects", "chosen by", "there", "scored", *search.measures, "prompt")
    return Listing("Prompts chosen on one fold, scored on the others", columns, tuple(rows))


def mean_listing(search: Search) -> Listing:
    """Mean and standard deviation over folds, beside what the first prompt gets."""
    rows = []
    for name in search.measures:
        deviation = search.deviation(name)
        told = "" if isnan(deviation) else f"{100 * deviation:.1f}"
        rows.append((name, percent(search.mean(name)), told, percent(search.first(name))))
    columns = ("measure", "mean", "standard deviation", "first prompt")
    return Listing(f"Over {len(search.folds)} folds", columns, tuple(rows))


def grid_listing(scores: Sequence[Score], prompts: Sequence[str]) -> Listing:
    """A row for each prompt, the best first."""
    rows = []
    for number, score in enumerate(scores):
        cells = (percent(score.value), interval(score.low, score.high), score.n)
        rows.append((score.value or 0.0, number, cells))
    rows.sort(key=lambda row: (-row[0], row[1]))
    shown = [(number + 1, *cells, prompts[number]) for _, number, cells in rows]
    columns = ("wording", scores[0].measure, "95 % interval", "n", "prompt")
    return Listing("Every prompt on every item", columns, tuple(shown))


def search_fields(search: Search, prompts: Sequence[str]) -> dict[str, Any]:
    """A search for scripts: plain data, null where a figure is undefined."""
    folds = []
    for fold in search.folds:
        folds.append(
            {
                "wording": fold.chosen + 1,
                "prompt": prompts[fold.chosen],
                "choosing": fold.choosing,
                "chosen_by": known(fold.chosen_by),
                "n": fold.n,
                "values": _all_known(fold.values),
                "first": _all_known(fold.first),
            }
        )
    measures = search.measures
    return {
        "folds": folds,
        "mean": {name: known(search.mean(name)) for name in measures},
        "deviation": {name: known(search.deviation(name)) for name in measures},
        "first": {name: known(search.first(name)) for name in measures},
    }


def _all_known(values: Mapping[str, float]) -> dict[str, float | None]:
    return {name: known(value) for name, value in values.items()}

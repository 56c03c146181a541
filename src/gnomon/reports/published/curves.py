"""The papers' own curves over the amount of training: what their texts and tables say of them.

The points between are only drawn in the papers, and are not read off here.
"""

from __future__ import annotations

from functools import cache

import msgspec

from gnomon.files import package_data
from gnomon.reports.published.results import records


class CurvePoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One point of a paper's curve."""

    paper: str
    place: str  # the table or figure
    model: str
    benchmark: str
    unit: str  # what is counted: per_pattern, train_items, train_share
    amount: float
    measure: str
    value: float
    note: str


@cache
def _points() -> tuple[CurvePoint, ...]:
    return tuple(records(package_data("published/curves.csv"), CurvePoint))


def published_curves(benchmark: str, unit: str, measure: str) -> dict[str, list[CurvePoint]]:
    """The papers' points for a benchmark, by the name of the curve.

    >>> list(published_curves("spacenli", "per_pattern", "accuracy"))
    ['RoBERTa-L (SMFA), SpaceNLI']
    """
    found: dict[str, list[CurvePoint]] = {}
    for point in _points():
        if (point.benchmark, point.unit, point.measure) == (benchmark, unit, measure):
            found.setdefault(f"{point.model}, {point.paper}", []).append(point)
    return found

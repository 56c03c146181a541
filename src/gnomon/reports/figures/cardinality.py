"""How scores change with the number of labels that count as right (ViPhy, Figure 5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gnomon.contracts import Benchmark, Measure
from gnomon.measures.scoring import scores
from gnomon.measures.table import Table
from gnomon.records import Score
from gnomon.reports.charts.plots import Curve, curves
from gnomon.reports.figures import Figure, grouped
from gnomon.reports.figures.enough import RULE, well_known
from gnomon.reports.figures.slices import declared_measures
from gnomon.reports.study import Study
from gnomon.reports.words import axis_name, measure_name

OF_ITEMS = frozenset({"scores"})  # what a measure that judges items one by one may need


class Point(NamedTuple):
    """A figure of one run on the items that have so many right labels."""

    series: int
    cardinality: int
    score: Score
    value: float  # of the score, which is known


def by_cardinality(study: Study) -> Iterator[Figure]:
    """A curve for each model over the number of right labels."""
    for measure in _measures(study.spec):
        found: list[Point] = []
        for entrant in study.entrants:
            found += _points(entrant.series, entrant.table, measure)
        known = [point for point in found if well_known(point.score, measure)]
        if len(grouped(known, lambda point: point.cardinality)) > 1:
            yield _figure(study, measure, found)


def _measures(spec: Benchmark | None) -> list[Measure]:
    """The first measure that judges items one by one, and the first of those that reads scores."""
    of_items = [measure for measure in declared_measures(spec) if measure.needs <= OF_ITEMS]
    by_need = grouped(of_items, lambda measure: measure.needs)
    return [measures[0] for measures in by_need.values()]


def _points(series: int, table: Table, measure: Measure) -> Iterator[Point]:
    for cardinality in np.unique(table.cardinality).tolist():
        part = table.where(table.cardinality == cardinality)
        score = scores(part, [measure])[0]
        if score.value is not None:
            yield Point(series, cardinality, score, score.value)


def _figure(study: Study, measure: Measure, found: Sequence[Point]) -> Figure:
    lines, rows = [], []
    for series, points in grouped(found, lambda point: point.series).items():
        label = study.drawn_names[series]
        known = [point for point in points if well_known(point.score, measure)]
        lines.append(_curve(label, series, known))
        for _, number, score, value in points:
            rows.append((label, number, value, score.low, score.high, score.n, score.clusters))
    numbers = sorted(grouped(found, lambda point: point.cardinality))
    body = curves(
        lines,
        "labels that count as right",
        axis_name(measure.name),
        x_form=lambda value: f"{value:.0f}",
        x_domain=(numbers[0] - 0.3, numbers[-1] + 0.3),
        x_ticks=numbers,
    )
    return Figure(
        name=f"{measure.name}-by-right-labels",
        title=f"{measure_name(measure.name)} by number of right labels",
        caption="The more labels count as right, the easier it is to guess one: compare models at "
        f"the same number. {RULE}",
        description=f"Curves over {numbers[0]} to {numbers[-1]} right labels.",
        body=body,
        columns=("model", "cardinality", measure.name, "low", "high", "n", "clusters"),
        rows=tuple(rows),
    )


def _curve(name: str, series: int, points: Sequence[Point]) -> Curve:
    places, lows, highs = [], [], []
    for point in points:
        low, high = point.score.low, point.score.high
        places.append((float(point.cardinality), point.value))
        lows.append(point.value if low is None else low)
        highs.append(point.value if high is None else high)
    return Curve(name, series, tuple(places), tuple(lows), tuple(highs), dots=True)

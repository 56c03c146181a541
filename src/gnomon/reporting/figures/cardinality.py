"""How scores change with the number of labels that count as right (ViPhy, Figure 5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gnomon.contracts import Benchmark, Measure
from gnomon.measures.scoring import scores
from gnomon.records import Score
from gnomon.reporting.charts.plots import Curve, curves
from gnomon.reporting.figures import Figure
from gnomon.reporting.figures.slices import declared_measures
from gnomon.reporting.study import Entrant, Study
from gnomon.reporting.words import axis_name, measure_name

OF_ITEMS = frozenset({"scores"})  # what a measure that judges items one by one may need


class Point(NamedTuple):
    """A figure of the items that have so many right labels."""

    cardinality: int
    score: Score
    value: float  # of the score, which is known


def by_cardinality(study: Study) -> Iterator[Figure]:
    """A curve for each model over the number of right labels."""
    most = 0
    for entrant in study.entrants:
        if len(entrant.table):
            most = max(most, int(entrant.table.cardinality.max()))
    if most < 2:
        return
    for measure in _measures(study.spec):
        found = [(e, _points(e, measure)) for e in study.entrants]
        numbers = sorted({point.cardinality for _, points in found for point in points})
        if len(numbers) > 1:
            yield _figure(measure, found, numbers)


def _measures(spec: Benchmark | None) -> list[Measure]:
    """The first measure that judges items one by one, and the first of those that reads scores."""
    of_items = [measure for measure in declared_measures(spec) if measure.needs <= OF_ITEMS]
    scored = [measure for measure in of_items if measure.needs]
    return list({measure.name: measure for measure in (*of_items[:1], *scored[:1])}.values())


def _points(entrant: Entrant, measure: Measure) -> list[Point]:
    found = []
    table = entrant.table
    for cardinality in np.unique(table.cardinality).tolist():
        part = table.where(table.cardinality == cardinality)
        score = scores(part, [measure])[0]
        if score.value is not None:
            found.append(Point(cardinality, score, score.value))
    return found


def _figure(
    measure: Measure, found: list[tuple[Entrant, list[Point]]], numbers: list[int]
) -> Figure:
    lines, rows = [], []
    for i, (entrant, points) in enumerate(found):
        lines.append(_curve(entrant.label, i, points))
        for number, score, value in points:
            interval = (score.low, score.high)
            rows.append((entrant.label, number, value, *interval, score.n, score.clusters))
    body = curves(
        lines,
        "labels that count as right",
        axis_name(measure.name),
        x_form=lambda value: f"{value:.0f}",
        x_domain=(numbers[0] - 0.3, numbers[-1] + 0.3),
        x_ticks=[float(number) for number in numbers],
    )
    return Figure(
        name=f"{measure.name}-by-right-labels",
        title=f"{measure_name(measure.name)} by number of right labels",
        caption="The more labels count as right, the easier it is to guess one: compare models at "
        "the same number.",
        description=f"Curves over {numbers[0]} to {numbers[-1]} right labels.",
        body=body,
        columns=("model", "cardinality", measure.name, "low", "high", "n", "clusters"),
        rows=tuple(rows),
    )


def _curve(name: str, series: int, points: list[Point]) -> Curve:
    places, lows, highs = [], [], []
    for number, score, value in points:
        places.append((float(number), value))
        lows.append(value if score.low is None else score.low)
        highs.append(value if score.high is None else score.high)
    return Curve(name, series, tuple(places), tuple(lows), tuple(highs), dots=True)

"""How sure answers are beside how often they are right, and whether forms of a fact agree."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan, sqrt

import numpy as np

from gnomon.measures.calibration import reliability
from gnomon.measures.consistency import agreement, within_groups
from gnomon.measures.intervals import t_quantile, wilson
from gnomon.measures.table import Table
from gnomon.reports.charts.panels import Panel, matrix_panel, panels
from gnomon.reports.charts.plots import Curve, curves
from gnomon.reports.figures import Figure
from gnomon.reports.figures.enough import ITEMS, enough
from gnomon.reports.study import Study

LEAST_SCORED = 50  # items for a diagram


def reliability_diagram(study: Study) -> Iterator[Figure]:
    """Accuracy against the certainty the model claims."""
    lines, rows = [], []
    for entrant in study.entrants:
        bins = [one for one in reliability(entrant.table) if one.n]
        if sum(one.n for one in bins) < LEAST_SCORED:
            continue
        known = [one for one in bins if enough(one.n)]
        points = [(one.confidence, one.accuracy) for one in known]
        ranges = [_range(one.accuracy, one.n) for one in known]
        lows, highs = tuple(low for low, _ in ranges), tuple(high for _, high in ranges)
        lines.append(Curve(entrant.label, entrant.series, tuple(points), lows, highs, dots=True))
        for one in bins:
            rows.append((entrant.label, one.low, one.high, one.n, one.confidence, one.accuracy))
    if not any(line.points for line in lines):
        return
    yield Figure(
        name="reliability",
        title="Does the model know when it is right?",
        caption="Accuracy against the probability that the model gives to its answer. On the "
        "dashed line the two agree; below it the model is too sure of itself. Points of "
        f"{ITEMS} items or more, with 95 % intervals that take items as independent.",
        description="Reliability diagram with one curve for each model; the table below gives each "
        "bin.",
        body=curves(lines, "probability of the answer given", "accuracy", diagonal=True),
        columns=("model", "low", "high", "items", "confidence", "accuracy"),
        rows=tuple(rows),
        detail=True,
    )


def _range(share: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a share of items."""
    return wilson(share, sqrt(share * (1 - share) / n), n, t_quantile(0.975, n - 1))


def forms(study: Study) -> Iterator[Figure]:
    """How often one fact, asked in two forms, is answered alike; on the diagonal, in one form."""
    charts: list[Panel] = []
    rows = []
    for entrant in study.entrants:
        names = entrant.table.form.values
        if len(names) < 2:
            continue
        grid: list[list[float | None]] = []
        across = False  # whether two forms of a fact were asked at all
        for a, name in enumerate(names):
            grid.append([])
            for b, other in enumerate(names):
                value, n = _agreement(entrant.table, a, b)
                known = value if enough(n) else None
                grid[a].append(known)
                rows.append((entrant.label, name, other, value, n))
                across = across or (a != b and known is not None)
        if across:
            charts.append(matrix_panel(entrant.label, names, names, grid, "", "", notes=()))
    if not charts:
        return
    yield Figure(
        name="forms",
        title="The same fact asked in different forms",
        caption="Share, in per cent, of pairs of items about one fact that are answered alike "
        "(both right or both wrong where the right labels differ). "
        f"Cells of {ITEMS} pairs or more.",
        description="Agreement matrices of the forms; the table below gives the values.",
        body=panels(charts, columns=2),
        columns=("model", "form", "other form", "agreement", "n"),
        rows=tuple(rows),
        detail=True,
    )


def _agreement(table: Table, form: int, other: int) -> tuple[float | None, int]:
    """The share of pairs that agree, and of how many; none where there is no pair."""
    part = table.where(np.isin(table.form.codes, (form, other)))
    found = agreement(within_groups(part, between_forms=form != other))
    return (None if isnan(found.value) else found.value), found.n

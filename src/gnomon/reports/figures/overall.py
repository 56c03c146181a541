"""Scores at a glance: models by benchmarks with intervals and chance, and one model over dates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from math import isnan
from typing import TYPE_CHECKING

from gnomon.grouped import grouped
from gnomon.measures.runlabels import labels, settings_of
from gnomon.measures.scoring import score
from gnomon.reports.charts.axes import Format
from gnomon.reports.charts.plots import CurvePlace, Estimate, bars, curve_of, curves
from gnomon.reports.figures import Figure, figure, well_known
from gnomon.reports.figures.slices import headline_measure, shared_chance
from gnomon.reports.study import Entrant, Study, name_of
from gnomon.reports.words import axis_name, known, whole_percent

if TYPE_CHECKING:
    from gnomon.reports.overview import Overview

MOST_TOLD = 12  # figures in a description; the table behind the drawing has all
DATES = 5  # that stand below a line over dates


def forest(found: Overview) -> Figure:
    """The overview as one figure: a row for each benchmark, in it every model."""
    estimates, rows, told = [], [], []
    chances = {}
    for column in found.columns:
        if column.chance is not None:
            chances[column.title] = column.chance
        for series, model in enumerate(found.models):
            cell = found.cells.get((model, column.name))
            if cell is None or isnan(cell.value):
                continue
            low, high = known(cell.low), known(cell.high)
            beside = cell.chance, cell.verdict, cell.items
            rows.append((model, column.name, column.measure, cell.value, low, high, *beside))
            if not 0 <= cell.value <= 1:  # of another measure: only among the numbers
                continue
            estimates.append(Estimate(column.title, series, cell.value, low, high))
            told.append(f"{column.title}, {model}: {whole_percent(cell.value)}")
    level = whole_percent(found.level)
    label = f"score, with {level} intervals (upright: chance)"
    body = bars(estimates, found.models, label, chances=chances, points=True)
    return figure("overview", body, rows, level=level, told="; ".join(told[:MOST_TOLD]))


def over_dates(study: Study) -> Iterator[Figure]:
    """A line for each model that was asked the same items at several dates."""
    measure = headline_measure(study.spec)
    lines, rows = [], []
    for label, entrants in _asked_again(study).items():
        places = []
        for entrant in entrants:
            started = entrant.run.manifest.started
            found = score(entrant.table, measure)
            rows.append((label, started.isoformat(), found.value, found.low, found.high, found.n))
            if found.value is not None and well_known(found, measure):
                places.append(CurvePlace(started.timestamp(), found.value, found.low, found.high))
        if len(places) > 1:
            lines.append(curve_of(label, entrants[0].series, places))
    if not lines:
        return
    chance = shared_chance(study, measure)
    times = [across for line in lines for across, _ in line.points]
    body = curves(
        lines,
        f"started (UTC), from {_day(min(times))} to {_day(max(times))}",
        axis_name(measure.name),
        x_domain=(min(times), max(times)),
        x_form=_date_form(min(times), max(times)),
        x_ticks=_spread(min(times), max(times)),
        guide=chance,
    )
    told = []
    for line in lines[:MOST_TOLD]:
        first, last = line.points[0][1], line.points[-1][1]
        told.append(f"{line.name}: {whole_percent(first)}, at last {whole_percent(last)}")
    dashed = " Dashed: chance." if chance is not None else ""
    yield figure("over-dates", body, rows, measure=measure, told="; ".join(told), dashed=dashed)


def _asked_again(study: Study) -> dict[str, list[Entrant]]:
    """The runs of each model that differ in nothing but when they were made, the oldest first.

    The weights behind a name may have changed: that is what such a line is to show.
    """

    def asked(entrant: Entrant) -> tuple[str, str]:
        settings = settings_of(entrant.run)
        settings.pop("weights", None)
        return name_of(entrant.run), f"{settings} {entrant.run.manifest.items_sha256}"

    several = []
    for entrants in grouped(study.entrants, asked).values():
        if len({entrant.run.manifest.started for entrant in entrants}) > 1:
            several.append(sorted(entrants, key=lambda entrant: entrant.run.manifest.started))
    firsts = [entrants[0].run for entrants in several]
    called = labels([name_of(run) for run in firsts], [settings_of(run) for run in firsts])
    return dict(zip(called, several, strict=True))


def _date_form(first: float, last: float) -> Format:
    """How times stand below a line: hours within a day, days within a year, else months."""
    written = "%b %Y"
    if last - first < 86_400:
        written = "%H:%M"
    elif last - first < 300 * 86_400:
        written = "%d %b"

    def shown(seconds: float) -> str:
        return datetime.fromtimestamp(seconds, UTC).strftime(written).removeprefix("0")

    return shown


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def _spread(first: float, last: float) -> Sequence[float]:
    """Times at even distances from the first to the last, each written otherwise than the rest."""
    form = _date_form(first, last)
    step = (last - first) / (DATES - 1)
    chosen: dict[str, float] = {}
    for number in range(DATES):
        at = first + step * number
        chosen.setdefault(form(at), at)
    return list(chosen.values())

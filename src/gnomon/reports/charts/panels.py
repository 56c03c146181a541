"""Small charts side by side: scatter plots, matrices, stacked bars, curves."""

from collections.abc import Callable, Sequence
from math import isnan
from typing import NamedTuple

from gnomon.reports.charts import axes, svg
from gnomon.reports.charts.axes import WIDTH, Axis, ChartBody
from gnomon.reports.charts.plots import Curve, drawn_curve
from gnomon.reports.words import whole_percent

MOST = 12  # small charts in one figure
GAP = 20.0  # between two of them
NAME = 88.0  # units that the name of a column may take


class Dot(NamedTuple):
    """One point of a scatter."""

    x: float
    y: float
    series: int
    title: str


class Stack(NamedTuple):
    """Two shares that should add up to one, and the true value of the first."""

    key: str
    one: float
    other: float
    truth: float


class ChartPanel(NamedTuple):
    """One of several small charts side by side."""

    title: str
    body: Callable[[float, float, float], tuple[str, float]]  # x, y, width -> markup, height


def panels(charts: Sequence[ChartPanel], columns: int = 2) -> ChartBody:
    """Small charts in rows, each with its title.

    Beyond so many, the table behind the figure has the rest.
    """
    left_out = len(charts) - MOST
    charts = charts[:MOST]
    columns = max(1, min(columns, len(charts)))
    each = (WIDTH - GAP * (columns - 1)) / columns
    out, y = [], 0.0
    for start in range(0, len(charts), columns):
        tallest = 0.0
        for i, chart in enumerate(charts[start : start + columns]):
            x = i * (each + GAP)
            markup, height = chart.body(x, y + 20, each)
            out.append(svg.text(x, y + 12, svg.shorten(chart.title, each, 12), "head"))
            out.append(markup)
            tallest = max(tallest, height + 20)
        y += tallest + 12
    if left_out > 0:
        out.append(svg.text(0, y + 6, f"and {left_out} more in the table below", "value"))
        y += 12
    return ChartBody("".join(out), y)


def scatter_panel(
    title: str, dots: Sequence[Dot], x_label: str, y_label: str, x_max: float
) -> ChartPanel:
    """A square of points, for a row of panels."""

    def body(left: float, top: float, width: float) -> tuple[str, float]:
        across = left + 48, left + width - 4
        base = top + 6 + min(across[1] - across[0], 240)
        x = Axis((0, x_max), across, x_label, marks=axes.ticks(0, x_max, 4))
        y = Axis((0, 1), (base, top + 6), y_label)
        out = [axes.frame(x, y)]
        for dot in dots:
            place = svg.DrawnPoint(x.at(dot.x), y.at(dot.y))
            out.append(svg.mark(place, dot.series, 2.9, dot.title, fill_opacity="0.75"))
        return "".join(out), base + 36 - top

    return ChartPanel(title, body)


def matrix_panel(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    row_label: str,
    column_label: str,
    notes: Sequence[Sequence[str]] = (),
) -> ChartPanel:
    """A grid of shaded cells with their values written in them."""

    def body(x: float, y: float, width: float) -> tuple[str, float]:
        gutter = min(_widest(rows) + 24, width * 0.5)
        left, wide = x + gutter, (width - gutter) / max(len(columns), 1)
        tall = min(max(wide, 22), 40)
        head = _column_names(columns, svg.DrawnPoint(left, y), wide)
        top = y + head.height
        out = [svg.text(left, y + 10, column_label, "value"), head.markup]
        for i, name in enumerate(rows):
            at = top + i * tall
            label = svg.shorten(name, gutter - 22, 11)
            out.append(svg.text(left - 7, at + tall / 2 + 4, label, "strong", "end"))
            for j, column in enumerate(columns):
                value = values[i][j]
                if value is None:
                    continue
                told = notes[i][j] if notes else f"{name}, {column}: {whole_percent(value)}"
                out.append(_cell(svg.DrawnPoint(left + j * wide, at), wide, tall, value, told))
        middle = top + len(rows) * tall / 2
        out.append(svg.text(x + 9, middle, row_label, "value", "middle", turn=True))
        return "".join(out), head.height + len(rows) * tall + 8

    return ChartPanel(title, body)


def _widest(names: Sequence[str]) -> float:
    return max((svg.width_of(name, 11) for name in names), default=0.0)


def _column_names(names: Sequence[str], corner: svg.DrawnPoint, wide: float) -> ChartBody:
    """Names above columns: level where they fit, upright where they do not."""
    short = [svg.shorten(name, NAME, 11) for name in names]
    widest = _widest(short)
    level = wide >= widest + 6
    height = 30.0 if level else 24 + widest
    base = corner.y + height - 6
    out = []
    for j, name in enumerate(names):
        middle = corner.x + (j + 0.5) * wide
        if level:
            out.append(svg.text(middle, base, name, "strong", "middle"))
        else:
            out.append(svg.text(middle + 4, base, short[j], "strong", turn=True))
    return ChartBody("".join(out), height)


def _cell(corner: svg.DrawnPoint, wide: float, tall: float, value: float, told: str) -> str:
    """A cell, the darker the higher its value, with the value in it where there is room."""
    shade = f"{min(max(value, 0), 1) * 0.92:.2f}"
    out = [
        svg.rect(*corner, wide, tall, "cell"),
        svg.rect(*corner, wide, tall, "fn0", told, fill_opacity=shade),
    ]
    if wide > 22:
        kind = "value hot" if value > 0.55 else "value strong"
        words = whole_percent(value).replace(" %", "")
        out.append(svg.text(corner.x + wide / 2, corner.y + tall / 2 + 3.5, words, kind, "middle"))
    return "".join(out)


def stacked_panel(
    title: str, rows: Sequence[Stack], parts: tuple[str, str], truth: str
) -> ChartPanel:
    """A bar of two parts for each key, on an axis from 0 to 2 with a guide at 1."""

    def body(x: float, y: float, width: float) -> tuple[str, float]:
        gutter = min(_widest([row.key for row in rows]) + 10, width * 0.42)
        tall, top = 14.0, y + 4
        base = top + tall * len(rows) + 2
        axis = Axis((0, 2), (x + gutter, x + width - 6))

        out = [axes.uprights(axis, top, base)]
        for value in (0.0, 1.0, 2.0):
            out.append(svg.text(axis.at(value), base + 14, f"{value:g}", "value", "middle"))
        for i, row in enumerate(rows):
            at = top + i * tall
            label = svg.shorten(row.key, gutter - 8, 11)
            out.append(svg.text(x + gutter - 6, at + 11, label, "strong", "end"))
            one, other = _known(row.one), _known(row.other)
            told = (
                f"{row.key}: {parts[0]} {one:.2f}, {parts[1]} {other:.2f}, {truth} {row.truth:.2f}"
            )
            start, middle, end = axis.at(0), axis.at(one), axis.at(one + other)
            out.append(svg.rect(start, at + 2, middle - start, tall - 4, "fn0 pale", told))
            out.append(svg.rect(middle, at + 2, end - middle, tall - 4, "fn1 pale", told))
            out.append(axes.upright(axis, row.truth, at + 1, at + tall - 1, "whisker"))
        out.append(axes.upright(axis, 1.0, top - 2, base, "guide"))
        return "".join(out), base + 20 - y

    return ChartPanel(title, body)


def _known(value: float) -> float:
    return 0.0 if isnan(value) else value


# Small charts of curves side by side, with one legend for all of them.


HEIGHT = 120.0


def curve_panel(title: str, lines: Sequence[Curve], across: Axis) -> ChartPanel:
    """Curves with a dot at each point; upwards from 0 to 1."""

    def body(left: float, top: float, width: float) -> tuple[str, float]:
        base = top + 6 + HEIGHT
        x = across._replace(reach=(left + 34, left + width - 6))
        y = Axis((0.0, 1.0), (base, top + 6))
        out = [axes.frame(x, y)]
        out += [drawn_curve(curve, x, y, 3.4, f"{title}, ") for curve in lines]
        return "".join(out), base + 38 - top

    return ChartPanel(title, body)


def under_legend(
    body: ChartBody, names: Sequence[tuple[int, str]], *, lines: bool = False
) -> ChartBody:
    """A drawing with the meaning of its colours above it."""
    head = axes.legend(names, lines=lines)
    if not head.height:
        return body
    gap = head.height + 8
    moved = svg.tag("g", {"transform": f"translate(0 {gap})"}, body.markup)
    return ChartBody(head.markup + moved, body.height + gap)

"""Small charts side by side, one for each model: scatter plots, matrices, stacked bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gnomon.reporting.charts.plots import WIDTH, Body, Format, frame, grid, percent, ticks
from gnomon.reporting.charts.svg import Point, line, mark, rect, shorten, text, width_of

MOST = 12  # small charts in one figure


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


class Panel(NamedTuple):
    """One of several small charts side by side."""

    title: str
    body: Callable[[float, float, float], tuple[str, float]]  # x, y, width -> markup, height


def panels(charts: Sequence[Panel], columns: int = 2) -> Body:
    """Small charts in rows, each with its title; beyond so many, the table behind the figure has
    the rest."""
    left_out = len(charts) - MOST
    charts = charts[:MOST]
    columns = max(1, min(columns, len(charts)))
    gap = 20.0
    each = (WIDTH - gap * (columns - 1)) / columns
    out, y = [], 0.0
    for start in range(0, len(charts), columns):
        tallest = 0.0
        for i, chart in enumerate(charts[start : start + columns]):
            x = i * (each + gap)
            out.append(text(x, y + 12, shorten(chart.title, each, 12), "head"))
            markup, height = chart.body(x, y + 20, each)
            out.append(markup)
            tallest = max(tallest, height + 20)
        y += tallest + 12
    if left_out > 0:
        out.append(text(0, y + 6, f"and {left_out} more in the table below", "value"))
    return Body("".join(out), y + (12 if left_out > 0 else 0))


def scatter_panel(
    title: str, dots: Sequence[Dot], x_label: str, y_label: str, x_max: float
) -> Panel:
    """A square of points, for a row of panels."""

    def body(x: float, y: float, width: float) -> tuple[str, float]:
        left, right, top = x + 48, x + width - 4, y + 6
        base = top + min(right - left, 240)

        def across(v: float) -> float:
            return left + min(v, x_max) / x_max * (right - left)

        def up(v: float) -> float:
            return base - v * (base - top)

        small = ticks(0, x_max, 4)
        out = frame(
            across,
            up,
            left,
            right,
            top,
            base,
            (0, x_max),
            (0, 1),
            x_label,
            y_label,
            percent,
            percent,
            small,
        )
        out += [
            mark(Point(across(d.x), up(d.y)), d.series, 2.9, d.title, fill_opacity="0.75")
            for d in dots
        ]
        return "".join(out), base + 36 - y

    return Panel(title, body)


def matrix_panel(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    row_label: str,
    column_label: str,
    form: Format = percent,
    notes: Sequence[Sequence[str]] = (),
) -> Panel:
    """A grid of shaded cells with their values written in them."""

    def body(x: float, y: float, width: float) -> tuple[str, float]:
        gutter = min(max((width_of(r, 11) for r in rows), default=0) + 24, width * 0.5)
        cell = (width - gutter) / max(len(columns), 1)
        tall = min(max(cell, 22), 40)
        widest = max((width_of(shorten(c, 88, 11), 11) for c in columns), default=0)
        flat = cell >= widest + 6
        head = 30.0 if flat else 24 + widest
        top = y + head
        out = [text(x + gutter, y + 10, column_label, "value")]
        for j, name in enumerate(columns):
            at = Point(x + gutter + (j + 0.5) * cell, top - 6)
            if flat:
                out.append(text(at.x, at.y, name, "strong", "middle"))
            else:
                out.append(text(at.x + 4, at.y, shorten(name, 88, 11), "strong", turn=True))
        for i, name in enumerate(rows):
            yy = top + i * tall
            out.append(
                text(
                    x + gutter - 7,
                    yy + tall / 2 + 4,
                    shorten(name, gutter - 22, 11),
                    "strong",
                    "end",
                )
            )
            for j, other in enumerate(columns):
                value = values[i][j]
                if value is None:
                    continue
                told = notes[i][j] if notes else f"{name}, {other}: {form(value)}"
                out.append(rect(x + gutter + j * cell, yy, cell, tall, "cell", ""))
                out.append(
                    rect(
                        x + gutter + j * cell,
                        yy,
                        cell,
                        tall,
                        "f0",
                        told,
                        fill_opacity=f"{min(max(value, 0), 1) * 0.92:.2f}",
                    )
                )
                if cell > 22:
                    kind = "value hot" if value > 0.8 else "value strong"
                    out.append(
                        text(
                            x + gutter + (j + 0.5) * cell,
                            yy + tall / 2 + 3.5,
                            form(value).replace(" %", ""),
                            kind,
                            "middle",
                        )
                    )
        middle = top + len(rows) * tall / 2
        out.append(text(x + 9, middle, row_label, "value", "middle", turn=True))
        return "".join(out), head + len(rows) * tall + 8

    return Panel(title, body)


def stacked_panel(title: str, rows: Sequence[Stack], parts: tuple[str, str], truth: str) -> Panel:
    """A bar of two parts for each key, on an axis from 0 to 2 with a guide at 1, for a row of
    panels."""

    def body(x: float, y: float, width: float) -> tuple[str, float]:
        gutter = min(max((width_of(r.key, 11) for r in rows), default=0) + 10, width * 0.42)
        tall, top, right = 14.0, y + 4, x + width - 6
        base = top + tall * len(rows) + 2

        def place(value: float) -> float:
            return x + gutter + value / 2 * (right - x - gutter)

        out = [grid(place, (0, 2), top, base)]
        out += [text(place(v), base + 14, f"{v:g}", "value", "middle") for v in (0.0, 1.0, 2.0)]
        for i, r in enumerate(rows):
            at = top + i * tall
            one, other = (v if v == v else 0.0 for v in (r.one, r.other))
            told = f"{r.key}: {parts[0]} {one:.2f}, {parts[1]} {other:.2f}, {truth} {r.truth:.2f}"
            out.append(
                text(x + gutter - 6, at + 11, shorten(r.key, gutter - 8, 11), "strong", "end")
            )
            out.append(rect(place(0), at + 2, place(one) - place(0), tall - 4, "f0 pale", told))
            out.append(
                rect(place(one), at + 2, place(one + other) - place(one), tall - 4, "f1 pale", told)
            )
            out.append(
                line(Point(place(r.truth), at + 1), Point(place(r.truth), at + tall - 1), "whisker")
            )
        out.append(line(Point(place(1), top - 2), Point(place(1), base), "guide"))
        return "".join(out), base + 20 - y

    return Panel(title, body)

"""Small charts of curves side by side, with one legend for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.reports.charts.axes import Axis, Body, frame, legend, percent, stroke
from gnomon.reports.charts.panels import Panel
from gnomon.reports.charts.plots import Curve
from gnomon.reports.charts.svg import Point, hue, line, mark, path, tag

HEIGHT = 120.0


def curve_panel(title: str, lines: Sequence[Curve], across: Axis) -> Panel:
    """Curves with a dot at each point; upwards from 0 to 1."""

    def body(left: float, top: float, width: float) -> tuple[str, float]:
        base = top + 6 + HEIGHT
        x = across._replace(reach=(left + 34, left + width - 6))
        y = Axis((0.0, 1.0), (base, top + 6))
        out = [frame(x, y)]
        for curve in lines:
            places = [Point(x.at(at), y.at(value)) for at, value in curve.points]
            out.append(path(places, stroke(curve.series), curve.name))
            for place, low, high in zip(places, curve.low, curve.high, strict=False):
                ends = Point(place.x, y.at(low)), Point(place.x, y.at(high))
                out.append(line(*ends, f"l{hue(curve.series)}"))
            for place, (at, value) in zip(places, curve.points, strict=True):
                told = f"{title}, {curve.name}: {x.form(at)}, {percent(value)}"
                out.append(mark(place, curve.series, 3.4, told))
        return "".join(out), base + 38 - top

    return Panel(title, body)


def under_legend(body: Body, names: Sequence[tuple[int, str]], *, lines: bool = False) -> Body:
    """A drawing with the meaning of its colours above it."""
    head = legend(names, lines=lines)
    if not head.height:
        return body
    gap = head.height + 8
    moved = tag("g", {"transform": f"translate(0 {gap})"}, body.markup)
    return Body(head.markup + moved, body.height + gap)

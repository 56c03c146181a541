"""A small chart of curves over a logarithmic axis, for a row of panels."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gnomon.reporting.charts.panels import Panel
from gnomon.reporting.charts.plots import Curve, Format, frame, percent
from gnomon.reporting.charts.svg import HUES, Point, mark, path

HEIGHT = 120.0


def log_curve_panel(
    title: str,
    lines: Sequence[Curve],
    x_label: str,
    domain: tuple[float, float],
    x_form: Format,
    x_ticks: Sequence[float],
) -> Panel:
    """Curves with a dot at each point: a logarithmic axis to the right, upwards from 0 to 1."""
    first, last = math.log10(domain[0]), math.log10(domain[1])

    def body(x: float, y: float, width: float) -> tuple[str, float]:
        left, right, top = x + 34, x + width - 6, y + 6
        base = top + HEIGHT

        def across(value: float) -> float:
            return left + (math.log10(value) - first) / (last - first) * (right - left)

        def up(value: float) -> float:
            return base - min(max(value, 0.0), 1.0) * HEIGHT

        out = frame(
            across,
            up,
            left,
            right,
            top,
            base,
            domain,
            (0.0, 1.0),
            x_label,
            "",
            percent,
            x_form,
            x_ticks,
        )
        for line in lines:
            places = [Point(across(at), up(value)) for at, value in line.points]
            dashed = "" if line.series < HUES else " dashed"
            if len(places) > 1:
                out.append(path(places, f"curve l{line.series % HUES}{dashed}", line.name))
            for place, (at, value) in zip(places, line.points, strict=True):
                told = f"{title}, {line.name}: {x_form(at)}, {percent(value)}"
                out.append(mark(place, line.series, 3.4, told))
        return "".join(out), base + 38 - y

    return Panel(title, body)

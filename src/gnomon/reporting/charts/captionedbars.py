"""Bars under a name and a sentence each, where names are too long to stand beside their bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gnomon.reporting.charts.plots import WIDTH, Body, grid, percent, ticks
from gnomon.reporting.charts.svg import Point, line, rect, shorten, text

RIGHT = WIDTH - 46  # where 100 % is
THICK = 9.0


class CaptionedBar(NamedTuple):
    """A share with the range of what it is the mean of."""

    heading: str  # stands above the first of several bars that share it
    name: str
    sentence: str
    value: float
    low: float
    high: float


def captioned_bars(rows: Sequence[CaptionedBar], label: str) -> Body:
    """The bars from the top, under headings, with a common axis below."""

    def place(value: float) -> float:
        return value * RIGHT

    out, y, heading = [], 0.0, ""
    for row in rows:
        if row.heading != heading:
            y += 8
            out.append(text(0, y + 12, shorten(row.heading, WIDTH, 12), "head"))
            y += 18
        heading = row.heading
        out.append(text(0, y + 11, shorten(row.name, WIDTH, 11), "strong"))
        out.append(text(0, y + 24, shorten(row.sentence, WIDTH, 10), "value"))
        middle = y + 29 + THICK / 2
        told = f"{row.name}: {percent(row.value)} ({percent(row.low)} to {percent(row.high)})"
        out.append(rect(0, middle - THICK / 2, place(row.value), THICK, "f0 pale", told, rx=1.5))
        out.append(line(Point(place(row.low), middle), Point(place(row.high), middle), "whisker"))
        edge = place(max(row.value, row.high))
        out.append(text(edge + 5, middle + 3.5, percent(row.value), "value"))
        y += 46
    axis = [grid(place, (0.0, 1.0), 0.0, y)]
    for value in ticks(0.0, 1.0):
        anchor = "start" if value == 0 else "middle"
        axis.append(text(place(value), y + 14, percent(value), "value", anchor))
    axis.append(text(RIGHT / 2, y + 29, label, "", "middle"))
    return Body("".join([*axis, *out]), y + 34)

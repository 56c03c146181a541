"""Bars under a name and a sentence each, where names are too long to stand beside their bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gnomon.reports.charts.axes import WIDTH, Axis, Body, bottom, percent, uprights
from gnomon.reports.charts.svg import Point, line, rect, shorten, text

THICK = 9.0


class CaptionedBar(NamedTuple):
    """A share with the range of what it is the mean of."""

    heading: str  # stands above the first of several bars that share it
    name: str
    sentence: str
    value: float
    low: float
    high: float


def captioned_bars(bars: Sequence[CaptionedBar], label: str) -> Body:
    """The bars from the top, under headings, with a common axis below."""
    axis = Axis((0.0, 1.0), (12.0, WIDTH - 46), label)
    out, y, heading = [], 0.0, ""
    for bar in bars:
        if bar.heading != heading:
            out.append(text(0, y + 20, shorten(bar.heading, WIDTH, 12), "head"))
            y += 26
        heading = bar.heading
        out.append(_bar(axis, bar, y))
        y += 46
    out = [uprights(axis, 0.0, y), *out, bottom(axis, y)]
    return Body("".join(out), y + 34)


def _bar(axis: Axis, bar: CaptionedBar, top: float) -> str:
    start, middle = axis.at(0), top + 29 + THICK / 2
    told = f"{bar.name}: {percent(bar.value)} ({percent(bar.low)} to {percent(bar.high)})"
    wide = axis.at(bar.value) - start
    ends = Point(axis.at(bar.low), middle), Point(axis.at(bar.high), middle)
    return "".join(
        (
            text(0, top + 11, shorten(bar.name, WIDTH, 11), "strong"),
            text(0, top + 24, shorten(bar.sentence, WIDTH, 10), "value"),
            rect(start, middle - THICK / 2, wide, THICK, "fn2 pale", told, rx=1.5),
            line(*ends, "whisker"),
            text(axis.at(bar.high) + 5, middle + 3.5, percent(bar.value), "value"),
        )
    )

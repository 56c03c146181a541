"""Axes: which values a chart shows, where they stand, and the ticks, lines and legend around them.

All charts are 400 units wide, so that the text stays readable on a phone, and grow downwards.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from gnomon.reports.charts.svg import HUES, DrawnPoint, hue, line, mark, shorten, text, width_of
from gnomon.reports.words import whole_percent

WIDTH = 400.0
Format = Callable[[float], str]


class ChartBody(NamedTuple):
    """What stands between the tags of a drawing, and how high it is."""

    markup: str
    height: float


EMPTY = ChartBody("", 0.0)


class Axis(NamedTuple):
    """One direction of a chart.

    >>> Axis((0, 1), (50, 150)).at(0.5)
    100.0
    """

    domain: tuple[float, float]  # the values at its ends
    reach: tuple[float, float]  # where they stand
    label: str = ""
    form: Format = whole_percent
    log: bool = False  # sizes of models
    marks: Sequence[float] | None = None  # ticks, where they are not to be chosen here

    def at(self, value: float) -> float:
        """Where a value stands; one beyond the ends, at the end."""
        low, high = self.domain
        value = min(max(value, low), high)
        start, end = self.reach
        if not high > low:
            return (start + end) / 2
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        return start + (value - low) / (high - low) * (end - start)

    def ticks(self, most: int = 6) -> Sequence[float]:
        """The values that are written beside it."""
        if self.marks:
            return self.marks
        if self.log:
            return _decades(*self.domain)
        return ticks(*self.domain, most)


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round values between two bounds.

    >>> ticks(0, 1)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return [low]
    raw = span / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(step * i, 10) for i in range(first, last + 1)]


def _decades(low: float, high: float) -> list[float]:
    """The powers of ten between two bounds, or the bounds."""
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    found = [10.0**i for i in range(first, last + 1)]
    return found or [low, high]


def bottom(axis: Axis, base: float) -> str:
    """The ticks and the label below a chart of rows."""
    out = []
    for value in axis.ticks():
        out.append(text(axis.at(value), base + 14, axis.form(value), "value", "middle"))
    out.append(text(sum(axis.reach) / 2, base + 29, axis.label, "", "middle"))
    return "".join(out)


def uprights(axis: Axis, top: float, base: float) -> str:
    """Upright lines at the ticks."""
    return "".join(upright(axis, value, top, base, "grid") for value in axis.ticks())


def upright(axis: Axis, value: float, top: float, base: float, kind: str) -> str:
    """An upright line at a value."""
    return line(axis.at(value), top, axis.at(value), base, kind)


def frame(x: Axis, y: Axis) -> str:
    """Both axes of a chart, with their ticks and labels."""
    left, right = x.reach
    base, top = y.reach
    out = []
    for value in y.ticks(most=6 if base - top > 150 else 5):
        height = y.at(value)
        out.append(line(left, height, right, height, "grid"))
        out.append(text(left - 6, height + 3.5, y.form(value), "value", "end"))
    for value in x.ticks():
        out.append(upright(x, value, base, base + 4, "axis"))
        out.append(text(x.at(value), base + 15, x.form(value), "value", "middle"))
    out.append(line(left, base, right, base, "axis"))
    out.append(text((left + right) / 2, base + 31, x.label, "", "middle"))
    out.append(text(left - 42, (top + base) / 2, y.label, "", "middle", turn=True))
    return "".join(out)


def legend(names: Sequence[tuple[int, str]], *, lines: bool = False) -> ChartBody:
    """Series with their colour and shape, in as few rows as fit; nothing for a single one."""
    if len(names) < 2:
        return EMPTY
    out, left, row = [], 0.0, 12.0
    for series, name in names:
        label = shorten(name, WIDTH - 24, 11)
        need = 22 + width_of(label, 11) + 14
        if left > 0 and left + need > WIDTH:
            left, row = 0.0, row + 18
        if lines:
            out.append(line(left, row - 4, left + 16, row - 4, stroke(series)))
        out.append(mark(DrawnPoint(left + 8, row - 4), series, 3.6))
        out.append(text(left + 21, row, label, "strong"))
        left += need
    return ChartBody("".join(out), row + 2)


def stroke(series: int) -> str:
    """The class of a series' curve: beyond the colours there are, it is dashed.

    >>> stroke(1), stroke(8)
    ('curve l1', 'curve l1 dashed')
    """
    kind = f"curve l{hue(series)}"
    return kind if series < HUES else f"{kind} dashed"

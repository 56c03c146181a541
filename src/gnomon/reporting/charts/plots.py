"""Charts over one axis: horizontal bars with intervals, curves, boxes (small charts side by side:
panels.py).

Each is a function from plain data to a drawing body and its height. All are drawn 400 units wide,
so that the text stays readable on a phone, and grow downwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from gnomon.reporting.charts.svg import HUES, Point, line, mark, path, rect, shorten, text, width_of

WIDTH = 400.0
ROW = 20.0
Format = Callable[[float], str]


class Body(NamedTuple):
    """What stands between the tags of a drawing, and how high it is."""

    markup: str
    height: float


class Estimate(NamedTuple):
    """A value with its interval, for one key and series; a value of none is left out."""

    key: str
    series: int
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""


class Curve(NamedTuple):
    """A line through points, with an interval at each where there is one."""

    name: str
    series: int
    points: tuple[tuple[float, float], ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    dots: bool = False


class Box(NamedTuple):
    """Five numbers of a box plot and the points beyond its whiskers."""

    key: str
    low: float
    quarter: float
    middle: float
    three_quarters: float
    high: float
    outliers: tuple[float, ...] = ()
    series: int = 0


def percent(value: float) -> str:
    """A fraction as people read it.

    >>> percent(0.614), percent(0.0004)
    ('61 %', '0 %')
    """
    return f"{100 * value:.0f} %"


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
    return [round(step * i, 10) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def legend(
    names: Sequence[tuple[int, str]], x: float, y: float, width: float, lines: bool = False
) -> Body:
    """Series with their colour and shape, in as few rows as fit."""
    out, left, row = [], x, y
    for i, name in names:
        label = shorten(name, width - 24, 11)
        need = 22 + width_of(label, 11) + 14
        if left > x and left + need > x + width:
            left, row = x, row + 18
        if lines:
            out.append(
                line(
                    Point(left, row - 4), Point(left + 16, row - 4), f"curve l{i % HUES}{_dash(i)}"
                )
            )
        out.append(mark(Point(left + 8, row - 4), i, 3.6))
        out.append(text(left + 21, row, label, "strong"))
        left += need
    return Body("".join(out), row - y + 14 if names else 0)


def bars(
    estimates: Sequence[Estimate],
    series: Sequence[str],
    label: str,
    *,
    domain: tuple[float, float] = (0.0, 1.0),
    form: Format = percent,
    guide: float | None = None,
) -> Body:
    """A row for each key, in it a bar (or, with many series, a point) for each series with its
    interval."""
    keys = list(dict.fromkeys(e.key for e in estimates))
    shown = sorted({e.series for e in estimates})
    slot = {s: i for i, s in enumerate(shown)}
    dense = len(shown) > 3
    thick = 14.0 if len(shown) == 1 else 9.0
    step = thick + 2 if not dense else 7.0
    block = max(ROW, step * len(shown) + 8)
    gutter = min(max((width_of(shorten(k, 136, 11), 11) for k in keys), default=0) + 12, 148)
    right = WIDTH - (46 if not dense else 12)
    head = (
        Body("", 0.0) if len(shown) < 2 else legend([(i, series[i]) for i in shown], 0, 12, WIDTH)
    )
    top = head.height + 8
    base = top + block * len(keys) + 2

    def place(value: float) -> float:
        return gutter + (value - domain[0]) / (domain[1] - domain[0]) * (right - gutter)

    out = [head.markup, _bottom_axis(place, domain, top, base, label, form)]
    for i in range(len(keys)):
        y = top + i * block
        if i % 2:
            out.append(rect(0, y, WIDTH, block, "band"))
    out.append(grid(place, domain, top, base))
    for i, key in enumerate(keys):
        middle = top + i * block + block / 2
        out.append(text(gutter - 8, middle + 4, shorten(key, 136, 11), "strong", "end"))
        for e in (e for e in estimates if e.key == key and e.value is not None):
            assert e.value is not None
            y = middle + (slot[e.series] - (len(shown) - 1) / 2) * step
            told = f"{key}, {series[e.series] if series else ''}: {form(e.value)}{_interval(e, form)}{e.note}"
            if dense:
                out.append(_whisker(place, e, y, 0))
                out.append(mark(Point(place(e.value), y), e.series, 3.4, told))
            else:
                zero = place(max(domain[0], 0))
                ends = sorted((zero, place(e.value)))
                out.append(
                    rect(
                        ends[0],
                        y - thick / 2,
                        ends[1] - ends[0],
                        thick,
                        f"f{e.series % HUES} pale",
                        told,
                        rx=1.5,
                    )
                )
                out.append(_whisker(place, e, y, min(thick / 3, 3)))
                edge = max(place(e.value), place(e.high) if e.high is not None else 0)
                out.append(text(edge + 5, y + 3.5, form(e.value), "value"))
    if guide is not None:
        out.append(line(Point(place(guide), top), Point(place(guide), base), "guide"))
    return Body("".join(out), base + 34)


def curves(
    lines: Sequence[Curve],
    x_label: str,
    y_label: str,
    *,
    x_domain: tuple[float, float] = (0.0, 1.0),
    y_domain: tuple[float, float] = (0.0, 1.0),
    form: Format = percent,
    x_form: Format = percent,
    diagonal: bool = False,
    log: bool = False,
    x_ticks: Sequence[float] | None = None,
    height: float = 230.0,
) -> Body:
    """Curves over a common axis; the axis may be logarithmic (sizes of models)."""
    left, right = 50.0, WIDTH - 14
    named = [(c.series, c.name) for c in lines if c.points]
    head = legend(named, 0, 12, WIDTH, lines=True) if len(named) > 1 else Body("", 0.0)
    top = head.height + 15
    base = top + height

    def across(x: float) -> float:
        a, b, v = (
            (math.log10(x_domain[0]), math.log10(x_domain[1]), math.log10(x))
            if log
            else (*x_domain, x)
        )
        return left + (v - a) / (b - a) * (right - left) if b > a else (left + right) / 2

    def up(y: float) -> float:
        return (
            base
            - (min(max(y, y_domain[0]), y_domain[1]) - y_domain[0])
            / (y_domain[1] - y_domain[0])
            * height
        )

    out = [
        head.markup,
        *frame(
            across,
            up,
            left,
            right,
            top,
            base,
            x_domain,
            y_domain,
            x_label,
            y_label,
            form,
            x_form,
            x_ticks or (_decades(x_domain) if log else ticks(*x_domain)),
        ),
    ]
    if diagonal:
        out.append(
            line(
                Point(across(x_domain[0]), up(x_domain[0])),
                Point(across(x_domain[1]), up(x_domain[1])),
                "guide",
            )
        )
    for c in lines:
        for (x, _), low, high in zip(c.points, c.low, c.high, strict=False):
            out.append(
                line(Point(across(x), up(low)), Point(across(x), up(high)), f"l{c.series % HUES}")
            )
        if len(c.points) > 1:
            kind = f"curve l{c.series % HUES}{_dash(c.series)}"
            out.append(path([Point(across(x), up(y)) for x, y in c.points], kind, c.name))
        if c.dots or len(c.points) == 1:
            for x, y in c.points:
                out.append(
                    mark(
                        Point(across(x), up(y)), c.series, 4.2, f"{c.name}: {x_form(x)}, {form(y)}"
                    )
                )
    return Body("".join(out), base + 40)


def boxes(
    rows: Sequence[Box], label: str, series: Sequence[str] = (), form: Format = percent
) -> Body:
    """A box for each key: the quarters, the middle, whiskers, and what lies beyond them."""
    gutter = min(max((width_of(shorten(b.key, 136, 11), 11) for b in rows), default=0) + 12, 148)
    right, tall = WIDTH - 12, 26.0
    head = legend(list(enumerate(series)), 0, 12, WIDTH) if len(series) > 1 else Body("", 0.0)
    top = head.height + 8
    base = top + tall * len(rows) + 2

    def place(value: float) -> float:
        return gutter + value * (right - gutter)

    out = [
        head.markup,
        _bottom_axis(place, (0, 1), top, base, label, form),
        grid(place, (0, 1), top, base),
    ]
    last = ""
    for i, b in enumerate(rows):
        y = top + tall * (i + 0.5)
        if b.key != last:
            out.append(text(gutter - 8, y + 4, shorten(b.key, 136, 11), "strong", "end"))
        last = b.key
        half = f"half of the groups between {form(b.quarter)} and {form(b.three_quarters)}"
        told = f"{b.key}: {half}, middle {form(b.middle)}"
        out.append(line(Point(place(b.low), y), Point(place(b.quarter), y), "whisker"))
        out.append(line(Point(place(b.three_quarters), y), Point(place(b.high), y), "whisker"))
        out.append(
            rect(
                place(b.quarter),
                y - 7,
                place(b.three_quarters) - place(b.quarter),
                14,
                f"box f{b.series % HUES}",
                told,
            )
        )
        out.append(line(Point(place(b.middle), y - 7), Point(place(b.middle), y + 7), "whisker"))
        out += [mark(Point(place(v), y), b.series, 2.6, form(v)) for v in b.outliers[:200]]
    return Body("".join(out), base + 34)


def _bottom_axis(
    place: Format | Callable[[float], float],
    domain: tuple[float, float],
    top: float,
    base: float,
    label: str,
    form: Format,
) -> str:
    out = [text(float(place(v)), base + 14, form(v), "value", "middle") for v in ticks(*domain)]
    middle = (float(place(domain[0])) + float(place(domain[1]))) / 2
    return "".join(out) + text(middle, base + 29, label, "", "middle")


def grid(
    place: Callable[[float], float], domain: tuple[float, float], top: float, base: float
) -> str:
    """Upright lines at the ticks."""
    return "".join(
        line(Point(place(v), top), Point(place(v), base), "grid") for v in ticks(*domain)
    )


def _whisker(place: Callable[[float], float], e: Estimate, y: float, cap: float) -> str:
    if e.low is None or e.high is None:
        return ""
    a, b = place(e.low), place(e.high)
    if not cap:  # many series: the interval has the colour of its point
        return line(Point(a, y), Point(b, y), f"l{e.series % HUES}")
    ends = "".join(line(Point(x, y - cap), Point(x, y + cap), "whisker") for x in (a, b))
    return line(Point(a, y), Point(b, y), "whisker") + ends


def _interval(e: Estimate, form: Format) -> str:
    return "" if e.low is None or e.high is None else f" ({form(e.low)} to {form(e.high)})"


def frame(
    across: Callable[[float], float],
    up: Callable[[float], float],
    left: float,
    right: float,
    top: float,
    base: float,
    x_domain: tuple[float, float],
    y_domain: tuple[float, float],
    x_label: str,
    y_label: str,
    form: Format,
    x_form: Format,
    x_ticks: Iterable[float],
) -> list[str]:
    """Axes with their ticks and labels."""
    out = []
    for v in ticks(*y_domain, most=6 if base - top > 150 else 5):
        out.append(line(Point(left, up(v)), Point(right, up(v)), "grid"))
        out.append(text(left - 6, up(v) + 3.5, form(v), "value", "end"))
    for v in x_ticks:
        out.append(line(Point(across(v), base), Point(across(v), base + 4), "axis"))
        out.append(text(across(v), base + 15, x_form(v), "value", "middle"))
    out.append(line(Point(left, base), Point(right, base), "axis"))
    out.append(text((left + right) / 2, base + 31, x_label, "", "middle"))
    out.append(text(left - 42, (top + base) / 2, y_label, "", "middle", turn=True))
    return out


def _decades(domain: tuple[float, float]) -> list[float]:
    low, high = math.floor(math.log10(domain[0])), math.ceil(math.log10(domain[1]))
    found = [10.0**i for i in range(low, high + 1) if domain[0] <= 10.0**i <= domain[1]]
    return found or [domain[0], domain[1]]


def _dash(series: int) -> str:
    return "" if series < HUES else " dashed"

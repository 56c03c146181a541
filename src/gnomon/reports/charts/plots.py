"""Charts over one axis: horizontal bars with intervals, curves, boxes, bars with sentences."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from gnomon.reports.charts import axes, svg
from gnomon.reports.charts.axes import WIDTH, Axis, ChartBody, Format
from gnomon.reports.words import whole_percent

ROW = 20.0
TALL_ROW, LINE = 30.0, 13.0  # a row whose name may take two lines, and a line of it
HEIGHT = 230.0  # of curves
KEY = 136.0  # units that a row's name may take


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
    joined: bool = True  # by a line; not where what lies between is not known


class CurvePlace(NamedTuple):
    """A point of a curve, with its interval where there is one."""

    at: float
    value: float
    low: float | None = None
    high: float | None = None


def curve_of(
    name: str,
    series: int,
    places: Sequence[CurvePlace],
    *,
    joined: bool = True,
) -> Curve:
    """The curve through points, with the intervals of those that have one."""
    points = [(place.at, place.value) for place in places]
    lows, highs = [], []
    if any(place.low is not None for place in places):
        lows = [place.value if place.low is None else place.low for place in places]
        highs = [place.value if place.high is None else place.high for place in places]
    return Curve(name, series, tuple(points), tuple(lows), tuple(highs), True, joined)


class BoxPlot(NamedTuple):
    """Five numbers of a box plot and the points beyond its whiskers."""

    key: str
    low: float
    quarter: float
    middle: float
    three_quarters: float
    high: float
    outliers: tuple[float, ...] = ()


def bars(
    estimates: Sequence[Estimate],
    series: Mapping[int, str] | Sequence[str],
    label: str,
    *,
    links: Mapping[str, str] = MappingProxyType({}),
    domain: tuple[float, float] = (0.0, 1.0),
    guide: float | None = None,
    chances: Mapping[str, float] = MappingProxyType({}),
    points: bool = False,
) -> ChartBody:
    """A row for each key, in it a bar with its interval for each series.

    With many series, or where `points` are asked for, they take the place of bars. `series` names
    them by their numbers, or in their order. `links` lead from a row's name to its items; `chances`
    has the guess of each row, where it is not one `guide` for all.
    """
    names = series if isinstance(series, Mapping) else dict(enumerate(series))
    keys = list(dict.fromkeys(estimate.key for estimate in estimates))
    shown = sorted({estimate.series for estimate in estimates}, key=_models_first)
    dense = points or len(shown) > 3
    thick = 14.0 if len(shown) == 1 else 9.0
    step = 7.0 if dense else thick + 2
    block = max(TALL_ROW if points else ROW, step * len(shown) + 8)

    head = axes.legend([(i, names[i]) for i in shown])
    top = head.height + 8
    base = top + block * len(keys) + 2
    right = WIDTH - (12 if dense else 46)  # a bar's value stands to its right
    axis = Axis(domain, (_gutter(keys), right), label)

    out = [head.markup, axes.bottom(axis, base)]
    for i in range(1, len(keys), 2):
        out.append(svg.rect(0, top + i * block, WIDTH, block, "band"))
    out.append(axes.uprights(axis, top, base))
    for i, key in enumerate(keys):
        middle = top + (i + 0.5) * block
        name = _row_name(key, axis, middle, lines=2 if points else 1)
        if key in links:
            name = svg.tag("a", {"href": links[key]}, name)
        out.append(name)
        if key in chances:
            start = top + i * block
            out.append(axes.upright(axis, chances[key], start, start + block, "chance"))
        for estimate in estimates:
            if estimate.key != key or estimate.value is None:
                continue
            y = middle + (shown.index(estimate.series) - (len(shown) - 1) / 2) * step
            who = names.get(estimate.series, "")
            told = f"{key}, {who}: {axis.form(estimate.value)}{_range(estimate)}{estimate.note}"
            if dense:
                out.append(_point(axis, estimate, estimate.value, y, told))
            else:
                out.append(_bar(axis, estimate, estimate.value, y, thick, told))
    if guide is not None:
        out.append(axes.upright(axis, guide, top, base, "guide"))
    return ChartBody("".join(out), base + 34)


def _models_first(series: int) -> tuple[bool, int]:
    """The order of series: models, and then what is none."""
    return series < 0, abs(series)


def _point(axis: Axis, estimate: Estimate, value: float, y: float, told: str) -> str:
    """A point, and its interval in the same colour, as there are many."""
    interval = ""
    if estimate.low is not None and estimate.high is not None:
        ends = axis.at(estimate.low), axis.at(estimate.high)
        interval = svg.line(ends[0], y, ends[1], y, f"l{svg.hue(estimate.series)}")
    return interval + svg.mark(svg.DrawnPoint(axis.at(value), y), estimate.series, 3.4, told)


def _bar(axis: Axis, estimate: Estimate, value: float, y: float, thick: float, told: str) -> str:
    """A bar from zero, its interval, and the value behind both."""
    start, end = sorted((axis.at(0.0), axis.at(value)))
    kind = f"f{svg.hue(estimate.series)} pale"
    out = [svg.rect(start, y - thick / 2, end - start, thick, kind, told, rx=1.5)]
    edge = axis.at(value)
    if estimate.low is not None and estimate.high is not None:
        low, high = axis.at(estimate.low), axis.at(estimate.high)
        cap = min(thick / 3, 3)
        out.append(svg.line(low, y, high, y, "whisker"))
        for x in (low, high):
            out.append(svg.line(x, y - cap, x, y + cap, "whisker"))
        edge = max(edge, high)
    out.append(svg.text(edge + 5, y + 3.5, axis.form(value), "value"))
    return "".join(out)


def _range(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    return f" ({whole_percent(estimate.low)} to {whole_percent(estimate.high)})"


def _gutter(keys: Iterable[str]) -> float:
    """How much room the names of the rows need."""
    widest = max((svg.width_of(svg.shorten(key, KEY, 11), 11) for key in keys), default=0.0)
    return min(widest, KEY) + 12


def _row_name(key: str, axis: Axis, middle: float, lines: int = 1) -> str:
    """The name of a row to the left of its axis, on two lines where it may and must be."""
    parts = [key]
    if lines == 2 and svg.width_of(key, 11) > KEY:
        parts = _two_lines(key)
    out = []
    for number, part in enumerate(parts):
        y = middle + 4 + LINE * (number - (len(parts) - 1) / 2)
        out.append(svg.text(axis.reach[0] - 8, y, svg.shorten(part, KEY, 11), "strong", "end"))
    return "".join(out)


def _two_lines(words: str) -> list[str]:
    """The words that fit on a line, and the rest.

    >>> _two_lines("Inference from sentences about space")
    ['Inference from', 'sentences about space']
    """
    first, *rest = words.split()
    while rest and svg.width_of(f"{first} {rest[0]}", 11) <= KEY:
        first += f" {rest.pop(0)}"
    return [first, " ".join(rest)]


def curves(
    lines: Sequence[Curve],
    x_label: str,
    y_label: str,
    *,
    x_domain: tuple[float, float] = (0.0, 1.0),
    y_domain: tuple[float, float] = (0.0, 1.0),
    form: Format = whole_percent,
    x_form: Format = whole_percent,
    diagonal: bool = False,
    log: bool = False,
    x_ticks: Sequence[float] | None = None,
    guide: float | None = None,
) -> ChartBody:
    """Curves over a common axis, which may be logarithmic (sizes of models).

    `guide` is a height at which a dashed line runs.
    """
    head = axes.legend([(curve.series, curve.name) for curve in lines if curve.points], lines=True)
    top = head.height + 15
    base = top + HEIGHT
    x = Axis(x_domain, (50.0, WIDTH - 14), x_label, x_form, log, x_ticks)
    y = Axis(y_domain, (base, top), y_label, form)

    out = [head.markup, axes.frame(x, y)]
    if diagonal:
        low, high = x_domain
        out.append(svg.line(x.at(low), y.at(low), x.at(high), y.at(high), "guide"))
    if guide is not None:
        out.append(svg.line(x.reach[0], y.at(guide), x.reach[1], y.at(guide), "guide"))
    out += [drawn_curve(curve, x, y) for curve in lines]
    return ChartBody("".join(out), base + 40)


def drawn_curve(curve: Curve, x: Axis, y: Axis, radius: float = 4.2, told: str = "") -> str:
    """A curve between two axes; `told` stands before its name, where a pointer rests on a point."""
    places = [svg.DrawnPoint(x.at(across), y.at(up)) for across, up in curve.points]
    out = []
    for place, low, high in zip(places, curve.low, curve.high, strict=False):
        out.append(svg.line(place.x, y.at(low), place.x, y.at(high), f"l{svg.hue(curve.series)}"))
    if len(places) > 1 and curve.joined:
        out.append(svg.path(places, axes.stroke(curve.series), curve.name))
    if curve.dots or len(places) == 1:
        for place, (across, up) in zip(places, curve.points, strict=True):
            about = f"{told}{curve.name}: {x.form(across)}, {y.form(up)}"
            out.append(svg.mark(place, curve.series, radius, about))
    return "".join(out)


def boxes(rows: Sequence[BoxPlot], label: str) -> ChartBody:
    """A box for each key: the quarters, the middle, whiskers, and what lies beyond them."""
    tall = 26.0
    top = 8.0
    base = top + tall * len(rows) + 2
    axis = Axis((0.0, 1.0), (_gutter(row.key for row in rows), WIDTH - 12), label)

    out = [axes.bottom(axis, base), axes.uprights(axis, top, base)]
    for i, row in enumerate(rows):
        y = top + tall * (i + 0.5)
        out += [_row_name(row.key, axis, y), _box(axis, row, y)]
    return ChartBody("".join(out), base + 34)


def _box(axis: Axis, box: BoxPlot, y: float) -> str:
    form, grey = axis.form, svg.MEANINGS[0]
    half = f"half of the groups between {form(box.quarter)} and {form(box.three_quarters)}"
    told = f"{box.key}: {half}, middle {form(box.middle)}"
    start, middle, end = map(axis.at, (box.quarter, box.middle, box.three_quarters))
    out = [
        svg.line(axis.at(box.low), y, start, y, "whisker"),
        svg.line(end, y, axis.at(box.high), y, "whisker"),
        svg.rect(start, y - 7, end - start, 14, f"box f{svg.hue(grey)}", told),
        svg.line(middle, y - 7, middle, y + 7, "whisker"),
    ]
    for value in box.outliers[:200]:
        out.append(svg.mark(svg.DrawnPoint(axis.at(value), y), grey, 2.6, form(value)))
    return "".join(out)


# Bars under a name and a sentence each, where names are too long to stand beside their bars.


THICK = 9.0


class CaptionedBar(NamedTuple):
    """A share with the range of what it is the mean of."""

    heading: str  # stands above the first of several bars that share it
    name: str
    sentence: str
    value: float
    low: float
    high: float


def captioned_bars(bars: Sequence[CaptionedBar], label: str) -> ChartBody:
    """The bars from the top, under headings, with a common axis below."""
    axis = Axis((0.0, 1.0), (12.0, WIDTH - 46), label)
    out, y, heading = [], 0.0, ""
    for bar in bars:
        if bar.heading != heading:
            out.append(svg.text(0, y + 20, svg.shorten(bar.heading, WIDTH, 12), "head"))
            y += 26
        heading = bar.heading
        out.append(_captioned_bar(axis, bar, y))
        y += 46
    out = [axes.uprights(axis, 0.0, y), *out, axes.bottom(axis, y)]
    return ChartBody("".join(out), y + 34)


def _captioned_bar(axis: Axis, bar: CaptionedBar, top: float) -> str:
    start, middle = axis.at(0), top + 29 + THICK / 2
    span = f"{whole_percent(bar.low)} to {whole_percent(bar.high)}"
    told = f"{bar.name}: {whole_percent(bar.value)} ({span})"
    wide = axis.at(bar.value) - start
    return "".join(
        (
            svg.text(0, top + 11, svg.shorten(bar.name, WIDTH, 11), "strong"),
            svg.text(0, top + 24, svg.shorten(bar.sentence, WIDTH, 10), "value"),
            svg.rect(start, middle - THICK / 2, wide, THICK, "fn2 pale", told, rx=1.5),
            svg.line(axis.at(bar.low), middle, axis.at(bar.high), middle, "whisker"),
            svg.text(axis.at(bar.high) + 5, middle + 3.5, whole_percent(bar.value), "value"),
        )
    )

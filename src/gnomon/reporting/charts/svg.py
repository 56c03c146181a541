"""Drawing: an SVG written as text, with class names instead of colours.

The page's style sheet colours the classes for light and dark; a figure written to a file of its own
carries the same rules with the colours of paper. Everything that comes from data goes through
`escape`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple
from xml.sax.saxutils import escape as _escape

MARGIN = 12  # around a drawing in a file of its own
# colours for series; beyond them the shapes of points and the dashes of lines tell series apart
HUES = 7
LIGHT = {
    "paper": "#ffffff",
    "ink": "#1d1f23",
    "soft": "#5a5f66",
    "rule": "#d9d7d1",
    "band": "#f1efea",
    "s0": "#0072b2",
    "s1": "#d55e00",
    "s2": "#00865f",
    "s3": "#b4508d",
    "s4": "#a87400",
    "s5": "#4a9fd8",
    "s6": "#6b6f76",
}
DARK = {
    "paper": "#16181c",
    "ink": "#e8e6e1",
    "soft": "#a3a8b0",
    "rule": "#363a42",
    "band": "#22252b",
    "s0": "#56b4e9",
    "s1": "#f28e4b",
    "s2": "#3cc79e",
    "s3": "#dd94bf",
    "s4": "#e6b33c",
    "s5": "#8ab4d8",
    "s6": "#9aa0a8",
}

# Where text stands is measured, not laid out by a browser: mean advance of a sans serif, in ems, by
# kind of letter.
_NARROW, _WIDE = set("iljtfrI.,:;'|!()[] "), set("mwMW@%")


class Point(NamedTuple):
    """A place on the drawing, in its own units."""

    x: float
    y: float


def escape(text: str) -> str:
    """Text made safe between tags and in quoted attributes; characters that XML forbids are
    dropped.

    >>> escape('<b title="x">' + chr(0))
    '&lt;b title=&quot;x&quot;&gt;'
    """
    clean = "".join(
        c
        for c in text
        if c in "\t\n" or 0x20 <= ord(c) < 0xD800 or 0xE000 <= ord(c) < 0xFFFE or ord(c) > 0xFFFF
    )
    return _escape(clean, {'"': "&quot;", "'": "&#39;"})


def number(value: float) -> str:
    """A coordinate with at most one decimal.

    >>> number(3.0), number(2.25)
    ('3', '2.2')
    """
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def width_of(text: str, size: float) -> float:
    """About how wide a line of text is.

    >>> width_of("will", 10) < width_of("wmwm", 10)
    True
    """
    return size * sum(0.34 if c in _NARROW else 0.9 if c in _WIDE else 0.61 for c in text)


def shorten(text: str, room: float, size: float) -> str:
    """The text, cut with an ellipsis where it does not fit.

    >>> shorten("argument orientation", 60, 11)
    'argument…'
    """
    text = " ".join(text.split())
    if width_of(text[:400], size) <= room:
        return text[:400]
    room -= size * 0.6
    kept = 0
    for c in text:
        room -= width_of(c, size)
        if room < 0:
            break
        kept += 1
    return text[:kept].rstrip() + "…"


def tag(name: str, attributes: Mapping[str, object] | None = None, *children: str) -> str:
    """One element; attribute values are escaped, numbers are shortened, children are markup
    already."""
    parts = [f"<{name}"]
    for key, value in (attributes or {}).items():
        if value is None or value == "":
            continue
        shown = number(value) if isinstance(value, float) else escape(str(value))
        parts.append(f' {key.rstrip("_").replace("_", "-")}="{shown}"')
    return "".join(parts) + (f">{''.join(children)}</{name}>" if children else "/>")


def text(
    x: float, y: float, words: str, kind: str = "", anchor: str = "", turn: bool = False
) -> str:
    """A line of text: `kind` names its class, `turn` stands it upright for the label of a vertical
    axis."""
    attributes: dict[str, object] = {
        "x": float(x),
        "y": float(y),
        "class_": kind,
        "text_anchor": anchor,
    }
    if turn:
        attributes["transform"] = f"rotate(-90 {number(x)} {number(y)})"
    return tag("text", attributes, escape(words) or " ")


def line(a: Point, b: Point, kind: str) -> str:
    """A straight line."""
    return tag(
        "line",
        {"x1": float(a.x), "y1": float(a.y), "x2": float(b.x), "y2": float(b.y), "class_": kind},
    )


def rect(
    x: float, y: float, width: float, height: float, kind: str, title: str = "", **more: object
) -> str:
    """A rectangle, with the words that a pointer resting on it shows."""
    attributes = {
        "x": float(x),
        "y": float(y),
        "width": float(max(width, 0)),
        "height": float(max(height, 0)),
        "class_": kind,
        **more,
    }
    return tag("rect", attributes, *_title(title))


def path(points: Iterable[Point], kind: str, title: str = "", **more: object) -> str:
    """A line through points."""
    steps = " ".join(f"{'ML'[i > 0]}{number(p.x)} {number(p.y)}" for i, p in enumerate(points))
    return tag("path", {"d": steps, "class_": kind, **more}, *_title(title))


def mark(at: Point, series: int, radius: float = 4.0, title: str = "", **more: object) -> str:
    """A point of a series: its colour and its shape both say which."""
    x, y, r = at.x, at.y, radius
    shape = (series % HUES + series // HUES) % 4
    kind = f"f{series % HUES} mark"
    if shape == 0:
        return tag(
            "circle",
            {"cx": float(x), "cy": float(y), "r": float(r), "class_": kind, **more},
            *_title(title),
        )
    corners = {
        1: [(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)],
        2: [(0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
        3: [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)],
    }[shape]
    outline = " ".join(
        f"{'ML'[i > 0]}{number(x + dx * r)} {number(y + dy * r)}"
        for i, (dx, dy) in enumerate(corners)
    )
    return tag("path", {"d": outline + "Z", "class_": kind, **more}, *_title(title))


def drawing(
    width: float, height: float, body: Iterable[str], title: str, description: str, name: str
) -> str:
    """The whole drawing with its title and description for those who do not see it."""
    return (
        f'<svg class="chart" viewBox="0 0 {number(width)} {number(height)}" role="img" '
        f'aria-labelledby="{escape(name)}-t {escape(name)}-d" xmlns="http://www.w3.org/2000/svg">'
        f'<title id="{escape(name)}-t">{escape(title)}</title><desc id="{escape(name)}-d">{escape(description)}</desc>'
        + "".join(body)
        + "</svg>"
    )


def colours(theme: Mapping[str, str]) -> str:
    """The rules that turn class names into colours; values may be `var(--name)`."""
    rules = [
        f'.chart text{{fill:{theme["soft"]};font:11px system-ui,"Segoe UI","Helvetica Neue",Arial,sans-serif}}',
        f".chart .strong{{fill:{theme['ink']}}}.chart .head{{fill:{theme['ink']};font-weight:600}}",
        f".chart .value{{font-size:10px}}.chart .dot{{fill:{theme['ink']}}}",
        f".chart .grid{{stroke:{theme['rule']};stroke-width:1}}.chart .axis{{stroke:{theme['soft']};stroke-width:1}}",
        f".chart .guide{{stroke:{theme['soft']};stroke-width:1;stroke-dasharray:2 3}}",
        f".chart .band{{fill:{theme['band']}}}.chart .whisker{{stroke:{theme['ink']};stroke-width:1.2;fill:none}}",
        f".chart .mark{{stroke:{theme['paper']};stroke-width:.8}}",
        ".chart .curve{fill:none;stroke-width:2;stroke-linejoin:round}",
        f".chart .box{{stroke:{theme['ink']};stroke-width:1;fill-opacity:.35}}.chart .hot{{fill:{theme['paper']}}}",
        ".chart .pale{fill-opacity:.62}.chart .dashed{stroke-dasharray:6 3}",
        f".chart .cell{{stroke:{theme['rule']};stroke-width:.5;fill:none}}",
    ]
    for i in range(HUES):
        rules.append(
            f".chart .f{i}{{fill:{theme[f's{i}']}}}.chart .l{i}{{stroke:{theme[f's{i}']}}}"
        )
    return "".join(rules)


def page_rules() -> str:
    """The colour rules for a page whose style sheet defines the variables."""
    return colours({name: f"var(--{name})" for name in LIGHT})


def variables(theme: Mapping[str, str]) -> str:
    """The theme as declarations of style-sheet variables."""
    return "".join(f"--{name}:{value};" for name, value in theme.items())


def standalone(svg: str) -> str:
    """A drawing as a file of its own, in the colours of paper and with a margin, since files do not
    overflow."""
    head, _, rest = svg.partition(">")
    box = head.split('viewBox="')[1].split('"')[0]
    width, height = (float(part) + 2 * MARGIN for part in box.split()[2:])
    size = f'width="{number(width)}" height="{number(height)}"'
    wider = f"{-MARGIN} {-MARGIN} {number(width)} {number(height)}"
    return (
        f"{head.replace(box, wider)} {size}><style>{colours(LIGHT)}</style>"
        f'<rect x="{-MARGIN}" y="{-MARGIN}" {size} fill="{LIGHT["paper"]}"/>{rest}'
    )


def _title(words: str) -> tuple[str, ...]:
    return (tag("title", None, escape(words)),) if words else ()

"""Drawing: an SVG written as text, with class names instead of colours.

The page's style sheet colours the classes for light and dark; a figure written to a file of its own
carries the same rules with the colours of paper. Everything that comes from data goes through
`escape`.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape as _escape

from gnomon.files import read_yaml

MARGIN = 12  # around a drawing in a file of its own
# Colours for series, of different lightness, so that colour-blind readers can tell them apart.
# Beyond them, the shapes of points and the dashes of lines do.
HUES = 7
# Series that are no model but parts, labels or shares: greys, so that a colour is always a model.
MEANINGS = (-1, -2, -3, -4)
ASSETS = Path(__file__).parents[1] / "assets"
_THEMES = read_yaml(ASSETS / "colours.yaml")
LIGHT: dict[str, str] = _THEMES["light"]
DARK: dict[str, str] = _THEMES["dark"]
# what turns class names into colours, which are variables of the page's style sheet
RULES = "".join((ASSETS / "chart.css").read_text("utf-8").splitlines())
_SHAPES = (  # corners of the shapes of points, in radii; the first is a circle
    (),
    ((-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)),
    ((0, -1.2), (1.1, 0.8), (-1.1, 0.8)),
    ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
)
_VARIABLE = re.compile(r"var\(--(\w+)\)")
_LINKS = re.compile(r"</?a(?: [^>]*)?>")
_FORBIDDEN = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML

# Where text stands is measured, not laid out by a browser: mean advance of a sans serif, in ems, by
# kind of letter.
_NARROW, _WIDE = set("iljtfrI.,:;'|!()[] "), set("mwMW@%")


class DrawnPoint(NamedTuple):
    """A place on the drawing, in its own units."""

    x: float
    y: float


def escape(text: str) -> str:
    """Text made safe between tags and in quoted attributes, without what XML forbids.

    >>> escape('<b title="x">' + chr(0))
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return _escape(_FORBIDDEN.sub("", text), {'"': "&quot;", "'": "&#39;"})


def number(value: float) -> str:
    """A coordinate with at most one decimal.

    >>> number(3.0), number(2.25)
    ('3', '2.2')
    """
    return f"{value:.1f}".removesuffix(".0")


def width_of(text: str, size: float) -> float:
    """About how wide a line of text is.

    >>> width_of("will", 10) < width_of("wmwm", 10)
    True
    """
    ems = 0.0
    for character in text:
        if character in _NARROW:
            ems += 0.34
        elif character in _WIDE:
            ems += 0.9
        else:
            ems += 0.61
    return size * ems


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
    """One element; values of attributes are escaped, children are markup already."""
    parts = [name]
    for key, value in (attributes or {}).items():
        if value is None or value == "":
            continue
        shown = number(value) if isinstance(value, float) else escape(str(value))
        parts.append(f'{key.rstrip("_").replace("_", "-")}="{shown}"')
    head = " ".join(parts)
    if not children:
        return f"<{head}/>"
    return f"<{head}>{''.join(children)}</{name}>"


def text(
    x: float, y: float, words: str, kind: str = "", anchor: str = "", turn: bool = False
) -> str:
    """A line of text: `kind` names its class, `turn` stands it upright beside an axis."""
    attributes: dict[str, object] = {
        "x": float(x),
        "y": float(y),
        "class_": kind,
        "text_anchor": anchor,
    }
    if turn:
        attributes["transform"] = f"rotate(-90 {number(x)} {number(y)})"
    return tag("text", attributes, escape(words) or " ")


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line."""
    ends = {"x1": float(x1), "y1": float(y1), "x2": float(x2), "y2": float(y2)}
    return tag("line", {**ends, "class_": kind})


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


def path(points: Iterable[DrawnPoint], kind: str, title: str = "") -> str:
    """A line through points."""
    return tag("path", {"d": _steps(points), "class_": kind}, *_title(title))


def _steps(points: Iterable[DrawnPoint]) -> str:
    """The way through points, in the language of paths."""
    steps = [f"{number(point.x)} {number(point.y)}" for point in points]
    return "M" + " L".join(steps)


def hue(series: int) -> str:
    """The colour of a series, as its classes end: a model's hue, or the grey of something else.

    >>> hue(0), hue(8), hue(-2)
    ('0', '1', 'n1')
    """
    if series < 0:
        return f"n{(-series - 1) % len(MEANINGS)}"
    return str(series % HUES)


def mark(at: DrawnPoint, series: int, radius: float = 4.0, title: str = "", **more: object) -> str:
    """A point of a series: its colour and its shape both say which."""
    corners = _SHAPES[_turn(series) % len(_SHAPES)]
    looks: dict[str, object] = {"class_": f"f{hue(series)} mark", **more}
    if not corners:
        circle = {"cx": float(at.x), "cy": float(at.y), "r": float(radius)}
        return tag("circle", {**circle, **looks}, *_title(title))
    outline = [DrawnPoint(at.x + dx * radius, at.y + dy * radius) for dx, dy in corners]
    return tag("path", {"d": _steps(outline) + "Z", **looks}, *_title(title))


def _turn(series: int) -> int:
    """Which shape a series has: the next one with each colour, and again for each round of them."""
    if series < 0:
        return -series - 1
    return series % HUES + series // HUES


def drawing(
    width: float, height: float, body: Iterable[str], title: str, description: str, name: str
) -> str:
    """The whole drawing with its title and description for those who do not see it."""
    name = escape(name)
    markup = "".join(body)
    role = "group" if "<a " in markup else "img"  # a picture holds nothing to press
    return (
        f'<svg class="chart" viewBox="0 0 {number(width)} {number(height)}" role="{role}" '
        f'aria-labelledby="{name}-t {name}-d" xmlns="http://www.w3.org/2000/svg">'
        f'<title id="{name}-t">{escape(title)}</title>'
        f'<desc id="{name}-d">{escape(description)}</desc>{markup}</svg>'
    )


def variables(theme: Mapping[str, str]) -> str:
    """The theme as declarations of style-sheet variables."""
    return "".join(f"--{name}:{value};" for name, value in theme.items())


def standalone(svg: str) -> str:
    """A drawing as a file of its own, in the colours of paper.

    With a margin, since files do not overflow.
    """
    svg = _LINKS.sub("", svg)  # which lead to places on the page
    on_paper = _VARIABLE.sub(lambda found: LIGHT[found[1]], RULES)
    head, _, rest = svg.partition(">")
    box = head.split('viewBox="')[1].split('"')[0]
    width, height = (float(part) + 2 * MARGIN for part in box.split()[2:])
    size = f'width="{number(width)}" height="{number(height)}"'
    wider = f"{-MARGIN} {-MARGIN} {number(width)} {number(height)}"
    return (
        f"{head.replace(box, wider)} {size}><style>{on_paper}</style>"
        f'<rect x="{-MARGIN}" y="{-MARGIN}" {size} fill="{LIGHT["paper"]}"/>{rest}'
    )


def _title(words: str) -> list[str]:
    return [tag("title", None, escape(words))] if words else []

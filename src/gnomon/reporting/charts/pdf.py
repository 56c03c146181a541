"""Drawings as PDF: lines stay lines, text stays text, and the letters used are embedded.

It understands what `svg` draws, and no more. (The objects are those of PDF 1.4, ISO 32000.)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import cos, radians, sin
from xml.etree.ElementTree import Element, fromstring

from gnomon.reporting.charts.pdffile import PREFIXES, File, Font, embedded, number, text
from gnomon.reporting.charts.truetype import Face

POINTS = 0.75  # of a pixel: 96 of these and 72 of those make an inch
LETTERS = 11.0  # pixels high, where nothing is said
ROUND = 0.5523  # of a quarter of a circle, as a Bézier curve
_RULE = re.compile(r"\.chart ([.\w]+)\{([^}]*)\}")
_SIZE = re.compile(r"([\d.]+)px")
_TURN = re.compile(r"rotate\(([-\d.]+)")
_MOVE = re.compile(r"translate\(([-\d.]+) ([-\d.]+)\)")
_STEP = re.compile(r"([MLZ])([^MLZ]*)")
_UNSEEN = {"title", "desc", "style"}

Style = Mapping[str, str]


def pdf(picture: str, faces: tuple[Face, Face]) -> bytes:
    """A drawing in a file of its own (`svg.standalone`) as a page of the same size."""
    root = fromstring(picture)  # noqa: S314  what we drew ourselves
    page = _Page(root, faces)
    page.draw(root)
    return page.file()


class _Page:
    """A page that is drawn on, and then written."""

    def __init__(self, root: Element, faces: tuple[Face, Face]) -> None:
        left, top, self.width, self.height = map(float, root.attrib["viewBox"].split())
        self.title = next((each.text or "" for each in root if _name(each) == "title"), "")
        self._rules = _rules(root)
        self._fonts = [Font(face) for face in faces]
        self._opacities: dict[str, str] = {}
        down = POINTS * (self.height + top)
        self._steps = [f"{POINTS} 0 0 -{POINTS} {number(-POINTS * left)} {number(down)} cm"]

    def draw(self, element: Element) -> None:
        """Draw what is in an element."""
        for child in element:
            name = _name(child)
            if name in _UNSEEN:
                continue
            if name == "g":
                moved = _MOVE.match(child.get("transform", ""))
                across, down = moved.groups() if moved else ("0", "0")
                self._steps.append(f"q 1 0 0 1 {across} {down} cm")
                self.draw(child)
                self._steps.append("Q")
            elif name == "text":
                self._write(child, self._style(child))
            else:
                self._trace(child, self._style(child))

    def _style(self, element: Element) -> Style:
        """What attributes say, and then what rules say of the element and its classes."""
        found: dict[str, str] = {}
        for name in ("fill", "stroke", "fill-opacity", "stroke-width"):
            if name in element.attrib:
                found[name] = element.attrib[name]
        classes = {f".{name}" for name in element.get("class", "").split()}
        for name, declarations in self._rules:
            if name in classes or name == _name(element):
                found |= declarations
        return found

    def _trace(self, element: Element, style: Style) -> None:
        outline = _outline(element)
        fill, stroke = style.get("fill", "#000000"), style.get("stroke", "none")
        if _name(element) == "line":
            fill = "none"
        paint = {(True, True): "B", (True, False): "f", (False, True): "S"}
        how = paint.get((fill != "none", stroke != "none"))
        if how is None:
            return
        steps = ["q", self._opacity(style)]
        if fill != "none":
            steps.append(f"{_colour(fill)} rg")
        if stroke != "none":
            steps.append(f"{_colour(stroke)} RG {style.get('stroke-width', '1')} w")
            steps.append(f"[{style.get('stroke-dasharray', '')}] 0 d")
            steps.append("1 j" if style.get("stroke-linejoin") == "round" else "0 j")
        self._steps += filter(None, [*steps, outline, how, "Q"])

    def _write(self, element: Element, style: Style) -> None:
        words = "".join(element.itertext())
        bold = style.get("font-weight") == "600"
        font = self._fonts[bold]
        found = _SIZE.search(style.get("font-size", style.get("font", "")))
        size = float(found[1]) if found else LETTERS
        turn = _TURN.match(element.get("transform", ""))
        angle = radians(float(turn[1])) if turn else 0.0
        along, across = cos(angle), sin(angle)

        before = {"middle": 0.5, "end": 1.0}.get(element.get("text-anchor", ""), 0.0)
        before *= size * font.face.width(words)
        x = float(element.get("x", "0")) - before * along
        y = float(element.get("y", "0")) - before * across
        matrix = " ".join(map(number, (along, across, across, -along, x, y)))
        colour = _colour(style.get("fill", "#000000"))
        name = "F1" if bold else "F0"
        shown = f"BT {colour} rg /{name} {number(size)} Tf {matrix} Tm <{font.shown(words)}> Tj ET"
        self._steps += filter(None, ["q", self._opacity(style), shown, "Q"])

    def _opacity(self, style: Style) -> str:
        value = style.get("fill-opacity", "1")
        if float(value) == 1:
            return ""
        name = self._opacities.setdefault(value, f"G{len(self._opacities)}")
        return f"/{name} gs"

    def file(self) -> bytes:
        """The page as a file."""
        file = File()
        fonts = []
        for place, font in enumerate(self._fonts):
            if font.used:
                fonts.append(f"/F{place} {embedded(file, font, PREFIXES[place])} 0 R")
        states = [f"/{name} << /ca {value} >>" for value, name in self._opacities.items()]
        contents = file.stream("\n".join(self._steps).encode())
        tree = file.reserve()
        page = file.add(
            f"<< /Type /Page /Parent {tree} 0 R "
            f"/MediaBox [0 0 {number(POINTS * self.width)} {number(POINTS * self.height)}] "
            f"/Resources << /Font << {' '.join(fonts)} >> /ExtGState << {' '.join(states)} >> >> "
            f"/Contents {contents} 0 R >>"
        )
        file.put(tree, f"<< /Type /Pages /Kids [{page} 0 R] /Count 1 >>")
        catalogue = file.add(f"<< /Type /Catalog /Pages {tree} 0 R >>")
        about = file.add(f"<< /Title {text(self.title)} /Producer (Gnomon) >>")
        return file.written(catalogue, about)


def _rules(root: Element) -> list[tuple[str, dict[str, str]]]:
    """The rules of the drawing's style sheet, in order."""
    found = []
    for element in root.iter():
        if _name(element) != "style":
            continue
        for name, body in _RULE.findall(element.text or ""):
            pairs = [declaration.split(":", 1) for declaration in body.split(";") if declaration]
            found.append((name, dict(pairs)))
    return found


def _outline(element: Element) -> str:
    """The way around a shape."""
    at = {name: float(element.get(name, "0")) for name in ("x", "y", "width", "height")}
    kind = _name(element)
    if kind == "rect":
        return (
            f"{number(at['x'])} {number(at['y'])} {number(at['width'])} {number(at['height'])} re"
        )
    if kind == "line":
        ends = [number(float(element.attrib[name])) for name in ("x1", "y1", "x2", "y2")]
        return f"{ends[0]} {ends[1]} m {ends[2]} {ends[3]} l"
    if kind == "circle":
        return _circle(*(float(element.attrib[name]) for name in ("cx", "cy", "r")))
    steps = []
    for step, place in _STEP.findall(element.get("d", "")):
        steps.append("h" if step == "Z" else f"{place.strip()} {step.lower()}")
    return " ".join(steps)


def _circle(x: float, y: float, radius: float) -> str:
    bend = ROUND * radius
    corners = (
        (x + radius, y + bend, x + bend, y + radius, x, y + radius),
        (x - bend, y + radius, x - radius, y + bend, x - radius, y),
        (x - radius, y - bend, x - bend, y - radius, x, y - radius),
        (x + bend, y - radius, x + radius, y - bend, x + radius, y),
    )
    steps = [f"{number(x + radius)} {number(y)} m"]
    for corner in corners:
        steps.append(f"{' '.join(map(number, corner))} c")
    return " ".join([*steps, "h"])


def _colour(text: str) -> str:
    """Red, green and blue from 0 to 1.

    >>> _colour("#ff0000"), _colour("#fff")
    ('1 0 0', '1 1 1')
    """
    digits = text.removeprefix("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    return " ".join(number(int(digits[place : place + 2], 16) / 255) for place in (0, 2, 4))


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]

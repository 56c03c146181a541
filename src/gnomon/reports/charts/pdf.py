"""Drawings as PDF: lines stay lines, text stays text, and the letters used are embedded."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from xml.etree.ElementTree import Element, fromstring

from gnomon.files import read_yaml
from gnomon.reports.charts.svg import ASSETS

if TYPE_CHECKING:
    from reportlab.pdfgen.canvas import Canvas
    from reportlab.pdfgen.pathobject import PDFPathObject

# The letters of PDF files: a sans serif of the system.


class Faces(NamedTuple):
    """The files of a font."""

    regular: Path
    bold: Path


@cache
def system_faces() -> Faces | None:
    """A regular and a bold sans serif of the system; none if it has none that is known here."""
    fonts = read_yaml(ASSETS / "fonts.yaml")
    files: dict[str, Path] = {}
    for folder in fonts["folders"]:
        for file in sorted(Path(folder).expanduser().rglob("*.ttf")):
            files.setdefault(file.name, file)
    for regular, bold in fonts["known"]:
        if regular in files:
            return Faces(files[regular], files.get(bold, files[regular]))
    return None


POINTS = 0.75  # of a pixel: 96 of these and 72 of those make an inch
LETTERS = 11.0  # pixels high, where nothing is said
BLACK = "#000000"
_RULE = re.compile(r"\.chart ([.\w]+)\{([^}]*)\}")
_SIZE = re.compile(r"([\d.]+)px")
_TURN = re.compile(r"rotate\(([-\d.]+)")
_MOVE = re.compile(r"translate\(([-\d.]+) ([-\d.]+)\)")
_STEP = re.compile(r"([MLZ])([^MLZ]*)")
_UNSEEN = {"title", "desc", "style"}

Style = Mapping[str, str]
Rules = Sequence[tuple[str, dict[str, str]]]
Fonts = tuple[str, str]


def pdf(picture: str, faces: Faces) -> bytes:
    """A drawing in a file of its own (`svg.standalone`) as a page of the same size."""
    from reportlab.pdfgen.canvas import Canvas

    root = fromstring(picture)  # noqa: S314  what we drew ourselves
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    written = BytesIO()
    # the same drawing gives the same bytes: no date, no random name
    fonts = _registered(faces)
    canvas = Canvas(
        written,
        pagesize=(POINTS * width, POINTS * height),
        initialFontName=fonts[0],
        invariant=True,
    )
    canvas.setTitle(next((each.text or "" for each in root if _name(each) == "title"), ""))
    canvas.setProducer("Gnomon")
    canvas.scale(POINTS, -POINTS)  # pixels, and down the page as in the drawing
    canvas.translate(-left, -top - height)
    _Page(canvas, _rules(root), fonts).draw(root)
    canvas.save()
    return written.getvalue()


def _registered(faces: Faces) -> Fonts:
    """The names by which the library knows a regular and a bold font."""
    from reportlab.pdfbase.pdfmetrics import registerFont
    from reportlab.pdfbase.ttfonts import TTFont

    names = ("gnomon-regular", "gnomon-bold")
    for name, file in zip(names, faces, strict=True):
        registerFont(TTFont(name, str(file)))
    return names


class _Page:
    """A page that is drawn on."""

    def __init__(self, canvas: Canvas, rules: Rules, fonts: Fonts) -> None:
        self._canvas = canvas
        self._rules = rules
        self._fonts = fonts

    def draw(self, element: Element) -> None:
        """Draw what is in an element."""
        for child in element:
            name = _name(child)
            if name in _UNSEEN:
                continue
            self._canvas.saveState()
            if name == "g":
                moved = _MOVE.match(child.get("transform", ""))
                if moved:
                    self._canvas.translate(*map(float, moved.groups()))
                self.draw(child)
            elif name == "text":
                self._write(child, self._style(child))
            else:
                self._trace(child, self._style(child))
            self._canvas.restoreState()

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
        """Draw a rectangle, a line, a circle or a path."""
        kind = _name(element)
        outline = self._canvas.beginPath()
        if kind == "rect":
            _rectangle(outline, element)
        elif kind == "line":
            x1, y1, x2, y2 = _numbers(element, "x1", "y1", "x2", "y2")
            outline.moveTo(x1, y1)
            outline.lineTo(x2, y2)
        elif kind == "circle":
            outline.circle(*_numbers(element, "cx", "cy", "r"))
        else:
            _way(outline, element.get("d", ""))
        filled = style.get("fill", BLACK) != "none" and kind != "line"
        drawn = style.get("stroke", "none") != "none"
        self._ink(style, filled=filled, drawn=drawn)
        self._canvas.drawPath(outline, stroke=int(drawn), fill=int(filled))

    def _ink(self, style: Style, *, filled: bool, drawn: bool) -> None:
        from reportlab.lib.colors import HexColor

        canvas = self._canvas
        if filled:
            canvas.setFillColor(HexColor(style.get("fill", BLACK)))
            canvas.setFillAlpha(float(style.get("fill-opacity", "1")))
        if drawn:
            canvas.setStrokeColor(HexColor(style["stroke"]))
            canvas.setLineWidth(float(style.get("stroke-width", "1")))
            canvas.setLineJoin(1 if style.get("stroke-linejoin") == "round" else 0)
            canvas.setDash([float(each) for each in style.get("stroke-dasharray", "").split()])

    def _write(self, element: Element, style: Style) -> None:
        canvas = self._canvas
        words = "".join(element.itertext())
        found = _SIZE.search(style.get("font-size", style.get("font", "")))
        turn = _TURN.match(element.get("transform", ""))
        self._ink(style, filled=True, drawn=False)
        size = float(found[1]) if found else LETTERS
        canvas.setFont(self._fonts[style.get("font-weight") == "600"], size)
        canvas.translate(*_numbers(element, "x", "y"))
        canvas.rotate(float(turn[1]) if turn else 0.0)
        canvas.scale(1, -1)  # letters stand upright
        write = {"middle": canvas.drawCentredString, "end": canvas.drawRightString}
        write.get(element.get("text-anchor", ""), canvas.drawString)(0, 0, words)


def _rectangle(outline: PDFPathObject, element: Element) -> None:
    x, y, width, height, radius = _numbers(element, "x", "y", "width", "height", "rx")
    if radius:
        outline.roundRect(x, y, width, height, radius)
    else:
        outline.rect(x, y, width, height)


def _way(outline: PDFPathObject, steps: str) -> None:
    """Lines from point to point, as M, L and Z say."""
    for step, place in _STEP.findall(steps):
        if step == "Z":
            outline.close()
        else:
            move = outline.moveTo if step == "M" else outline.lineTo
            move(*map(float, place.split()))


def _numbers(element: Element, *names: str) -> list[float]:
    return [float(element.get(name, "0")) for name in names]


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


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]

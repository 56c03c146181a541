"""Drawings as PDF: lines stay lines, text stays text, and the letters used are embedded.

It understands what `svg` draws, and no more. (The objects are those of PDF 1.4, ISO 32000.)
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE
from collections.abc import Mapping
from math import cos, radians, sin
from xml.etree.ElementTree import Element, fromstring
from zlib import compress

from gnomon.reporting.charts.truetype import Face

POINTS = 0.75  # of a pixel: 96 of these and 72 of those make an inch
ROUND = 0.5523  # of a quarter of a circle, as a Bézier curve
PREFIXES = ("GNOMAA", "GNOMBA")  # of the names of fonts of which only a part is there
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


class _Font:
    """The letters of a face that were used."""

    def __init__(self, face: Face) -> None:
        self.face = face
        self.used: dict[int, str] = {}  # letters by glyph

    def shown(self, text: str) -> str:
        """A line as the numbers of its glyphs."""
        glyphs = []
        for letter in text:
            glyph = self.face.glyph(letter)
            self.used[glyph] = letter
            glyphs.append(f"{glyph:04X}")
        return "".join(glyphs)


class _Page:
    """A page that is drawn on, and then written."""

    def __init__(self, root: Element, faces: tuple[Face, Face]) -> None:
        left, top, self.width, self.height = map(float, root.attrib["viewBox"].split())
        self.title = next((each.text or "" for each in root if _name(each) == "title"), "")
        self._rules = _rules(root)
        self._fonts = [_Font(face) for face in faces]
        self._opacities: dict[str, str] = {}
        down = POINTS * (self.height + top)
        self._steps = [f"{POINTS} 0 0 -{POINTS} {_n(-POINTS * left)} {_n(down)} cm"]

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
        text = "".join(element.itertext())
        bold = style.get("font-weight") == "600"
        font = self._fonts[bold]
        size = float(_SIZE.search(style.get("font-size", style.get("font", "11px")))[1])  # type: ignore[index]
        turn = _TURN.match(element.get("transform", ""))
        angle = radians(float(turn[1])) if turn else 0.0
        along, across = cos(angle), sin(angle)

        before = {"middle": 0.5, "end": 1.0}.get(element.get("text-anchor", ""), 0.0)
        before *= size * font.face.width(text)
        x = float(element.get("x", "0")) - before * along
        y = float(element.get("y", "0")) - before * across
        matrix = " ".join(map(_n, (along, across, across, -along, x, y)))
        colour = _colour(style.get("fill", "#000000"))
        name = "F1" if bold else "F0"
        shown = f"BT {colour} rg /{name} {_n(size)} Tf {matrix} Tm <{font.shown(text)}> Tj ET"
        self._steps += filter(None, ["q", self._opacity(style), shown, "Q"])

    def _opacity(self, style: Style) -> str:
        value = style.get("fill-opacity", "1")
        if float(value) == 1:
            return ""
        name = self._opacities.setdefault(value, f"G{len(self._opacities)}")
        return f"/{name} gs"

    def file(self) -> bytes:
        """The page as a file."""
        file = _File()
        fonts = []
        for number, font in enumerate(self._fonts):
            if font.used:
                embedded = _embedded(file, font, PREFIXES[number])
                fonts.append(f"/F{number} {embedded} 0 R")
        states = [f"/{name} << /ca {value} >>" for value, name in self._opacities.items()]
        contents = file.stream("\n".join(self._steps).encode())
        tree = file.reserve()
        page = file.add(
            f"<< /Type /Page /Parent {tree} 0 R "
            f"/MediaBox [0 0 {_n(POINTS * self.width)} {_n(POINTS * self.height)}] "
            f"/Resources << /Font << {' '.join(fonts)} >> /ExtGState << {' '.join(states)} >> >> "
            f"/Contents {contents} 0 R >>"
        )
        file.put(tree, f"<< /Type /Pages /Kids [{page} 0 R] /Count 1 >>")
        catalogue = file.add(f"<< /Type /Catalog /Pages {tree} 0 R >>")
        about = file.add(f"<< /Title {_text(self.title)} /Producer (Gnomon) >>")
        return file.written(catalogue, about)


class _File:
    """Numbered objects, and the file that they make."""

    def __init__(self) -> None:
        self._objects: list[bytes] = []

    def reserve(self) -> int:
        """The number of an object that comes later."""
        self._objects.append(b"")
        return len(self._objects)

    def put(self, number: int, text: str) -> None:
        """The object of that number."""
        self._objects[number - 1] = text.encode("latin-1")

    def add(self, text: str) -> int:
        """The number of a new object."""
        number = self.reserve()
        self.put(number, text)
        return number

    def stream(self, data: bytes, more: str = "") -> int:
        """The number of a new stream, compressed."""
        packed = compress(data, 9)
        head = f"<< /Length {len(packed)} /Filter /FlateDecode {more}>>\nstream\n".encode()
        number = self.reserve()
        self._objects[number - 1] = head + packed + b"\nendstream"
        return number

    def written(self, catalogue: int, about: int) -> bytes:
        """The whole file."""
        out = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"
        places = []
        for number, each in enumerate(self._objects, 1):
            places.append(len(out))
            out += b"%d 0 obj\n" % number + each + b"\nendobj\n"
        table = len(out)
        count = len(places) + 1
        out += b"xref\n0 %d\n0000000000 65535 f \n" % count
        out += b"".join(b"%010d 00000 n \n" % place for place in places)
        trailer = f"<< /Size {count} /Root {catalogue} 0 R /Info {about} 0 R >>"
        return out + f"trailer\n{trailer}\nstartxref\n{table}\n%%EOF\n".encode()


def _embedded(file: _File, font: _Font, prefix: str) -> int:
    """The number of a font of which the letters used are part of the file."""
    face = font.face
    name = f"{prefix}+Gnomon"
    part = face.part(font.used)
    program = file.stream(part, f"/Length1 {len(part)} ")
    scale = 1000 / face.units
    box = " ".join(_n(scale * side) for side in face.box)
    descriptor = file.add(
        f"<< /Type /FontDescriptor /FontName /{name} /Flags 4 /FontBBox [{box}] /ItalicAngle 0 "
        f"/Ascent {_n(scale * face.ascent)} /Descent {_n(scale * face.descent)} /CapHeight 700 "
        f"/StemV 80 /FontFile2 {program} 0 R >>"
    )
    widths = [f"{glyph} [{_n(1000 * face.advance(glyph))}]" for glyph in sorted(font.used)]
    of_glyphs = file.add(
        f"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /{name} /CIDToGIDMap /Identity "
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> "
        f"/FontDescriptor {descriptor} 0 R /W [{' '.join(widths)}] >>"
    )
    letters = file.stream(_letters(font.used).encode())
    return file.add(
        f"<< /Type /Font /Subtype /Type0 /BaseFont /{name} /Encoding /Identity-H "
        f"/DescendantFonts [{of_glyphs} 0 R] /ToUnicode {letters} 0 R >>"
    )


def _letters(used: Mapping[int, str]) -> str:
    """Which letter each glyph is, so that text can be searched and copied."""
    pairs = sorted(used.items())
    lines = []
    for start in range(0, len(pairs), 100):  # as many as a block may have
        block = pairs[start : start + 100]
        lines.append(f"{len(block)} beginbfchar")
        for glyph, letter in block:
            lines.append(f"<{glyph:04X}> <{letter.encode('utf-16-be').hex().upper()}>")
        lines.append("endbfchar")
    return "\n".join(
        [
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap",
            "/CMapName /Gnomon def /CMapType 2 def",
            "1 begincodespacerange <0000> <FFFF> endcodespacerange",
            *lines,
            "endcmap CMapName currentdict /CMap defineresource pop end end",
        ]
    )


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
        return f"{_n(at['x'])} {_n(at['y'])} {_n(at['width'])} {_n(at['height'])} re"
    if kind == "line":
        ends = [_n(float(element.attrib[name])) for name in ("x1", "y1", "x2", "y2")]
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
    steps = [f"{_n(x + radius)} {_n(y)} m"]
    for corner in corners:
        steps.append(f"{' '.join(map(_n, corner))} c")
    return " ".join([*steps, "h"])


def _colour(text: str) -> str:
    """Red, green and blue from 0 to 1.

    >>> _colour("#ff0000"), _colour("#fff")
    ('1 0 0', '1 1 1')
    """
    digits = text.removeprefix("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    return " ".join(_n(int(digits[place : place + 2], 16) / 255) for place in (0, 2, 4))


def _text(words: str) -> str:
    """Words about the file, in UTF-16."""
    encoded = BOM_UTF16_BE + words.encode("utf-16-be")
    return f"<{encoded.hex().upper()}>"


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _n(value: float) -> str:
    """A number as short as it can be.

    >>> _n(3.0), _n(0.12345), _n(-0.00001)
    ('3', '0.123', '0')
    """
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text

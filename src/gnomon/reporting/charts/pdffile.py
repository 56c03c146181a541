"""A PDF file as numbered objects, and the letters of fonts that it embeds."""

from __future__ import annotations

from codecs import BOM_UTF16_BE
from collections.abc import Mapping
from zlib import compress

from gnomon.reporting.charts.truetype import Face

PREFIXES = ("GNOMAA", "GNOMBA")  # of the names of fonts of which only a part is there


class File:
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


class Font:
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


def embedded(file: File, font: Font, prefix: str) -> int:
    """The number of a font of which the letters used are part of the file."""
    face = font.face
    name = f"{prefix}+Gnomon"
    part = face.part(font.used)
    program = file.stream(part, f"/Length1 {len(part)} ")
    scale = 1000 / face.units
    box = " ".join(number(scale * side) for side in face.box)
    ascent, descent = number(scale * face.ascent), number(scale * face.descent)
    descriptor = file.add(
        f"<< /Type /FontDescriptor /FontName /{name} /Flags 4 /FontBBox [{box}] /ItalicAngle 0 "
        f"/Ascent {ascent} /Descent {descent} /CapHeight 700 "
        f"/StemV 80 /FontFile2 {program} 0 R >>"
    )
    widths = [f"{glyph} [{number(1000 * face.advance(glyph))}]" for glyph in sorted(font.used)]
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


def text(words: str) -> str:
    """Words about the file, in UTF-16."""
    encoded = BOM_UTF16_BE + words.encode("utf-16-be")
    return f"<{encoded.hex().upper()}>"


def number(value: float) -> str:
    """A number as short as it can be.

    >>> number(3.0), number(0.12345), number(-0.00001)
    ('3', '0.123', '0')
    """
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text

"""TrueType fonts of the system: how wide letters are, and the part of a font that a drawing needs.

Only what a PDF file embeds is read. (The tables are those of the OpenType specification.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from struct import Struct, pack, unpack_from

FOLDERS = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.local/share/fonts",
    "~/.fonts",
    "/Library/Fonts",
    "/System/Library/Fonts/Supplemental",
    "~/Library/Fonts",
    "C:/Windows/Fonts",
)
# regular and bold, in the order in which they are liked: the first is that of PNG files
FACES = (
    ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"),
    ("LiberationSans-Regular.ttf", "LiberationSans-Bold.ttf"),
    ("NotoSans-Regular.ttf", "NotoSans-Bold.ttf"),
    ("Arial.ttf", "Arial Bold.ttf"),
    ("arial.ttf", "arialbd.ttf"),
)
KEPT = (b"cvt ", b"fpgm", b"glyf", b"head", b"hhea", b"hmtx", b"loca", b"maxp", b"prep")
_RECORD = Struct(">4sIII")
_HAS_MORE, _WIDE_ARGUMENTS, _SCALED, _SCALED_TWICE, _TURNED = 0x20, 0x1, 0x8, 0x40, 0x80


class Face:
    """A TrueType font."""

    def __init__(self, data: bytes) -> None:
        self._tables: dict[bytes, bytes] = {}
        for number in range(unpack_from(">H", data, 4)[0]):
            name, _, start, size = _RECORD.unpack_from(data, 12 + 16 * number)
            self._tables[name] = data[start : start + size]
        head, hhea = self._tables[b"head"], self._tables[b"hhea"]
        self.units: int = unpack_from(">H", head, 18)[0]
        self.box: tuple[int, ...] = unpack_from(">4h", head, 36)
        self.ascent, self.descent = unpack_from(">2h", hhea, 4)
        self._metrics: int = unpack_from(">H", hhea, 34)[0]
        self._glyphs: int = unpack_from(">H", self._tables[b"maxp"], 4)[0]
        wide = unpack_from(">h", head, 50)[0]
        places = unpack_from(f">{self._glyphs + 1}{'I' if wide else 'H'}", self._tables[b"loca"])
        self._starts = places if wide else [2 * place for place in places]
        self._of_letter = dict(_letters(self._tables[b"cmap"]))

    def glyph(self, letter: str) -> int:
        """The number of a letter's glyph; 0, an empty box, if there is none."""
        return self._of_letter.get(ord(letter), 0)

    def advance(self, glyph: int) -> float:
        """How far the next letter stands from the beginning of this one, in ems."""
        place = min(glyph, self._metrics - 1)
        width: int = unpack_from(">H", self._tables[b"hmtx"], 4 * place)[0]
        return width / self.units

    def width(self, text: str) -> float:
        """How wide a line is, in ems."""
        return sum(self.advance(self.glyph(letter)) for letter in text)

    def part(self, glyphs: Iterable[int]) -> bytes:
        """A font with these glyphs alone, under the same numbers."""
        wanted = self._with_components({0, *glyphs})
        count = max(wanted) + 1
        outlines, starts = b"", []
        for glyph in range(count):
            starts.append(len(outlines))
            if glyph in wanted:
                outline = self._outline(glyph)
                outlines += outline + b"\0" * (-len(outline) % 4)
        starts.append(len(outlines))

        metrics = min(self._metrics, count)
        room = 4 * metrics + 2 * (count - metrics)
        head, hhea = bytearray(self._tables[b"head"]), bytearray(self._tables[b"hhea"])
        maxp = bytearray(self._tables[b"maxp"])
        head[50:52] = pack(">h", 1)
        hhea[34:36] = pack(">H", metrics)
        maxp[4:6] = pack(">H", count)
        changed = {
            b"glyf": outlines,
            b"loca": pack(f">{len(starts)}I", *starts),
            b"head": bytes(head),
            b"hhea": bytes(hhea),
            b"maxp": bytes(maxp),
            b"hmtx": self._tables[b"hmtx"][:room],
        }
        return _file({name: changed.get(name, self._tables.get(name, b"")) for name in KEPT})

    def _outline(self, glyph: int) -> bytes:
        return self._tables[b"glyf"][self._starts[glyph] : self._starts[glyph + 1]]

    def _with_components(self, glyphs: set[int]) -> set[int]:
        """The glyphs, and those that they are put together from."""
        found: set[int] = set()
        waiting = set(glyphs)
        while waiting:
            glyph = waiting.pop()
            found.add(glyph)
            waiting |= set(_components(self._outline(glyph))) - found
        return found


def _components(outline: bytes) -> Iterator[int]:
    """The glyphs that a composite one is put together from; none of a simple one."""
    if len(outline) < 10 or unpack_from(">h", outline)[0] >= 0:
        return
    at, flags = 10, _HAS_MORE
    while flags & _HAS_MORE:
        flags, glyph = unpack_from(">2H", outline, at)
        yield glyph
        at += 8 if flags & _WIDE_ARGUMENTS else 6
        for flag, size in ((_SCALED, 2), (_SCALED_TWICE, 4), (_TURNED, 8)):
            if flags & flag:
                at += size


def _letters(cmap: bytes) -> Iterator[tuple[int, int]]:
    """Every letter with its glyph, from the largest table of Unicode letters."""
    places = {}
    for number in range(unpack_from(">H", cmap, 2)[0]):
        platform, encoding, start = unpack_from(">2HI", cmap, 4 + 8 * number)
        places[unpack_from(">H", cmap, start)[0], platform, encoding] = start
    for kind, read in ((12, _letters_of_12), (4, _letters_of_4)):
        for platform, encoding in ((3, 10), (0, 4), (0, 3), (3, 1)):
            start = places.get((kind, platform, encoding))
            if start is not None:
                yield from read(cmap, start)
                return


def _letters_of_12(cmap: bytes, start: int) -> Iterator[tuple[int, int]]:
    for number in range(unpack_from(">I", cmap, start + 12)[0]):
        first, last, glyph = unpack_from(">3I", cmap, start + 16 + 12 * number)
        for letter in range(first, last + 1):
            yield letter, glyph + letter - first


def _letters_of_4(cmap: bytes, start: int) -> Iterator[tuple[int, int]]:
    count = unpack_from(">H", cmap, start + 6)[0] // 2
    ends, begins = start + 14, start + 16 + 2 * count
    for number in range(count):
        last = unpack_from(">H", cmap, ends + 2 * number)[0]
        first = unpack_from(">H", cmap, begins + 2 * number)[0]
        shift = unpack_from(">H", cmap, begins + 2 * (count + number))[0]
        place = begins + 2 * (2 * count + number)
        away = unpack_from(">H", cmap, place)[0]
        for letter in range(first, min(last, 0xFFFE) + 1):
            glyph = letter
            if away:
                glyph = unpack_from(">H", cmap, place + away + 2 * (letter - first))[0]
            if glyph or not away:
                yield letter, (glyph + shift) % 0x10000


def _file(tables: dict[bytes, bytes]) -> bytes:
    """A font file of tables."""
    count = len(tables)
    power = 1 << (count.bit_length() - 1)
    directory = pack(">IHHHH", 0x00010000, count, 16 * power, power.bit_length() - 1, 16)
    directory = directory[:10] + pack(">H", 16 * (count - power))
    start = 12 + 16 * count
    records, contents = b"", b""
    for name, table in sorted(tables.items()):
        padded = table + b"\0" * (-len(table) % 4)
        total = sum(unpack_from(f">{len(padded) // 4}I", padded)) % 2**32
        records += _RECORD.pack(name, total, start + len(contents), len(table))
        contents += padded
    return directory + records + contents


@cache
def system_faces() -> tuple[Face, Face] | None:
    """A regular and a bold sans serif of the system; none if it has none that is known here."""
    files: dict[str, Path] = {}
    for folder in FOLDERS:
        for file in sorted(Path(folder).expanduser().rglob("*.ttf")):
            files.setdefault(file.name, file)
    for regular, bold in FACES:
        if regular in files:
            plain = Face(files[regular].read_bytes())
            return plain, Face(files[bold].read_bytes()) if bold in files else plain
    return None

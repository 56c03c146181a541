"""The letters of PDF files: a sans serif of the system."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

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
KNOWN = (
    ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"),
    ("LiberationSans-Regular.ttf", "LiberationSans-Bold.ttf"),
    ("NotoSans-Regular.ttf", "NotoSans-Bold.ttf"),
    ("Arial.ttf", "Arial Bold.ttf"),
    ("arial.ttf", "arialbd.ttf"),
)


class Faces(NamedTuple):
    """The files of a font."""

    regular: Path
    bold: Path


@cache
def system_faces() -> Faces | None:
    """A regular and a bold sans serif of the system; none if it has none that is known here."""
    files: dict[str, Path] = {}
    for folder in FOLDERS:
        for file in sorted(Path(folder).expanduser().rglob("*.ttf")):
            files.setdefault(file.name, file)
    for regular, bold in KNOWN:
        if regular in files:
            return Faces(files[regular], files.get(bold, files[regular]))
    return None

"""YOLO: a text file for each picture, a line for each thing: class and box, or class and polygon.

Everything is in shares of the picture. What the classes are called stands in data.yaml (names),
classes.txt or obj.names, in the folder of the text files or one above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from gnomon.errors import DataError
from gnomon.files import read_lines, read_yaml
from gnomon.look.placing import box_around, box_of
from gnomon.look.readers.reading import PictureFolder, Seen, files_below, scene_of, trouble_with
from gnomon.look.records import Picture, Region, Trouble
from gnomon.vision.detection import Box

LISTS = ("classes.txt", "obj.names", "labels.txt")
ABOVE = 3  # folders up in which the names of the classes are looked for
UNIT = Picture(id="", width=1, height=1)  # shares are pixels of a picture of one by one


class Yolo:
    """All text files below a folder."""

    kind = "YOLO"
    has_captions = False
    names_are_clean = True
    has_true_depth = False

    def __init__(self, folder: Path, gallery: PictureFolder) -> None:
        self.folder = folder
        self.done = 0
        self._gallery = gallery
        self.needs_depth = gallery.folder is not None
        self._names = class_names(folder)
        self._files = label_files(folder)
        self.total = len(self._files)

    def captions(self) -> Iterator[Sequence[str]]:
        """None: things have names of their own."""
        return iter(())

    def scenes(self) -> Iterator[Seen]:
        """Every picture with its regions, in the order of the paths."""
        for number, file in enumerate(self._files):
            self.done = number
            picture, trouble = self._gallery.described(Picture(id=file.stem), file.stem)
            if trouble:
                yield trouble
            yield from scene_of(picture, self._regions(file, picture))
        self.done = self.total

    def _regions(self, file: Path, picture: Picture) -> Iterator[Region | Trouble]:
        try:
            for number, line in read_lines(file):
                region = self._region(line.split(), f"{file.stem}/{number}", picture)
                if isinstance(region, str):
                    yield trouble_with(f"{file.stem}/{number}", picture, file, region)
                else:
                    yield region
        except DataError as error:
            yield Trouble(what=error.message, file=str(file), picture=picture.id)

    def _region(self, fields: list[str], id: str, picture: Picture) -> Region | str:
        """A line as a region, or what is wrong with it."""
        try:
            label, *numbers = int(fields[0]), *map(float, fields[1:])
        except ValueError:
            return "the line is not a class and its numbers"
        if label not in self._names:
            return f"class {label} has no name"
        if not isfinite(sum(numbers)):
            return "the line has a figure that is no number"
        outline: tuple[float, ...] = ()
        if len(numbers) >= 6 and len(numbers) % 2 == 0:
            outline = tuple(min(1.0, max(0.0, number)) for number in numbers)
            box: Box | None = box_around(outline)
            wrong = "" if box and box.area > 0 else "its outline has no area"
        elif len(numbers) in (4, 5):  # the fifth is how sure a detector was
            across, down, width, height = numbers[:4]
            box, wrong = box_of(across - width / 2, down - height / 2, width, height, UNIT)
        else:
            return f"the line has {len(numbers)} numbers, neither a box nor an outline"
        if box is None or wrong == "its outline has no area":
            return wrong
        confidence = numbers[4] if len(numbers) == 5 else 1.0
        return Region(
            id=id,
            picture=picture.id,
            box=box,
            name=self._names[label],
            outline=(outline,) if outline else (),
            confidence=confidence,
        )


def label_files(folder: Path) -> list[Path]:
    """The text files of a folder that are no lists of names."""
    found = []
    for file in files_below(folder):
        if file.suffix == ".txt" and file.name not in LISTS:
            found.append(file)
    return found


def class_names(folder: Path) -> dict[int, str]:
    """What the classes are called."""
    for place in (folder, *folder.absolute().parents[:ABOVE]):
        for file in sorted(place.glob("*.yaml")):
            names = _names_in(read_yaml(file))
            if names:
                return names
        for name in LISTS:
            if (place / name).is_file():
                lines = [line.strip() for _, line in read_lines(place / name)]
                return dict(enumerate(lines))
    raise DataError(
        "nothing says what the classes of these YOLO files are called.",
        "Put data.yaml or classes.txt beside them.",
        file=folder,
    )


def _names_in(content: Any) -> dict[int, str]:
    names = content.get("names") if isinstance(content, dict) else None
    if isinstance(names, list):
        return {number: str(name) for number, name in enumerate(names)}
    if isinstance(names, dict):
        return {int(number): str(name) for number, name in names.items() if str(number).isdigit()}
    return {}

"""What is exported where, and what all targets share: names, splits, pictures, the canary."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from gnomon.errors import DataError, UsageError
from gnomon.forms import is_written
from gnomon.items.source import ItemSource
from gnomon.items.writing import CANARY
from gnomon.records import Image, Item
from gnomon.vision.images import describe

PICTURES = "images"  # the folder of the pictures


class Exported(NamedTuple):
    """What was written, and how to use it."""

    files: list[Path]
    items: int
    command: str


@dataclass(frozen=True)
class Job:
    """Items on their way to a folder."""

    source: ItemSource
    folder: Path
    prompt: str = ""  # a prompt of Gnomon's, where the target asks by one
    wording: int = 1
    shots: int | None = None
    citation: str = ""  # BibTeX
    licence: str = ""
    command: str = ""  # that makes the same folder again
    parquet: bool = False
    copied: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """A name that any program takes: letters, digits and underscores.

        >>> from gnomon.items.source import load
        >>> Job(load("scales"), Path("x")).name
        'gnomon_scales_fresh'
        """
        source = Path(self.source.source).name.partition(".")[0]
        return re.sub(r"[^a-z0-9]+", "_", f"gnomon_{self.source.benchmark.name}_{source}".lower())

    @property
    def canary(self) -> str:
        """The canary, if the items are Gnomon's own."""
        return CANARY if self.source.source == "fresh" else ""

    @property
    def title(self) -> str:
        """What people call the items."""
        return self.source.benchmark.title or self.source.name

    def items(self) -> Iterator[Item]:
        """The items, with pictures copied into the folder and paths from there."""
        for item in self.source.items():
            if not item.images:
                yield item
                continue
            images = tuple(self._copied(image) for image in item.images)
            yield replace(item, images=images)

    def items_with_choices(self) -> Iterator[Item]:
        """The items; those that are painted instead of answered are refused."""
        for item in self.items():
            if is_written(item):
                raise UsageError(
                    f"Items of {self.source.name} are answered with a {item.form}, and this kind "
                    "of task only has choices of which one is right.",
                    "Make them with --as dataset, or ask them with `gnomon run`.",
                )
            if not item.choices or not item.gold:
                raise UsageError(
                    f"Items of {self.source.name} have no choices with a right one.",
                    "Choose a benchmark with questions, or --as dataset.",
                )
            yield item

    def _copied(self, image: Image) -> Image:
        if "://" in image.path:
            return image
        known = describe(image.path)  # refuses what is no picture
        name = self.copied.get(known.sha256)
        if name is None:
            name = f"{PICTURES}/{known.sha256[:16]}{Path(image.path).suffix.lower()}"
            place = self.folder / name
            place.parent.mkdir(exist_ok=True)
            shutil.copyfile(image.path, place)
            self.copied[known.sha256] = name
        return replace(known, path=name)


@contextmanager
def new_folder(folder: Path) -> Iterator[None]:
    """Make the folder to export to, which must be new or empty; a failure leaves nothing in it."""
    was_there = folder.exists()
    if was_there and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"{folder} is there already and is not empty.",
            "Name a new folder, or remove that one first.",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{error.strerror}.", "Name another folder.", file=folder) from None
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        if was_there:
            folder.mkdir()
        raise

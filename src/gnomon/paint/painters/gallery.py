"""`synth:gallery`: photographs of a folder in which a detector sees both things of an item.

It answers what photographs show, without a painter: a baseline for those that learned from them.
Each photograph is looked at once in a run, and what was seen is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from gnomon.errors import DataError, UsageError
from gnomon.files import open_regular, read_jsonl
from gnomon.fingerprint import sha256_of
from gnomon.models.detectors import open_detector
from gnomon.paint.factory import as_model
from gnomon.paint.keeping import MOST_BYTES
from gnomon.paint.records import Asked, Picture, Request, Trouble, asked_of
from gnomon.records import Item
from gnomon.vision.images import decode
from gnomon.vision.naming import class_of

ENDINGS = (".png", ".jpg", ".jpeg")
MOST_PHOTOS = 200_000
INDEX = "gallery.jsonl"


class Photo(msgspec.Struct, frozen=True):
    """A photograph, and how many things of each class are seen in it."""

    sha256: str
    seen: dict[str, int]
    file: str = ""


@as_model
def gallery(name: str, *, dir: str, finder: str = "ssd", sure: float = 0.3) -> Gallery:
    """Photographs of a folder in which both things of an item are seen.

    dir        the folder with the photographs, JPEG or PNG
    finder     the detector that finds them: ssd, or hf:NAME with classes of its own
    sure       how sure it must be of a thing, from 0 to 1
    """
    if name:
        raise UsageError(
            f"synth:gallery takes no name, not '{name[:60]}'.", "Give --model-set dir=FOLDER."
        )
    folder = Path(dir).expanduser()
    if not folder.is_dir():
        raise DataError("there is no such folder.", "Check --model-set dir=FOLDER.", file=folder)
    if not 0 < sure < 1:
        raise UsageError(f"sure must be between 0 and 1, not {sure}.", "Try 0.3.")
    return Gallery(folder, finder, sure)


class Gallery:
    """Shows photographs."""

    spec = "synth:gallery"
    batch = 16

    def __init__(self, folder: Path, finder: str, sure: float) -> None:
        self._files = _photographs(folder)
        self._finder, self._sure = finder, sure
        self._detector = open_detector(finder)
        if self._detector.labels is None:
            raise UsageError(
                f"{finder} finds what it is told to find, and has no classes of its own.",
                "Choose ssd, or a detector such as hf:facebook/detr-resnet-50.",
            )
        self._index: Path | None = None

    def describe(self) -> dict[str, Any]:
        """What determines the pictures: the photographs, and who looks at them."""
        known = sha256("\n".join(self._digests.values()).encode()).hexdigest()
        about = {"finder": self._finder, "sure": self._sure, "photographs": len(self._files)}
        return {**about, "sha256": known}

    def keep(self, folder: Path) -> None:
        """Keep what was seen in this folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self._index = folder / INDEX

    def count(self, item: Item) -> int:
        """How many photographs show both things."""
        return len(self._showing(item))

    def paint(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Picture | Trouble]]:
        """Each request with a photograph, in an order that is drawn for its item."""
        for request in requests:
            yield request, self._show(request)

    def _show(self, request: Request) -> Picture | Trouble:
        photos = self._showing(request.item)
        if request.number >= len(photos):
            return Trouble("no photograph shows both things")
        try:
            with open_regular(Path(photos[request.number].file)) as stream:
                return Picture(stream.read(MOST_BYTES + 1))
        except OSError as error:
            return Trouble(f"the photograph cannot be read: {error.strerror}")

    def _showing(self, item: Item) -> list[Photo]:
        asked = asked_of(item)
        if asked is None:
            return []
        wanted = self._classes(asked)
        if not wanted:
            return []
        found = []
        for photo in self._photos:
            if all(photo.seen.get(label, 0) >= count for label, count in wanted.items()):
                found.append(photo)
        Random(item.id).shuffle(found)
        return found

    def _classes(self, asked: Asked) -> Counter[str]:
        """How many of each class an item names; nothing if the detector knows one of them not."""
        found: Counter[str] = Counter()
        for name in (asked.first, asked.second):
            label = class_of(name, self._detector.labels)
            if label is None:
                return Counter()
            found[label] += 1
        return found

    @cached_property
    def _digests(self) -> dict[Path, str]:
        return {file: sha256_of(file) for file in self._files}

    @cached_property
    def _photos(self) -> list[Photo]:
        """All photographs, looked at; one that cannot be read shows nothing."""
        known = self._kept()
        found = []
        for file, digest in self._digests.items():
            photo = known.get(digest)
            if photo is None:
                photo = Photo(digest, self._seen(file))
                self._note(photo)
            found.append(msgspec.structs.replace(photo, file=str(file)))
        return found

    def _seen(self, file: Path) -> dict[str, int]:
        try:
            picture = decode(file)
        except DataError:
            return {}
        labels: Counter[str] = Counter()
        for each in self._detector.find(picture):
            if each.confidence >= self._sure:
                labels[each.label] += 1
        return dict(labels)

    def _kept(self) -> dict[str, Photo]:
        if self._index is None or not self._index.is_file():
            return {}
        try:
            return {photo.sha256: photo for _, photo in read_jsonl(self._index, Photo)}
        except DataError:  # cut off by a kill: it is quicker to look again than to repair
            self._index.unlink()
            return {}

    def _note(self, photo: Photo) -> None:
        if self._index is not None:
            with self._index.open("ab") as out:
                out.write(msgspec.json.encode(photo) + b"\n")


def _photographs(folder: Path) -> list[Path]:
    found = []
    for file in sorted(folder.rglob("*")):
        if file.suffix.lower() in ENDINGS and file.is_file():
            found.append(file)
    if not found:
        raise DataError("the folder has no photographs.", "Give another with dir=.", file=folder)
    if len(found) > MOST_PHOTOS:
        raise DataError("the folder has too many photographs.", "Give fewer.", file=folder)
    return found

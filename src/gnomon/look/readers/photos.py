"""A folder of photos without annotations: a detector says what is where.

What it found in a photo is kept by the photo's bytes, so that no photo is looked at twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from gnomon.errors import DataError
from gnomon.look.readers.reading import Seen, photos_in
from gnomon.look.records import AnnotatedPicture, Picture, Region, Trouble
from gnomon.look.store import Store, key_of
from gnomon.vision.detection import Detection
from gnomon.vision.images import Pixels, decode, describe

LEAST_SURE = 0.5  # confidence that a detection needs


class Finder(Protocol):
    """Finds things in pictures."""

    def find(self, picture: Pixels) -> list[Detection]:
        """All that may be in a picture, the surest first."""
        ...


class Photos:
    """All photos below a folder."""

    kind = "photos"
    has_captions = False
    names_are_clean = True
    has_true_depth = False
    needs_depth = True

    def __init__(
        self, folder: Path, detector: str, open_detector: Callable[[], Finder], store: Store
    ) -> None:
        self.folder = folder
        self.done = 0
        self._detector = detector
        self._open_detector = open_detector
        self._opened: Finder | None = None
        self._store = store
        self._files = list(photos_in(folder))
        self.total = len(self._files)

    def captions(self) -> Iterator[Sequence[str]]:
        """None: things have names of their own."""
        return iter(())

    def scenes(self) -> Iterator[Seen]:
        """Every photo with what the detector found, in the order of the paths."""
        for number, file in enumerate(self._files):
            self.done = number
            yield self._scene(file)
        self.done = self.total

    def _scene(self, file: Path) -> Seen:
        id = str(file.relative_to(self.folder).with_suffix(""))
        try:
            image = describe(file)
            found = self._detections(file, image.sha256)
        except DataError as error:
            return Trouble(what=error.message, picture=id, file=str(file))
        picture = Picture(id=id, file=str(file), width=image.width, height=image.height)
        regions = []
        for number, detection in enumerate(found):
            regions.append(
                Region(
                    id=f"{id}/{number}",
                    picture=id,
                    box=detection.box,
                    name=detection.label,
                    confidence=detection.confidence,
                )
            )
        return AnnotatedPicture(picture=picture, regions=tuple(regions))

    def _detections(self, file: Path, sha256: str) -> list[Detection]:
        key = key_of("detections", self._detector, LEAST_SURE, sha256)
        kept = self._store.find(key)
        if kept is not None:
            return msgspec.msgpack.decode(kept, type=list[Detection])
        if self._opened is None:
            self._opened = self._open_detector()
        found = []
        for detection in self._opened.find(decode(file)):
            if detection.confidence >= LEAST_SURE:
                found.append(detection)
        self._store.keep(key, msgspec.msgpack.encode(found))
        return found

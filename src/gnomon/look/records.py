"""The records of looking, and which pixels of a picture a region covers."""

from functools import cache, lru_cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from gnomon.errors import DataError, check_known, importing
from gnomon.files import package_data, read_yaml
from gnomon.records import Image
from gnomon.vision.detection import Box
from gnomon.vision.images import Pixels, size_of

SideLength = Annotated[int, msgspec.Meta(le=1_000_000)]  # in pixels, as a file of others says


class Picture(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A photograph or drawing that regions lie in."""

    id: str
    file: str = ""  # empty if there is none at hand
    width: int = 0  # in pixels; 0 if not known
    height: int = 0
    scene: str = ""  # kitchen, street ...; empty if not known
    depth: str = ""  # file of the true distances (.npy), where something rendered them


class Region(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A part of a picture in which one thing is seen.

    >>> Region(id="7", picture="1", box=Box(0, 0, 0.5, 0.5), phrase="the man's red hat").box.area
    0.25
    """

    id: str  # no other region of the same source has it
    picture: str  # Picture.id
    box: Box  # within the picture, with an area
    name: str = ""  # what is seen; empty until names are made from phrases
    phrase: str = ""  # the caption of the region, if it has one
    whole: str = ""  # the name of what it is a part of
    outline: tuple[tuple[float, ...], ...] = ()  # polygons: x, y, x, y ... as shares
    runs: tuple[int, ...] = ()  # lengths of runs outside, inside, outside ... down the columns
    mask: str = ""  # file of an image in which the region's pixels have the value `mark`
    mark: int = 255
    confidence: float = 1.0  # of a detector; annotations are taken at their word


class RegionPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a region is that findings name: a line of regions.jsonl."""

    id: str
    name: str = ""
    picture: str = ""
    file: str
    width: int = 0
    height: int = 0
    box: Box


class AnnotatedPicture(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One picture with its regions, as readers give them."""

    picture: Picture
    regions: tuple[Region, ...]
    captions: tuple[str, ...] = ()  # of the whole picture: they give names, and no sightings


class Sighting(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """What one region says about the thing that is seen in it."""

    region: str
    picture: str
    object: str
    scene: str = ""
    subtype: str = ""  # empty while none was chosen
    colours: tuple[str, ...] = ()
    area: float = 0.0  # share of the picture that the thing covers: its mask, else its box
    distance: float | None = None  # far is large, whatever the depth model gives; none: not known
    nearness: float | None = None  # from 0 to 1 at the nearest point of the picture
    size: float | None = None  # the area set right by the distance, by the rule of the mode
    cut: bool = False  # only a part is seen: the picture's edge, or something nearer, hides more
    top: float = 0.0  # its highest point, from 0 at the top of the picture to 1
    middle: float = 0.0  # its vertical centroid
    bottom: float = 0.0  # its lowest point
    height: float = 0.0
    # Where the depth map shows a floor: heights above it, the camera's being 1.
    crown: float | None = None  # of its highest point
    foot: float | None = None  # of the lowest point that is seen
    least_foot: float | None = None  # as low as its foot may be: what is in front may hide it
    whole: str = ""  # as in Region


class Trouble(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Something that was skipped or changed, and where: nothing is lost silently."""

    what: str  # in a sentence
    file: str = ""
    picture: str = ""
    region: str = ""
    byte: int | None = None  # the place in the file


# How knowledge is made: `right`, as the paper says (`paper`), or as its code does (`code`).
#
# A mode is a set of named switches, each with a sentence that says what it does
# (data/vision/modes.yaml). `right` has none; one fault alone is right+SWITCH.


class Switch(msgspec.Struct, frozen=True):
    """Something the paper or its code does that `right` does not."""

    stage: str
    of: str  # "paper" or "code": who began it
    says: str


class Mode(NamedTuple):
    """The switches that are on.

    >>> mode = mode_named("right+swapped_axes")
    >>> mode.has("swapped_axes"), mode.has("top_point")
    (True, False)
    """

    name: str
    switches: frozenset[str]

    def has(self, switch: str) -> bool:
        """Whether a switch is on; a switch that does not exist is a mistake of ours."""
        if switch not in switches():
            raise KeyError(switch)
        return switch in self.switches

    def describe(self) -> dict[str, str]:
        """What each switch that is on does, in the order of the stages."""
        return {name: switch.says for name, switch in switches().items() if self.has(name)}


@cache
def _tables() -> tuple[dict[str, Switch], dict[str, list[str]]]:
    entry = read_yaml(package_data("vision/modes.yaml"))
    return msgspec.convert(entry["switches"], dict[str, Switch]), entry["modes"]


def switches() -> dict[str, Switch]:
    """All switches by name."""
    return _tables()[0]


def mode_named(name: str) -> Mode:
    """The mode right, paper or code, with switches added by +SWITCH.

    >>> sorted(mode_named("right").switches)
    []
    """
    base, *added = name.split("+")
    modes = _tables()[1]
    check_known("mode", base, modes)
    for switch in added:
        check_known("switch", switch, switches())
    found = frozenset(modes[base]).union(added)
    return Mode(name, found)


# Which pixels of a picture a region covers: mask, runs or outline; and the crop around it.


T = TypeVar("T", bound=np.generic)
Flags = NDArray[np.bool_]
AGAIN = "Check the annotations, or fetch them again."


def mask_of(region: Region, width: int, height: int) -> Flags:
    """The pixels of a region, in rows and columns; those of its box, if no more is known.

    >>> from gnomon.vision.detection import Box
    >>> half = Region(id="1", picture="1", box=Box(0, 0, 1, 1), runs=(2, 4), name="dog")
    >>> mask_of(half, 3, 2).astype(int).tolist()
    [[0, 1, 1], [0, 1, 1]]
    """
    if region.mask:
        return resampled(_marks(region.mask) == region.mark, (height, width))
    if region.runs:
        return _from_runs(region.runs, width, height)
    if region.outline:
        return _from_outline(region.outline, width, height)
    box = region.box
    corners = (box.left, box.top, box.right, box.top, box.right, box.bottom, box.left, box.bottom)
    return _from_outline((corners,), width, height)


@lru_cache(maxsize=2)  # regions of one picture share a file
def _marks(file: str) -> NDArray[np.uint8]:
    """The values of a mask's file, which is a PNG."""
    with importing("Reading masks of things", "vision"):
        import PIL.Image
    size_of(Path(file))  # refuses what is no picture, or a huge one
    try:
        with PIL.Image.open(file, formats=("PNG",)) as picture:
            values = np.asarray(picture)
    except (PIL.UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError) as error:
        raise DataError(f"the mask is damaged: {error}.", AGAIN, file=file) from None
    return values if values.ndim == 2 else values[:, :, 0]


def resampled(grid: NDArray[T], shape: tuple[int, int]) -> NDArray[T]:
    """The nearest point of a grid for each point of another, of so many rows and columns."""
    rows = (np.arange(shape[0]) + 0.5) * grid.shape[0] / shape[0]
    columns = (np.arange(shape[1]) + 0.5) * grid.shape[1] / shape[1]
    found: NDArray[T] = grid[rows.astype(np.intp)[:, None], columns.astype(np.intp)]
    return found


def _from_runs(runs: tuple[int, ...], width: int, height: int) -> Flags:
    """Runs of pixels outside and inside by turns, down one column after the other."""
    wrong = problem_of_runs(runs, width, height)
    if wrong:
        raise DataError(f"{wrong}.", AGAIN)
    inside = np.arange(len(runs)) % 2 == 1
    return np.repeat(inside, runs).reshape(width, height).T


def _from_outline(outline: tuple[tuple[float, ...], ...], width: int, height: int) -> Flags:
    """The pixels whose middles are inside one of the polygons, by the rule of even and odd."""
    flags = np.zeros((height, width), dtype=bool)
    for polygon in outline:
        points = np.asarray(polygon, dtype=np.float64)
        if len(points) < 6 or len(points) % 2 or not np.isfinite(points).all():
            raise DataError("an outline has three points at least, each of two numbers.", AGAIN)
        flags |= _filled(points.reshape(-1, 2) * (width, height), width, height)
    return flags


def _filled(points: NDArray[np.float64], width: int, height: int) -> Flags:
    """One polygon: in each row a pixel is inside if an odd number of edges lies to its left."""
    ahead = np.roll(points, -1, axis=0)
    rows = np.arange(height)[:, None] + 0.5
    low, high = np.minimum(points[:, 1], ahead[:, 1]), np.maximum(points[:, 1], ahead[:, 1])
    row, edge = np.nonzero((rows >= low) & (rows < high))
    share = (row + 0.5 - points[edge, 1]) / (ahead[edge, 1] - points[edge, 1])
    meets = points[edge, 0] + share * (ahead[edge, 0] - points[edge, 0])
    first = np.clip(np.ceil(meets - 0.5), 0, width).astype(np.intp)  # the first pixel to the right
    turns = np.zeros((height, width + 1), dtype=np.int64)
    np.add.at(turns, (row, first), 1)
    inside: Flags = np.cumsum(turns, axis=1)[:, :width] % 2 == 1
    return inside


# Masks as COCO packs them: lengths of runs outside and inside, down the columns.


DIGIT = 0b11111  # five bits of a number in each character, the lowest first
MORE = 0b100000
SIGN = 0b10000
MOST_RUNS = 10_000_000


def unpacked_runs(text: str) -> tuple[int, ...]:
    """The runs in a packed string: numbers in base 32, from the fourth on as differences.

    Each of those is the difference to the run two places before.

    >>> unpacked_runs("52203")
    (5, 2, 2, 2, 5)
    """
    runs: list[int] = []
    value = shift = 0
    for character in text:
        code = ord(character) - 48
        if not 0 <= code < 64:
            raise ValueError(f"{character!r} is no part of packed runs")
        value |= (code & DIGIT) << shift
        shift += 5
        if code & MORE:
            continue
        if code & SIGN:
            value -= 1 << shift
        if len(runs) > 2:
            value += runs[-2]
        runs.append(value)
        value = shift = 0
    if shift:
        raise ValueError("the packed runs end in the middle of a number")
    return tuple(runs)


def problem_of_runs(runs: tuple[int, ...], width: int, height: int) -> str:
    """What is wrong with runs as the mask of a picture of this size; empty if nothing is."""
    if len(runs) > MOST_RUNS or min(runs, default=-1) < 0:
        return "its mask has a run of no length, or far too many"
    if sum(runs) != width * height:
        return f"its mask has {sum(runs):,} pixels, its picture {width * height:,}"
    return ""


# The part of a picture that shows a thing: enlarged to a least size, as models were shown it.


LEAST_SIDE = 224  # pixels: smaller boxes are enlarged around their centre


class Corners(NamedTuple):
    """Pixels of a picture: left and top inside, right and bottom outside."""

    left: int
    top: int
    right: int
    bottom: int


def corners_of(box: Box, width: int, height: int, least: int = LEAST_SIDE) -> Corners:
    """The pixels of a crop around a box: at least so many each way, but none outside the picture.

    >>> corners_of(Box(0.45, 0.0, 0.55, 0.1), 1000, 800)
    Corners(left=388, top=0, right=612, bottom=152)
    """
    left, right = _stretch(box.left * width, box.right * width, width, least)
    top, bottom = _stretch(box.top * height, box.bottom * height, height, least)
    return Corners(left, top, right, bottom)


def _stretch(low: float, high: float, most: int, least: int) -> tuple[int, int]:
    missing = max(0.0, least - (high - low)) / 2
    first = min(most - 1, max(0, int(low - missing)))
    return first, min(most, max(first + 1, round(high + missing)))


def write_crop(picture: Pixels, box: Box, file: Path, least: int = LEAST_SIDE) -> Image:
    """Write a crop as PNG; the record of the file."""
    part = picture.crop(corners_of(box, picture.width, picture.height, least))
    content = BytesIO()
    part.save(content, "PNG")
    file.write_bytes(content.getvalue())
    digest = sha256(content.getvalue()).hexdigest()
    return Image(path=str(file), sha256=digest, width=part.width, height=part.height)

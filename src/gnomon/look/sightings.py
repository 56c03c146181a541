"""Sightings of the regions of a picture: how large, how far, how high up, which subtype and colour.

What a thing covers is its mask or outline, where it has one, else its box. Nothing is lost: a
region whose depth is not known keeps its name and place, and is named among the troubles. What was
seen in a picture is kept by the picture's bytes, its regions and the models.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from gnomon.errors import DataError
from gnomon.keep import Keep, key_of
from gnomon.look import depths
from gnomon.look.depths import DepthMap, FloorPlane, Grid, Heights
from gnomon.look.masks import mask_of, resampled
from gnomon.look.records import AnnotatedPicture, Mode, Picture, Region, Sighting, Trouble
from gnomon.look.relations import size_of
from gnomon.vision.detection import Box, DepthModel
from gnomon.vision.images import decode, describe

Flags = NDArray[np.bool_]
SIDE = 512  # points of a grid's longer side; larger pictures are thinned out
UNKNOWN = 256  # points of the grid of a picture whose size is not known
EDGE = 0.004  # share of the picture: what ends nearer to its edge is cut off


class PictureSightings(NamedTuple):
    """The sightings of a picture, and what was wrong."""

    sightings: list[Sighting]
    troubles: list[Trouble]


def unseen(scene: AnnotatedPicture, sightings: Sequence[Sighting], what: str) -> PictureSightings:
    """The sightings of a picture as they were, since it cannot be looked at."""
    trouble = Trouble(what=what, picture=scene.picture.id, file=scene.picture.file)
    return PictureSightings(list(sightings), [trouble])


class Grids(NamedTuple):
    """What is known of every point of a picture."""

    distances: Grid
    nearness: Grid
    floor: FloorPlane | None


class SeenThing(NamedTuple):
    """A thing with what it covers of the picture's grid: its mask, or else its box."""

    seen: Sighting
    box: Box
    covered: Flags
    has_mask: bool


def measure(scene: AnnotatedPicture, depth: DepthMap | None, mode: Mode) -> PictureSightings:
    """One sighting for each region of a picture that has a name."""
    troubles: list[Trouble] = []
    flat: list[tuple[Sighting, Box, Flags | None]] = []
    for region in scene.regions:
        if not region.name:
            continue
        mask = None
        if not mode.has("box_extent"):
            mask = _mask(scene.picture, region, troubles)
        flat.append((_flat(scene.picture, region, mask), region.box, mask))
    if depth is None:
        return PictureSightings([seen for seen, _, _ in flat], troubles)

    shape = _grid_shape(scene.picture)
    things = []
    for seen, box, mask in flat:
        covered = _box_flags(box, shape) if mask is None else mask
        things.append(SeenThing(seen, box, covered, mask is not None))
    distances = resampled(depth.distances(), shape)
    background = np.ones(shape, dtype=bool)
    for thing in things:
        background &= ~thing.covered
    floor = depths.floor_of(distances, background)  # what is left of it between the things
    grids = Grids(distances, resampled(depth.nearness(), shape), floor)
    found = []
    for thing in things:
        deep = _deep(thing, grids, mode)
        if deep.distance is None:
            what = "no depth is known inside the region."
            troubles.append(Trouble(what=what, picture=deep.picture, region=deep.region))
        found.append(deep)
    return PictureSightings(found, troubles)


def _mask(picture: Picture, region: Region, troubles: list[Trouble]) -> Flags | None:
    """What a region covers, on the picture's grid; none if it has a box alone."""
    if not (region.outline or region.runs or region.mask):
        return None
    what = ""
    try:
        whole = mask_of(region, picture.width or UNKNOWN, picture.height or UNKNOWN)
        step = _step(picture)
        thin = whole[step // 2 :: step, step // 2 :: step]
        if thin.any():
            return thin
        if not whole.any():
            what = "the mask is empty, its box is used."
    except DataError as error:
        what = f"the mask cannot be read, its box is used: {error.message}"
    if what:
        troubles.append(Trouble(what=what, picture=picture.id, region=region.id))
    return None


def _step(picture: Picture) -> int:
    return max(1, ceil(max(picture.width, picture.height) / SIDE))


def _grid_shape(picture: Picture) -> tuple[int, int]:
    """Rows and columns of the picture's grid."""
    step = _step(picture)
    height, width = picture.height or UNKNOWN, picture.width or UNKNOWN
    return len(range(step // 2, height, step)), len(range(step // 2, width, step))


def _flat(picture: Picture, region: Region, mask: Flags | None) -> Sighting:
    """What is known of a region without its depth."""
    box = region.box
    seen = Sighting(
        region=region.id,
        picture=picture.id,
        object=region.name,
        scene=picture.scene,
        whole=region.whole,
        area=box.area,
        top=box.top,
        middle=(box.top + box.bottom) / 2,
        bottom=box.bottom,
        height=box.height,
        cut=min(box.left, box.top, 1 - box.right, 1 - box.bottom) < EDGE,
    )
    if mask is None:
        return seen
    rows = np.flatnonzero(mask.any(axis=1))
    counts = mask.sum(axis=1)
    middle = float(counts @ (np.arange(len(mask)) + 0.5)) / int(counts.sum()) / len(mask)
    top, bottom = float(rows[0]) / len(mask), float(rows[-1] + 1) / len(mask)
    return replace(
        seen, area=float(mask.mean()), top=top, middle=middle, bottom=bottom, height=bottom - top
    )


def _box_flags(box: Box, shape: tuple[int, int]) -> Flags:
    flags = np.zeros(shape, dtype=bool)
    flags[_cells(box.top, box.bottom, shape[0]), _cells(box.left, box.right, shape[1])] = True
    return flags


def _cells(low: float, high: float, count: int) -> slice:
    """The points between two shares of a side, one at least."""
    first = min(count - 1, max(0, round(low * count)))
    return slice(first, max(first + 1, round(high * count)))


def _deep(thing: SeenThing, grids: Grids, mode: Mode) -> Sighting:
    """A sighting with what the depth map says; as it is if that says nothing there."""
    seen, box, covered, has_mask = thing
    core = covered
    if not has_mask and not mode.has("mean_depth"):
        core = _box_flags(_middle_half(box), covered.shape)  # where there is least background
    distances = grids.distances[core]
    known = distances[np.isfinite(distances)]
    if not len(known):
        return seen
    distance = float(np.median(known))
    if mode.has("mean_depth"):
        distance = float(known.mean())
    heights = _heights(thing, grids, distance)
    if heights:
        seen = replace(seen, **heights._asdict())
    is_part = seen.cut or (has_mask and depths.is_hidden(covered, grids.distances))
    return replace(
        seen,
        distance=distance,
        nearness=_mean(grids.nearness[covered]),
        size=size_of(seen.area, _factor(box, grids, mode, distance), mode),
        cut=is_part,
    )


def _middle_half(box: Box) -> Box:
    across, down = box.width / 4, box.height / 4
    return Box(box.left + across, box.top + down, box.right - across, box.bottom - down)


def _factor(box: Box, grids: Grids, mode: Mode, distance: float) -> float | None:
    """The figure by which an area is set right; the distance, unless the mode has faults."""
    by_code = mode.has("swapped_axes") or mode.has("whole_picture_mean")
    if not by_code and not mode.has("one_minus_nearness"):
        return distance
    grid = grids.nearness if mode.has("one_minus_nearness") else grids.distances
    rows = _cells(box.top, box.bottom, grid.shape[0])
    columns = _cells(box.left, box.right, grid.shape[1])
    if mode.has("swapped_axes"):
        rows, columns = columns, rows
    part = grid[rows, columns]  # smaller or empty, where swapped ones end outside the picture
    if mode.has("whole_picture_mean"):
        return float(part[np.isfinite(part)].sum()) / grid.size
    return _mean(part)


def _mean(values: Grid) -> float | None:
    """Over what is known; none if nothing is."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else None


def _heights(thing: SeenThing, grids: Grids, distance: float) -> Heights | None:
    """How high up a thing is.

    In a box, the columns in the middle are taken for the thing, but not for its highest point:
    what is behind it may show there.
    """
    seen, box, covered, has_mask = thing
    floor = grids.floor
    if floor is None:
        return None
    if has_mask:
        return depths.heights_of(covered, grids.distances, floor, box.width)
    middle = _middle_half(box)._replace(top=box.top, bottom=box.bottom)
    column = _box_flags(middle, covered.shape)
    if not np.isfinite(grids.distances[column]).any():
        return None
    heights = depths.heights_of(column, grids.distances, floor, box.width)
    top = float(floor.height(seen.top, distance))
    least = min(0.0, heights.foot) if seen.cut else heights.least_foot
    return Heights(max(top, heights.foot), heights.foot, least)


# Which models look at pictures: for depth, subtypes and colours; each is opened when needed.


Subtypes = Mapping[str, Mapping[str, int]]
Step = Callable[[AnnotatedPicture, Sequence[Sighting], Subtypes], PictureSightings]


class LookModels(NamedTuple):
    """What to look with; a name that is empty stands for nothing."""

    depth: str = ""
    open_depth: Callable[[], DepthModel | None] = lambda: None
    true_depth: bool = True  # whether distances that come with a picture are used
    steps: tuple[tuple[str, Step], ...] = ()  # subtypes, then colours; each with its name

    def names(self) -> tuple[str, ...]:
        """What results depend on."""
        return (self.depth, str(self.true_depth), *(name for name, _ in self.steps))


MOST_THREADS = 4


class Chunk(NamedTuple):
    """The sightings of each picture of a chunk, and its troubles."""

    pictures: list[list[Sighting]]
    troubles: list[Trouble]


def sightings_of(
    scenes: Sequence[AnnotatedPicture],
    mode: Mode,
    eyes: LookModels,
    subtypes: Subtypes,
    store: Keep,
) -> Chunk:
    """What each region of some scenes says about its thing."""
    chunk = Chunk([], [])
    looker = _Looker(mode, eyes, subtypes, store)
    with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:
        several = any(scene.picture.file for scene in scenes)
        for found in (pool.map if several else map)(looker.look, scenes):
            chunk.pictures.append(found.sightings)
            chunk.troubles.extend(found.troubles)
    return chunk


class _Looker:
    """Looks at pictures, several at once; but models keep state, so each sees one at a time.

    The model for depth is opened with the first picture that is new.
    """

    _depth: DepthModel | None = None

    def __init__(self, mode: Mode, eyes: LookModels, subtypes: Subtypes, store: Keep) -> None:
        self._mode, self._eyes, self._subtypes, self._store = mode, eyes, subtypes, store
        self._one_at_a_time = Lock()

    def look(self, scene: AnnotatedPicture) -> PictureSightings:
        """The sightings of a picture, from the store or anew."""
        if not scene.picture.file:
            return measure(scene, None, self._mode)
        try:
            image = describe(scene.picture.file)
        except DataError as error:
            measured = measure(scene, None, self._mode)
            trouble = _trouble(scene.picture, error)
            return PictureSightings(measured.sightings, [trouble, *measured.troubles])
        known = {region.name: self._subtypes.get(region.name) for region in scene.regions}
        switches = sorted(self._mode.switches)
        key = key_of("picture", image.sha256, scene, switches, self._eyes.names(), known)
        return self._store.kept(key, PictureSightings, lambda: self._look(scene))

    def _look(self, scene: AnnotatedPicture) -> PictureSightings:
        troubles: list[Trouble] = []
        try:
            depth = self._depth_of(scene.picture)
        except DataError as error:
            depth = None
            troubles.append(_trouble(scene.picture, error))
        found = measure(scene, depth, self._mode)
        troubles += found.troubles
        for _, step in self._eyes.steps:
            with self._one_at_a_time:
                found = step(scene, found.sightings, self._subtypes)
            troubles += found.troubles
        return PictureSightings(found.sightings, troubles)

    def _depth_of(self, picture: Picture) -> DepthMap | None:
        if picture.depth and self._eyes.true_depth:
            return depths.true_map(picture)
        if not self._eyes.depth:
            return None
        pixels = decode(Path(picture.file))
        with self._one_at_a_time:
            if self._depth is None:
                self._depth = self._eyes.open_depth()
            if self._depth is None:
                return None
            figures = self._depth.distances(pixels)
            return DepthMap(figures, self._depth.far_is_large)


def _trouble(picture: Picture, error: DataError) -> Trouble:
    return Trouble(what=error.message, picture=picture.id, file=picture.file)

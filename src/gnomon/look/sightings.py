"""Sightings of a chunk of scenes: depth, measures, subtypes and colours of each picture.

What was seen in a picture is kept by the picture's bytes, its regions and the models.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import msgspec

from gnomon.errors import DataError
from gnomon.look.depths import DepthMap, DepthModel, true_map
from gnomon.look.extents import PictureSightings, measure
from gnomon.look.eyes import LookModels, Subtypes
from gnomon.look.modes import Mode
from gnomon.look.records import AnnotatedPicture, Picture, Sighting, Trouble
from gnomon.look.store import Store, key_of
from gnomon.vision.images import decode, describe

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
    store: Store,
) -> Chunk:
    """What each region of some scenes says about its thing."""
    chunk = Chunk([], [])
    looker = _Looker(mode, eyes, subtypes, store)
    with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:
        seen: Iterable[PictureSightings]
        if any(scene.picture.file for scene in scenes):
            seen = pool.map(looker.look, scenes)
        else:
            seen = map(looker.look, scenes)
        for found in seen:
            chunk.pictures.append(found.sightings)
            chunk.troubles.extend(found.troubles)
    return chunk


class _Looker:
    """Looks at pictures, several at once; but models keep state, so each sees one at a time.

    The model for depth is opened with the first picture that is new.
    """

    _depth: DepthModel | None = None

    def __init__(self, mode: Mode, eyes: LookModels, subtypes: Subtypes, store: Store) -> None:
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
        parts = (image.sha256, scene, switches, self._eyes.names(), known)
        key = key_of("picture", *parts)
        kept = self._store.find(key)
        if kept is not None:
            return msgspec.msgpack.decode(kept, type=PictureSightings)
        found = self._look(scene)
        self._store.keep(key, msgspec.msgpack.encode(found))
        return found

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
            return true_map(picture)
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

"""Subtypes of objects: which names are subtypes of which, and which one a region shows.

Section 2.1 of the paper. A subtype ends in the name of its object, as the released code has it
(gnomon.vision.knowledge). The paper merges the hyponyms of a knowledge base; here those of WordNet
(data/vision/hyponyms.yaml), where they occur among the names. A dual encoder then chooses in two
stages: the whole picture rules out subtypes that are less like it than the plain name is; of those
that are left, the one most like the region is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from math import exp
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from gnomon.errors import DataError
from gnomon.files import package_data, read_yaml
from gnomon.look.masks import write_crop
from gnomon.look.records import AnnotatedPicture, Mode, Sighting
from gnomon.look.sightings import PictureSightings, unseen
from gnomon.records import Image
from gnomon.vision.images import Pixels, decode, describe
from gnomon.vision.knowledge import (
    OBJECT_MINIMUM,
    SUBTYPE_MINIMUM,
    subtypes,
)

SIZE_OF_THE_PAPER = 5_400_000  # names in the captions of Visual Genome, for which the minima are


class Minima(NamedTuple):
    """How often a name occurs before it has subtypes, and before it is one."""

    object: int
    subtype: int

    @classmethod
    def usual(cls, total: int) -> Minima:
        """The paper's 100 and 10 for Visual Genome, less for fewer names, but 3 and 2 at least.

        >>> Minima.usual(10_000_000), Minima.usual(900)
        (Minima(object=100, subtype=10), Minima(object=3, subtype=2))
        """
        share = min(1.0, total / SIZE_OF_THE_PAPER)
        return cls(
            object=max(3, round(OBJECT_MINIMUM * share)),
            subtype=max(2, round(SUBTYPE_MINIMUM * share)),
        )


def candidates(
    names: Mapping[str, int], minima: Minima, *, hyponyms: bool = True
) -> dict[str, dict[str, int]]:
    """Every frequent name with its subtypes and their counts, most frequent first.

    >>> names = {"dog": 50, "spaniel": 9, "guide dog": 4}
    >>> candidates(names, Minima(object=10, subtype=3))["dog"]
    {'dog': 100, 'spaniel': 9, 'guide dog': 4}
    >>> candidates(names, Minima(object=10, subtype=3), hyponyms=False)["dog"]
    {'dog': 100, 'guide dog': 4}
    """
    found = subtypes(names, minima.object, minima.subtype)
    if not hyponyms:
        return found
    for name, kinds in _hyponyms().items():
        if names.get(name, 0) < minima.object:
            continue
        added = {}
        for kind in kinds:
            if names.get(kind, 0) >= minima.subtype:
                added[kind] = names[kind]
        if added:
            merged = {**added, **found[name]}
            found[name] = dict(sorted(merged.items(), key=lambda pair: -pair[1]))
    return found


@cache
def _hyponyms() -> dict[str, list[str]]:
    content: dict[str, list[str]] = read_yaml(package_data("vision/hyponyms.yaml"))
    return content


TEXT = "a photo of a {name}"
SOFTMAX_SLACK = 1e-4  # of the released code


class _SubtypeEncoder(Protocol):
    """Says how alike texts and pictures are."""

    def similarities(self, images: Sequence[Image], texts: Sequence[str]) -> list[list[float]]:
        """For each picture one number for each text, scaled as the encoder was trained."""


def select_subtypes(
    scene: AnnotatedPicture,
    sightings: Sequence[Sighting],
    candidates: Mapping[str, Sequence[str]],
    encoder: _SubtypeEncoder,
    mode: Mode,
) -> PictureSightings:
    """The sightings of a picture, each with the subtype that its region shows.

    `candidates` are the subtypes of each object. Where there are none, or none is chosen, the
    subtype stays empty.
    """
    named = {}
    for seen in sightings:
        others = [each for each in candidates.get(seen.object, ()) if each != seen.object]
        if others:
            named[seen.object] = [seen.object, *others]
    if not named:
        return PictureSightings(list(sightings), [])

    file = scene.picture.file
    try:
        picture = decode(file)
        whole = describe(file)
    except DataError as error:
        return unseen(scene, sightings, f"no subtypes: {error.message}")
    left = {}
    for name, names in named.items():
        left[name] = fitting(names, _compared(encoder, whole, names), mode)
    return PictureSightings(_chosen(scene, picture, sightings, left, encoder), [])


def _chosen(
    scene: AnnotatedPicture,
    picture: Pixels,
    sightings: Sequence[Sighting],
    left: Mapping[str, Sequence[str]],
    encoder: _SubtypeEncoder,
) -> list[Sighting]:
    """The second stage: of the names that are left, the one most like the region."""
    boxes = {region.id: region.box for region in scene.regions}
    found = []
    with TemporaryDirectory(prefix="gnomon-crops-") as folder:
        for number, seen in enumerate(sightings):
            names = left.get(seen.object, ())
            if len(names) > 1:
                crop = write_crop(picture, boxes[seen.region], Path(folder, f"{number}.png"))
                scores = _compared(encoder, crop, names)
                best = names[scores.index(max(scores))]
                if best != seen.object:
                    seen = replace(seen, subtype=best)
            found.append(seen)
    return found


def _compared(encoder: _SubtypeEncoder, image: Image, names: Sequence[str]) -> list[float]:
    """How like a picture each name is."""
    texts = [TEXT.format(name=name) for name in names]
    return encoder.similarities([image], texts)[0]


def fitting(names: Sequence[str], scores: Sequence[float], mode: Mode) -> list[str]:
    """The names that fit the whole picture: the first, which is the plain one, and better ones.

    >>> from gnomon.look.records import mode_named
    >>> fitting(["chair", "office chair", "beach chair"], [20.0, 21.0, 3.0], mode_named("right"))
    ['chair', 'office chair']
    """
    least = scores[0]
    if mode.has("softmax_anchor"):
        scores = _softmax(scores)
        least = scores[0] - SOFTMAX_SLACK
    kept = [names[0]]
    for name, score in zip(names[1:], scores[1:], strict=True):
        as_good = score >= least if mode.has("softmax_anchor") else score > least
        if as_good:
            kept.append(name)
    return kept


def _softmax(scores: Sequence[float]) -> list[float]:
    highest = max(scores)
    raised = [exp(score - highest) for score in scores]
    total = sum(raised)
    return [each / total for each in raised]

"""Which subtype of an object a region shows: two stages with a dual encoder (section 2.1).

The whole picture first rules out what does not fit the scene: subtypes that are less like it than
the plain name is. Of those that are left, the one most like the region is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from msgspec.structs import replace

from gnomon.errors import DataError
from gnomon.records import Image
from gnomon.vision.decoding import decode
from gnomon.vision.images import describe
from gnomon.vision.look.crops import write_crop
from gnomon.vision.look.measuring import Measured
from gnomon.vision.look.modes import Mode
from gnomon.vision.look.records import Scene, Sighting, Trouble

TEXT = "a photo of a {name}"
SOFTMAX_SLACK = 1e-4  # of the released code


class Encoder(Protocol):
    """Says how alike texts and pictures are."""

    def similarities(self, images: Sequence[Image], texts: Sequence[str]) -> list[list[float]]:
        """For each picture one number for each text, scaled as the encoder was trained."""


def select_subtypes(
    scene: Scene,
    sightings: Sequence[Sighting],
    candidates: Mapping[str, Sequence[str]],
    encoder: Encoder,
    mode: Mode,
) -> Measured:
    """The sightings of a picture, each with the subtype that its region shows.

    `candidates` are the subtypes of each object. Where there are none, or none is chosen, the
    subtype stays empty.
    """
    objects = dict.fromkeys(seen.object for seen in sightings if _others(seen.object, candidates))
    if not objects:
        return Measured(list(sightings), [])
    file = scene.picture.file
    try:
        picture = decode(file)
        whole = describe(file)
    except DataError as error:
        what = f"no subtypes: {error.message}"
        return Measured(list(sightings), [Trouble(what=what, picture=scene.picture.id, file=file)])

    left = {}
    for name in objects:
        names = [name, *_others(name, candidates)]
        (scores,) = encoder.similarities([whole], [TEXT.format(name=each) for each in names])
        left[name] = fitting(names, scores, mode)
    boxes = {region.id: region.box for region in scene.regions}
    found = []
    with TemporaryDirectory(prefix="gnomon-crops-") as folder:
        for number, seen in enumerate(sightings):
            names = left.get(seen.object, [])
            if len(names) < 2:
                found.append(seen)
                continue
            crop = write_crop(picture, boxes[seen.region], Path(folder, f"{number}.png"))
            (scores,) = encoder.similarities([crop], [TEXT.format(name=each) for each in names])
            best = names[scores.index(max(scores))]
            found.append(seen if best == seen.object else replace(seen, subtype=best))
    return Measured(found, [])


def _others(name: str, candidates: Mapping[str, Sequence[str]]) -> list[str]:
    return [each for each in candidates.get(name, ()) if each != name]


def fitting(names: Sequence[str], scores: Sequence[float], mode: Mode) -> list[str]:
    """The names that fit the whole picture: the first, which is the plain one, and better ones.

    >>> from gnomon.vision.look.modes import mode_named
    >>> fitting(["chair", "office chair", "beach chair"], [20.0, 21.0, 3.0], mode_named("right"))
    ['chair', 'office chair']
    """
    plain, *others = names
    if mode.has("softmax_anchor"):
        highest = max(scores)
        raised = [exp(score - highest) for score in scores]
        shares = [each / sum(raised) for each in raised]
        kept = [share + SOFTMAX_SLACK >= shares[0] for share in shares[1:]]
    else:
        kept = [score > scores[0] for score in scores[1:]]
    return [plain, *(name for name, fits in zip(others, kept, strict=True) if fits)]

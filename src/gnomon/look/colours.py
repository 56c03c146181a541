"""What colour a thing has: a model that sees is asked, or pixels are looked at.

A model is asked about a crop with the eleven basic colours as choices, as about any other item.
Pixels tell the colours of rendered things; on photographs, where light and shade deceive, they are
wrong more often than not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from gnomon.contracts import Model
from gnomon.errors import DataError
from gnomon.files import package_data, read_yaml
from gnomon.look.masks import mask_of, write_crop
from gnomon.look.records import AnnotatedPicture, Mode, Region, Sighting, Trouble
from gnomon.look.sightings import PictureSightings, unseen
from gnomon.records import Answer, Image, Item
from gnomon.vision.images import Pixels, decode
from gnomon.vision.knowledge import (
    COLOURS,
    basic_colours,
)

_Floats = NDArray[np.float64]
QUESTION = "What color is the {name}?"
MOST_PIXELS = 4096  # of a thing that are looked at
THIN = 0.2  # share of a thing's pixels that must be inside it
LIT = 0.8  # share of a thing's pixels, the brightest: the others may lie in deep shade
# Shade changes the lightness of a colour and leaves the ratios of the others to it as they are. So
# those tell colours apart, and lightness counts little: enough for black, gray and white.
LIGHTNESS = 0.1
DARKEST = 0.05
WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
# From linear light to the responses of the eye, and from their cube roots to lightness, green to
# red, and blue to yellow (Oklab, Ottosson 2020).
RESPONSES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
OPPONENTS = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def ask_colours(
    scene: AnnotatedPicture, sightings: Sequence[Sighting], model: Model, mode: Mode
) -> PictureSightings:
    """The sightings of a picture with the colours that a model sees in its crops."""
    try:
        picture = decode(scene.picture.file)
    except DataError as error:
        return unseen(scene, sightings, f"no colours: {error.message}")
    regions = {region.id: region for region in scene.regions}
    troubles: list[Trouble] = []
    with TemporaryDirectory(prefix="gnomon-crops-") as folder:
        items = []
        for number, seen in enumerate(sightings):
            crop = write_crop(picture, regions[seen.region].box, Path(folder, f"{number}.png"))
            items.append(_question(seen, crop))
        answers = model.answer(items)
    found = []
    for seen, answer in zip(sightings, _first_samples(items, answers), strict=True):
        colours, trouble = _read(answer, mode)
        if trouble:
            troubles.append(Trouble(what=trouble, picture=seen.picture, region=seen.region))
        found.append(replace(seen, colours=colours))
    return PictureSightings(found, troubles)


def _question(seen: Sighting, crop: Image) -> Item:
    return Item(
        id=seen.region,
        form="choice",
        text=QUESTION.format(name=seen.subtype or seen.object),
        choices=COLOURS,
        images=(crop,),
    )


def _first_samples(items: Sequence[Item], answers: Iterable[Answer]) -> list[Answer]:
    firsts: dict[str, Answer] = {}
    for answer in answers:
        firsts.setdefault(answer.item, answer)
    return [firsts[item.id] for item in items]


def _read(answer: Answer, mode: Mode) -> tuple[tuple[str, ...], str]:
    """The colours of an answer, all that a reply names; and what is wrong, if there are none."""
    if answer.error:
        return (), f"the model could not be asked for the color: {answer.error}."
    found: tuple[str, ...] = ()
    if answer.reply:
        found = colours_in(answer.reply, mode)
    if not found and answer.choice in COLOURS:
        found = (answer.choice,)
    if found:
        return found, ""
    return (), f"the reply names no basic color: {(answer.reply or '')[:60]!r}."


def colours_in(reply: str, mode: Mode) -> tuple[str, ...]:
    """The basic colours that a reply names, in words of its own; as the code does, anywhere in it.

    >>> from gnomon.look.records import mode_named
    >>> colours_in("Golden and off-white.", mode_named("right"))
    ('yellow', 'white')
    >>> colours_in("multi-colored", mode_named("right"))
    ()
    >>> colours_in("multi-colored", mode_named("code"))
    ('red',)
    """
    if mode.has("substring_colours"):
        return tuple(colour for colour, n in basic_colours({reply.lower(): 1}).items() if n)
    found: dict[str, None] = {}
    for compound in WORD.findall(reply.lower()):
        for word in compound.split("-"):
            for colour in _colours_of_words().get(word, ()):
                found[colour] = None
    return tuple(found)


@cache
def _colours_of_words() -> dict[str, tuple[str, ...]]:
    """Basic colours by themselves, and what other words stand for."""
    found: dict[str, tuple[str, ...]] = {}
    for word, colours in read_yaml(package_data("colours.yaml"))["terms"]:
        found[word] = tuple(colours.split())
    return {**found, **{colour: (colour,) for colour in COLOURS}}


def colours_by_pixels(scene: AnnotatedPicture, sightings: Sequence[Sighting]) -> PictureSightings:
    """The sightings of a picture with the colour that most lit pixels of each have."""
    try:
        picture = decode(scene.picture.file)
    except DataError as error:
        return unseen(scene, sightings, f"no colours: {error.message}")
    regions = {region.id: region for region in scene.regions}
    found, troubles = [], []
    for seen in sightings:
        try:
            pixels = _pixels_of(picture, regions[seen.region])
        except DataError as error:
            what = f"no colour: {error.message}"
            troubles.append(Trouble(what=what, picture=seen.picture, region=seen.region))
            found.append(seen)
            continue
        found.append(replace(seen, colours=(colour_of_pixels(pixels),)))
    return PictureSightings(found, troubles)


def _pixels_of(picture: Pixels, region: Region) -> NDArray[np.uint8]:
    """[pixels, 3] those of a region, thinned out."""
    covered = mask_of(region, picture.width, picture.height)
    if not covered.any():
        raise DataError("the mask is empty.", "Check the annotations.")
    pixels = np.asarray(picture)[_inner(covered)]
    return pixels[:: max(1, len(pixels) // MOST_PIXELS)]


def _inner(covered: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The pixels whose neighbours belong to the thing, too: others are mixed with what is behind.

    Of something thin there may be hardly any; then all of its pixels count.
    """
    inner = covered.copy()
    inner[1:] &= covered[:-1]
    inner[:-1] &= covered[1:]
    inner[:, 1:] &= covered[:, :-1]
    inner[:, :-1] &= covered[:, 1:]
    return inner if inner.sum() >= THIN * covered.sum() else covered


def colour_of_pixels(pixels: NDArray[np.uint8]) -> str:
    """The basic colour of a thing from its pixels, by those that are lit best.

    >>> colour_of_pixels(np.array([[200, 30, 30], [90, 10, 10], [220, 40, 40]], dtype=np.uint8))
    'red'
    """
    seen = _places(pixels)
    lightness = seen[:, 0]
    lit = seen[lightness >= np.quantile(lightness, 1 - LIT)]
    shades = _shades()
    distances = ((lit[:, None, :] - shades.places) ** 2).sum(axis=2)
    counts = Counter(shades.colours[number] for number in distances.argmin(axis=1).tolist())
    most = max(counts.values())
    return next(colour for colour in COLOURS if counts[colour] == most)


class Shades(NamedTuple):
    """What the basic colours look like."""

    colours: tuple[str, ...]
    places: _Floats


@cache
def _shades() -> Shades:
    table = read_yaml(package_data("vision/basic-colours.yaml"))["shades"]
    colours: list[str] = []
    values = []
    for colour, shades in table.items():
        colours += [colour] * len(shades)
        values += shades
    return Shades(tuple(colours), _places(np.array(values, dtype=np.uint8)))


def _places(pixels: NDArray[np.uint8]) -> _Floats:
    """Where colours are to the eye: lightness, and how red and how yellow they are for it."""
    screen = pixels / 255.0
    light = np.where(screen <= 0.04045, screen / 12.92, ((screen + 0.055) / 1.055) ** 2.4)
    seen = np.cbrt(light @ RESPONSES.T) @ OPPONENTS.T
    lightness = np.maximum(seen[:, :1], DARKEST)
    return np.hstack((LIGHTNESS * lightness, seen[:, 1:] / lightness))


# Subtypes of objects: which names are subtypes of which, and which one a region shows.
#

"""Pictures of a page: those that items ask about, and those that models painted."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gnomon.errors import GnomonError
from gnomon.forms import gold_in_words, is_right
from gnomon.records import Answer, Image, Item
from gnomon.reports.study import NO_ANSWER, NOT_ASKED, Entrant, Study
from gnomon.reports.words import clip
from gnomon.runs import PICTURES, Run
from gnomon.vision.images import describe, thumbnail

LARGE = 640  # pixels of the longer side of a picture that stands alone
MOST_BYTES = 12_000_000  # of thumbnails and sketches in one page


class Album:
    """What one page shows of its items' pictures, until its room is used up.

    A page has one album: each picture that it hands out is one more in the page's file.
    """

    def __init__(self, room: int | None = None) -> None:
        self._room = MOST_BYTES if room is None else room

    def thumbnails(self, item: Item) -> tuple[str, ...]:
        """Data URIs of an item's pictures, without those that cannot be shown."""
        return self._all(item, thumbnail_of)

    def pictures(self, item: Item) -> tuple[str, ...]:
        """The same, large enough to look at closely."""
        return self._all(item, picture_of)

    def sketches(self, item: Item) -> tuple[str, ...]:
        """The scenes behind an item's pictures as drawings that can be turned, and their plans."""
        return self._all(item, sketches_of)

    def shown(self, image: Image) -> str:
        """The data URI of a picture; empty if it cannot be shown."""
        return self._one(image, thumbnail_of)

    def _all(self, item: Item, show: Callable[[Image], str]) -> tuple[str, ...]:
        found = [self._one(image, show) for image in item.images]
        return tuple(filter(None, found))

    def _one(self, image: Image, show: Callable[[Image], str]) -> str:
        shown = show(image)
        if len(shown) > self._room:
            return ""
        self._room -= len(shown)
        return shown


@lru_cache(maxsize=512)
def thumbnail_of(image: Image) -> str:
    """A data URI; empty if the file is gone, has changed or cannot be decoded."""
    return _drawn(image)


@lru_cache(maxsize=32)
def picture_of(image: Image) -> str:
    """The same of a larger copy, to look at closely."""
    return _drawn(image, LARGE)


def _drawn(image: Image, *side: int) -> str:
    try:
        return thumbnail(image.path, *side) if _is_same(image) else ""
    except (GnomonError, OSError, ValueError):  # ValueError: a path that no file can have
        return ""


@lru_cache(maxsize=512)
def sketches_of(image: Image) -> str:
    """A view to turn and a plan of the scene that a picture was drawn from; empty for photos."""
    from gnomon.scenes.pictures import scene_in
    from gnomon.scenes.sketches import plan, turnable

    try:
        scene = scene_in(image.path) if _is_same(image) else None
    except (GnomonError, OSError, ValueError):
        return ""
    if scene is None:
        return ""
    return turnable(scene) + plan(scene)


def _is_same(image: Image) -> bool:
    """Whether the file still is the picture that was asked about."""
    return describe(image.path).sha256 == image.sha256


# What models that paint have painted: pictures with what the judge saw in them.
#
# The pictures lie in the run's folder; what the judge saw is in the answers.


SHOWN_OF_SORT = 6  # items of each sort
PICTURES_OF_ITEM = 4
PROMPT_LENGTH, NAME_LENGTH, REASON_LENGTH = 420, 40, 160  # characters
DRAWN_SIDE = 160  # units of a drawn picture's longer side


class PaintingMark(NamedTuple):
    """A box that the judge saw, in units of the drawn picture."""

    name: str
    x: float
    y: float
    width: float
    height: float
    second: bool  # whether it is the second of the item's two things


class Painting(NamedTuple):
    """A picture with the boxes that the judge saw."""

    source: str  # a data URI
    width: float
    height: float
    marks: tuple[PaintingMark, ...]
    said: str  # what the judge says that it shows, or why it says nothing


class _PaintedItem(NamedTuple):
    """An item that was painted."""

    prompt: str
    gold: str
    said: str
    right: bool
    paintings: tuple[Painting, ...]


class PictureWall(NamedTuple):
    """Painted items of one sort by one model."""

    model: str
    sort: str  # right, wrong, undecided
    total: int  # items of the sort
    shown: tuple[_PaintedItem, ...]


def paints(entrant: Entrant) -> bool:
    """Whether a run is of a model that paints."""
    return "painter" in entrant.run.manifest.model_description


def walls(study: Study, entrants: Sequence[Entrant], album: Album) -> list[PictureWall]:
    """For each model that paints: what is right, what is wrong, and what the judge left open."""
    found = []
    for entrant in entrants:
        if paints(entrant):
            found += _walls(study, entrant, album)
    return found


def _walls(study: Study, entrant: Entrant, album: Album) -> list[PictureWall]:
    answered = (entrant.choice != NO_ANSWER) & (entrant.choice != NOT_ASKED)
    sorts = {
        "Painted as asked": np.flatnonzero(answered & entrant.right),
        "Painted otherwise": np.flatnonzero(answered & ~entrant.right),
        "Left open by the judge": np.flatnonzero(entrant.choice == NO_ANSWER),
    }
    found = []
    for sort, places in sorts.items():
        shown = []
        for i in places[:SHOWN_OF_SORT].tolist():
            row = entrant.run.row(study.items[i].id)
            if row is not None and row[1] is not None:
                shown.append(_painted(row[0], row[1], entrant, album))
        if shown:
            found.append(PictureWall(entrant.label, sort, len(places), tuple(shown)))
    return found


def _painted(item: Item, answer: Answer, entrant: Entrant, album: Album) -> _PaintedItem:
    seen = _seen(answer)[:PICTURES_OF_ITEM]
    paintings = [_painting(item, each, entrant, album) for each in seen]
    return _PaintedItem(
        prompt=clip(item.text, PROMPT_LENGTH),
        gold=gold_in_words(item),
        said=answer.choice or clip(answer.error or "left open", REASON_LENGTH),
        right=is_right(item, answer.choice),
        paintings=tuple(filter(None, paintings)),
    )


def _seen(answer: Answer) -> list[Mapping[str, Any]]:
    """What the judge saw, picture by picture; nothing where the answer does not tell."""
    try:
        found = json.loads(answer.reply or "[]")
    except ValueError:
        return []
    if not isinstance(found, list):
        return []
    return [each for each in found if isinstance(each, Mapping)]


def _painting(
    item: Item, seen: Mapping[str, Any], entrant: Entrant, album: Album
) -> Painting | None:
    """A picture of the run; none if it is gone or has changed."""
    name = Path(str(seen.get("picture", ""))).name  # a run may come from a stranger
    image = Image(path=str(entrant.run.path / PICTURES / name), sha256=str(seen.get("sha256", "")))
    source = album.shown(image)
    if not source:
        return None
    known = describe(image.path)
    scale = DRAWN_SIDE / max(known.width, known.height)
    width, height = known.width * scale, known.height * scale
    return Painting(source, width, height, _marks(seen, width, height), _said(item, seen))


def _marks(seen: Mapping[str, Any], width: float, height: float) -> tuple[PaintingMark, ...]:
    things = seen.get("things")
    if not isinstance(things, Mapping):
        return ()
    found = []
    for number, (name, thing) in enumerate(things.items()):
        try:
            left, top, right, bottom = map(float, thing["box"])
        except (KeyError, TypeError, ValueError):
            continue
        size = (width * (right - left), height * (bottom - top))
        found.append(
            PaintingMark(clip(name, NAME_LENGTH), width * left, height * top, *size, number > 0)
        )
    return tuple(found)


def _said(item: Item, seen: Mapping[str, Any]) -> str:
    choice = seen.get("choice")
    if isinstance(choice, int) and 0 <= choice < len(item.choices):
        return item.choices[choice]
    return clip(str(seen.get("abstains") or seen.get("trouble") or "left open"), REASON_LENGTH)


# The pictures that a model made in answer to an item: only files below the run's own folder.


MOST_PAINTINGS = 4  # pictures of an answer
LARGE_PAINTING = 480  # pixels


def painted(run: Run, answer: Answer) -> list[str]:
    """Data URIs of what was painted, without what cannot be shown."""
    found = []
    for name in answer.files[:MOST_PAINTINGS]:
        file = _inside(run.path, name)
        if file is None:
            continue
        try:
            found.append(thumbnail(file, LARGE_PAINTING))
        except (GnomonError, OSError, ValueError):  # not a picture, or not any more
            continue
    return found


def _inside(folder: Path, name: str) -> Path | None:
    """The file of that name in a run's folder; none if it leads out of it."""
    try:
        file = (folder / name).resolve()
    except (OSError, ValueError):
        return None
    return file if file.is_relative_to(folder.resolve()) else None

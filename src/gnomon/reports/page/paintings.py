"""What models that paint have painted: pictures with what the judge saw in them.

The pictures lie in the run's folder; what the judge saw is in the answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gnomon.records import Answer, Image, Item
from gnomon.reports.pictures import Album
from gnomon.reports.study import NO_ANSWER, NOT_ASKED, Entrant, Study
from gnomon.reports.words import clip
from gnomon.runs import PICTURES
from gnomon.vision.images import describe

SHOWN = 6  # items of each sort
PICTURES_OF_ITEM = 4
TEXT, NAME, WHY = 420, 40, 160  # characters
SIDE = 160  # units of a drawn picture's longer side


class Mark(NamedTuple):
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
    marks: tuple[Mark, ...]
    said: str  # what the judge says that it shows, or why it says nothing


class Painted(NamedTuple):
    """An item that was painted."""

    prompt: str
    gold: str
    said: str
    right: bool
    paintings: tuple[Painting, ...]


class Wall(NamedTuple):
    """Painted items of one sort by one model."""

    model: str
    sort: str  # right, wrong, undecided
    total: int  # items of the sort
    shown: tuple[Painted, ...]


def paints(entrant: Entrant) -> bool:
    """Whether a run is of a model that paints."""
    return "painter" in entrant.run.manifest.model_description


def walls(study: Study, entrants: Sequence[Entrant], album: Album) -> list[Wall]:
    """For each model that paints: what is right, what is wrong, and what the judge left open."""
    found = []
    for entrant in entrants:
        if paints(entrant):
            found += _walls(study, entrant, album)
    return found


def _walls(study: Study, entrant: Entrant, album: Album) -> list[Wall]:
    answered = (entrant.choice != NO_ANSWER) & (entrant.choice != NOT_ASKED)
    sorts = {
        "Painted as asked": np.flatnonzero(answered & entrant.right),
        "Painted otherwise": np.flatnonzero(answered & ~entrant.right),
        "Left open by the judge": np.flatnonzero(entrant.choice == NO_ANSWER),
    }
    chosen = {sort: places[:SHOWN].tolist() for sort, places in sorts.items()}
    found = []
    for sort, places in chosen.items():
        shown = []
        for i in places:
            row = entrant.run.row(study.items[i].id)
            if row is not None and row[1] is not None:
                shown.append(_painted(row[0], row[1], entrant, album))
        if shown:
            found.append(Wall(entrant.label, sort, len(sorts[sort]), tuple(shown)))
    return found


def _painted(item: Item, answer: Answer, entrant: Entrant, album: Album) -> Painted:
    paintings = []
    for seen in _seen(answer)[:PICTURES_OF_ITEM]:
        painting = _painting(item, seen, entrant, album)
        if painting is not None:
            paintings.append(painting)
    return Painted(
        prompt=clip(item.text, TEXT),
        gold=" or ".join(item.gold),
        said=answer.choice or clip(answer.error or "left open", WHY),
        right=answer.choice in item.gold,
        paintings=tuple(paintings),
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
    scale = SIDE / max(known.width, known.height)
    width, height = known.width * scale, known.height * scale
    return Painting(source, width, height, _marks(seen, width, height), _said(item, seen))


def _marks(seen: Mapping[str, Any], width: float, height: float) -> tuple[Mark, ...]:
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
        found.append(Mark(clip(name, NAME), width * left, height * top, *size, number > 0))
    return tuple(found)


def _said(item: Item, seen: Mapping[str, Any]) -> str:
    choice = seen.get("choice")
    if isinstance(choice, int) and 0 <= choice < len(item.choices):
        return item.choices[choice]
    return clip(str(seen.get("abstains") or seen.get("trouble") or "left open"), WHY)

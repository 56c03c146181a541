"""Replies to items whose answer is written: numbers, sets, points and orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gnomon.forms import lists, regions
from gnomon.forms.numbers import unit_of, written
from gnomon.models.prompts.prompt import Prompt
from gnomon.models.reading.lists import read_order, read_set
from gnomon.models.reading.numbers import read_number
from gnomon.models.reading.points import read_points
from gnomon.records import Item

UNKNOWN_SIZE = (1000, 1000)  # of a picture of which nothing is known


class WrittenReading(NamedTuple):
    """The answer that was read, as answers of its form are written, and by which rule."""

    said: str | None
    rule: str


def _number(item: Item, reply: str, letters: bool, points: str) -> WrittenReading:
    unit = unit_of(item.gold)
    found = read_number(reply, unit, item.text)
    if found.value is None:
        return WrittenReading(None, found.rule)
    return WrittenReading(written(found.value, unit), found.rule)


def _point(item: Item, reply: str, letters: bool, points: str) -> WrittenReading:
    shown = (item.images[0].width, item.images[0].height) if item.images else (0, 0)
    judged = regions.size_of(item.gold) or (shown if shown[0] else UNKNOWN_SIZE)
    size = shown if shown[0] else judged
    found = read_points(reply, size, points)
    across, down = judged[0] / size[0], judged[1] / size[1]  # a mask may be smaller
    placed = [(x * across, y * down) for x, y in found.points]
    return WrittenReading(regions.write_points(placed) or None, found.rule)


def _set(item: Item, reply: str, letters: bool, points: str) -> WrittenReading:
    found = read_set(reply, item.choices, letters=letters)
    return WrittenReading(lists.written(found.labels or ()) or None, found.rule)


def _order(item: Item, reply: str, letters: bool, points: str) -> WrittenReading:
    found = read_order(reply, item.choices, letters=letters)
    return WrittenReading(lists.written(found.labels or ()) or None, found.rule)


READERS: dict[str, Callable[[Item, str, bool, str], WrittenReading]] = {
    "number": _number,
    "point": _point,
    "set": _set,
    "order": _order,
}


def read_written(
    item: Item, reply: str, *, letters: bool = False, points: str = ""
) -> WrittenReading | None:
    """How the reply to an item reads whose answer is written; none for items of other forms.

    `letters` stand for the choices, where the question showed them; `points` says how coordinates
    are written.
    """
    reader = READERS.get(item.form)
    return reader(item, reply, letters, points) if reader else None


def read_prompted(item: Item, reply: str, prompt: Prompt) -> WrittenReading | None:
    """The same for an item that a prompt put."""
    if item.form not in READERS:
        return None
    letters = prompt.shows_letters(item.form)
    return read_written(item, reply, letters=letters, points=prompt.points)

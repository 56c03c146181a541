"""What people can be asked: a benchmark, a file of items, or the pictures that a model painted."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from gnomon.errors import DataError, RunError
from gnomon.items.limits import spread
from gnomon.items.source import ItemSource
from gnomon.paint.records import PAINTED, PICTURE
from gnomon.people.answering import Asked
from gnomon.people.page.pictures import check_picture
from gnomon.records import Image, Item
from gnomon.runs import PICTURES, Run


def asked_from_source(source: ItemSource) -> Asked:
    """The items of a benchmark, or of a file."""
    return _checked(source.name, dict(source.options), source.limit, source.items())


def asked_from_painted(run: Run, limit: int | None = None) -> Asked:
    """The pictures that a model painted for the scenes of a run, each an item of its own."""
    from gnomon.paint.model import read_log

    folder = run.path / PICTURES
    painted = read_log(folder)
    if not painted:
        raise RunError(
            f"{run.path} has no painted pictures.", "Give a run of an image-synthesis model."
        )
    most = max(number for _, number in painted)
    items = []
    for item in run.items():
        for number in range(most + 1):
            found = painted.get((item.id, number))
            if found is not None and found.file:
                image = Image(path=str(folder / found.file), sha256=found.sha256)
                items.append(_pictured(item, number, image, several=most > 0))
    return _checked(run.benchmark, run.manifest.options, limit, _spread(items, limit))


def _pictured(item: Item, number: int, image: Image, *, several: bool) -> Item:
    """A scene with its picture. With one picture an item, ids stay those of the scenes."""
    name = f"{item.id}#{number}" if several else item.id
    tags = {**item.tags, PAINTED: item.id, PICTURE: str(number)}
    return msgspec.structs.replace(item, id=name, tags=tags, images=(image,))


def _spread(items: list[Item], limit: int | None) -> list[Item]:
    if limit is None:
        return items
    return [items[place] for place in spread(len(items), limit)]


def _checked(
    name: str, options: dict[str, object], limit: int | None, items: Iterable[Item]
) -> Asked:
    """The items, whose pictures are all there."""
    found = tuple(items)
    if not found:
        raise DataError(f"{name} has no items.", "Give another file, or other options.")
    for image in {image.path: image for item in found for image in item.images}.values():
        check_picture(image)
    return Asked(name, options, limit, found)

"""Whether what is tested was trained on: the same item, the same group, the same object.

What counts as an object is the benchmark's to say (`hold_out`), or the recipe's. Sharing is refused
with its count, unless the recipe says that the part may share it.
"""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.errors import DataError
from gnomon.records import Item

ANY = "*"  # allows every group and object
Tags = tuple[str, ...]
HoldOut = tuple[Tags, ...]  # alternatives: the first of which all items have every tag


def check_apart(
    train: Sequence[Item],
    part: Sequence[Item],
    name: str,
    allowed: frozenset[str],
    hold_out: HoldOut = (),
) -> None:
    """Refuse what a part shares with train, with its count."""
    if "item" not in allowed:
        _refuse(name, "item", "item", _shared(_questions(train), _questions(part)))
    if ANY in allowed:
        return
    if "group" not in allowed:
        _refuse(name, "group", "group", _shared(_groups(train), _groups(part)))
    for tags in _compared([*train, *part], hold_out):
        if not allowed.intersection(tags):
            shared = _shared(_objects(train, tags), _objects(part, tags))
            _refuse(name, tags[0], f"value of {' or '.join(tags)}", shared)


def _compared(items: Sequence[Item], hold_out: HoldOut) -> HoldOut:
    """The alternatives by which items are compared: the first that all have, else every one."""
    for tags in hold_out:
        if all(_has(item, tags) for item in items):
            return (tags,)
    return hold_out


def _has(item: Item, tags: Tags) -> bool:
    return all(map(item.tags.get, tags))


def _refuse(name: str, unit: str, noun: str, shared: Sequence[str]) -> None:
    if not shared:
        return
    what = noun if len(shared) == 1 else _plural(noun)
    raise DataError(
        f"train and the part '{name}' share {len(shared):,} {what}, such as '{shared[0]}'.",
        f"Hold them apart, or say that they may: may_share: [{unit}] in {name}.",
    )


def _plural(noun: str) -> str:
    first, space, rest = noun.partition(" ")
    return f"{first}s{space}{rest}"


def _shared(one: dict[object, str], other: dict[object, str]) -> list[str]:
    """What both have, as people know it, in order."""
    return sorted({name for key, name in other.items() if key in one})


def _questions(items: Sequence[Item]) -> dict[object, str]:
    """Items by id and by what is asked: the same question under another id is the same."""
    found: dict[object, str] = {}
    for item in items:
        found[item.id] = item.id
        pictures = tuple(image.identity for image in item.images)
        found[(item.context, item.text, pictures)] = item.id
    return found


def _groups(items: Sequence[Item]) -> dict[object, str]:
    return {item.group: item.group for item in items if item.group}


def _objects(items: Sequence[Item], tags: Tags) -> dict[object, str]:
    """The values of tags, of the items that have all of them."""
    found: dict[object, str] = {}
    for item in items:
        if _has(item, tags):
            for tag in tags:
                found[item.tags[tag]] = item.tags[tag]
    return found

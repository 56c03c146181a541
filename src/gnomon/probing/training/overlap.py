"""Whether what is tested was trained on: the same item, the same group, the same object.

What counts as an object is the benchmark's to say (`hold_out`). Sharing is refused with its count,
unless the recipe says that the part may share it.
"""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.contracts import Benchmark
from gnomon.errors import DataError
from gnomon.records import Item

ANY = "*"  # allows every group and object


def check_apart(
    train: Sequence[Item],
    part: Sequence[Item],
    name: str,
    allowed: frozenset[str],
    benchmark: Benchmark | None,
) -> None:
    """Refuse what a part shares with train, with its count."""
    _refuse(name, "item", _shared(_questions(train), _questions(part)), allowed)
    if ANY in allowed:
        return
    _refuse(name, "group", _shared(_groups(train), _groups(part)), allowed)
    tags = object_tags(train, benchmark)
    if tags:
        shared = _shared(_values(train, tags), _values(part, tags))
        _refuse(name, tags[0], shared, allowed, f"value of {' or '.join(tags)}")


def object_tags(items: Sequence[Item], benchmark: Benchmark | None) -> tuple[str, ...]:
    """The tags that hold the objects of items: the first list of `hold_out` that they have in full.

    None where the benchmark is not known, or its items have no objects.
    """
    if benchmark is None:
        return ()
    for tags in benchmark.hold_out:
        if all(item.tags.get(tag) for item in items for tag in tags):
            return tags
    return ()


def _refuse(
    name: str, unit: str, shared: Sequence[str], allowed: frozenset[str], called: str = ""
) -> None:
    if not shared or unit in allowed:
        return
    plural = "" if len(shared) == 1 else "s"
    noun = called.replace("value", f"value{plural}") if called else f"{unit}{plural}"
    raise DataError(
        f"train and the part '{name}' share {len(shared):,} {noun}, such as '{shared[0]}'.",
        f"Hold them apart, or say that they may: may_share: [{unit}] in {name}.",
    )


def _shared(one: dict[object, str], other: dict[object, str]) -> list[str]:
    """What both have, as people know it, in order."""
    return sorted({name for key, name in other.items() if key in one})


def _questions(items: Sequence[Item]) -> dict[object, str]:
    """Items by id and by what is asked: the same question under another id is the same."""
    found: dict[object, str] = {}
    for item in items:
        found[item.id] = item.id
        pictures = tuple(image.sha256 or image.path for image in item.images)
        found[(item.context, item.text, pictures)] = item.id
    return found


def _groups(items: Sequence[Item]) -> dict[object, str]:
    return {item.group: item.group for item in items if item.group}


def _values(items: Sequence[Item], tags: Sequence[str]) -> dict[object, str]:
    found: dict[object, str] = {}
    for item in items:
        for tag in tags:
            value = item.tags.get(tag)
            if value:
                found[value] = value
    return found

"""The items that a recipe trains and tests on: from a benchmark or a file, in parts held apart.

The pool of `train` is read once. Parts are carved out of it in the order of the recipe, by items,
groups or the values of a tag, or come from a source or file of their own. From what is left,
`train` draws; draws of different sizes by one seed are nested, so a curve only ever adds items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from gnomon.contracts import Benchmark
from gnomon.errors import DataError, UsageError, unknown
from gnomon.grouped import grouped
from gnomon.items.itemfiles import items_to_ask
from gnomon.items.source import load
from gnomon.records import Fingerprint, Item, digest, problem
from gnomon.train.recipes import Material, Scores

DEV = "dev"  # the part by which the best weights are chosen
ITEM, GROUP = "item", "group"
Where = dict[str, str | tuple[str, ...]]


class ItemPool(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the items come from, and how many of them are trained on."""

    source: str = ""  # a benchmark: NAME@fresh or NAME@published
    options: dict[str, Any] = {}  # of that source
    file: str = ""  # or a file that `gnomon make` wrote
    where: Where = {}  # only items with these values of tags; * is any text
    per_group: Annotated[int, Meta(ge=0)] = 0  # items drawn from each group; 0 for all
    percent: Annotated[float, Meta(gt=0, le=100)] = 100.0  # of what is left after that
    draw: Annotated[int, Meta(ge=0)] = 0  # which draw: others leave the parts as they are


class TrainingPart(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Items that training never sees: carved out of the pool, or with a place of their own."""

    by: str = ""  # item, group or a tag: what is carved
    share: Annotated[float, Meta(gt=0, lt=1)] = 0.2  # of these; of the items in each group
    count: Annotated[int, Meta(ge=0)] = 0  # instead of a share, where not 0
    source: str = ""
    options: dict[str, Any] = {}
    file: str = ""
    where: Where = {}
    limit: Annotated[int, Meta(ge=0)] = 0  # at most so many of them; 0 for all
    may_share: tuple[str, ...] = ()  # what it may have in common with train: item, group, a tag


class ItemData(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The recipe's `data` where items are learnt."""

    train: ItemPool
    parts: dict[str, TrainingPart] = {}
    # tags whose values train and a part must not share; by default what the benchmark says
    hold_out: tuple[str, ...] = ()


class Items(msgspec.Struct, frozen=True, kw_only=True):
    """The items of a training, by part."""

    train: list[Item]
    parts: dict[str, list[Item]]

    def every(self) -> dict[str, list[Item]]:
        """All parts by name, train first."""
        return {"train": self.train, **self.parts}

    @property
    def dev(self) -> list[Item]:
        """The part that chooses the best weights; none where there is none."""
        return self.parts.get(DEV, [])

    def scored(self, score: Callable[[Sequence[Item]], Scores]) -> dict[str, Scores]:
        """The scores of every part that tests; dev has chosen the weights."""
        return {name: score(items) for name, items in self.parts.items() if name != DEV}


def read_material(data: ItemData, seed: int) -> Material:
    """The items of a recipe, checked: each can be asked, and no part shares what it must not."""
    pool, benchmark = read_place(data.train)
    parts: dict[str, list[Item]] = {}
    benchmarks: dict[str, Benchmark | None] = dict.fromkeys(data.parts, benchmark)
    for name, part in data.parts.items():
        if _is_carved(name, part):
            found, pool = carved(pool, part, seed, name)
        else:
            found, own = read_place(part)
            benchmarks[name] = benchmark or own
        parts[name] = limited(found, part.limit, seed)
    train = drawn(pool, data.train, seed)
    if not train:
        raise DataError(
            "nothing is left to train on.",
            "Carve out smaller parts, or make more items (options: per_group).",
        )
    items = Items(train=train, parts=parts)
    if data.hold_out:
        _check_tags(data.hold_out, items)
    for name, part in data.parts.items():
        hold_out = hold_out_of(data, benchmarks[name])
        check_apart(train, parts[name], name, _allowed(part), hold_out)
    return Material(items, {name: described(found) for name, found in items.every().items()})


def hold_out_of(data: ItemData, benchmark: Benchmark | None) -> HoldOut:
    """What train and a part must not share: the recipe says it, or else the benchmark of either."""
    if data.hold_out:
        return (data.hold_out,)
    return benchmark.hold_out if benchmark else ()


def _check_tags(hold_out: Sequence[str], items: Items) -> None:
    """Refuse a tag that items lack: what they share would not be seen."""
    for part, members in items.every().items():
        for item in members:
            for tag in hold_out:
                if not item.tags.get(tag):
                    raise UsageError(
                        f"data.hold_out names the tag '{tag}', which the item '{item.id}' of "
                        f"{part} does not have.",
                        f"Choose among its tags: {', '.join(sorted(item.tags))}.",
                    )


def described(items: Sequence[Item]) -> dict[str, Any]:
    """What data.json says of some items."""
    fingerprint = Fingerprint()
    for item in items:
        fingerprint.add(item)
    groups = {item.group for item in items}
    return {"items": len(items), "groups": len(groups), "sha256": fingerprint.hexdigest()}


def carved(
    pool: Sequence[Item], part: TrainingPart, seed: int, name: str
) -> tuple[list[Item], list[Item]]:
    """The items of a part, and what is left of the pool."""
    chosen: set[str] = set()
    if part.by == ITEM:  # so many of each group
        keys = [item.id for item in pool]
        for members in _by_group(pool).values():
            chosen |= _chosen([item.id for item in members], part, seed)
    else:
        keys = [_unit(item, part.by, name) for item in pool]
        chosen = _chosen(sorted(set(keys)), part, seed)
    found = [item for item, key in zip(pool, keys, strict=True) if key in chosen]
    rest = [item for item, key in zip(pool, keys, strict=True) if key not in chosen]
    return found, rest


def drawn(pool: Sequence[Item], how: ItemPool, seed: int) -> list[Item]:
    """The items to train on; a smaller draw of the same number is part of a larger one."""
    kept = set()
    which = f"/{how.draw}" if how.draw else ""
    for members in _by_group(pool).values():
        ranked = _ranked((item.id for item in members), seed, f"train{which}")
        kept.update(ranked[: how.per_group] if how.per_group else ranked)
    if how.percent < 100:
        ranked = _ranked(kept, seed, f"percent{which}")
        kept = set(ranked[: max(1, round(len(ranked) * how.percent / 100))])
    return [item for item in pool if item.id in kept]


def read_place(place: ItemPool | TrainingPart) -> tuple[list[Item], Benchmark | None]:
    """The items of a source or a file, and the benchmark that they belong to, where it is known."""
    if bool(place.source) == bool(place.file):
        raise UsageError(
            "A recipe's data need either a source or a file.",
            "Write source: NAME@fresh, or file: items.jsonl.",
        )
    if place.source:
        return _from_source(place.source, msgspec.json.encode((place.options, place.where)))
    return _chosen_by_tags(_from_file(place.file), place.where), None


@lru_cache(maxsize=4)  # the points of a curve read the same items
def _from_source(source: str, how: bytes) -> tuple[list[Item], Benchmark]:
    options, where = msgspec.json.decode(how, type=tuple[dict[str, Any], Where])
    found = load(source, **options)
    return _chosen_by_tags(found.items(), where), found.benchmark


def _from_file(file: str) -> Iterator[Item]:
    for item in items_to_ask(file=str(Path(file).expanduser())):  # pictures lie beside the file
        wrong = problem(item)
        if wrong:
            raise DataError(
                f"the item '{item.id}' cannot be learnt: {wrong}.",
                "Correct it, or make the file again with `gnomon make`.",
                file=file,
            )
        yield item


def _chosen_by_tags(items: Iterable[Item], where: Where) -> list[Item]:
    """The items whose tags have the values that are wanted; values that none has are refused."""
    wanted = {tag: (value,) if isinstance(value, str) else value for tag, value in where.items()}
    seen: dict[str, set[str]] = {tag: set() for tag in wanted}
    found = []
    for item in items:
        for tag, values in seen.items():
            values.add(_value(item, tag))
        for tag, named in wanted.items():
            if not any(fnmatchcase(_value(item, tag), value) for value in named):
                break
        else:
            found.append(item)
    for tag, named in wanted.items():
        for value in named:
            if not any(fnmatchcase(each, value) for each in seen[tag]):
                raise unknown(f"value of the tag {tag}", value, seen[tag] - {""})
    return found


def _value(item: Item, tag: str) -> str:
    return item.group if tag == GROUP else item.tags.get(tag, "")


def _is_carved(name: str, part: TrainingPart) -> bool:
    ways = [bool(part.by), bool(part.source), bool(part.file)]
    if sum(ways) != 1:
        raise UsageError(
            f"The part '{name}' needs one of by, source and file.",
            "Write by: item, group or a tag to carve it out of what train reads.",
        )
    return bool(part.by)


def _allowed(part: TrainingPart) -> frozenset[str]:
    """What the part may share with train: a part of single items says so by that."""
    everything_but_items = (GROUP, "*") if part.by == ITEM else ()
    return frozenset((*part.may_share, *everything_but_items))


def _unit(item: Item, by: str, name: str) -> str:
    found = _value(item, by)
    if not found:
        tags = ", ".join(sorted(item.tags))
        raise UsageError(
            f"The part '{name}' is carved by '{by}', which the item '{item.id}' does not have.",
            f"Choose one of: item, group, {tags}.",
        )
    return found


def _chosen(units: Sequence[str], part: TrainingPart, seed: int) -> set[str]:
    count = part.count or max(1, round(len(units) * part.share))
    return set(_ranked(units, seed, part.by)[:count])


def _by_group(items: Iterable[Item]) -> dict[str, list[Item]]:
    return grouped(items, lambda item: item.group)


def _ranked(names: Iterable[str], seed: int, purpose: str) -> list[str]:
    """Names in an order drawn by the seed, which does not depend on what other names there are."""
    return sorted(names, key=lambda name: digest(str(seed), purpose, name, digits=32))


def limited(items: list[Item], limit: int, seed: int) -> list[Item]:
    """At most so many items, drawn by the seed; all where the limit is 0."""
    if not limit or len(items) <= limit:
        return items
    kept = set(_ranked((item.id for item in items), seed, "limit")[:limit])
    return [item for item in items if item.id in kept]


# Whether what is tested was trained on: the same item, the same group, the same object.
#
# What counts as an object is the benchmark's to say (`hold_out`), or the recipe's. Sharing is
# refused with its count, unless the recipe says that the part may share it.


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
        groups = {item.group for item in train if item.group}
        _refuse(name, "group", "group", sorted(groups.intersection(item.group for item in part)))
    known = object_tags([*train, *part], hold_out)
    for tags in (known,) if known else hold_out:
        if not allowed.intersection(tags):
            shared = _shared(_objects(train, tags), _objects(part, tags))
            _refuse(name, tags[0], f"value of {' or '.join(tags)}", shared)


def object_tags(items: Sequence[Item], hold_out: HoldOut) -> Tags:
    """The tags that hold the objects of items: the first list of `hold_out` that they have in full.

    None where the items have no objects.
    """
    for tags in hold_out:
        if all(_has(item, tags) for item in items):
            return tags
    return ()


def _has(item: Item, tags: Tags) -> bool:
    return all(map(item.tags.get, tags))


def _refuse(name: str, unit: str, noun: str, shared: Sequence[str]) -> None:
    if not shared:
        return
    first, space, rest = noun.partition(" ")
    what = noun if len(shared) == 1 else f"{first}s{space}{rest}"
    raise DataError(
        f"train and the part '{name}' share {len(shared):,} {what}, such as '{shared[0]}'.",
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
        pictures = tuple(image.identity for image in item.images)
        found[(item.context, item.text, pictures)] = item.id
    return found


def _objects(items: Sequence[Item], tags: Tags) -> dict[object, str]:
    """The values of tags, of the items that have all of them."""
    found: dict[object, str] = {}
    for item in items:
        if _has(item, tags):
            for tag in tags:
                found[item.tags[tag]] = item.tags[tag]
    return found

"""From what a user writes ("scales@fresh" and options) to a checked stream of items.

An ItemSource can be read any number of times and always yields the same items in the same order.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, groupby, islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, overload

from msgspec import structs

from gnomon import registry
from gnomon.contracts import Benchmark
from gnomon.errors import DataError, UsageError
from gnomon.items.limits import (
    Shard,
    groups_within,
    in_stretch,
    parse_shard,
    spread,
    whole_groups_in,
)
from gnomon.options import check_options, complete
from gnomon.records import Fingerprint, Item, problem

OF_OTHERS = "set:"  # before the name of a public benchmark of others (gnomon.items.sets)
SHOWN = 5  # items that a notebook shows of a source
MOST_KEPT = 20_000  # items of a source that stay in memory once they are made
# What holds of all items of a source, whatever part of them is wanted.
OF_ALL = ("_kept", "_total", "_group_sizes", "_ahead")
AHEAD = 10_000  # items of a larger source that stay in memory when a part of it is read


class Whole(NamedTuple):
    """All items of which a shard is a part: how many, and their digest before pictures are made."""

    items: int
    sha256: str


@dataclass(frozen=True, repr=False)
class ItemSource:
    """A benchmark with its source and options chosen: what `gnomon.load` gives."""

    benchmark: Benchmark
    source: str
    options: dict[str, Any] = field(default_factory=dict)
    limit: int | None = None
    permute: int | None = None  # the seed by which the choices of each item are put in an order
    shard: Shard | None = None  # only this part of the items

    @property
    def name(self) -> str:
        """NAME@SOURCE."""
        return f"{self.benchmark.name}@{self.source}"

    def __repr__(self) -> str:
        options = dict(self.options)
        for name in ("limit", "permute"):
            if getattr(self, name) is not None:
                options[name] = getattr(self, name)
        if self.shard is not None:
            options["shard"] = str(self.shard)
        parts = [self.name, *(f"{key}={value!r}" for key, value in options.items())]
        return f"<{', '.join(parts)}>"

    def items(self) -> Iterator[Item]:
        """The items, each checked, with their pictures; at most `limit`, spread over the whole.

        Of a shard, only its own.
        """
        kept: tuple[Item, ...] | None = self.__dict__.get("_remembered")
        return self.illustrated() if kept is None else iter(kept)

    def __iter__(self) -> Iterator[Item]:
        return self.items()

    def __bool__(self) -> bool:  # a source is something, before anybody counts its items
        return True

    def __len__(self) -> int:
        return self._count

    # Counted once and kept, without pictures, which take long to make.
    @cached_property
    def _count(self) -> int:
        if self.limit is None and self.shard is None and "_only" not in self.__dict__:
            return self._total  # which parts of the source need as well
        return sum(1 for _ in self.without_pictures())

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> list[Item]: ...
    def __getitem__(self, place: int | slice) -> Item | list[Item]:
        """The item at a place, or those of a slice."""
        if isinstance(place, slice):
            wanted = range(*place.indices(len(self)))
            last = max(wanted, default=-1)
            kept = list(islice(self.items(), last + 1))
            return [kept[number] for number in wanted]
        number = operator.index(place)
        if number < 0:
            number += len(self)
        found = next(islice(self.items(), number, None), None) if number >= 0 else None
        if found is None:
            raise IndexError(f"{self.name} has {len(self):,} items: there is none at {place}.")
        return found

    def _repr_html_(self) -> str:
        from gnomon.tabular import html_table

        rows = []
        for item in self[:SHOWN]:
            asked = f"{item.context}\n{item.text}".strip()
            rows.append((item.id, asked, ", ".join(item.choices), ", ".join(item.gold)))
        names = ("id", "question", "choices", "right")
        below = f"{len(rows)} of {len(self):,} items"
        return html_table(names, rows, caption=repr(self), below=below)

    def illustrated(
        self,
        folder: Path | None = None,
        *,
        processes: int = 0,
        watch: Callable[[int, int], None] | None = None,
    ) -> Iterator[Item]:
        """The items, with pictures that have to be made in a folder, or else in the cache."""
        chosen = self.without_pictures()
        illustrate = self.benchmark.illustrators.get(self.source)
        if illustrate is None:
            return chosen
        return illustrate(chosen, folder=folder, processes=processes, watch=watch, **self.options)

    @property
    def makes_pictures(self) -> bool:
        """Whether pictures are made for the items."""
        return self.source in self.benchmark.illustrators

    def without_pictures(self) -> Iterator[Item]:
        """The items before pictures are made for them: an image has a name and a size, no more."""
        if self.shard is None:
            return self._of_all_shards()
        stretch = self.shard.stretch(self.of_all_shards.items)
        if self.source in self.benchmark.whole_groups:
            return whole_groups_in(self._of_all_shards(), stretch, _group_of)
        return in_stretch(self._of_all_shards(), stretch)

    @cached_property
    def of_all_shards(self) -> Whole:
        """What all shards hold together, found by one reading of the source."""
        digest = Fingerprint()
        count = 0
        for item in self._of_all_shards():
            digest.add(item)
            count += 1
        return Whole(count, digest.hexdigest())

    def _of_all_shards(self) -> Iterator[Item]:
        items = self._limited()
        only: Container[str] | None = self.__dict__.get("_only")
        if only is not None:
            items = (item for item in items if item.id in only)
        if self.permute is None:
            return items
        return (permuted(item, self.permute) for item in items)

    def _limited(self) -> Iterator[Item]:
        if self.limit is None:
            return self._all()
        if self.source in self.benchmark.whole_groups:
            return self._whole_groups(self.limit)
        kept: list[Item] | None = self.__dict__.get("_kept")
        if kept is not None:
            return map(kept.__getitem__, self._chosen)
        if self.limit > AHEAD:
            return _at(self._all(), self._chosen)
        return map(self._ahead.__getitem__, self._chosen)

    @cached_property
    def _ahead(self) -> dict[int, Item]:
        """The items that a large limit takes, by their places: a run may raise its limit often."""
        places = spread(self._total, AHEAD)
        return dict(zip(places, _at(self._all(), places), strict=False))

    @cached_property
    def _chosen(self) -> list[int]:
        """The places of the items that the limit takes."""
        return spread(self._total, self.limit or self._total)

    # Counted once and kept: a run reads its items several times, and some take seconds to make.
    @cached_property
    def _total(self) -> int:
        return sum(1 for _ in self._all())

    @cached_property
    def _group_sizes(self) -> list[int]:
        return [len(list(items)) for _, items in groupby(self._all(), _group_of)]

    def _whole_groups(self, limit: int) -> Iterator[Item]:
        """Items of whole groups, as many as the limit has room for, spread evenly."""
        if self.source in self.benchmark.mixed_groups:
            yield from self._first_groups
            return
        sizes = self._group_sizes
        chosen = groups_within(sizes, limit)
        if sizes and not chosen:
            raise self._no_room(sizes[spread(len(sizes), 1)[0]])
        wanted = set(chosen)
        for number, (_, items) in enumerate(groupby(self._all(), _group_of)):
            if number in wanted:
                yield from items

    @cached_property
    def _first_groups(self) -> list[Item]:
        """The first groups, as many as the limit has room for; those behind are not made."""
        most = self.limit or 0
        taken: list[Item] = []
        for _, members in groupby(self._all(), _group_of):
            room = most - len(taken)
            group = list(islice(members, room + 1))  # no further than to see that it is too large
            if len(group) > room:
                if not taken:
                    raise self._no_room(len(group) + sum(1 for _ in members))
                break
            taken += group
        return taken

    def _no_room(self, size: int) -> UsageError:
        return UsageError(
            f"A limit of {self.limit} has no room for a group of {self.name}.",
            f"Its items are asked in whole groups: give {size} or more.",
        )

    def _all(self) -> Iterator[Item]:
        """All items, made once if they are few: a run reads them several times."""
        kept: list[Item] | None = self.__dict__.get("_kept")
        if kept is not None:
            yield from kept
            return
        kept = []
        for item in self._made():
            if len(kept) <= MOST_KEPT:
                kept.append(item)
            yield item
        if len(kept) <= MOST_KEPT:
            self.__dict__["_kept"] = kept

    def _made(self) -> Iterator[Item]:
        tags = UnitTags(self.benchmark)
        for item in self.benchmark.sources[self.source](**self.options):
            wrong = problem(item) or tags.problem(item)
            if wrong:
                raise DataError(
                    f"item '{item.id}' of {self.name} cannot be asked: {wrong}.",
                    "Correct the data file, or report this to the benchmark's author.",
                )
            yield item

    @property
    def has_more(self) -> bool:
        """Whether the benchmark says how to get a larger set than these options give."""
        return self.source == "fresh" and self.whole().options != self.options

    def whole(self) -> ItemSource:
        """The same source with the options that give its full set."""
        if self.source != "fresh":
            return self
        return replace(self, options={**self.options, **self.benchmark.full})

    def permuted(self, seed: int | None = 0) -> ItemSource:
        """The same source with the choices of each item in an order drawn by the seed."""
        return self._with_what_is_known(replace(self, permute=seed))

    def sharded(self, shard: Shard | str | None) -> ItemSource:
        """The same source, narrowed to one shard, such as "3/8"; none gives all its items.

        >>> len(list(load("scales").limited(100).sharded("3/8").items()))
        12
        """
        if isinstance(shard, str):
            shard = parse_shard(shard)
        if shard == self.shard:
            return self
        return self._with_what_is_known(replace(self, shard=shard), *OF_ALL, "of_all_shards")

    def remembered(self, most: int | None = None) -> ItemSource:
        """The same source with its items in memory, for a command that asks them many times.

        One with more than `most` items stays as it is.
        """
        kept = tuple(islice(self.items(), None if most is None else most + 1))
        if most is not None and len(kept) > most:
            return self
        other = self._with_what_is_known(replace(self), *OF_ALL, "of_all_shards")
        other.__dict__["_remembered"] = kept
        return other

    def only(self, ids: Container[str]) -> ItemSource:
        """The same source with some of its items alone."""
        other = replace(self)
        other.__dict__["_only"] = ids
        return other

    def limited(self, limit: int | None) -> ItemSource:
        """The same source, narrowed to at most `limit` items; a larger limit contains them."""
        if limit is None:
            return self._with_what_is_known(replace(self, limit=None))
        if isinstance(limit, bool) or not hasattr(limit, "__index__") or limit < 1:
            raise UsageError(
                f"The limit must be 1 or more, not {limit}.",
                "Give a whole number, or leave it out for all items.",
            )
        return self._with_what_is_known(replace(self, limit=operator.index(limit)))

    def _with_what_is_known(self, other: ItemSource, *names: str) -> ItemSource:
        """The other source, which has the same options, with what was found for this one."""
        for name in names or OF_ALL:
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other


class UnitTags:
    """Which tags of a benchmark's units the items of a source have: all of them the same ones."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._kinds = [kind for kind in benchmark.units if kind != ("group",)]
        self._tags = list(chain.from_iterable(self._kinds))
        self._of_first: list[str] | None = None

    def problem(self, item: Item) -> str:
        """What an item lacks, in a few words; empty if nothing."""
        if not self._kinds:
            return ""
        there = [tag for tag in self._tags if item.tags.get(tag)]
        if there == self._of_first:
            return ""
        for kind in self._kinds:
            lacking = [tag for tag in kind if tag not in there]
            if lacking and len(lacking) < len(kind):
                return f"it lacks the tag '{lacking[0]}', which belongs to its units"
        if self._of_first is None:
            self._of_first = there
            return ""
        odd = min(set(there) ^ set(self._of_first))
        return f"some items have the tag '{odd}', which holds units, and others lack it"


def load(spec: str, **options: Any) -> ItemSource:
    """The items of a benchmark: NAME, NAME@fresh or NAME@published, with options of its source.

    A file or folder of items of one's own can be loaded by its path, with `map` for its columns.

    >>> load("scales", seed=1).name
    'scales@fresh'
    """
    found, source = named_source(spec)
    function = found.sources[source]
    if _is_of_files(spec):
        from gnomon.items.itemfiles import options_of_file

        check_options(f"{found.name}@{source}", function, {**options, "file": spec})
        return ItemSource(found, source, options_of_file(Path(spec), options))
    if spec.startswith(OF_OTHERS):
        from gnomon.items.sets import opened_set

        check_options(spec, function, options)
        found, given = opened_set(spec, options)
        return ItemSource(found, source, given)
    check_options(f"{found.name}@{source}", function, options)
    return ItemSource(found, source, complete(function, options))


def named_source(spec: str) -> tuple[Benchmark, str]:
    """The benchmark and the source that NAME or NAME@SOURCE means, or the path of a file of items.

    >>> named_source("scales")[1]
    'fresh'
    """
    if _is_of_files(spec):
        from gnomon.items.itemfiles import benchmark_of_file

        return benchmark_of_file(Path(spec))
    if spec.startswith(OF_OTHERS):
        from gnomon.items.sets import benchmark_of_set

        set_of_others = benchmark_of_set(spec)
        return set_of_others, next(iter(set_of_others.sources))
    if "://" in spec:
        raise UsageError(
            f"{spec} is an address, and items are read from files.",
            "Fetch it first, and give its path: gnomon run FILE -m MODEL. A dataset of Hugging "
            "Face: hf download NAME --repo-type dataset --local-dir FOLDER",
        )
    name, _, source = spec.partition("@")
    if "/" in name and Path(spec).exists():  # the folder of a run, which has an @ in its name
        name = spec
    found = registry.benchmark(name)
    source = source or found.default_source
    if source not in found.sources:
        raise UsageError(
            f"{name} has no source '{source}'.", f"Choose one of: {', '.join(found.sources)}."
        )
    return found, source


def _is_of_files(spec: str) -> bool:
    """Whether items of one's own are meant; a registered name needs no reader of files."""
    if spec in registry.BENCHMARKS:
        return False
    from gnomon.items.itemfiles import names_items

    return names_items(spec)


def permuted(item: Item, seed: int) -> Item:
    """The item with its choices in an order that depends on the seed and on its id alone.

    Right answers are named by their texts, and so stay right.

    >>> item = Item(id="1", form="choice", text="?", choices=("a", "b", "c"), gold=("a",))
    >>> permuted(item, 2).choices, permuted(item, 2).gold
    (('c', 'a', 'b'), ('a',))
    """
    choices = list(item.choices)
    Random(f"{seed}\0{item.id}").shuffle(choices)
    return structs.replace(item, choices=tuple(choices))


def _group_of(item: Item) -> str:
    return item.group


def _at(items: Iterator[Item], indices: Iterable[int]) -> Iterator[Item]:
    wanted = iter(indices)
    want = next(wanted, -1)
    for index, item in enumerate(items):
        if index == want:
            yield item
            want = next(wanted, -1)
            if want < 0:
                return

"""From what a user writes ("scales@fresh" and options) to a checked stream of items.

An ItemSource can be read any number of times and always yields the same items in the same order.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from pathlib import Path
from random import Random
from typing import Any

from gnomon import registry
from gnomon.contracts import Benchmark
from gnomon.errors import DataError, UsageError
from gnomon.options import check_options, complete
from gnomon.records import Item, problem


@dataclass(frozen=True, repr=False)
class ItemSource:
    """A benchmark with its source and options chosen: what `gnomon.load` gives."""

    benchmark: Benchmark
    source: str
    options: dict[str, Any] = field(default_factory=dict)
    limit: int | None = None

    @property
    def name(self) -> str:
        """NAME@SOURCE."""
        return f"{self.benchmark.name}@{self.source}"

    def __repr__(self) -> str:
        options = dict(self.options)
        if self.limit is not None:
            options["limit"] = self.limit
        parts = [self.name, *(f"{key}={value!r}" for key, value in options.items())]
        return f"<{', '.join(parts)}>"

    def items(self) -> Iterator[Item]:
        """The items, each checked, with their pictures; at most `limit`, spread over the whole."""
        return self.illustrated()

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
        if self.limit is None:
            return self._all()
        if self.source in self.benchmark.whole_groups:
            return self._whole_groups(self.limit)
        total = sum(1 for _ in self._all())
        return _at(self._all(), spread(total, self.limit))

    def _whole_groups(self, limit: int) -> Iterator[Item]:
        """Items of whole groups, as many as the limit has room for, spread evenly."""
        sizes = [len(list(items)) for _, items in groupby(self._all(), _group_of)]
        for count in range(len(sizes), 0, -1):
            chosen = list(spread(len(sizes), count))
            if sum(sizes[number] for number in chosen) <= limit:
                break
        else:
            raise UsageError(
                f"A limit of {limit} has no room for a group of {self.name}.",
                f"Its items are asked in whole groups: give {min(sizes, default=1)} or more.",
            )
        wanted = set(chosen)
        for number, (_, items) in enumerate(groupby(self._all(), _group_of)):
            if number in wanted:
                yield from items

    def _all(self) -> Iterator[Item]:
        for item in self.benchmark.sources[self.source](**self.options):
            wrong = problem(item)
            if wrong:
                raise DataError(
                    f"item '{item.id}' of {self.name} cannot be asked: {wrong}.",
                    "Correct the data file, or report this to the benchmark's author.",
                )
            yield item

    def limited(self, limit: int | None) -> ItemSource:
        """The same source, narrowed to at most `limit` items."""
        if limit is None:
            return replace(self, limit=None)
        if isinstance(limit, bool) or not hasattr(limit, "__index__") or limit < 1:
            raise UsageError(
                f"The limit must be 1 or more, not {limit}.",
                "Give a whole number, or none for all items.",
            )
        return replace(self, limit=operator.index(limit))


def load(spec: str, **options: Any) -> ItemSource:
    """The items of a benchmark: NAME, NAME@fresh or NAME@published, with options of its source.

    >>> load("scales", seed=1).name
    'scales@fresh'
    """
    found, source = named_source(spec)
    function = found.sources[source]
    check_options(f"{found.name}@{source}", function, options)
    return ItemSource(found, source, complete(function, options))


def named_source(spec: str) -> tuple[Benchmark, str]:
    """The benchmark and the source that NAME or NAME@SOURCE means.

    >>> named_source("scales")[1]
    'fresh'
    """
    name, _, source = spec.partition("@")
    found = registry.benchmark(name)
    source = source or found.default_source
    if source not in found.sources:
        raise UsageError(
            f"{name} has no source '{source}'.", f"Choose one of: {', '.join(found.sources)}."
        )
    return found, source


def spread(total: int, most: int) -> Iterable[int]:
    """At most `most` indices below `total`, one drawn from each of as many equal stretches.

    Evenly spaced indices could fall in step with the order of the items; the draw, always the same,
    cannot.

    >>> list(spread(3, 10))
    [0, 1, 2]
    """
    if total <= most or most < 1:
        return range(min(total, max(most, 0)))
    draw = Random(total * 1_000_003 + most).random
    edges = [i * total // most for i in range(most + 1)]
    return (low + int(draw() * (high - low)) for low, high in pairwise(edges))


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

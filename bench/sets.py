"""The sets that the battery of shortcuts is run on: items to ask, and items to learn from.

Of a fresh set the items asked come from the seeds 0, 1 ... until there are 1,000 (at most five
seeds, two of `vsr`), and as many further seeds are for training. Where pairs are drawn in twins,
three times as many are: a pair is learnt from only together with its twin. Published items, a
sample of 1,000, are asked in five folds.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import gnomon
from gnomon.contracts import Benchmark
from gnomon.records import Item
from gnomon.registry import benchmark

LEAST, MOST = 1_000, 3_000  # items of a fresh set
PUBLISHED = 1_000  # items of a published one
SEEDS = 5
SLOW = {"vsr": 2}  # seeds, where drawing one takes a minute
TWINS = {"scales", "viphy-size", "viphy-size-subtype"}  # pairs in twos that balance each other
MORE_TO_LEARN = 3  # times as many seeds, where both twins must share nothing with what is asked
NO_OPTIONS: Mapping[str, str] = MappingProxyType({})
FOLDER = {
    "scales": "spatial-commonsense",
    "posrel": "spatial-commonsense",
    "posrel-general": "spatial-commonsense",
}
Options = Mapping[str, str]


class Drawn(NamedTuple):
    """Items to ask and items to learn from: the same ones for a published set."""

    name: str
    about: Benchmark
    asked: list[Item]
    train: list[Item]
    seeds: int = 0  # of a fresh set
    bundles: Sequence[int] = ()  # which items of `train` balance one another


def every_set(
    names: Sequence[str], data: str, start: int, options: Options = NO_OPTIONS
) -> Iterator[Drawn]:
    """Every set that is there; a name may say which source of a benchmark: scales@fresh."""
    for name in names:
        name, _, source = name.partition("@")
        about = benchmark(name)
        if "fresh" in about.sources and source != "published":
            yield fresh(about, start, options)
        if source == "fresh":
            continue
        drawn = published(about, data)
        if drawn:
            yield drawn


def fresh(about: Benchmark, start: int, options: Options = NO_OPTIONS) -> Drawn:
    """Items of a few seeds, and more seeds to learn from."""
    name = f"{about.name}@fresh"
    first = fresh_items(about, start, options)
    most = SLOW.get(about.name, SEEDS)
    count = min(most, math.ceil(LEAST / len(first)))
    asked = [*first, *several(about, range(start + 1, start + count), options)]
    asked = sample(asked, MOST)
    if about.name in TWINS:
        seeds = range(start + count, start + count + MORE_TO_LEARN * count)
        train, bundles = in_twins(fresh_items(about, seed, options) for seed in seeds)
        return Drawn(name, about, asked, train, count, bundles)

    train = several(about, range(start + count, start + 2 * count), options)
    return Drawn(name, about, asked, sample(train, MOST), count)


def in_twins(draws: Iterable[Sequence[Item]]) -> tuple[list[Item], list[int]]:
    """The items of several draws, and a number for each that only its pair and its twin have."""
    items: list[Item] = []
    bundles: list[int] = []
    pairs = 0
    for draw in draws:
        last = ""
        for item in draw:
            if item.group != last:
                pairs += 1
                last = item.group
            items.append(item)
            bundles.append((pairs - 1) // 2)  # twins are drawn one after the other
        assert pairs % 2 == 0, "a pair without its twin"
    return items, bundles


def several(about: Benchmark, seeds: Iterable[int], options: Options = NO_OPTIONS) -> list[Item]:
    found: list[Item] = []
    for seed in seeds:
        found += fresh_items(about, seed, options)
    return found


def fresh_items(about: Benchmark, seed: int, options: Options = NO_OPTIONS) -> list[Item]:
    source = gnomon.load(f"{about.name}@fresh", seed=seed, **options)
    return list(source.without_pictures())


def sample(items: list[Item], most: int) -> list[Item]:
    if len(items) <= most:
        return items
    return random.Random(0).sample(items, most)


def published(about: Benchmark, data: str) -> Drawn | None:
    """The published items, if they are there."""
    folder = published_folder(data, about.name)
    if "published" not in about.sources or not folder.is_dir():
        return None
    options = {"split": "random/test"} if about.name == "vsr" else {}
    source = f"{about.name}@published"
    try:
        items = list(gnomon.load(source, data=str(folder), **options).items())
    except gnomon.GnomonError as error:
        print(f"{source} is left out: {error.message}", file=sys.stderr)
        return None
    items = sample(items, PUBLISHED)
    return Drawn(source, about, items, items)


def published_folder(data: str, name: str) -> Path:
    if not data:
        return Path("no published data")
    paper = "viphy" if name.startswith("viphy") else FOLDER.get(name, name)
    return Path(data, paper)

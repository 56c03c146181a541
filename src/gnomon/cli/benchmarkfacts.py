"""What one wants to know of a benchmark before asking it: how large it is, what a guess gets, what
it needs, on what terms, and what a question looks like.

Sizes of fresh sets stand in data/benchmarks.csv, since making all of them takes seconds; a test
makes them again. Of the authors' files the catalogue says what they are.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from gnomon.cli.show import in_words as item_in_words
from gnomon.contracts import Benchmark
from gnomon.downloads.catalogue import source_name, sources
from gnomon.errors import GnomonError
from gnomon.files import package_data
from gnomon.items.source import load
from gnomon.registry import known_benchmark
from gnomon.reports.citations import citations, in_short, paper_page

OWN_LICENCE = "Apache-2.0"  # of what Gnomon makes


def licence_of(benchmark: Benchmark) -> str:
    """The licence of what a benchmark makes; that of a plug-in is not ours to state."""
    ours = benchmark.name in known_facts()
    return benchmark.licence or (OWN_LICENCE if ours else "not stated")


class Facts(NamedTuple):
    """The size of a fresh set with its default options, and what a guess gets on it."""

    items: int
    units: str  # what varies independently: "360 objects"
    chance: float | None  # of the headline measure
    pictures: bool

    def in_words(self) -> str:
        """In a line.

        >>> Facts(240, "60 objects", 0.25, True).in_words()
        '240 items of 60 objects, chance 25 %, with pictures'
        """
        parts = [f"{self.items:,} items of {self.units}"]
        if self.chance is not None:
            parts.append(f"chance {100 * self.chance:.3g} %")
        if self.pictures:
            parts.append("with pictures")
        return ", ".join(parts)


@cache
def known_facts() -> dict[str, Facts]:
    """The facts about every fresh set, by the benchmark's name."""
    found = {}
    with package_data("benchmarks.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            chance = float(row["chance"]) if row["chance"] else None
            pictures = row["pictures"] == "yes"
            found[row["benchmark"]] = Facts(int(row["items"]), row["units"], chance, pictures)
    return found


def summary_line(name: str) -> str:
    """The facts of a benchmark for a list of many; empty for one of a plug-in."""
    known = known_facts().get(name)
    if known is not None:
        return known.in_words()
    published = _published(name)
    if published:
        return f"needs the authors' files: gnomon data get {published['fetch']}"
    asked = known_benchmark(name)
    if asked is None or "published" not in asked.sources:
        return ""
    return "needs the authors' files: --data DIR"


def as_json(benchmark: Benchmark) -> dict[str, Any]:
    """All facts for programs."""
    found: dict[str, Any] = {"paper": benchmark.paper, "measures": benchmark.measures}
    work = citations().get(benchmark.paper)
    if work is not None:
        found |= {"title": work.title, "year": work.year, "code": work.url}
        found |= {"paper_page": paper_page(work)}
    known = known_facts().get(benchmark.name)
    if known is not None:
        found["fresh"] = {**known._asdict(), "licence": licence_of(benchmark)}
    published = _published(benchmark.name)
    if published:
        found["published"] = published
    return found


def in_words(benchmark: Benchmark) -> Iterator[str]:
    """All facts for people, a line each, and a question."""
    yield from _paper(benchmark)
    yield f"Measures: {', '.join(benchmark.measures)}"
    known = known_facts().get(benchmark.name)
    if known is not None:
        yield f"Fresh: {known.in_words()}; licence {licence_of(benchmark)}"
    published = _published(benchmark.name)
    if published:
        what = f"Published: {published['what']}; licence: {published['licence']}"
        yield f"{what}. Fetch the files with `gnomon data get {published['fetch']}`"
    elif "published" in benchmark.sources:
        yield "Published: your own copy of the file, which cannot be fetched (--data FILE)"
    if "fresh" in benchmark.sources:
        yield from _example(benchmark)


def _paper(benchmark: Benchmark) -> Iterator[str]:
    """The paper, where it can be read, and where its code and data are."""
    work = citations().get(benchmark.paper)
    if work is None:
        yield f"Paper: {benchmark.paper or 'none is known'}"
        return
    yield f"Paper: {in_short(work)}"
    if paper_page(work):
        yield f"  to read: {paper_page(work)}"
    yield f"  code and data: {work.url}"


def _example(benchmark: Benchmark) -> Iterator[str]:

    first = next(iter(load(f"{benchmark.name}@fresh").without_pictures()), None)
    if first is not None:
        yield "A question:"
        yield item_in_words(first)


def _published(name: str) -> dict[str, str]:
    """Where the authors' files come from and on what terms; empty if there are none to fetch."""

    known = known_benchmark(name)
    if known is None or "published" not in known.sources:
        return {}
    try:
        fetch = source_name(name)
    except GnomonError:  # files that nobody may give away
        return {}
    source = sources()[fetch]
    return {"fetch": fetch, "what": source.what, "licence": source.licence}

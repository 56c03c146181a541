"""`gnomon list suites`: what is in each suite, how many items, and about how long it takes."""

from __future__ import annotations

import warnings
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from gnomon.cli.benchmarkfacts import known_facts
from gnomon.errors import GnomonError, MissingFileWarning
from gnomon.runs.pace import duration

if TYPE_CHECKING:
    from gnomon.items.experiments import AskedBenchmark
    from gnomon.items.source import ItemSource

SECONDS = 0.25  # of a processor that the small model of the demo takes for an item, on average


def list_suites(args: Namespace) -> int:
    """Print every suite, or the one that is named with its benchmarks."""
    from gnomon.items.experiments import load_suite, suite_names

    names = [args.name] if args.name else suite_names()
    found = []
    for name in names:
        suite = load_suite(name)
        parts = [_told(each) for each in suite.benchmarks]
        items = sum(part["items"] or 0 for part in parts)
        found.append({"name": name, "summary": suite.summary, "items": items, "benchmarks": parts})
    if args.format == "json":
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
        return 0
    _print(found, whole=bool(args.name))
    return 0


def _told(asked: AskedBenchmark) -> dict[str, Any]:
    """A benchmark of a suite; items that are not here are not counted."""
    from gnomon.items.source import load

    source = load(asked.spec, **asked.options).limited(asked.limit)
    if _has_known_size(asked, source):
        items: int | None = known_facts()[source.benchmark.name].items
        if items and asked.limit:
            items = min(items, asked.limit)
    else:
        items = _counted(source)
    return {"name": source.name, "items": items}


def _has_known_size(asked: AskedBenchmark, source: ItemSource) -> bool:
    """Whether it is a fresh set with its default options, of which a limit takes single items."""
    if asked.options or source.source != "fresh":
        return False
    in_groups = asked.limit and source.source in source.benchmark.whole_groups
    return source.benchmark.name in known_facts() and not in_groups


def _counted(source: ItemSource) -> int | None:
    try:
        with warnings.catch_warnings():  # what a file lacks is said when its items are asked
            warnings.simplefilter("ignore", MissingFileWarning)
            return sum(1 for _ in source.without_pictures())
    except GnomonError:  # the authors' files are not here
        return None


def _print(found: list[dict[str, Any]], *, whole: bool) -> None:
    from gnomon.contracts import Listing
    from gnomon.tabular import render

    rows = []
    for suite in found:
        time = duration(max(60.0, SECONDS * suite["items"]))
        if not suite["items"]:
            time = "–"
        rows.append(
            (suite["name"], len(suite["benchmarks"]), suite["items"], time, suite["summary"])
        )
    columns = ("suite", "benchmarks", "items", "about", "what it is")
    print(render(Listing("", columns, tuple(rows))))
    if whole:
        parts = [(part["name"], part["items"]) for part in found[0]["benchmarks"]]
        print(f"\n{render(Listing('', ('benchmark', 'items'), tuple(parts)))}")
    missing = [part for suite in found for part in suite["benchmarks"] if part["items"] is None]
    if missing:
        print("Published items that are not here are not counted: `gnomon data get NAME`.")
    print(
        "Times are of one processor with smollm2; `gnomon run SUITE -m MODEL --dry-run` measures."
    )

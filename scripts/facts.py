"""The facts of docs/which.md that the code knows: chance, sizes, an example of each benchmark, terms of the data.

    python scripts/facts.py          write them between the marks of the page
    python scripts/facts.py --check  end with 1 if the page says anything else

What only a stopwatch or the authors' files can tell stands in scripts/facts.yaml: the time of a run, the
number of published items. A test keeps the page and the code together.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import Any

import yaml

import gnomon
from gnomon import Answer, Benchmark, Item
from gnomon.downloads.catalogue import sources
from gnomon.measures.chance import chance_of
from gnomon.measures.table import Table
from gnomon.registry import benchmark, measure
from gnomon.reports.citations import citations, in_short, paper_page

PAGE = Path(__file__).parent.parent / "docs" / "which.md"
MEASURED = Path(__file__).parent / "facts.yaml"
MARKED = re.compile(r"(<!-- facts: ([\w-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
FULL = re.compile(
    r"\| `(?P<name>[\w-]+)` \|.*?\((?P<full>[\d,]+)\)"
)  # the full size that a row of the table states
WIDTH = 100  # characters on a line of an example
AMONG = 60  # the example is the shortest of so many items


def main() -> int:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    made = filled(page, {name: full_size(name) for name in measured()})
    if args.check:
        return 0 if made == page else 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


def filled(page: str, full: dict[str, int]) -> str:
    """The page with what lies between its marks made anew."""

    def facts(mark: re.Match[str]) -> str:
        text = table(full) if mark[2] == "table" else section(mark[2])
        return f"{mark[1]}\n{text}\n\n{mark[4]}"

    return MARKED.sub(facts, page)


def stated_sizes(page: str) -> dict[str, int]:
    """The sizes of full sets as the page has them."""
    return {row["name"]: int(row["full"].replace(",", "")) for row in FULL.finditer(page)}


def table(full: dict[str, int]) -> str:
    """One row for each benchmark whose facts were measured."""
    rows = [
        "| benchmark | what it asks | chance | fresh items (full set) | published items | seconds for 100 |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for name, known in measured().items():
        asked = f"[{benchmark(name).title}](#{name})"
        cells = [asked, chance(name), sizes(name, full), known["published"], known["seconds"]]
        rows.append(f"| `{name}` | " + " | ".join(map(_cell, cells)) + " |")
    return "\n".join(rows)


def section(name: str) -> str:
    """An example of a benchmark and what is known of its data."""
    parts = []
    if items(name):
        parts.append(f"```text\n{example(items(name))}\n```")
    parts.append("\n".join(f"- {fact}" for fact in facts(benchmark(name))))
    return "\n\n".join(parts)


def facts(known: Benchmark) -> list[str]:
    """Paper, data and needs of a benchmark, a line each."""
    found = [f"Headline: `{known.measures[0]}`; {units(known)} are the units."]
    works = citations()
    if known.paper in works:
        work = works[known.paper]
        page = f": <{paper_page(work)}>" if paper_page(work) else ""
        found.append(f"Paper: {in_short(work)}{page}; code and data: <{work.url}>.")
    else:
        found.append("Gnomon's own: there is no paper, and no published set.")
    if "published" in known.sources:
        found.append(published_data(known.name))
    return found


def published_data(name: str) -> str:
    """How the authors' items are fetched, and on what terms."""
    for short, source in sources().items():
        if name in source.benchmarks:
            return f"Published items: `gnomon data get {short}`; licence of the data: {source.licence}."
    return "Published items: your own copy (`--data FILE`)."


def units(known: Benchmark) -> str:
    """What the units of a benchmark are called."""
    return " and ".join(known.unit_nouns) or " and ".join(
        f"{tag}s" for kind in known.units for tag in kind
    )


@cache
def items(name: str) -> tuple[Item, ...]:
    """The fresh items of the default seed; none if there is no fresh set."""
    if "fresh" not in benchmark(name).sources:
        return ()
    return tuple(gnomon.load(f"{name}@fresh").items())


def full_size(name: str) -> int:
    """How many items `--set all=yes` asks."""
    options = benchmark(name).full
    if not options:
        return len(items(name))
    return sum(1 for _ in gnomon.load(f"{name}@fresh", **options).items())


def sizes(name: str, full: dict[str, int]) -> str:
    """The default size, and in brackets that of the full set."""
    if not items(name):
        return "–"
    return f"{len(items(name)):,} ({full[name]:,})"


def chance(name: str) -> str:
    """What a guess gets of the headline measure on the fresh items."""
    found = items(name)
    if not found:
        return "50.0 %"  # of relativesize: two choices, one right
    answered = Table.of([(item, Answer(item=item.id)) for item in found])
    return f"{100 * (chance_of(measure(benchmark(name).measures[0]), answered) or 0):.1f} %"


def example(found: Sequence[Item]) -> str:
    """The shortest of the first items, with its choices; the right one is ticked."""
    item = min(found[:AMONG], key=lambda each: len("".join(said(each))))
    choices = [f"✓ {choice}" if choice in item.gold else choice for choice in item.choices]
    return "\n".join([*said(item), " / ".join(choices)])


def said(item: Item) -> list[str]:
    """What an item says, a line for each sentence of its premises and one for its text."""
    if not item.context:
        return [item.text]
    sentences = [*re.split(r"(?<=[.?]) ", item.context), item.text]
    return [line for sentence in sentences for line in wrap(sentence, WIDTH)]


@cache
def measured() -> dict[str, Any]:
    """Figures that are measured or counted, not computed."""
    known: dict[str, Any] = yaml.safe_load(MEASURED.read_text(encoding="utf-8"))
    return known


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    sys.exit(main())

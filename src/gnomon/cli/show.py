"""Show sample items and statistics of a benchmark.

examples:
  gnomon show scales
  gnomon show spacenli -n 5 --seed 7
  gnomon show vsr@published --data path/to/vsr --format markdown
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gnomon.cli.choosing import chosen_sources, item_arguments
from gnomon.contracts import Listing
from gnomon.errors import UsageError
from gnomon.itemsource import ItemSource
from gnomon.options import takes
from gnomon.records import Item

MANY = 30  # combinations of right labels, beyond which a table of them says nothing


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    from gnomon.reporting.tables.render import FORMATS

    parser.add_argument("benchmark", metavar="BENCHMARK", help="NAME, NAME@fresh or NAME@published")
    parser.add_argument(
        "-n", type=int, default=3, metavar="N", help="how many items to show (default: 3)"
    )
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="table",
        help="of the statistics (default: table)",
    )
    item_arguments(parser)


def main(args: Namespace) -> int:
    """Print what the benchmark is, items spread over the whole, then the statistics."""
    from gnomon.itemsource import spread
    from gnomon.reporting.tables.render import render

    if args.n < 0:
        raise UsageError(f"The number of items must be 0 or more, not {args.n}.")
    source = chosen_sources(args, [args.benchmark])[0]
    items = list(source.items())
    shown = [items[i] for i in spread(len(items), args.n)]
    tables = [
        table
        for table in (*counts(items, source.benchmark.slices), *statistics(source, items))
        if table.rows
    ]
    if args.format == "json":
        import msgspec

        found = {
            "benchmark": source.name,
            "items": len(items),
            "sample": shown,
            "tables": [table._asdict() for table in tables],
        }
        print(msgspec.json.encode(found).decode())
        return 0
    if args.format in ("table", "markdown"):
        print(introduction(source, items))
        for item in shown:
            print(f"\n{in_words(item)}")
        print()
    for number, table in enumerate(tables):
        print(
            "\n" * (number > 0)
            + render(table if args.format == "csv" else _percentages(table), args.format)
        )
    return 0


def introduction(source: ItemSource, items: Sequence[Item]) -> str:
    """What it asks, how many items there are, and how many of them another seed would make
    again."""
    groups = len({item.group for item in items})
    said = f"{source.name}: {source.benchmark.summary}. {len(items):,} items in {groups:,} groups."
    if source.source != "fresh" or "seed" not in source.options or not items:
        return said
    other = {**source.options, "seed": source.options["seed"] + 1}
    again = {(item.context, item.text) for item in replace(source, options=other).items()}
    shared = sum((item.context, item.text) in again for item in items)
    return f"{said} Seed {other['seed']} shares {100 * shared / len(items):.1f} % of the questions."


def statistics(source: ItemSource, items: Sequence[Item]) -> list[Listing]:
    """The benchmark's own tables; a function that names options of the source, such as `data`, is
    given them."""
    make = source.benchmark.statistics
    if make is None:
        return []
    return make(
        items, **{name: value for name, value in source.options.items() if takes(make, name)}
    )


def counts(items: Sequence[Item], slices: Iterable[str]) -> list[Listing]:
    """Right labels by form, and a table for each slice. Where labels combine freely, each is
    counted by itself."""
    forms = Counter((item.form, ", ".join(item.gold)) for item in items)
    title = "Right answers"
    if len(forms) > MANY:
        forms = Counter((item.form, label) for item in items for label in item.gold)
        title = "Right answers, each label by itself (an item may have several)"
    tables = [
        Listing(
            title,
            ("form", "label", "items", "share"),
            tuple((form, label, n, n / len(items)) for (form, label), n in sorted(forms.items())),
        )
    ]
    for tag in slices:
        seen = Counter(item.tags[tag] for item in items if tag in item.tags)
        if seen:
            order = sorted(seen.items(), key=lambda pair: (-pair[1], pair[0]))
            tables.append(
                Listing(
                    f"By {tag}",
                    (tag, "items", "share"),
                    tuple((key, n, n / len(items)) for key, n in order),
                )
            )
    return tables


def in_words(item: Item) -> str:
    """An item as a person would read it."""
    lines = [f"[{item.id}]  {item.form}, group {item.group or '–'}"]
    lines += [f"  {text}" for text in (item.context, item.text) if text]
    lines.append(
        "  "
        + "   ".join(f"{'✓' if choice in item.gold else ' '} {choice}" for choice in item.choices)
    )
    return "\n".join(lines)


def _percentages(table: Listing) -> Listing:
    """Shares as a person reads them."""
    if "share" not in table.columns:
        return table
    place = table.columns.index("share")
    return table._replace(
        rows=tuple(
            (*row[:place], f"{100 * row[place]:.1f} %", *row[place + 1 :]) for row in table.rows
        )
    )

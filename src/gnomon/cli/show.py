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

from gnomon.cli.choosing import chosen_sources, item_arguments
from gnomon.contracts import Listing
from gnomon.records import Item

MANY = 30  # combinations of right labels, beyond which a table of them says nothing


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    from gnomon.report.tables import FORMATS

    parser.add_argument("benchmark", metavar="BENCHMARK", help="NAME, NAME@fresh or NAME@published")
    parser.add_argument("-n", type=int, default=3, metavar="N", help="how many items to show (default: 3)")
    parser.add_argument("--format", choices=FORMATS, default="table", help="of the statistics (default: table)")
    item_arguments(parser)


def main(args: Namespace) -> int:
    """Print the statistics, then items spread over the whole."""
    from gnomon.report.tables import render
    from gnomon.sources import spread

    source = chosen_sources(args, [args.benchmark])[0]
    items = list(source.items())
    tables = [*counts(items, source.benchmark.slices),
              *(source.benchmark.statistics(items) if source.benchmark.statistics else [])]  # fmt: skip
    if args.format == "json":
        import msgspec

        shown = [items[i] for i in spread(len(items), args.n)]
        print(
            msgspec.json.encode(
                {
                    "benchmark": source.name,
                    "items": len(items),
                    "sample": shown,
                    "tables": [table._asdict() for table in tables],
                }
            ).decode()
        )
        return 0
    print(
        f"{source.name}: {source.benchmark.summary}. {len(items):,} items in "
        f"{len({item.group for item in items}):,} groups."
    )
    for table in tables:
        print(f"\n{render(table, args.format)}")
    for i in spread(len(items), args.n):
        print(f"\n{in_words(items[i])}")
    return 0


def counts(items: Sequence[Item], slices: Iterable[str]) -> list[Listing]:
    """Right labels by form, and a table for each slice. Where labels combine freely, each is counted by itself."""
    forms = Counter((item.form, ", ".join(item.gold)) for item in items)
    title = "Right answers"
    if len(forms) > MANY:
        forms = Counter((item.form, label) for item in items for label in item.gold)
        title = "Right answers, each label by itself (an item may have several)"
    tables = [
        Listing(
            title,
            ("form", "label", "items", "share"),
            tuple((form, label, n, _percent(n, len(items))) for (form, label), n in sorted(forms.items())),
        )
    ]
    for tag in slices:
        seen = Counter(item.tags[tag] for item in items if tag in item.tags)
        if seen:
            order = sorted(seen.items(), key=lambda pair: (-pair[1], pair[0]))
            tables.append(
                Listing(
                    f"By {tag}", (tag, "items", "share"), tuple((key, n, _percent(n, len(items))) for key, n in order)
                )
            )
    return tables


def in_words(item: Item) -> str:
    """An item as a person would read it."""
    lines = [f"[{item.id}]  {item.form}, group {item.group or '–'}"]
    lines += [f"  {text}" for text in (item.context, item.text) if text]
    lines.append("  " + "   ".join(f"{'✓' if choice in item.gold else ' '} {choice}" for choice in item.choices))
    return "\n".join(lines)


def _percent(n: int, total: int) -> str:
    return f"{100 * n / total:.1f} %"

"""Write a benchmark's items to a file: .jsonl, .csv or .parquet, by its ending.

examples:
  gnomon make scales -o scales.jsonl --seed 7
  gnomon make spacenli -o spacenli.parquet --per-group 50
  gnomon make spacenli -o mine.jsonl --patterns my_patterns.yaml
  gnomon make vsr@published -o test.jsonl --data path/to/vsr --split test

A file of fresh items carries a canary string beside each item (docs/formats.md), by which training
on it can be avoided and found out. `gnomon check FILE` reads it back.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from gnomon.cli.choosing import chosen_sources, item_arguments


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("benchmark", metavar="BENCHMARK", help="NAME, NAME@fresh or NAME@published")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="FILE.jsonl, FILE.csv or FILE.parquet; - prints JSON lines",
    )
    parser.add_argument(
        "--limit", type=int, metavar="N", help="at most N items, spread evenly over all"
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    item_arguments(parser)


def main(args: Namespace) -> int:
    """Write the items."""
    import sys

    from gnomon.canary import CANARY
    from gnomon.writing import write_items, write_lines

    source = chosen_sources(args, [args.benchmark])[0].limited(args.limit)
    canary = CANARY if source.source == "fresh" else ""
    if args.output == "-":
        write_lines(sys.stdout.buffer, source.items(), canary=canary)
        return 0
    written = write_items(Path(args.output), source.items(), canary=canary)
    if not args.quiet:
        print(f"{written:,} items of {source.name} in {args.output}", file=sys.stderr)
    return 0

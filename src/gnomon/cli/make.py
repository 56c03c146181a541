"""Write a benchmark's items to a file: .jsonl, .csv or .parquet, by its ending.

Where pictures are drawn for the items, give a folder: it gets items.jsonl and the pictures, to
which the items have paths from there. A command that was stopped continues where it was.

examples:
  gnomon make scales -o scales.jsonl --seed 7
  gnomon make spacenli -o spacenli.parquet --per-group 50
  gnomon make spacenli -o mine.jsonl --patterns my_patterns.yaml
  gnomon make vsr@published -o test.jsonl --data path/to/vsr --split test
  gnomon make vsr@fresh -o scenes --seed 7 --set quads=5
  gnomon make scales -o part-3.jsonl --shard 3/8
  gnomon make vsr-pairs --instances instances.json --images photos --count 200 -o pairs.jsonl
  gnomon make vsr-pairs@scenes --set scenes=scenes --count 20 -o pairs.jsonl

A file of fresh items carries a canary string beside each item (docs/formats.md), by which training
on it can be avoided and found out. `gnomon check FILE` reads it back.

--shard I/N writes part I of N. One after the other, the parts are the whole file, byte for byte (of
JSON lines; each CSV file has its own header). Only the pictures of the part are drawn.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from gnomon.cli.choosing import chosen_sources, item_arguments, shard_argument
from gnomon.errors import DataError, UsageError
from gnomon.items.source import ItemSource
from gnomon.records import Image, Item

PICTURES = "pictures"  # the folder of the pictures, beside the file of the items


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("benchmark", metavar="BENCHMARK", help="NAME, NAME@fresh or NAME@published")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="FILE.jsonl, FILE.csv or FILE.parquet; - prints JSON lines; a folder for pictures",
    )
    parser.add_argument(
        "--processes",
        type=int,
        default=0,
        metavar="N",
        help="how many processes draw pictures (default: one for each core)",
    )
    parser.add_argument(
        "--limit", type=int, metavar="N", help="at most N items, spread evenly over all"
    )
    shard_argument(parser)
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    item_arguments(parser)


def main(args: Namespace) -> int:
    """Write the items."""
    from gnomon.items.writing import CANARY, write_items, write_lines

    if args.processes < 0:
        raise UsageError(f"There cannot be {args.processes} processes.", "Give 1 or more.")
    source = chosen_sources(args, [args.benchmark])[0].limited(args.limit).sharded(args.shard)
    canary = CANARY if source.source == "fresh" else ""
    if args.output == "-":
        write_lines(sys.stdout.buffer, source.items(), canary=canary)
        return 0
    file = Path(args.output)
    items = source.items()
    if source.makes_pictures:
        file = _items_file(file)
        items = _with_pictures(source, file.parent, args)
    written = write_items(file, items, canary=canary)
    if not args.quiet:
        _tell_account(source)
        part = f" (shard {source.shard})" if source.shard else ""
        print(f"{written:,} items of {source.name}{part} in {file}", file=sys.stderr)
    return 0


def _tell_account(source: ItemSource) -> None:
    """Say what the items were drawn from, and what was left out."""
    from gnomon.tabular import render

    account = source.benchmark.accounts.get(source.source)
    if account is not None:
        print(render(account(**source.options)), file=sys.stderr)


def _items_file(output: Path) -> Path:
    """The file for the items: as named, or items.jsonl in the folder that was named."""
    if output.suffix:
        return output
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{error.strerror}.", "Name another folder.", file=output) from None
    return output / "items.jsonl"


def _with_pictures(source: ItemSource, folder: Path, args: Namespace) -> Iterator[Item]:
    """The items, with pictures in a folder beside their file and paths from there."""
    from gnomon.cli.progress import counted_line

    with counted_line(source.name, "pictures", quiet=args.quiet) as watch:
        pictures = folder / PICTURES
        for item in source.illustrated(pictures, processes=args.processes, watch=watch):
            images = [_seen_from(folder, image) for image in item.images]
            yield replace(item, images=tuple(images))


def _seen_from(folder: Path, image: Image) -> Image:
    """A picture by its path from a folder that it is in; one that is elsewhere stays as it is."""
    path = Path(image.path)
    if not path.is_relative_to(folder):
        return image
    return replace(image, path=path.relative_to(folder).as_posix())

"""Make one run of its shards: what `gnomon run` would have made without --shard.

examples:
  gnomon merge runs/*--shard-*-of-8
  gnomon merge node1/runs node2/runs -o runs/whole
  gnomon merge runs/*--shard-*-of-8 --incomplete

A folder that is no run stands for the runs in it. Without -o, the new run stands beside the first
shard under the name of the whole run, where `gnomon run` without --shard finds it: it asks what the
shards have left. Shards that differ in options, model, versions or items are refused, and so is a
set that lacks one. The shards are left as they are; `gnomon rm` removes them.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="the folders of the shards")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        help="the new run; it must not exist yet (default: beside the first shard)",
    )
    parser.add_argument(
        "--incomplete",
        action="store_true",
        help="merge what there is although shards are missing; the new run says which it holds",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def main(args: Namespace) -> int:
    """Merge, and say what became of it."""
    from gnomon.runs import merge, open_runs

    output = Path(args.output) if args.output else None
    found = merge(open_runs(args.runs), output, incomplete=args.incomplete)
    if args.json:
        _print_json(found.run.path, found.shards)
    else:
        _print_words(found.run.path, found.shards)
    return 0


def _print_json(folder: Path, shards: int) -> None:
    import msgspec

    from gnomon.runs import Run

    manifest = Run.open(folder).manifest
    line = {"run": folder.as_posix(), "shards": shards, **msgspec.to_builtins(manifest)}
    print(msgspec.json.encode(line).decode())


def _print_words(folder: Path, shards: int) -> None:
    from gnomon.errors import inert
    from gnomon.runs import Run

    manifest = Run.open(folder).manifest
    counts = manifest.counts
    noun = "shard" if shards == 1 else "shards"
    print(f"Merged {shards:,} {noun}: {counts.items:,} items in {inert(str(folder))}")
    if manifest.shard:
        print(
            f"This is not the whole run but shards {manifest.shard}, of {manifest.whole_items:,} "
            "items in all."
        )
    left = counts.items - counts.asked
    if left:
        print(f"{left:,} items have no answer yet. {_how_to_go_on(manifest.shard)}")


def _how_to_go_on(shard: str) -> str:
    if shard:
        return "Give the commands of the unfinished shards again, then merge them."
    return "`gnomon run` with the same options and no --shard asks for them."

"""Make one run of its shards: what `gnomon run` would have made without --shard.

examples:
  gnomon merge shards/*-of-8
  gnomon merge node1/runs node2/runs -o whole
  gnomon merge node1/runs --incomplete

A folder that is no run stands for the runs in it. Without -o, the new run stands beside the first
shard under the name of the whole run, where `gnomon run` without --shard finds it: it asks what the
shards have left. Shards that differ in options, model, versions or items are refused, and so is a
set that lacks one. The shards are left as they are; `gnomon rm` removes them.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli.sharedoptions import json_argument

if TYPE_CHECKING:
    from gnomon.runs import Merged


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
    json_argument(parser)


def main(args: Namespace) -> int:
    """Merge, and say what became of it."""
    from gnomon.cli.progress import counted_line
    from gnomon.runs import merge, open_runs

    output = Path(args.output) if args.output else None
    with counted_line("merge", "items and answers", quiet=args.format == "json") as watch:
        found = merge(open_runs(args.runs), output, incomplete=args.incomplete, watch=watch)
    if args.format == "json":
        _print_json(found)
    else:
        _print_words(found)
    return 0


def _print_json(found: Merged) -> None:
    import msgspec

    run = found.run
    fields = msgspec.to_builtins(run.manifest)
    line = {"run": run.path.as_posix(), "shards": found.shards, **fields}
    print(msgspec.json.encode(line).decode())


def _print_words(found: Merged) -> None:
    from gnomon.errors import inert

    manifest = found.run.manifest
    counts = manifest.counts
    noun = "shard" if found.shards == 1 else "shards"
    where = inert(str(found.run.path))
    done = "These are merged already" if found.before else f"Merged {found.shards:,} {noun}"
    print(f"{done}: {counts.items:,} items in {where}")
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

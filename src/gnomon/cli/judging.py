"""A run again with another judge of its pictures, or a second reader of its replies."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from gnomon.cli.dispatch import tell
from gnomon.cli.progress import ask_model
from gnomon.cli.run import headline_of, show_runs
from gnomon.cli.selection import settings_of
from gnomon.errors import UsageError, inert
from gnomon.items.experiments import source_of_run
from gnomon.items.source import ItemSource
from gnomon.measures.entries import entries_of
from gnomon.paint.factory import finished_painter
from gnomon.paint.judges.answers import people_judge
from gnomon.registry import model
from gnomon.runs import Run, open_runs
from gnomon.runs.secondreader import SecondReader
from gnomon.trust import without_trust


def judge_again(args: Namespace) -> int:
    """Judge each run again, and show the scores before and after."""

    old = open_runs(args.benchmarks)
    changes = _changes(args)
    new = [_judged(args, run, changes) for run in old]
    if not args.quiet:
        print(headline_of(entries_of([*old, *new])))
        print(inert("Runs: " + "  ".join(str(run.path) for run in new)))
    return 0


def read_again(args: Namespace) -> int:
    """Have a second reader read what the named runs left unread, and show the scores."""

    old = open_runs(args.benchmarks)
    again = read_unread(
        old, args.read_with, folder=args.runs, quiet=args.quiet, restart=args.restart
    )
    show_runs(args, [*old, *again])
    return 0


def read_unread(
    runs: Sequence[Run],
    read_with: str,
    *,
    folder: str | None = None,
    quiet: bool = False,
    restart: bool = False,
) -> list[Run]:
    """The runs with their unread replies read by the model of --read-with, as runs of their own."""

    found = []
    for run in runs:
        reader = SecondReader(run, model(read_with))
        source = source_of_run(run)
        title = f"{source.name} · replies of {reader.spec} read with {read_with}"
        place = folder or Path(run.path).parent
        found.append(ask_model(title, source, reader, quiet=quiet, runs=place, restart=restart))
    return found


def _changes(args: Namespace) -> dict[str, Any]:
    """The options that differ from those of the old run."""
    found = {key.removeprefix("model."): value for key, value in settings_of(args).items()}
    if args.model:
        raise UsageError("--judge-again asks no model.", "Leave out -m.")
    if not found:
        raise UsageError(
            "Nothing says how the new judge differs.",
            "Say what differs, such as --set rule=visor (or judge, detector, depth).",
        )
    return found


def _judged(args: Namespace, run: Run, changes: dict[str, Any]) -> Run:

    finished_painter(run.path)  # says so if there are no pictures
    manifest = run.manifest
    options = {**without_trust(manifest.model_options), **changes, "painted": str(run.path)}
    source = source_of_run(run)
    kind, _, file = str(options.get("judge", "")).partition(":")
    if kind == "people":
        source = _looked_at(source, people_judge(file).items)
    again = model(manifest.model, **options)
    title = f"{source.name} · {again.spec}"
    runs = args.runs or Path(run.path).parent
    return ask_model(title, source, again, quiet=args.quiet, runs=runs, restart=args.restart)


def _looked_at(source: ItemSource, items: Collection[str]) -> ItemSource:
    """The items of which somebody has looked at a picture: the others were not judged at all."""
    found = source.only(items)
    left = len(source) - len(found)
    if not len(found):
        raise UsageError(
            "Nobody has looked at any picture of this run.",
            "Ask people with `gnomon people ask RUN --task picture`, and give their folder.",
        )
    if left:
        tell(
            f"{left:,} of {len(source):,} items are left out: nobody has looked at their pictures."
        )
    return found

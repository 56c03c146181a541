"""Look at the pictures of a run again, with another judge. Nothing is painted.

The new answers are a run of their own beside the old one, with the same pictures. What is not given
stays as it was in the old run.

examples:
  gnomon judge runs/posrel-fresh--synth-render--0123456789abcdef --rule visor
  gnomon judge runs/scales-* --detector hf:facebook/detr-resnet-50 --depth none
  gnomon judge runs/posrel-* --judge vqa:hf:Salesforce/blip-vqa-base
"""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.errors import UsageError, inert

if TYPE_CHECKING:
    from gnomon.runs import Run

GIVEN = ("judge", "detector", "depth", "rule")


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    from gnomon.cli.choosing import MODEL_FLAGS

    parser.add_argument("runs_judged", nargs="+", metavar="RUN", help="the folder of a run")
    for name in GIVEN:
        flag = MODEL_FLAGS[name]
        parser.add_argument(f"--{name}", metavar=flag.value, help=flag.text)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="any other option of judging, such as least=0.5",
    )
    parser.add_argument("--runs", metavar="DIR", help="where the new runs go (default: beside)")
    parser.add_argument("--restart", action="store_true", help="start over")
    parser.add_argument("--quiet", action="store_true", help="no progress and no table")


def main(args: Namespace) -> int:
    """Judge each run again, and show the scores before and after."""
    from gnomon.runs import open_runs

    old = open_runs(args.runs_judged)
    changes = _changes(args)
    new = [_judged(args, run, changes) for run in old]
    if not args.quiet:
        _show([*old, *new])
        print(inert("Runs: " + "  ".join(str(run.path) for run in new)))
    return 0


def _changes(args: Namespace) -> dict[str, Any]:
    """The options that differ from those of the old run."""
    found = {name: getattr(args, name) for name in GIVEN if getattr(args, name) is not None}
    for setting in args.set:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise UsageError(f"'{setting}' is not KEY=VALUE.", "For example: --set least=0.5")
        found[key] = value
    if not found:
        raise UsageError(
            "There is nothing to judge by that is new.",
            "Give --rule, --detector, --depth or --judge.",
        )
    return found


def _judged(args: Namespace, run: Run, changes: dict[str, Any]) -> Run:
    from gnomon.cli.progress import live_line
    from gnomon.items.source import load
    from gnomon.paint.factory import finished_painter
    from gnomon.registry import model
    from gnomon.runs import running
    from gnomon.trust import without_trust

    finished_painter(run.path)  # says so if there are no pictures
    manifest = run.manifest
    options = {**without_trust(manifest.model_options), **changes, "painted": str(run.path)}
    source = load(manifest.benchmark, **manifest.options)
    source = source.limited(manifest.limit).permuted(manifest.permute)
    source = source.sharded(manifest.shard or None)
    again = model(manifest.model, **options)
    with live_line(f"{source.name} · {again.spec}", quiet=args.quiet) as watch:
        return running.run(
            source,
            again,
            runs=args.runs or Path(run.path).parent,
            restart=args.restart,
            watch=watch,
            command=shlex.join(["gnomon", *sys.argv[1:]]),
        )


def _show(runs: list[Run]) -> None:
    from gnomon.measures.entries import entries_of
    from gnomon.measures.scoring import Scored, score_table
    from gnomon.reports.tables.scores import headline

    scores: list[Scored] = []
    for entry in entries_of(runs):
        found = score_table(entry.table, entry.measures)
        scores += [Scored(score, entry.label) for score in found]
    print(headline(scores))

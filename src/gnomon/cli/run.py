"""Ask models the items of benchmarks. Given again, the same command goes on where it stopped.

examples:
  gnomon run scales -m random
  gnomon run scales spacenli -m smollm2 -m majority --limit 500
  gnomon run spacenli@published -m hf:roberta-large-mnli --data path/to/spacenli
  gnomon run spatialqa -m openai:gpt-4o-mini --max-cost 2 --model-set price_input=0.15 --model-set price_output=0.6

A run is a folder in --runs. Items that failed are listed and stay failed until --retry-errors;
--restart starts over.
"""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, Namespace

from gnomon.cli.choosing import chosen_models, chosen_sources, item_arguments, model_arguments
from gnomon.errors import GnomonError
from gnomon.itemsource import ItemSource
from gnomon.records import Score
from gnomon.redaction import redact_command
from gnomon.registry import ModelSpec
from gnomon.runs import Run


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "benchmarks", nargs="+", metavar="BENCHMARK", help="NAME, NAME@fresh or NAME@published"
    )
    parser.add_argument(
        "-m",
        "--model",
        action="append",
        required=True,
        metavar="MODEL",
        help="SCHEME or SCHEME:NAME; may be given several times (see `gnomon list models`)",
    )
    parser.add_argument(
        "--limit",
        type=int,
        metavar="N",
        help="at most N items of each benchmark, spread evenly over all",
    )
    parser.add_argument(
        "--runs", default="runs", metavar="DIR", help="where runs are kept (default: runs)"
    )
    parser.add_argument(
        "--restart", action="store_true", help="start over: forget earlier answers of this run"
    )
    parser.add_argument(
        "--retry-errors", action="store_true", help="ask the items that failed again"
    )
    parser.add_argument(
        "--blind", action="store_true", help="ask a model that cannot see without the pictures"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress and no table")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object per run instead of a table"
    )
    item_arguments(parser)
    model_arguments(parser)


def main(args: Namespace) -> int:
    """Carry out every benchmark with every model."""
    from gnomon.engine import run_folder

    sources = [source.limited(args.limit) for source in chosen_sources(args, args.benchmarks)]
    models = chosen_models(args, args.model)
    plan = {
        run_folder(source, model, args.runs, blind=args.blind): (source, model)
        for source in sources
        for model in models
    }
    done: list[Run] = []
    failed = 0
    for source, model in plan.values():  # each once, even if it was named twice
        try:
            done.append(_one(args, source, model))
        except GnomonError as error:
            if args.debug or len(plan) == 1:
                raise
            failed += 1  # the other runs go on
            print(f"gnomon: {source.name}, {model.spec}: {error}", file=sys.stderr)
    _show(args, done)
    failed += sum(run.manifest.counts.errors == run.manifest.counts.items for run in done)
    return 1 if failed else 0


def _one(args: Namespace, source: ItemSource, model: ModelSpec) -> Run:
    from gnomon import engine
    from gnomon.cli.progress import live_line

    command = redact_command(shlex.join(["gnomon", *sys.argv[1:]]))
    folder = engine.run_folder(source, model, args.runs, blind=args.blind)
    with live_line(f"{source.name} · {model.spec}", quiet=args.quiet or args.json) as watch:
        try:
            return engine.run(
                source,
                model,
                runs=args.runs,
                restart=args.restart,
                blind=args.blind,
                retry_errors=args.retry_errors,
                watch=watch,
                command=command,
            )
        except KeyboardInterrupt:
            if (folder / "run.json").exists():
                counts = Run.open(folder).counts()
                print(
                    f"\ngnomon: stopped after {counts.asked:,} of {counts.items:,} items. The same command goes on:"
                    f"\n  {command.replace(' --restart', '')}",
                    file=sys.stderr,
                )
            raise SystemExit(130) from None


def _show(args: Namespace, runs: list[Run]) -> None:
    if args.json:
        import msgspec

        for run in runs:
            line = {
                "run": str(run.path),
                **msgspec.to_builtins(run.manifest),
                "scores": _scores(run),
            }
            print(msgspec.json.encode(line).decode())
        return
    if args.quiet or not runs:
        return
    from gnomon.reporting.tables.scores import headline

    print(headline([score for run in runs for score in _scores(run)]))
    for run in runs:
        counts = run.manifest.counts
        if counts.errors or counts.unread:
            print(
                f"{run.model} on {run.benchmark}: {counts.errors:,} failed, {counts.unread:,} unread: counted wrong."
                + (" Ask the failed ones again with --retry-errors." if counts.errors else "")
            )
    print("Runs: " + "  ".join(str(run.path) for run in runs))


def _scores(run: Run) -> list[Score]:
    """The measures of the run's benchmark over all items."""
    from gnomon.measures.scoring import score_run

    return score_run(run)

"""Ask models the items of benchmarks. A run that was stopped continues with the same command.

examples:
  gnomon run scales -m random
  gnomon run scales spacenli -m smollm2 -m majority --limit 500
  gnomon run spacenli@published -m hf:roberta-large-mnli --data path/to/spacenli
  gnomon run spacenli -m smollm2 --prompts all
  gnomon run spacenli -m "RoBERTa=hf:roberta-large-mnli"
  gnomon run scales -m openai:gpt-4o-mini --permute
  gnomon run spatialqa -m openai:gpt-4o-mini --max-cost 2 --price-input 0.15 --price-output 0.6
  gnomon run scales -m openai:NAME --base-url http://one:8000/v1 --base-url http://two:8000/v1
  gnomon run scales -m smollm2 --shard 3/8
  gnomon run spacenli -m hf:roberta-large-mnli --workers ray:8 --gpus-per-worker 1

A run is a folder in --runs. Items that failed are listed; --retry-errors asks for them again, and
--restart starts over. The table counts the units that items share, such as objects or families of
patterns, over which intervals are computed (docs/glossary.md).

-m NAME=MODEL calls the model by a name of your own in every table and page; the same command with
another name renames it. What stands before the first "=" is a name if it has no ":" and no "/".

--prompts all asks every item in each wording of the prompt, one run for each; score and compare
combine them with the same option. --permute puts the choices of each item in an order of its own,
so that a bias for a place shows.

--workers has several processes ask the model, on this machine or on a Ray cluster; answers and
folder are the same (docs/scale.md).

--shard 3/8 asks the third of eight parts, on any machine; `gnomon merge` makes one run of all parts
(docs/scale-shards.md).
"""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gnomon.cli.choosing import (
    chosen_models,
    chosen_sources,
    in_all_wordings,
    item_arguments,
    model_arguments,
    shard_argument,
)
from gnomon.cli.dispatch import tell
from gnomon.errors import EmptyShardError, GnomonError, UsageError, inert
from gnomon.itemsource import ItemSource
from gnomon.redaction import redact_command
from gnomon.registry import ModelSpec, is_native
from gnomon.runs import MANIFEST, Run

if TYPE_CHECKING:
    from gnomon.engine import Wanted
    from gnomon.measures.entries import Entry


class Planned(NamedTuple):
    """One run of the command: its folder, what is asked, and who is asked."""

    folder: Path
    source: ItemSource
    model: ModelSpec


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
        metavar="[NAME=]MODEL",
        help="SCHEME or SCHEME:NAME, with a name of your own before it if you like; may be "
        "repeated (see `gnomon list models`)",
    )
    parser.add_argument(
        "--limit",
        type=int,
        metavar="N",
        help="at most N items of each benchmark, spread evenly over all",
    )
    shard_argument(parser)
    parser.add_argument(
        "--runs", default="runs", metavar="DIR", help="where runs are kept (default: runs)"
    )
    parser.add_argument(
        "--restart", action="store_true", help="start over: delete the earlier answers of this run"
    )
    parser.add_argument(
        "--retry-errors", action="store_true", help="ask again for items that failed"
    )
    parser.add_argument(
        "--blind", action="store_true", help="do not show the pictures of items to the model"
    )
    parser.add_argument(
        "--permute",
        type=int,
        nargs="?",
        const=0,
        metavar="SEED",
        help="put the choices of each item in another order, drawn by this seed (default: 0)",
    )
    parser.add_argument(
        "--prompts", choices=("all",), help="ask each item in every wording of the prompt"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress and no table")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object per run instead of a table"
    )
    _worker_arguments(parser)
    item_arguments(parser)
    model_arguments(parser)


def _worker_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("workers")
    group.add_argument(
        "--workers",
        default="1",
        metavar="N|ray|ray:N",
        help="N processes of this machine, or N workers on Ray: the cluster of RAY_ADDRESS, else "
        "one that is started here (default: 1, this process)",
    )
    group.add_argument(
        "--cpus-per-worker",
        type=float,
        metavar="N",
        help="processors of each worker on Ray (default: 1)",
    )
    group.add_argument(
        "--gpus-per-worker",
        type=float,
        metavar="N",
        help="GPUs of each worker on Ray (default: 0, which shows it none)",
    )


def main(args: Namespace) -> int:
    """Carry out every benchmark with every model; one that fails does not stop the others."""
    workers = _wanted(args)  # a slip is told before anything is made
    plan = _plan(args)
    if len(plan) == 1:
        _run(args, plan[0])
        done = [True]
    elif workers.here and any(is_native(planned.model.spec) for planned in plan):
        done = _isolated(args, plan)
    else:
        done = [_attempt(args, number) for number in range(len(plan))]

    runs = []
    for planned, went_well in zip(plan, done, strict=True):
        if went_well and (planned.folder / MANIFEST).exists():  # an empty shard has no folder
            runs.append(Run.open(planned.folder))
    _show(args, runs)
    all_failed = [run for run in runs if run.manifest.counts.errors == run.manifest.counts.items]
    return 1 if all_failed or not all(done) else 0


def _plan(args: Namespace) -> list[Planned]:
    """Every run once, even if it was named twice."""
    from gnomon.engine import run_folder

    models = chosen_models(args, args.model)
    if args.prompts:
        models = _in_all_wordings(args, models)
    plan = {}
    for source in chosen_sources(args, args.benchmarks):
        asked = source.limited(args.limit).permuted(args.permute).sharded(args.shard)
        for model in models:
            folder = run_folder(asked, model, args.runs, blind=args.blind)
            plan[folder] = Planned(folder, asked, model)
    return list(plan.values())


def _in_all_wordings(args: Namespace, models: list[ModelSpec]) -> list[ModelSpec]:
    """Each model once for every wording of its prompt; a model without a prompt once."""
    if args.wording:
        raise UsageError(
            "--wording chooses one wording, --prompts all asks for all.", "Leave out one of them."
        )
    found: list[ModelSpec] = []
    for model in models:
        found += in_all_wordings(model)
    return found


def _isolated(args: Namespace, plan: list[Planned]) -> list[bool]:
    from gnomon.cli.isolating import in_children

    def crashed(number: int, reason: str) -> None:
        tell(f"{_title(plan[number])}: {reason}.\nThe model's file may be damaged: fetch it again.")

    return in_children(partial(_attempt, args), len(plan), crashed)


def _attempt(args: Namespace, number: int) -> bool:
    """Carry out one run of several; say so if it fails."""
    planned = _plan(args)[number]
    try:
        _run(args, planned)
    except (GnomonError, OSError) as error:
        if args.debug:
            raise
        tell(f"{_title(planned)}: {error}")
        return False
    except Exception as error:
        if args.debug:
            raise
        tell(
            f"{_title(planned)}: {type(error).__name__}: {error}\n"
            "Give the command again with --debug to see where."
        )
        return False
    return True


def _run(args: Namespace, planned: Planned) -> None:
    from gnomon import engine
    from gnomon.cli.progress import live_line

    command = redact_command(shlex.join(["gnomon", *sys.argv[1:]]))
    with live_line(_title(planned), quiet=args.quiet or args.json) as watch:
        try:
            engine.run(
                planned.source,
                planned.model,
                runs=args.runs,
                restart=args.restart,
                blind=args.blind,
                retry_errors=args.retry_errors,
                watch=watch,
                command=command,
                workers=_wanted(args),
            )
        except EmptyShardError as nothing:
            tell(str(nothing))
        except KeyboardInterrupt:
            _tell_how_to_go_on(planned.folder)
            raise SystemExit(130) from None


def _wanted(args: Namespace) -> Wanted:
    from gnomon.engine import wanted_workers

    return wanted_workers(args.workers, cpus=args.cpus_per_worker, gpus=args.gpus_per_worker)


def _title(planned: Planned) -> str:
    wording = planned.model.options.get("wording")
    which = f" · wording {wording}" if wording else ""
    if planned.source.shard is not None:
        which += f" · shard {planned.source.shard}"
    return f"{planned.source.name} · {planned.model.name or planned.model.spec}{which}"


def _tell_how_to_go_on(folder: Path) -> None:
    """After Ctrl-C: the command without --restart, which would delete the answers so far."""
    if not (folder / MANIFEST).exists():
        return
    counts = Run.open(folder).counts()
    words = [word for word in sys.argv[1:] if word != "--restart"]
    print(file=sys.stderr)
    tell(
        f"stopped after {counts.asked:,} of {counts.items:,} items. To continue, give the command"
        f"{' without --restart' if '--restart' in sys.argv else ' again'}:\n"
        f"  {shlex.join(['gnomon', *words])}"
    )


def _show(args: Namespace, runs: list[Run]) -> None:
    if args.json:
        for run in runs:
            _print_json(run)
        return
    if args.quiet or not runs:
        return
    from gnomon.measures.entries import entries_of
    from gnomon.measures.remarks import remarks
    from gnomon.measures.scoring import Scored, score_table
    from gnomon.reporting.tables.places import place_listings
    from gnomon.reporting.tables.render import render
    from gnomon.reporting.tables.scores import headline

    entries = entries_of(runs)
    scores: list[Scored] = []
    for entry in entries:
        found = score_table(entry.table, entry.measures)
        scores += [Scored(score, entry.label) for score in found]
    print(headline(scores))
    if args.prompts:
        _show_over_prompts(entries)
    for listing in place_listings(entries):
        print(f"\n{render(listing)}")
    for entry in entries:
        for remark in remarks(entry, ()):
            print(inert(remark))
    if any(run.manifest.counts.errors for run in runs):
        print("Ask the failed ones again with --retry-errors.")
    print(inert("Runs: " + "  ".join(str(run.path) for run in runs)))


def _show_over_prompts(entries: Sequence[Entry]) -> None:
    """Mean, worst, best and spread over the wordings, if any model was asked in several."""
    from gnomon.measures.prompts import score_over_prompts
    from gnomon.reporting.tables.prompts import shown

    try:
        found = score_over_prompts(entries)
    except UsageError as error:
        tell(error)
        return
    print(f"\n{shown(found, 'table')}")


def _print_json(run: Run) -> None:
    import msgspec

    from gnomon.measures.scoring import score_run

    fields = msgspec.to_builtins(run.manifest)
    line = {"run": str(run.path), **fields, "scores": score_run(run)}
    print(msgspec.json.encode(line).decode())

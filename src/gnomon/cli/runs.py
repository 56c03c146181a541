"""List, import, merge, remove or recover runs.

examples:
  gnomon runs list --runs results
  gnomon runs import results/*/samples_*.jsonl
  gnomon runs import logs/*.eval predictions.csv -m mine
  gnomon runs merge shards/*-of-8
  gnomon runs merge node1/runs node2/runs -o whole
  gnomon runs rm runs/scales* --yes
  gnomon runs recover runs/RUN -o recovered/RUN

import makes runs of logs of other programs: samples_*.jsonl of lm-eval and lmms-eval, .eval and
.json of Inspect, tables with a column of predictions (VLMEvalKit's, or your own). Questions, right
answers and replies are taken from the log. score, compare, table and report take a log
directly, too. Where a log tells only whether an answer was right, that is what is kept.
--read-with has a model read the replies of a log that no rule could read, as a run of its own
beside the first (docs/models.md).

merge makes one run of its shards: what `gnomon run` would have made without --shard. Without -o,
the new run stands beside the first shard under the name of the whole run, where `gnomon run`
without --shard finds it: it asks what the shards have left. Shards that differ in options, model,
versions or items are refused, and so is a set that lacks one. The shards are left as they are.

rm lists the runs and asks before it removes them with all their answers. A folder that is not a
run, or holds anything else beside one, is never removed, nor is a run that another process is
using.

recover saves what can still be read of a damaged run: its items and answers go into a new run. The
damaged run is left as it is. If all its items could be read, `gnomon run` with --runs recovered
continues the new one and asks again for the answers that were lost.
"""

from __future__ import annotations

import gc
import sys
from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.cli.list import hanging, print_json
from gnomon.contracts import Listing
from gnomon.errors import GnomonError, RunError, UsageError, inert, path_hint
from gnomon.grouped import grouped
from gnomon.reports.words import counted
from gnomon.tabular import UNCUT, render, too_wide

if TYPE_CHECKING:
    from gnomon.runs import Merged, Run

RUNS = "runs"  # the folder of runs


def main(args: Namespace) -> int:
    """List, import, merge, remove or recover."""
    actions = {
        "list": list_runs,
        "import": _import,
        "merge": _merge,
        "rm": _remove,
        "recover": _recover,
    }
    return actions[args.action](args)


def list_runs(args: Namespace) -> int:
    """Print every run that is in the folder."""
    gc.disable()  # of 100,000 runs, looking for what is no longer used takes a third of the time
    try:
        return _print_runs(args)
    finally:
        gc.enable()


def _print_runs(args: Namespace) -> int:
    from gnomon.cli.dispatch import tell

    _check_folder(args)
    found = _found_runs(args.runs)
    if args.format == "json":
        print_json(found, indent=2)
        return 0
    if not found:
        print(f"No runs in {inert(args.runs)}. `gnomon run scales -m random` makes one.")
        return 0
    columns = ("run", "benchmark", "model", "answers", "state", "started")
    rows = tuple(_row(run) for run in found)
    text = inert(render(Listing("", columns, rows), width=UNCUT))
    if too_wide(text):  # a path is there to be copied, so it is not cut
        text = "\n".join(map(_in_lines, rows))
    print(text)
    for run in found:
        if "reason" in run:
            tell(run["reason"])
    return 0


def _check_folder(args: Namespace) -> None:
    folder = Path(args.runs)
    if args.runs == RUNS or folder.is_dir():
        return
    if folder.exists():
        raise UsageError(f"{folder} is a file.", "Name the folder of runs with --runs.")
    hint = path_hint(folder, "Name the folder of runs with --runs.")
    raise UsageError(f"There is no folder {folder}.", hint)


def _row(run: dict[str, Any]) -> tuple[Any, ...]:
    answers = f"{run['asked']:,} / {run['items']:,}" if "asked" in run else None
    state = run["state"]
    if run.get("shard"):
        state = f"shard {run['shard']}, {state}"
    day = (run["started"] or "")[:10]
    return (run["run"], run["benchmark"], run.get("label", run["model"]), answers, state, day)


def _in_lines(row: tuple[Any, ...]) -> str:
    """A run for a narrow terminal: its folder, and below it what there is to say."""

    folder, *rest = row
    text = " · ".join(str(cell) for cell in rest if cell)
    return inert(f"{folder}\n{hanging('  ', text)}")


def _found_runs(folder: str) -> list[dict[str, Any]]:
    """Each run, the damaged first and then the oldest; none hides the others."""
    from gnomon.runs import survey

    surveyed = survey(folder)
    found = [_damaged(path, error) for path, error in surveyed.damaged.items()]
    names = _labels(surveyed.runs)
    for run in surveyed.runs:
        try:
            found.append({**_told(run), "label": names[run.path]})
        except GnomonError as error:
            damaged = _damaged(run.path, error)
            found.append(damaged | {"benchmark": run.benchmark, "model": run.model})
    return found


def _labels(runs: Sequence[Run]) -> dict[Path, str]:
    """What to call each run: its model, with what tells it from others on its benchmark."""
    from gnomon.measures.runlabels import labels, settings_of

    found: dict[Path, str] = {}
    for group in grouped(runs, lambda run: run.benchmark).values():
        told = labels([run.name for run in group], [settings_of(run) for run in group])
        found |= dict(zip((run.path for run in group), told, strict=True))
    return found


def _told(run: Run) -> dict[str, Any]:
    counts = run.counts()
    if not counts.items:  # a run has items from the moment that its manifest is whole
        raise run.damaged("it is empty")
    return {
        "run": run.path.as_posix(),
        "benchmark": run.benchmark,
        "model": run.model,
        "name": run.manifest.name,
        "options": run.manifest.options,
        "model_options": run.manifest.model_options,
        "limit": run.manifest.limit,
        "shard": run.manifest.shard,
        "items": max(counts.items, run.manifest.counts.items),
        "asked": counts.asked,
        "answered": counts.answered,
        "unread": counts.unread,
        "errors": counts.errors,
        "state": "finished" if run.manifest.finished else "unfinished",
        "started": run.manifest.started.isoformat(),
    }


def _damaged(path: Path, error: Exception) -> dict[str, Any]:
    return {
        "run": path.as_posix(),
        "benchmark": None,
        "model": None,
        "state": "damaged",
        "reason": str(error),
        "started": None,
    }


def _import(args: Namespace) -> int:
    """Make runs of logs, and say what each holds."""
    from gnomon.cli.judging import read_unread
    from gnomon.items.answers.logs import import_log

    for log in args.logs:
        found = import_log(Path(log), Path(args.runs), name=args.name, task=args.task)
        if args.read_with:
            found += read_unread(found, args.read_with)
        for run in found:
            counts = run.manifest.counts
            unread = f", {counts.unread:,} unread" if counts.unread else ""
            told = f"{run.name} on {run.benchmark}: {counts.items:,} items{unread}"
            print(inert(f"{run.path}  {told}"))
    return 0


def _merge(args: Namespace) -> int:
    """Merge, and say what became of it."""
    from gnomon.cli.progress import staged_lines
    from gnomon.runs import merge, open_runs

    output = Path(args.output) if args.output else None
    with staged_lines(quiet=args.format == "json") as stages:
        watch = partial(stages, "merge: items and answers")
        found = merge(
            open_runs(args.runs, shards=True), output, incomplete=args.incomplete, watch=watch
        )
    if args.format == "json":
        _print_merged_json(found)
    else:
        _print_merged(found)
    return 0


def _print_merged_json(found: Merged) -> None:
    import msgspec

    run = found.run
    fields = msgspec.to_builtins(run.manifest)
    print_json({"run": run.path.as_posix(), "shards": found.shards, **fields})


def _print_merged(found: Merged) -> None:
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


def _remove(args: Namespace) -> int:
    """Check every folder, then ask, then remove."""
    from gnomon.runs import remove_folder

    folders = list(dict.fromkeys(Path(run) for run in args.runs))
    what = counted(len(folders), "runs")
    for folder in folders:
        _check_removable(folder)
    for folder in folders:
        print(inert(f"{folder}  {_in_words(folder)}"))
    if not args.yes and not confirmed(f"Remove {what} for good?"):
        print("Nothing was removed.")
        return 1
    for folder in folders:
        remove_folder(folder)
    print(f"Removed {what}.")
    return 0


def _check_removable(folder: Path) -> None:
    from gnomon.runs import LOG, MANIFEST, check_holds_a_run_alone, check_not_in_use

    is_run = (folder / MANIFEST).is_file()
    if is_run and _manifest_is_damaged(folder) and not (folder / LOG).is_file():
        raise RunError(
            f"{folder} does not look like a run: it has no {LOG}, and its {MANIFEST} is not one of "
            "Gnomon's.",
            "Nothing was removed. Delete the folder by hand if you do not need it.",
        )
    check_holds_a_run_alone(folder)
    check_not_in_use(folder)


def _manifest_is_damaged(folder: Path) -> bool:
    from gnomon.runs import Run

    try:
        Run.open(folder)
    except GnomonError:
        return True
    return False


def _in_words(folder: Path) -> str:
    """What goes with a folder: who was asked what, and how many answers there are."""
    from gnomon.runs import Run

    try:
        run = Run.open(folder)
        counts = run.counts()
    except GnomonError:
        return "(damaged)"
    asked = f"{counts.asked:,} of {counts.items:,} items asked"
    return f"{run.manifest.name or run.model} on {run.benchmark}: {asked}"


def confirmed(question: str) -> bool:
    """Whether the user agrees, on a terminal, to what cannot be taken back."""
    if not sys.stdin.isatty():
        raise UsageError(
            "Nothing was removed: there is no terminal to ask on.",
            "Give --yes to remove without asking.",
        )
    reply = input(f"{question} [y/N] ")
    return reply.strip().lower() in ("y", "yes")


def _recover(args: Namespace) -> int:
    """Copy what can be read, and say how much of how much that is."""
    from gnomon.runs import Run, recover

    found = recover(Run.open(args.run), Path(args.output))
    items = found.items + found.lost_items
    answers = found.answers + found.lost_answers
    print(
        f"Saved {found.items:,} of {items:,} items and {found.answers:,} of {answers:,} answers "
        f"in {inert(args.output)}."
    )
    if found.lost_items:
        print("Some items are lost: the new run can be scored and shown, but not continued.")
        return 1
    return 0

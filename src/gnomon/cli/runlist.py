"""`gnomon list runs`: each run of a folder with how far it is, the damaged ones with the reason."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.cli.listing import RUNS, hanging, print_json
from gnomon.errors import UsageError, inert, path_hint
from gnomon.grouped import grouped

if TYPE_CHECKING:
    from gnomon.runs import Run


def list_runs(args: Namespace) -> int:
    """Print every run that is in the folder."""
    from gnomon.cli.dispatch import tell
    from gnomon.contracts import Listing
    from gnomon.tabular import UNCUT, render, too_wide

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
    if args.name:
        raise UsageError(
            f"Runs are not listed by name: '{args.name}'.",
            f"Name the folder that holds them: gnomon list runs --runs {args.name}",
        )
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
    from gnomon.errors import GnomonError
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

"""The runs in a folder: listed in one way for commands, report and viewer."""

import shutil
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from gnomon.errors import CopyWarning, GnomonError, RunError
from gnomon.runs.manifest import LOCK, LOG, MANIFEST, MERGING, PEOPLE, check_not_in_use
from gnomon.runs.notes import NOTES, NOTES_LOCK
from gnomon.runs.pace import PACE
from gnomon.runs.reading import Run

OWN_FILES = frozenset(
    {
        MANIFEST,
        "run.part",
        LOCK,
        LOG,
        f"{LOG}-wal",
        f"{LOG}-shm",
        f"{LOG}-journal",
        PACE,
        "pace.part",
        NOTES,
        "notes.part",
        NOTES_LOCK,
        *PEOPLE,
    }
)


class RunSurvey(NamedTuple):
    """What a folder holds: runs, oldest first, and folders whose manifest cannot be read."""

    runs: list[Run]
    damaged: dict[Path, GnomonError]


def survey(folder: str | Path) -> RunSurvey:
    """Everything in a folder that is or was a run; one that is damaged does not hide the others.

    A run that was given up before any item was in its log is not one, nor is what a merge that was
    stopped has left.
    """
    runs: list[Run] = []
    damaged: dict[Path, GnomonError] = {}
    for file in sorted(Path(folder).glob(f"*/{MANIFEST}"), key=str):
        if file.parent.name.endswith(MERGING):
            continue
        try:
            run = Run.open(file.parent)
        except GnomonError as error:
            damaged[file.parent] = error
            continue
        if run.manifest.items_sha256:
            runs.append(run)
    runs.sort(key=lambda run: (run.manifest.started, run.path.name))
    return RunSurvey(runs, damaged)


def runs_in(folder: str | Path) -> list[Run]:
    """The runs in a folder, oldest first. A damaged one is an error."""
    found = survey(folder)
    for error in found.damaged.values():
        raise error
    return found.runs


def open_runs(paths: Iterable[str | Path], *, shards: bool = False) -> list[Run]:
    """The runs that the paths name; a folder that is no run stands for the runs in it.

    None is taken twice, nor is a copy of one, nor the `shards` of a whole run that is there: what
    counts answers would count them twice.
    """
    found: dict[Path, Run] = {}
    for path in map(Path, paths):
        for run in _runs_at(path):
            found.setdefault(run.path.resolve(), run)
    runs = _without_copies(list(found.values()))
    return runs if shards else without_merged(runs)


def without_merged(runs: Sequence[Run]) -> list[Run]:
    """The runs without the shards of those that are whole."""
    whole = {run.manifest.id for run in runs if not run.manifest.shard}
    return [run for run in runs if run.manifest.shard_of not in whole]


def _without_copies(runs: list[Run]) -> list[Run]:
    """The runs, each once: of a run and its copies the one with the most answers."""
    kept: dict[tuple[str, datetime], Run] = {}
    for run in runs:
        identity = run.manifest.id, run.manifest.started
        other = kept.setdefault(identity, run)
        if other is run:
            continue
        if run.manifest.counts.asked > other.manifest.counts.asked:
            kept[identity], run, other = run, other, run
        warnings.warn(
            f"{run.path} is a copy of {other.path}, which counts once.", CopyWarning, stacklevel=3
        )
    return list(kept.values())


def _runs_at(path: Path) -> list[Run]:
    if path.is_file() and path.suffix.lower() in (".html", ".htm"):
        raise RunError(
            f"{path} is a page.", "Open it in a browser, or name the runs that it is about."
        )
    if path.is_file():  # a log of another program, read once and kept in the cache
        from gnomon.items.answers.logs import runs_of_log

        return runs_of_log(path)
    if (path / MANIFEST).is_file() or not path.is_dir():
        return [Run.open(path)]
    members = runs_in(path)
    if not members:
        raise RunError(
            f"{path} is not a run and holds none.", "`gnomon runs list` shows the runs there are."
        )
    return members


def remove(run: Run) -> None:
    """Delete a run's folder, unless another process is at work on it."""
    remove_folder(run.path)


def remove_folder(folder: Path) -> None:
    """The same for the folder of a run that may be damaged."""
    check_holds_a_run_alone(folder)
    check_not_in_use(folder)
    shutil.rmtree(folder.resolve())  # "." cannot be removed by that name


def check_holds_a_run_alone(folder: Path) -> None:
    """Refuse to remove what is no run, a link, or a folder with files that are of no run.

    The pictures that a model made are of the run: its answers name them.
    """
    if not (folder / MANIFEST).is_file():
        raise RunError(
            f"{folder} is not a run: it has no {MANIFEST}.",
            "Nothing was removed. `gnomon runs list` shows the runs there are.",
        )
    if folder.is_symlink():
        raise RunError(
            f"{folder} is a link to {folder.resolve()}.",
            "Nothing was removed. Give the folder itself, or remove the link.",
        )
    others = {entry.name for entry in folder.iterdir()} - OWN_FILES
    if others:
        others -= _made_by_model(folder)
    if others:
        raise RunError(
            f"{folder} also holds what is not of the run: {', '.join(sorted(others))}.",
            "Nothing was removed. Move it elsewhere first.",
        )


def _made_by_model(folder: Path) -> set[str]:
    """What stands in a run's folder because an answer names it, or something in it."""
    found: set[str] = set()
    with suppress(GnomonError):
        for _, answer in Run.open(folder).answers():
            found.update(file.partition("/")[0] for file in answer.files)
    return found

"""Remove runs, with all their answers. It lists them and asks first.

examples:
  gnomon rm runs/RUN
  gnomon rm runs/scales* --yes

A folder that is not a run, or holds anything else beside one, is never removed, nor is a run that
another process is using.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from gnomon.errors import GnomonError, RunError, UsageError, inert


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="the folder of a run")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def main(args: Namespace) -> int:
    """Check every folder, then ask, then remove."""
    from gnomon.runs import remove_folder

    folders = list(dict.fromkeys(Path(run) for run in args.runs))
    for folder in folders:
        _check(folder)
    for folder in folders:
        print(inert(f"{folder}  {_in_words(folder)}"))
    if not args.yes and not _agreed(len(folders)):
        print("Nothing was removed.")
        return 1
    for folder in folders:
        remove_folder(folder)
    print(f"Removed {_count(len(folders))}.")
    return 0


def _check(folder: Path) -> None:
    from gnomon.runs import LOG, MANIFEST, check_holds_a_run_alone, check_not_in_use

    if not (folder / MANIFEST).is_file():
        raise RunError(
            f"{folder} is not a run: it has no {MANIFEST}.",
            "Nothing was removed. `gnomon list runs` shows the runs there are.",
        )
    if _manifest_is_damaged(folder) and not (folder / LOG).is_file():
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


def _agreed(count: int) -> bool:
    if not sys.stdin.isatty():
        raise UsageError(
            "Nothing was removed: there is no terminal to ask on.",
            "Give --yes to remove without asking.",
        )
    reply = input(f"Remove {_count(count)} for good? [y/N] ")
    return reply.strip().lower() in ("y", "yes")


def _count(count: int) -> str:
    return "1 run" if count == 1 else f"{count:,} runs"

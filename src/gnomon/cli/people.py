"""List the people whose answers are here, or forget one.

examples:
  gnomon people --runs study/runs
  gnomon people forget ann --runs study/runs
  gnomon people forget ann --runs study/runs --look-in study --yes

To forget a person is to remove their runs, with all answers, comments, times and links. It first
says what depends on them: files of items with their votes or captions, pages, and runs on such
items, in this folder, in that of the runs and in those of --look-in. These are not changed: make
them again without the person, or remove them.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import UsageError, check_known, inert

if TYPE_CHECKING:
    from gnomon.people.forgetting import Known


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    from gnomon.tabular import FORMATS

    parser.add_argument("action", nargs="?", choices=("forget",), help="what to do (default: list)")
    parser.add_argument("name", nargs="?", metavar="NAME", help="whom to forget")
    parser.add_argument(
        "--runs", default="runs", metavar="DIR", help="the folder of the runs (default: runs)"
    )
    parser.add_argument(
        "--look-in",
        action="append",
        default=[],
        metavar="DIR",
        help="also look here for what depends on the person; may be repeated",
    )
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument(
        "--format", choices=FORMATS, default="table", help="output format of the list"
    )


def main(args: Namespace) -> int:
    """List, or check and say what depends on the person, ask, and remove."""
    from gnomon.people.forgetting import people_in

    if args.action is None:
        _list(people_in(args.runs), args)
        return 0
    if not args.name:
        raise UsageError("Who is to be forgotten?", "gnomon people forget NAME")
    known = {each.name: each for each in people_in(args.runs)}
    if not known:
        raise UsageError(
            f"There are no answers of people in {args.runs}.",
            "Name the folder of their runs with --runs.",
        )
    check_known("person", args.name, known)
    return _forget(known[args.name], args)


def _list(people: list[Known], args: Namespace) -> None:
    from gnomon.contracts import Listing
    from gnomon.tabular import render

    if not people and args.format == "table":
        print(f"There are no answers of people in {args.runs}.")
        return
    rows = []
    for each in people:
        benchmarks = dict.fromkeys(run.benchmark for run in each.runs)
        rows.append((each.name, len(each.runs), each.answers, ", ".join(benchmarks)))
    columns = ("person", "runs", "answers", "items of")
    print(render(Listing("", columns, tuple(rows)), args.format))


def _forget(person: Known, args: Namespace) -> int:
    from gnomon.people.forgetting import dependents_of
    from gnomon.runs import check_holds_a_run_alone, check_not_in_use, remove

    for run in person.runs:
        check_holds_a_run_alone(run.path)
        check_not_in_use(run.path)
    print("To be removed:")
    for run in person.runs:
        print(inert(f"  {run.path}  {run.counts().asked:,} answers on {run.benchmark}"))
    places = [Path.cwd(), args.runs, Path(args.runs).resolve().parent, *args.look_in]
    dependents = dependents_of(person.name, args.runs, places)
    if dependents:
        print(f"Made from answers of {person.name}, and not changed:")
    for dependent in dependents:
        print(inert(f"  {dependent.path}  {dependent.what}"))
    if not args.yes and not _agreed(person.name):
        print("Nothing was removed.")
        return 1
    for run in person.runs:
        remove(run)
    print(f"Forgot {person.name}: removed {_count(len(person.runs), 'run')}.")
    if dependents:
        print("Make what depends on them again, or remove it.")
    return 0


def _agreed(name: str) -> bool:
    if not sys.stdin.isatty():
        raise UsageError(
            "Nothing was removed: there is no terminal to ask on.",
            "Give --yes to remove without asking.",
        )
    reply = input(f"Forget {name} for good? [y/N] ")
    return reply.strip().lower() in ("y", "yes")


def _count(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"

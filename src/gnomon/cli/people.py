"""Ask people, see how far they agree, list them, or forget one.

examples:
  gnomon people ask scales --people ann,ben --limit 40
  gnomon people ask spacenli --task scale --people ann,ben --limit 60 --set repeat=6 --set catch=4
  gnomon people ask captions.jsonl --task validate --people ann,ben --set ask_frame=yes
  gnomon people agree study/runs --by relation --format json
  gnomon people agree study/runs -o validated.jsonl --rule majority --least 2
  gnomon people list --runs study/runs
  gnomon people forget ann --runs study/runs --look-in study --yes

ask shows a page on this machine with one item at a time, and prints a personal link for each
person; `gnomon people ask --help` says more. People's answers are ordinary runs (people:NAME).

agree says how far people agree, who can be relied on, and which items they confirm. A RUN is a
run's folder, a folder of runs, of which those of people are taken, or a file of votes: one that -o
wrote, or published ones. Missing answers are allowed. Intervals are over the units that items
share, as those of `gnomon score`. Of runs on pairs of pictures (the task contrast), -o writes the
captions that people made, for others to validate. docs/people.md says what each figure means.

To forget a person is to remove their runs, with all answers, comments, times and links. It first
says what depends on them: files of items with their votes or captions, pages, and runs on such
items, in this folder, in that of the runs and in those of --look-in. These are not changed: make
them again without the person, or remove them.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.contracts import Listing
from gnomon.errors import UsageError, check_known, inert
from gnomon.items.writing import write_items
from gnomon.reports.words import counted
from gnomon.tabular import as_json, render

if TYPE_CHECKING:
    from gnomon.people.removal import KnownPerson
    from gnomon.people.summary import Agreed, AgreementOptions
    from gnomon.runs import Run


def main(args: Namespace) -> int:
    """Ask, agree, list or forget."""
    if args.action == "ask":
        from gnomon.cli.annotation import ask

        return ask(args)
    actions = {"agree": _agree, "list": _list, "forget": _forget}
    return actions[args.action](args)


def _agree(args: Namespace) -> int:
    """Compute, print, and write the items."""
    from gnomon.measures.scoring import check_options
    from gnomon.people.summary import AgreementOptions

    check_options(level=args.level, draws=args.draws)
    for option in ("least", "items"):
        if getattr(args, option) < 0:
            raise UsageError(f"--{option} cannot be negative.", "Give 0 or more.")
    asking = AgreementOptions(args.by, args.rule, args.least, args.draws, args.level, args.items)
    runs = _runs(args.runs)
    found = _found(args.runs, runs, asking)
    print(_shown(found, args))
    if args.output:
        _write(found, runs, Path(args.output))
    return 0


def _runs(paths: list[str]) -> list[Run]:
    """The runs; none if a file of votes is given."""
    from gnomon.people.validation import is_vote_file

    if not any(map(is_vote_file, paths)):
        return _opened(paths)
    if len(paths) > 1:
        raise UsageError(
            "A file of votes cannot be taken together with others.", "Give one file, or runs."
        )
    return []


def _opened(paths: list[str]) -> list[Run]:
    """The runs that are named, and of a folder of runs those of people, if it has any."""
    from gnomon.people.votes import person_of
    from gnomon.runs import open_runs

    named = {Path(path).resolve() for path in paths}
    every = open_runs(paths)
    if not any(person_of(run.model) for run in every):
        raise UsageError(
            f"No run of a person is here: {every[0].path} is one of {every[0].name}.",
            "`gnomon people ask` asks people; `gnomon compare` compares models.",
        )
    found = []
    for run in every:
        if person_of(run.model) or run.path.resolve() in named:
            found.append(run)
    left_out = len(every) - len(found)
    if left_out:
        told = "1 run of models is" if left_out == 1 else f"{left_out} runs of models are"
        print(f"{told} left out: name them to take them along.", file=sys.stderr)
    return found


def _found(paths: list[str], runs: list[Run], asking: AgreementOptions) -> Agreed:
    from gnomon.people.reliability import care_in_runs
    from gnomon.people.summary import summarise
    from gnomon.people.validation import votes_of_file
    from gnomon.people.votes import votes_of_runs

    if not runs:
        return summarise(votes_of_file(Path(paths[0])), asking)
    return summarise(votes_of_runs(runs), asking, care_in_runs(runs))


def _shown(found: Agreed, args: Namespace) -> str:
    from gnomon.people.summary import first_lines, last_lines, listings, plain

    if args.format == "json":
        return as_json(plain(found.summary))
    tables = [render(each, args.format) for each in listings(found.summary, args.level)]
    if args.format == "csv":
        return "\n\n".join(tables)
    parts = [inert(first_lines(found.summary)), *tables, "\n".join(last_lines(found.summary))]
    return "\n\n".join(parts)


def _write(found: Agreed, runs: list[Run], file: Path) -> None:
    from gnomon.people.validation import validated_items, with_frames
    from gnomon.people.votes import captions_of, hold_contrasts

    if hold_contrasts(runs):
        count = write_items(file, captions_of(runs))
        print(f"{count:,} captions to validate in {file}", file=sys.stderr)
        return
    kept = with_frames(validated_items(found.votes, found.validated), runs)
    count = write_items(file, kept)
    print(f"{count:,} items with their votes in {file}", file=sys.stderr)


def _list(args: Namespace) -> int:
    from gnomon.people.removal import people_in

    people = people_in(args.runs)
    if not people and args.format == "table":
        print(f"There are no answers of people in {args.runs}.")
        return 0
    rows = []
    for each in people:
        benchmarks = dict.fromkeys(run.benchmark for run in each.runs)
        rows.append((each.name, len(each.runs), each.answers, ", ".join(benchmarks)))
    columns = ("person", "runs", "answers", "items of")
    print(render(Listing("", columns, tuple(rows)), args.format))
    return 0


def _known_person(args: Namespace) -> KnownPerson:
    from gnomon.people.removal import people_in

    known = {each.name: each for each in people_in(args.runs)}
    if not known:
        raise UsageError(
            f"There are no answers of people in {args.runs}.",
            "Name the folder of their runs with --runs.",
        )
    check_known("person", args.name, known)
    return known[args.name]


def _forget(args: Namespace) -> int:
    """Check and say what depends on the person, ask, and remove."""
    from gnomon.cli.runs import confirmed
    from gnomon.people.removal import dependents_of
    from gnomon.runs import check_holds_a_run_alone, check_not_in_use, remove

    person = _known_person(args)
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
    if not args.yes and not confirmed(f"Forget {person.name} for good?"):
        print("Nothing was removed.")
        return 1
    for run in person.runs:
        remove(run)
    print(f"Forgot {person.name}: removed {counted(len(person.runs), 'runs')}.")
    if dependents:
        print("Make what depends on them again, or remove it.")
    return 0

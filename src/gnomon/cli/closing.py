"""What `gnomon run` prints at the end: one row a benchmark and model, and what to look at next."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gnomon.cli.dispatch import tell
from gnomon.errors import UsageError, inert
from gnomon.runs import Run

if TYPE_CHECKING:
    from gnomon.measures.entries import Entry

NAMED = 3  # runs whose folders are named; of more, the folder that holds them


def show_runs(args: Namespace, runs: Sequence[Run]) -> None:
    """Print the scores of runs as the command wants them."""
    if args.format == "json":
        for run in runs:
            _print_json(run)
        return
    if args.quiet or not runs:
        return
    from gnomon.measures.entries import entries_of
    from gnomon.measures.remarks import remarks
    from gnomon.measures.scoring import Scored, score_table
    from gnomon.reports.tables.prompts import place_listings
    from gnomon.reports.tables.scores import headline
    from gnomon.tabular import render

    entries = entries_of(runs)
    scores: list[Scored] = []
    for entry in entries:
        found = score_table(entry.table, entry.measures[:1])
        scores += [Scored(score, entry.label) for score in found]
    if len({run.benchmark for run in runs}) > 1:
        print(_overview(runs))
    else:
        print(headline(scores))
    if args.prompts:
        _show_over_prompts(entries)
    for listing in place_listings(entries):
        print(f"\n{render(listing)}")
    for entry in entries:
        for remark in remarks(entry, ()):
            print(inert(remark))
    _show_what_next(args, runs)


def _overview(runs: Sequence[Run]) -> str:
    """Models by benchmarks, and in words what each model knows."""
    from gnomon.reports.overview import overview
    from gnomon.reports.study import studies
    from gnomon.reports.tables.overviews import in_terminal

    return in_terminal(overview(studies(runs)))


def _show_what_next(args: Namespace, runs: Sequence[Run]) -> None:
    for run in runs:
        limit = run.manifest.limit
        if args.limit and (limit is None or limit > args.limit):
            held = "all items" if limit is None else f"{limit:,}"
            print(inert(f"{run.path} was asked for more before ({held}): the score is over those."))
    if any(run.manifest.counts.errors for run in runs):
        print("Ask the failed ones again with --retry-errors.")
    paths = [str(run.path) for run in runs]
    if len(runs) > NAMED:
        paths = [args.runs]
    print(inert("Runs: " + "  ".join(paths)))
    print(inert(f"More: gnomon score {paths[0]}"))


def _show_over_prompts(entries: Sequence[Entry]) -> None:
    """Mean, worst, best and spread over the wordings, if any model was asked in several."""
    from gnomon.measures.prompts import score_over_prompts
    from gnomon.reports.tables.prompts import prompts_shown

    try:
        found = score_over_prompts(entries)
    except UsageError as error:
        tell(error)
        return
    print(f"\n{prompts_shown(found, 'table')}")


def _print_json(run: Run) -> None:
    import msgspec

    from gnomon.measures.scoring import score_run

    fields = msgspec.to_builtins(run.manifest)
    line = {"run": str(run.path), **fields, "scores": score_run(run)}
    print(msgspec.json.encode(line).decode())

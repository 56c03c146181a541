"""Ask models the items of benchmarks. A run that was stopped continues with the same command.

examples:
  gnomon run scales -m random
  gnomon run quick -m ./my-model -m random
  gnomon run mine.jsonl -m smollm2 --map text=question,choices=options,gold=answer
  gnomon run scales -m openai:NAME --base-url http://127.0.0.1:8000/v1
  gnomon run quick -m smollm2 --dry-run
  gnomon run scales spacenli -m smollm2 -m majority --limit 500
  gnomon run spacenli@published -m hf:roberta-large-mnli --data path/to/spacenli
  gnomon run spacenli -m smollm2 --prompts all
  gnomon run spacenli -m "RoBERTa=hf:roberta-large-mnli"
  gnomon run scales -m openai:gpt-4o-mini --permute
  gnomon run spatialqa -m openai:gpt-4o-mini --set max_cost=2
    --set price_input=0.15 --set price_output=0.6
  gnomon run scales -m openai:NAME --base-url http://one:8000/v1 --base-url http://two:8000/v1
  gnomon run scales -m smollm2 --shard 3/8
  gnomon run scales -m smollm2 --until 3 --with runs/OTHERS
  gnomon run scales -m openai:gpt-4o-mini --until-differs runs/OLDER --by 3
  gnomon run experiment.yaml
  gnomon run paper-002 --data path/to/spacenli
  gnomon run paper-002 --set models=paper --device cuda
  gnomon run spacenli -m hf:roberta-large-mnli --workers ray:8 --set gpus_per_worker=1
  gnomon run runs/posrel@fresh-* --judge-again --set rule=visor
  gnomon run runs/scales@fresh-* --judge-again --set rule=released --set depth=none
  gnomon run runs/scales@fresh-* --read-with smollm2

A suite is a list of benchmarks: quick, text, vision, paper, all, or a YAML file of your own. What a
model cannot be asked is left out with a sentence. An experiment is such a file with models, prompts
and seeds (docs/running.md). paper-000 to paper-004 repeat the papers' results with small models,
and with --set models=paper with the papers' own on all items (docs/paper-000.md). --dry-run
says what it would take, and asks only a few items.

A run is a folder in --runs. A larger --limit extends the run of a smaller one. Failed items are
listed; --retry-errors asks for them again, and --restart starts over. The table counts the units
that items share, such as objects or families of patterns, over which intervals are computed
(docs/glossary.md).

-m NAME=MODEL calls the model by a name of your own in every table and page; the same command with
another name renames it. What stands before the first "=" is a name if it has no ":" and no "/".

--prompts all asks every item in each wording of the prompt, one run for each; score and compare
combine them with the same option. --permute puts the choices of each item in an order of its own,
so that a bias for a place shows.

--until 3 asks in rounds and stops as soon as the first measure is known to plus or minus 3 points;
--until-differs RUN as soon as the run is better or worse than that one, or within --by points of
it. The intervals allow for the looks in between (docs/measures.md); --limit is the most. With runs
of other models on the same items (--with) fewer do: their answers tell which items are hard. So do
tags, forms and right answers of the items themselves (--with facts).

--workers has several processes ask the model, on this machine or on a Ray cluster; answers and
folder are the same (docs/scale.md).

--shard 3/8 asks the third of eight parts, on any machine; `gnomon runs merge` makes one run of all
parts (docs/scale-shards.md).

--judge-again takes runs of painted pictures and looks at the same pictures with another judge;
nothing is painted. The new answers are a run of their own beside the old one. What --set does not
change (judge, detector, depth, rule, least) stays as it was.

--read-with asks a small model which choice each reply gives that no rule could read, or none. The
new answers are a run of their own; the table tells how often that model agrees with the rules, and
the score corrected for its mistakes (docs/models.md).
"""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from gnomon.cli.dispatch import tell
from gnomon.cli.list import print_json
from gnomon.cli.plan import Planned
from gnomon.errors import GnomonError, UsageError, inert
from gnomon.runs import MANIFEST, Run

if TYPE_CHECKING:
    from gnomon.measures.entries import ScoredTable
    from gnomon.measures.scoring import Scored

NAMED = 3  # runs whose folders are named; of more, the folder that holds them


def main(args: Namespace) -> int:
    """Carry out every benchmark with every model; one that fails does not stop the others."""
    from gnomon.cli.execution import Carrying, wanted
    from gnomon.cli.plan import experiments_of

    if args.judge_again:
        from gnomon.cli.judging import judge_again

        return judge_again(args)
    if args.read_with and not args.model:
        from gnomon.cli.judging import read_again

        return read_again(args)
    args.runs = args.runs or "runs"
    wanted(args)  # a slip is told before anything is made
    if args.dry_run:
        from gnomon.cli.dryrun import show_plan

        return show_plan(args)
    files = list(experiments_of(args).values())
    for found in files:
        if found.trainings:
            from gnomon.cli.steps import train_models

            train_models(args, found)
    carrying = Carrying(args)
    earlier = _answers(carrying.plan)
    done = carrying.all()
    runs = []
    for planned, went_well in zip(carrying.plan, done, strict=True):
        # an empty shard, and what a suite leaves out, has no folder
        if went_well and (planned.folder / MANIFEST).exists():
            runs.append(Run.open(planned.folder))
    if args.read_with:
        from gnomon.cli.judging import read_unread

        runs += read_unread(
            runs, args.read_with, folder=args.runs, quiet=args.quiet, restart=args.restart
        )
    asked_again = args.restart or args.retry_errors
    if runs and not asked_again and _answers(carrying.plan) == earlier and not args.quiet:
        tell("all answers were there, and nothing was asked. --restart asks again.")
    show_runs(args, runs)
    if runs:
        for found in files:
            from gnomon.cli.steps import write_results

            write_results(args, found, runs, carrying.plan)
    return _exit_code(carrying.plan, runs, done)


def _answers(plan: list[Planned]) -> list[int]:
    """How many items each run was asked so far."""
    found = []
    for planned in plan:
        asked = 0
        with suppress(GnomonError):  # a damaged run says so when it is carried out
            if (planned.folder / MANIFEST).exists():
                asked = Run.open(planned.folder).manifest.counts.asked
        found.append(asked)
    return found


def _exit_code(plan: list[Planned], runs: list[Run], done: list[bool]) -> int:
    """0 if every run went well, or at least one of a suite of which some were left out.

    An item that failed is a failure: an outage must not pass for a regression.
    """
    # a file that lacks answers is no outage
    failed = any(run.manifest.counts.errors and not is_answer_file(run.model) for run in runs)
    nothing = not runs and any(planned.may_lack for planned in plan)
    return 1 if failed or nothing or not all(done) else 0


def is_answer_file(spec: str) -> bool:
    """Whether a model is a file of answers."""
    return spec.startswith("answers:")


# What is printed at the end: one row a benchmark and model, and what to look at next.


def show_runs(args: Namespace, runs: Sequence[Run]) -> None:
    """Print the scores of runs as the command wants them."""
    if args.format == "json":
        for run in runs:
            _print_json(run)
        return
    if args.quiet or not runs:
        return
    from gnomon.cli.score import print_places
    from gnomon.measures.cautions import cautions
    from gnomon.measures.entries import entries_of
    from gnomon.measures.remarks import remarks

    entries = entries_of(runs)
    if len({run.benchmark for run in runs}) > 1:
        print(_overview(runs))
    else:
        print(headline_of(entries, 1))
        for caution in cautions([(entry.label, entry.table) for entry in entries]):
            print(inert(caution))
    if args.prompts:
        _show_over_prompts(entries)
    if any("permute" in entry.table.settings for entry in entries):
        print_places(entries)
    for entry in entries:
        for remark in remarks(entry, ()):
            print(inert(remark))
    _show_what_next(args, runs)


def headline_of(entries: Sequence[ScoredTable], count: int | None = None) -> str:
    """The scores over all items, by the first measures of each benchmark or by all."""
    from gnomon.measures.scoring import score_table, scored_rows
    from gnomon.reports.tables.scores import headline

    scores: list[Scored] = []
    for entry in entries:
        scores += scored_rows(entry, score_table(entry.table, entry.measures[:count]))
    return headline(scores)


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
    print(inert(f"More: {_next_command(runs, paths)}"))


def _next_command(runs: Sequence[Run], paths: Sequence[str]) -> str:
    """Who asked several models the same wants to know whether they differ."""
    if len({run.benchmark for run in runs}) < len(runs):
        return f"gnomon compare {shlex.join(paths)}"
    return f"gnomon score {shlex.quote(paths[0])}"


def _show_over_prompts(entries: Sequence[ScoredTable]) -> None:
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
    print_json(line)

"""Say what the answers of runs, or of a file, are worth: each measure with its interval.

examples:
  gnomon score runs/*
  gnomon score runs --by scale --measure accuracy --measure symmetry
  gnomon score runs/scales* --draws 1000 --format json
  gnomon score --answers predictions.csv --benchmark scales --seed 3 --limit 40
  gnomon score --answers results-ada.tsv --benchmark spatialqa@published --data path/to/spatialqa --by category
  gnomon score runs/posrel* --over-seeds
  gnomon score runs/spacenli* --like-paper --format latex

Values are fractions in JSON and CSV, percentages elsewhere. Intervals treat items of one group as
one, as far as they go; a missing or failed answer counts as wrong, and standard error says how many
there are. Runs of one model are told apart by the options in which they differ.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gnomon.cli.choosing import answer_file_arguments, chosen_sources, item_arguments
from gnomon.cli.dispatch import tell
from gnomon.errors import UsageError
from gnomon.registry import with_twins
from gnomon.reporting.tables.scores import Shown, shown
from gnomon.runs import open_runs

if TYPE_CHECKING:
    from gnomon.measures.table import Table

SHOWN = 5  # ids of missing answers


class Entry(NamedTuple):
    """The answers of one run or file, the measures of its benchmark, and its name among the
    others."""

    table: Table
    measures: tuple[str, ...]
    label: str


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    from gnomon.reporting.tables.render import FORMATS

    parser.add_argument("runs", nargs="*", metavar="RUN", help="a run folder, or a folder of runs")
    parser.add_argument(
        "--answers", metavar="FILE", help="score the answers in a file instead of runs"
    )
    parser.add_argument(
        "--by",
        action="append",
        default=[],
        metavar="TAG",
        help="also by the values of a tag, or of form, group or gold; may be given several times",
    )
    parser.add_argument(
        "--measure",
        action="append",
        default=[],
        metavar="NAME",
        help="instead of the benchmark's own; may be given several times (see `gnomon list measures`)",
    )
    parser.add_argument(
        "--minimum", type=int, default=1, metavar="N", help="leave out slices with fewer items"
    )
    parser.add_argument(
        "--level", type=float, default=0.95, metavar="P", help="of the intervals (default: 0.95)"
    )
    parser.add_argument(
        "--draws",
        type=int,
        default=0,
        metavar="N",
        help="bootstrap intervals from N draws instead of analytic ones",
    )
    parser.add_argument(
        "--guess",
        type=int,
        metavar="SEED",
        help="guess where there is no answer, instead of counting it as wrong",
    )
    parser.add_argument(
        "--over-seeds", action="store_true", help="take runs that differ only in the seed together"
    )
    parser.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    parser.add_argument(
        "--like-paper",
        action="store_true",
        help="each paper's results tables in its own layout, with these runs beside the published models",
    )
    parser.add_argument("--plain", action="store_true", help="no bars and no drawing characters")
    _file_arguments(parser)


def _file_arguments(parser: ArgumentParser) -> None:
    """The options that say what the answers in a file are to; a run knows that by itself."""
    group = parser.add_argument_group("with --answers")
    group.add_argument(
        "--benchmark", metavar="NAME[@SOURCE]", help="what the answers in the file are to"
    )
    group.add_argument(
        "--limit", type=int, metavar="N", help="the items were made or run with this --limit"
    )
    group.add_argument(
        "--scale",
        choices=("log-probability", "probability"),
        help="of the scores in the file (default: probability, or log-probability if any is negative)",
    )
    answer_file_arguments(group)
    item_arguments(parser)


def main(args: Namespace) -> int:
    """Score and print."""
    _check(args)
    entries = [_from_file(args)] if args.answers else _from_runs(args.runs)
    for entry in entries:
        _tell_missing(entry, "guessed" if args.guess is not None else "counted as wrong")
    if args.guess is not None:
        from gnomon.measures.accuracy import guessed

        entries = [entry._replace(table=guessed(entry.table, args.guess)) for entry in entries]
    if args.like_paper:
        print(_like_papers(args, entries))
        return 0
    _check_tags(args.by, entries)
    found = list(_over_seeds(args, entries) if args.over_seeds else _each(args, entries))
    _tell_coarse(entries, args.measure)
    print(shown(found, args.format, plain=args.plain, level=args.level))
    return 0


def _check(args: Namespace) -> None:
    """Refuse what makes no sense, and what would go unheeded."""
    if bool(args.runs) == bool(args.answers):
        raise UsageError(
            "Give either runs or a file with --answers.", "For example: gnomon score runs/*"
        )
    if not 0 < args.level < 1:
        raise UsageError(f"The level must lie between 0 and 1, not {args.level}.")
    check_draws(args.draws)
    if args.minimum < 1:
        raise UsageError(f"The minimum must be 1 or more, not {args.minimum}.")
    args.by, args.measure = list(dict.fromkeys(args.by)), list(dict.fromkeys(args.measure))
    if args.like_paper and args.format == "json":
        raise UsageError(
            "The papers' layouts have no JSON form.",
            "Leave out --like-paper: the scores are the same.",
        )
    if args.runs and (given := _given(args)):
        raise UsageError(
            f"--{given} says what the answers in a file are to; a run holds its own items.",
            f"Leave out --{given}, or make another run with it.",
        )
    unheeded = (
        ["by", "measure", "draws", "over_seeds"]
        if args.like_paper
        else ["draws"]
        if args.over_seeds
        else []
    )
    for name in unheeded:
        if getattr(args, name):
            both = [
                f"--{each.replace('_', '-')}"
                for each in (name, "like_paper" if args.like_paper else "over_seeds")
            ]
            raise UsageError(f"{both[0]} has no effect with {both[1]}.", "Leave out one of them.")


def check_draws(draws: int) -> None:
    """A bootstrap of one draw has no spread."""
    if draws < 0 or draws == 1:
        raise UsageError(
            f"The draws must be 2 or more, or 0 for none, not {draws}.", "1000 are usual."
        )


def _given(args: Namespace) -> str:
    """The first of the options that `_file_arguments` adds which was given."""
    scratch = ArgumentParser(add_help=False)
    _file_arguments(scratch)
    defaults = vars(scratch.parse_args([]))
    return next(
        (name.replace("_", "-") for name in defaults if getattr(args, name) != defaults[name]), ""
    )


def _check_tags(tags: Sequence[str], entries: Sequence[Entry]) -> None:
    """A tag must be one of some benchmark's items; those that lack it are named on standard
    error."""
    for tag in tags:
        lack = {entry.table.benchmark: entry.table for entry in entries if not entry.table.has(tag)}
        if len(lack) == len({entry.table.benchmark for entry in entries}):
            next(iter(lack.values())).column(tag)  # says what there is instead
        for benchmark in lack:
            print(f"{benchmark} has no tag '{tag}': it is not sliced by it.", file=sys.stderr)


def _each(args: Namespace, entries: Sequence[Entry]) -> Iterator[Shown]:
    from gnomon.measures.scoring import score_table

    for table, measures, label in entries:
        for score in score_table(
            table,
            args.measure or with_twins(measures),
            by=[tag for tag in args.by if table.has(tag)],
            draws=args.draws,
            level=args.level,
            minimum=args.minimum,
        ):
            yield Shown(score, label, table.seed)


def _over_seeds(args: Namespace, entries: Sequence[Entry]) -> Iterator[Shown]:
    """The runs that differ only in the seed together, first over all items and then by each tag."""
    from gnomon.measures.runlabels import labels
    from gnomon.measures.seeds import by_seed, over_seeds, seedless, slices
    from gnomon.registry import measure

    groups = by_seed([entry.table for entry in entries])
    measures = {id(entry.table): entry.measures for entry in entries}
    names = {}
    for benchmark in dict.fromkeys(group[0].benchmark for group in groups):
        here = [group for group in groups if group[0].benchmark == benchmark]
        found = labels([group[0].model for group in here], [seedless(group[0]) for group in here])
        names.update({id(group): name for group, name in zip(here, found, strict=True)})
    if all(len(group) == 1 for group in groups):
        print(
            "No two of these runs differ in the seed alone: each is taken by itself.",
            file=sys.stderr,
        )
    for group in groups:
        for name in args.measure or measures[id(group[0])]:
            whole = over_seeds(group, measure(name), level=args.level)
            yield Shown(whole.score, names[id(group)])
            if len(whole.values) > 1:
                print(
                    f"{names[id(group)]} on {group[0].benchmark}, {name}: {100 * (whole.score.value or 0):.1f} ± "
                    f"{100 * whole.deviation:.1f} over {len(whole.values)} seeds.",
                    file=sys.stderr,
                )
    for tag in args.by:
        for group in groups:
            parts = slices(group, tag, args.minimum)
            for name in args.measure or measures[id(group[0])]:
                for key, tables in parts.items():
                    score = over_seeds(
                        tables, measure(name), by=tag, key=key, level=args.level
                    ).score
                    yield Shown(score, names[id(group)])


def _like_papers(args: Namespace, entries: Sequence[Entry]) -> str:
    """The results tables of the papers whose benchmarks these are."""
    from gnomon.reporting.published.beside import beside_papers
    from gnomon.reporting.tables.render import render

    listings, caveats = beside_papers([entry.table for entry in entries])
    if not listings:
        raise UsageError(
            "No table of a paper has a place for these runs.",
            "See `gnomon score` without --like-paper.",
        )
    for caveat in caveats:
        print(caveat, file=sys.stderr)
    return "\n\n".join(render(listing, args.format) for listing in listings)


def _from_runs(paths: Sequence[str]) -> list[Entry]:
    from gnomon.measures.runlabels import labels_of
    from gnomon.measures.scoring import table_of

    found = [table_of(run) for run in open_runs(paths)]
    names: dict[int, str] = {}
    for benchmark in dict.fromkeys(table.benchmark for table, _ in found):
        here = [table for table, _ in found if table.benchmark == benchmark]
        names.update(zip(map(id, here), labels_of(here), strict=True))
    return [Entry(table, measures, names[id(table)]) for table, measures in found]


def _from_file(args: Namespace) -> Entry:
    from gnomon.answerfiles.joining import read_predictions
    from gnomon.measures.table import Table

    if not args.benchmark:
        raise UsageError(
            "A file of answers needs its benchmark.",
            "Give it with --benchmark NAME or NAME@published.",
        )
    source = chosen_sources(args, [args.benchmark])[0].limited(args.limit)
    benchmark = source.benchmark
    joined = read_predictions(
        args.answers, source.items(), column=args.column, filter=args.filter
    )
    table = Table.of(
        joined.rows,
        benchmark=source.name,
        model=f"answers:{Path(args.answers).name}",
        scale=args.scale or "none",
        cluster=benchmark.units[0],
        laws=benchmark.laws,
        seed=source.options.get("seed"),
    )
    for note in joined.notes:
        tell(note)
    return Entry(table, benchmark.measures, table.model)


def _tell_missing(entry: Entry, treated: str) -> None:
    """On standard error: how many answers are missing, why, which, and what becomes of them."""
    table = entry.table
    lost = ~table.answered
    if not lost.any():
        return
    counts = {
        "failed": int(table.failed.sum()),
        "unread": int((~table.failed & lost).sum()),
    }
    ids = table.ids[lost]
    listed = ", ".join(map(str, ids[:SHOWN])) + (
        f" and {len(ids) - SHOWN:,} more" if len(ids) > SHOWN else ""
    )
    print(
        f"{entry.label} on {table.benchmark}: "
        + ", ".join(f"{n:,} {what}" for what, n in counts.items() if n)
        + f" ({treated}): {listed}.",
        file=sys.stderr,
    )


def _tell_coarse(entries: Sequence[Entry], chosen: Sequence[str]) -> None:
    """On standard error: whose groups have too few items for measures of whole groups, such as
    pattern accuracy."""
    from gnomon.reporting.groupsize import items_per_group, large_enough, least_size

    for table, measures, label in entries:
        if coarse := [name for name in chosen or measures if not large_enough(name, table)]:
            print(
                f"{label} on {table.benchmark}: {items_per_group(table):.1f} items a group on average say little about "
                f"{', '.join(coarse)} ({max(map(least_size, coarse))} would do).",
                file=sys.stderr,
            )

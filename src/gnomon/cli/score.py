"""Say what the answers of runs, or of a file, are worth: each measure with its interval.

examples:
  gnomon score runs/*
  gnomon score runs --by scale --measure accuracy --measure symmetry
  gnomon score runs/scales* --draws 1000 --format json
  gnomon score --answers predictions.csv --benchmark spatialqa@published --data path/to/spatialqa --by category
  gnomon score runs/vsr* --over-seeds
  gnomon score runs/spacenli* --like-paper --format latex

Values are fractions in JSON and CSV, percentages elsewhere. Intervals treat items of one group as one, as far as they
go; a missing or failed answer counts as wrong, and standard error says how many there are.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli.choosing import chosen_sources, item_arguments
from gnomon.contracts import Listing
from gnomon.errors import UsageError
from gnomon.records import Score
from gnomon.runs import open_runs

if TYPE_CHECKING:
    from gnomon.measures.table import Table
    from gnomon.runs import Run

FIELDS = ("benchmark", "model", "measure", "by", "key", "value", "low", "high", "n", "clusters")
SHOWN = 5  # ids of missing answers
TWIN = "_and_right"


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    from gnomon.report.tables import FORMATS

    parser.add_argument("runs", nargs="*", metavar="RUN", help="a run folder, or a folder of runs")
    parser.add_argument("--answers", metavar="FILE", help="score the answers in a file instead of runs")
    parser.add_argument("--benchmark", metavar="NAME[@SOURCE]", help="what the answers in the file are to")
    parser.add_argument(
        "--scale",
        choices=("log-probability", "probability"),
        help="of the scores in the file (default: probability, or log-probability if any is negative)",
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
    parser.add_argument("--minimum", type=int, default=1, metavar="N", help="leave out slices with fewer items")
    parser.add_argument("--level", type=float, default=0.95, metavar="P", help="of the intervals (default: 0.95)")
    parser.add_argument(
        "--draws", type=int, default=0, metavar="N", help="bootstrap intervals from N draws instead of analytic ones"
    )
    parser.add_argument(
        "--guess", type=int, metavar="SEED", help="guess where there is no answer, instead of counting it as wrong"
    )
    parser.add_argument("--over-seeds", action="store_true", help="take runs that differ only in the seed together")
    parser.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    parser.add_argument(
        "--like-paper",
        action="store_true",
        help="each paper's results tables in its own layout, with these runs beside the published models",
    )
    parser.add_argument("--plain", action="store_true", help="no bars and no drawing characters")
    item_arguments(parser)


def main(args: Namespace) -> int:
    """Score and print."""
    if bool(args.runs) == bool(args.answers):
        raise UsageError("Give either runs or a file with --answers.", "For example: gnomon score runs/*")
    if not 0 < args.level < 1:
        raise UsageError(f"The level must lie between 0 and 1, not {args.level}.")
    if args.like_paper and args.format == "json":
        raise UsageError("The papers' layouts have no JSON form.", "Leave out --like-paper: the scores are the same.")
    tables = [_from_file(args)] if args.answers else [_from_run(run) for run in open_runs(args.runs)]
    for table, _ in tables:
        _tell_missing(table, "guessed" if args.guess is not None else "counted as wrong")
    if args.guess is not None:
        from gnomon.measures.accuracy import guessed

        tables = [(guessed(table, args.guess), names) for table, names in tables]
    if args.like_paper:
        print(_like_papers(args, [table for table, _ in tables]))
        return 0
    found = (
        _over_seeds(args, tables)
        if args.over_seeds
        else [score for table, names in tables for score in _scored(args, table, names)]
    )
    print(shown(found, args.format, plain=args.plain, level=args.level))
    return 0


def _like_papers(args: Namespace, tables: Sequence[Table]) -> str:
    """The results tables of the papers whose benchmarks these are."""
    from gnomon.measures.scoring import score_table
    from gnomon.registry import benchmark
    from gnomon.report.papers import like_paper, needed
    from gnomon.report.tables import render

    scores: dict[tuple[str, str], dict[str, list[Score]]] = {}
    for table in tables:
        asked = benchmark(table.benchmark.partition("@")[0])
        for form, measure, by in sorted(needed(asked.paper, asked.name)):
            part = dict(table.by("form")).get(form) if form else table
            found = score_table(part, [measure], by=[by] if by else []) if part is not None else []
            forms = scores.setdefault((asked.paper, asked.figures), {})
            forms.setdefault(form, []).extend(score for score in found if score.by == by)
    listings = [listing for (paper, figures), found in scores.items() for listing in like_paper(paper, figures, found)]
    if not listings:
        raise UsageError("No table of a paper has a place for these runs.", "See `gnomon score` without --like-paper.")
    return "\n\n".join(render(listing, args.format) for listing in listings)


def shown(scores: Sequence[Score], format: str, *, plain: bool = False, level: float = 0.95) -> str:
    """Scores in one of the formats: the fields as they are, or tables for people, one for each slice."""
    from gnomon.report.tables import render

    if format in ("json", "csv"):
        rows = tuple(tuple(getattr(score, field) for field in FIELDS) for score in scores)
        return render(Listing("", FIELDS, rows), format)
    parts: dict[str, list[Score]] = {}
    for score in scores:
        parts.setdefault(score.by, []).append(score)
    if format == "table" and not plain:
        return "\n\n".join(_with_bars(by, part, level) for by, part in parts.items())
    text = "\n\n".join(render(_listing(by, part, level, bars=False), format) for by, part in parts.items())
    return text.translate(str.maketrans("─–", "--")) if plain else text


def _with_bars(by: str, scores: Sequence[Score], level: float) -> str:
    """A table for the terminal; where it is too narrow, the bars go before any name is cut."""
    from shutil import get_terminal_size

    from gnomon.report.tables import render

    whole = render(_listing(by, scores, level, bars=True), width=1000)
    if max(map(len, whole.splitlines())) <= get_terminal_size((100, 24)).columns:
        return whole
    return render(_listing(by, scores, level, bars=False))


def _listing(by: str, scores: Sequence[Score], level: float, *, bars: bool) -> Listing:
    """One row a score. A benchmark or model that all rows share stands in the title; the share that is consistent and
    right stands beside the share that is consistent."""
    from gnomon.report.scores import bar, interval, percent

    named = [field for field in ("benchmark", "model") if len({getattr(s, field) for s in scores}) > 1]
    title = " · ".join(getattr(scores[0], field) for field in ("benchmark", "model") if field not in named)
    pairs = _with_their_twins(scores)
    twins = any(twin for _, twin in pairs)
    columns = [
        *named,
        "measure",
        *([by] if by else []),
        "score",
        f"{100 * level:g} % interval",
        *([""] if bars else []),
        *(["and right"] if twins else []),
        "n",
        "clusters",
    ]
    rows = [
        (
            *(getattr(s, field) for field in named),
            s.measure,
            *([s.key or "–"] if by else []),
            percent(s.value),
            interval(s),
            *([bar(s.value)] if bars else []),
            *([percent(twin.value) if twin else ""] if twins else []),
            s.n,
            s.clusters,
        )
        for s, twin in pairs
    ]
    return Listing(title, tuple(columns), tuple(rows))


def _with_their_twins(scores: Sequence[Score]) -> list[tuple[Score, Score | None]]:
    """Each score with the one of its twin, which then has no row of its own."""
    found = {(s.benchmark, s.model, s.measure, s.key): s for s in scores}
    twins = {key: found.get((*key[:2], key[2] + TWIN, key[3])) for key in found}
    folded = {id(twin) for twin in twins.values()}
    return [(s, twins[key]) for key, s in found.items() if id(s) not in folded]


def _scored(args: Namespace, table: Table, names: Sequence[str]) -> list[Score]:
    from gnomon.measures.scoring import score_table

    return score_table(
        table, args.measure or with_twins(names), by=args.by, draws=args.draws, level=args.level, minimum=args.minimum
    )


def with_twins(names: Sequence[str]) -> list[str]:
    """The measures, each one of consistency followed by its twin that also asks for right answers.

    >>> with_twins(["accuracy", "symmetry"])
    ['accuracy', 'symmetry', 'symmetry_and_right']
    """
    from gnomon.registry import MEASURES

    return [name for each in names for name in (each, f"{each}{TWIN}") if name == each or name in MEASURES]


def _from_run(run: Run) -> tuple[Table, tuple[str, ...]]:
    from gnomon.measures.scoring import table_of

    return table_of(run)


def _from_file(args: Namespace) -> tuple[Table, tuple[str, ...]]:
    from gnomon.measures.table import Table
    from gnomon.predictions import read_predictions

    if not args.benchmark:
        raise UsageError("A file of answers needs its benchmark.", "Give it with --benchmark NAME or NAME@published.")
    source = chosen_sources(args, [args.benchmark])[0]
    benchmark = source.benchmark
    table = Table.of(
        read_predictions(args.answers, source.items()),
        benchmark=source.name,
        model=f"answers:{Path(args.answers).name}",
        scale=args.scale or "none",
        cluster=benchmark.cluster,
        laws=benchmark.laws,
    )
    return table, benchmark.measures


def _over_seeds(args: Namespace, tables: Sequence[tuple[Table, tuple[str, ...]]]) -> list[Score]:
    from gnomon.measures.seeds import over_seeds
    from gnomon.registry import measure

    together: dict[tuple[str, str], list[tuple[Table, tuple[str, ...]]]] = {}
    for table, names in tables:
        together.setdefault((table.benchmark, table.model), []).append((table, names))
    found: list[Score] = []
    for group in together.values():
        for name in args.measure or group[0][1]:
            whole = over_seeds([table for table, _ in group], measure(name), level=args.level)
            found.append(whole.score)
            if len(whole.values) > 1:
                print(
                    f"{whole.score.model} on {whole.score.benchmark}, {name}: {100 * (whole.score.value or 0):.1f} ± "
                    f"{100 * whole.deviation:.1f} over {len(whole.values)} seeds.",
                    file=sys.stderr,
                )
    for tag in args.by:
        for group in together.values():
            parts: dict[str, list[Table]] = {}
            for table, _ in group:
                for key, part in table.by(tag):
                    parts.setdefault(key, []).append(part)
            found += [
                over_seeds(part, measure(name), by=tag, key=key, level=args.level).score
                for name in args.measure or group[0][1]
                for key, part in parts.items()
                if sum(map(len, part)) >= args.minimum
            ]
    return found


def _tell_missing(table: Table, treated: str) -> None:
    """On standard error: how many answers are missing, why, which, and what becomes of them."""
    lost = ~table.answered
    if not lost.any():
        return
    counts = {
        "failed": int(table.failed.sum()),
        "unread": int((table.asked & ~table.failed & lost).sum()),
        "not asked": int((~table.asked).sum()),
    }
    ids = table.ids[lost]
    listed = ", ".join(map(str, ids[:SHOWN])) + (f" and {len(ids) - SHOWN:,} more" if len(ids) > SHOWN else "")
    print(
        f"{table.model} on {table.benchmark}: "
        + ", ".join(f"{n:,} {what}" for what, n in counts.items() if n)
        + f" ({treated}): {listed}.",
        file=sys.stderr,
    )

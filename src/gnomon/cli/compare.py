"""Say whether models differ on the same items, and by how much.

examples:
  gnomon compare runs/scales@fresh-random* runs/scales@fresh-majority*
  gnomon compare runs/scales* --measure symmetry
  gnomon compare runs --format markdown

Each pair is tested by swapping the two models within clusters; p-values are corrected for the
number of pairs (Holm). Models that the test cannot tell apart are tied. "Detectable" is the least
true difference that these items would show with a chance of 80 %. A leaderboard is over the items
that all its runs share, a pair over the n that the two share.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from gnomon.contracts import Listing
from gnomon.errors import UsageError
from gnomon.reporting.tables.scores import too_wide
from gnomon.runs import open_runs

if TYPE_CHECKING:
    from gnomon.contracts import Measure
    from gnomon.measures.comparison import Comparison, Rank
    from gnomon.measures.table import Table
    from gnomon.runs import Run


class Compared(NamedTuple):
    """The runs on one benchmark by one measure."""

    pairs: list[Comparison]
    boards: list[tuple[list[Rank], int]]  # each with the number of items of its largest run


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    from gnomon.reporting.tables.render import FORMATS

    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="two or more run folders, or a folder of runs"
    )
    parser.add_argument(
        "--measure",
        action="append",
        default=[],
        metavar="NAME",
        help="compare by this measure (default: the benchmark's first); may be given several times",
    )
    parser.add_argument(
        "--level", type=float, default=0.95, metavar="P", help="of the intervals (default: 0.95)"
    )
    parser.add_argument(
        "--draws",
        type=int,
        default=2000,
        metavar="N",
        help="of the paired bootstrap (default: 2000)",
    )
    parser.add_argument(
        "--over-seeds",
        action="store_true",
        help="take a model's runs with different seeds together",
    )
    parser.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    parser.add_argument("--plain", action="store_true", help="no drawing characters")


def main(args: Namespace) -> int:
    """Compare and print."""
    from gnomon.cli.score import check_draws
    from gnomon.reporting.tables.render import render

    runs = open_runs(args.runs)
    if len(runs) < 2:
        raise UsageError("There is nothing to compare: one run is given.", "Give two or more runs.")
    if not 0 < args.level < 1:
        raise UsageError(f"The level must lie between 0 and 1, not {args.level}.")
    check_draws(args.draws)
    found = _compared(args, runs)
    if args.format == "json":
        print(_json(found))
    elif args.format == "csv":
        rows = tuple(tuple(each) for part in found for each in part.pairs)
        print(render(Listing("", found[0].pairs[0]._fields, rows), "csv"))
    else:
        text = "\n\n".join(_shown(part, args.level, args.format) for part in found)
        print(text.translate(str.maketrans("─–−", "---")) if args.plain else text)
    return 0


def _compared(args: Namespace, runs: Sequence[Run]) -> list[Compared]:
    """Every benchmark by every measure; what cannot be compared is told on standard error, if
    anything can."""
    from gnomon.measures.comparison import by_benchmark
    from gnomon.measures.pairing import NothingSharedError
    from gnomon.registry import measure

    found, problems = [], []
    for tables, names in by_benchmark(runs, over_seeds=args.over_seeds):
        if len(tables) < 2:
            problems.append(
                UsageError(
                    f"There is nothing to compare: all runs on {tables[0].benchmark} are of {tables[0].model}.",
                    "Give runs of two or more models.",
                )
            )
            continue
        for name in dict.fromkeys(args.measure or names[:1]):
            try:
                found.append(_compare(tables, measure(name), args))
            except NothingSharedError as error:
                problems.append(error)
    if not found:
        raise problems[0]
    alone = Counter(run.benchmark for run in runs)
    told = [f"{name}: one run only, not compared." for name, n in alone.items() if n == 1]
    for line in dict.fromkeys([*(error.message for error in problems), *told]):
        print(line, file=sys.stderr)
    return found


def _compare(tables: Sequence[Table], measure: Measure, args: Namespace) -> Compared:
    """All pairs, and a leaderboard for each set of tables that have enough in common to be ranked
    together."""
    from gnomon.measures.comparison import compare, leaderboard
    from gnomon.measures.pairing import boards
    from gnomon.measures.runlabels import labels_of

    pairs = compare(tables, measure, level=args.level, draws=args.draws)
    made = {(each.first, each.second) for each in pairs}
    names = labels_of(tables)
    for pair in combinations(names, 2):
        if pair not in made:
            print(
                f"{pair[0]} and {pair[1]} share no items of {tables[0].benchmark}: not compared.",
                file=sys.stderr,
            )
    found = []
    for members in boards(tables):
        if len(members) > 1:
            here, called = [tables[i] for i in members], [names[i] for i in members]
            within = [each for each in pairs if each.first in called and each.second in called]
            ranks = leaderboard(here, measure, within, level=args.level, names=called)
            found.append((ranks, max(map(len, here))))
    return Compared(pairs, found)


def _shown(part: Compared, level: float, format: str) -> str:
    """The leaderboards and the pairs, for one benchmark and measure.

    Where a terminal is too narrow for the names of a pair, models are told by letters rather than
    cut; where it is narrower still, the figures go that can best be missed.
    """
    from gnomon.reporting.tables.render import UNCUT, render

    names = dict.fromkeys(name for each in part.pairs for name in (each.first, each.second))
    letters = {name: _letter(i) for i, name in enumerate(names)}
    for called in ({}, letters):
        whole = [
            render(listing, format, width=UNCUT)
            for listing in _listings(part, level, called, lean=False)
        ]
        if format != "table" or not any(map(too_wide, whole)):
            return "\n\n".join(whole)
    return "\n\n".join(render(listing) for listing in _listings(part, level, letters, lean=True))


def _listings(
    part: Compared, level: float, letters: Mapping[str, str], *, lean: bool
) -> Iterator[Listing]:
    interval = f"{100 * level:g} % interval"
    first = part.pairs[0]
    for ranks, most in part.boards:
        items = f"{ranks[0].n:,} items in {ranks[0].clusters:,} clusters"
        about = f"{first.benchmark}, {first.measure}: " + (
            f"the {items} that all {len(ranks)} runs share" if ranks[0].n < most else items
        )
        rows = tuple(
            (
                *([letters[rank.model]] if letters else []),
                _places(rank),
                rank.model,
                _percent(rank.value),
                _range(rank.low, rank.high, "–"),
                ", ".join(letters.get(name, name) for name in rank.tied) or "–",
            )
            for rank in ranks
        )
        yield Listing(
            about,
            (*([""] if letters else []), "rank", "model", "score", interval, "tied with"),
            rows,
        )
    if letters and (
        loose := [
            name
            for name in letters
            if not any(name == r.model for ranks, _ in part.boards for r in ranks)
        ]
    ):
        yield Listing("", ("", "model"), tuple((letters[name], name) for name in loose))
    yield Listing(
        f"Differences in points{'' if part.boards else f' of {first.measure} on {first.benchmark}'}",
        (
            "first",
            "second",
            "first − second",
            interval,
            *([] if lean else ["p"]),
            "p (Holm)",
            "",
            *([] if lean else ["detectable"]),
            "n",
        ),
        tuple(
            (
                letters.get(each.first, each.first),
                letters.get(each.second, each.second),
                _points(each.difference),
                _range(each.low, each.high, "to"),
                *([] if lean else [_p(each.p)]),
                _p(each.p_adjusted),
                "differ" if each.differ else "tied" if each.tied else "–",
                *([] if lean else [_points(each.detectable).lstrip("+")]),
                each.n,
            )
            for each in part.pairs
        ),
    )


def _json(found: Sequence[Compared]) -> str:
    import msgspec

    comparisons = [
        each._asdict() | {"differ": each.differ if each.differ or each.tied else None}
        for part in found
        for each in part.pairs
    ]
    board = [
        {"benchmark": part.pairs[0].benchmark, "measure": part.pairs[0].measure, **rank._asdict()}
        for part in found
        for ranks, _ in part.boards
        for rank in ranks
    ]
    both = msgspec.json.encode({"comparisons": comparisons, "leaderboard": board})
    return msgspec.json.format(both, indent=2).decode()


def _letter(place: int) -> str:
    """a, b ... z, aa, ab ..."""
    head, last = divmod(place, 26)
    return (_letter(head - 1) if head else "") + chr(ord("a") + last)


def _places(rank: Rank) -> str:
    return f"{rank.best}" if rank.best == rank.worst else f"{rank.best}-{rank.worst}"


def _percent(value: float) -> str:
    return "–" if value != value else f"{100 * value + 1e-9:.1f} %"


def _points(value: float) -> str:
    return "–" if value != value else f"{100 * value:+.1f}"


def _range(low: float, high: float, between: str) -> str:
    return "–" if low != low else f"{100 * low:.1f} {between} {100 * high:.1f}"


def _p(value: float) -> str:
    return "–" if value != value else "< 0.001" if value < 0.001 else f"{value:.3f}"

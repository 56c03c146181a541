"""Say whether models differ on the same items, and by how much.

examples:
  gnomon compare runs/scales@fresh-random runs/scales@fresh-majority
  gnomon compare runs/scales* --measure symmetry
  gnomon compare runs --format markdown

Each pair is tested by swapping the two models within clusters; p-values are corrected for the number of pairs (Holm).
Models that the test cannot tell apart are tied. "Detectable" is the least true difference that these items would show
with a chance of 80 %.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gnomon.contracts import Listing
from gnomon.errors import UsageError
from gnomon.runs import open_runs

if TYPE_CHECKING:
    from gnomon.measures.comparison import Comparison, Rank


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    from gnomon.report.tables import FORMATS

    parser.add_argument("runs", nargs="+", metavar="RUN", help="two or more run folders, or a folder of runs")
    parser.add_argument(
        "--measure",
        action="append",
        default=[],
        metavar="NAME",
        help="compare by this measure (default: the benchmark's first); may be given several times",
    )
    parser.add_argument("--level", type=float, default=0.95, metavar="P", help="of the intervals (default: 0.95)")
    parser.add_argument("--draws", type=int, default=2000, metavar="N", help="of the paired bootstrap (default: 2000)")
    parser.add_argument("--over-seeds", action="store_true", help="take a model's runs with different seeds together")
    parser.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    parser.add_argument("--plain", action="store_true", help="no drawing characters")


def main(args: Namespace) -> int:
    """Compare and print."""
    from gnomon.measures.comparison import by_benchmark, compare, leaderboard
    from gnomon.registry import measure
    from gnomon.report.tables import render

    runs = open_runs(args.runs)
    if len(runs) < 2:
        raise UsageError("There is nothing to compare: one run is given.", "Give two or more runs.")
    if not 0 < args.level < 1:
        raise UsageError(f"The level must lie between 0 and 1, not {args.level}.")
    found: list[tuple[list[Comparison], list[Rank]]] = []
    for tables, names in by_benchmark(runs, over_seeds=args.over_seeds):
        if len(tables) < 2:
            raise UsageError(
                f"There is nothing to compare: all runs on {tables[0].benchmark} are of {tables[0].model}.",
                "Give runs of two or more models.",
            )
        for name in args.measure or names[:1]:
            pairs = compare(tables, measure(name), level=args.level, draws=args.draws)
            found.append((pairs, leaderboard(tables, measure(name), pairs, level=args.level)))
    if args.format == "json":
        print(_json(found))
    elif args.format == "csv":
        rows = tuple(tuple(each) for pairs, _ in found for each in pairs)
        print(render(Listing("", found[0][0][0]._fields, rows), "csv"))
    else:
        listings = [listing for pairs, ranks in found for listing in _listings(pairs, ranks, args.level)]
        text = "\n\n".join(render(listing, args.format) for listing in listings)
        print(text.translate(str.maketrans("─–−", "---")) if args.plain else text)
    return 0


def _listings(pairs: Sequence[Comparison], ranks: Sequence[Rank], level: float) -> list[Listing]:
    """The leaderboard and the pairs, for one benchmark and measure."""
    interval = f"{100 * level:g} % interval"
    board = tuple(
        (_places(rank), rank.model, _percent(rank.value), _range(rank.low, rank.high, "–"), ", ".join(rank.tied) or "–")
        for rank in ranks
    )
    rows = tuple(
        (
            each.first,
            each.second,
            _points(each.difference),
            _range(each.low, each.high, "to"),
            _p(each.p),
            _p(each.p_adjusted),
            "differ" if each.differ else "tied",
            _points(each.detectable).lstrip("+"),
        )
        for each in pairs
    )
    first = pairs[0]
    about = f"{first.benchmark}, {first.measure}: {first.n:,} items in {first.clusters:,} clusters"
    return [
        Listing(about, ("rank", "model", "score", interval, "tied with"), board),
        Listing(
            "Differences in points",
            ("first", "second", "first − second", interval, "p", "p (Holm)", "", "detectable"),
            rows,
        ),
    ]


def _json(found: Sequence[tuple[Sequence[Comparison], Sequence[Rank]]]) -> str:
    import msgspec

    comparisons = [each._asdict() | {"differ": each.differ} for pairs, _ in found for each in pairs]
    board = [
        {"benchmark": pairs[0].benchmark, "measure": pairs[0].measure, **rank._asdict()}
        for pairs, ranks in found
        for rank in ranks
    ]
    both = msgspec.json.encode({"comparisons": comparisons, "leaderboard": board})
    return msgspec.json.format(both, indent=2).decode()


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

"""Test whether models differ on the same items, and by how much.

examples:
  gnomon compare runs/scales@fresh-random* runs/scales@fresh-majority*
  gnomon compare runs/scales* --measure symmetry
  gnomon compare runs/scales* --measure agreement
  gnomon compare runs --prompts all
  gnomon compare runs --format markdown

Each pair is tested over the units that items share, by swapping the two models within them or,
where units overlap, by Student's t; p-values are corrected for the number of pairs (Holm). Models
that do not differ significantly are tied. "Detectable" is the smallest true difference that these
items would show with a chance of 80 %. A leaderboard uses the items that all its runs share; a pair
uses the n items that the two share. A measure over two runs, such as agreement, has a value for
each pair and no test.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from gnomon.cli.options import format_argument, level_argument
from gnomon.errors import UsageError
from gnomon.runs import open_runs


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="two or more run folders, or a folder of runs"
    )
    parser.add_argument(
        "--measure",
        action="append",
        default=[],
        metavar="NAME",
        help="compare by this measure (default: the benchmark's first); may be repeated",
    )
    level_argument(parser)
    parser.add_argument(
        "--draws",
        type=int,
        default=2000,
        metavar="N",
        help="draws of the paired bootstrap (default: 2000)",
    )
    parser.add_argument(
        "--over-seeds",
        action="store_true",
        help="combine runs of a model that differ only in the seed",
    )
    parser.add_argument(
        "--prompts",
        choices=("all",),
        help="combine runs of a model that differ only in the prompt's wording",
    )
    parser.add_argument(
        "--unfinished",
        action="store_true",
        help="compare unfinished runs too, on the items that both were asked",
    )
    parser.add_argument(
        "--match",
        default="",
        metavar="TAG",
        help="compare items with the same value of a tag, such as fact: one fact in several forms",
    )
    format_argument(parser)
    parser.add_argument("--plain", action="store_true", help="no drawing characters")


def main(args: Namespace) -> int:
    """Compare and print."""
    from gnomon.measures.compared import compare_entries
    from gnomon.measures.entries import entries_of, matched_by
    from gnomon.measures.prompts import pooled_over_prompts
    from gnomon.reports.tables.comparisons import shown

    entries = entries_of(open_runs(args.runs))
    if args.match:
        entries = matched_by(entries, args.match)
    if args.prompts:
        if args.over_seeds:
            raise UsageError(
                "--over-seeds and --prompts cannot be combined.", "Leave out one of them."
            )
        entries = pooled_over_prompts(entries)
    found = compare_entries(
        entries,
        measures=list(dict.fromkeys(args.measure)),
        level=args.level,
        draws=args.draws,
        seeds_together=args.over_seeds,
        unfinished=args.unfinished,
    )
    for remark in dict.fromkeys(found.remarks):
        print(remark, file=sys.stderr)
    print(shown(found, args.format, plain=args.plain, level=args.level))
    return 0

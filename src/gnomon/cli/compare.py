"""Test whether models differ on the same items, and by how much.

examples:
  gnomon compare runs/scales@fresh-random* runs/scales@fresh-majority*
  gnomon compare runs/scales* --measure symmetry
  gnomon compare runs/scales* --measure agreement
  gnomon compare runs --prompts all
  gnomon compare runs --format markdown
  gnomon compare runs/scales@published-* runs/scales@fresh-* --contamination

Each pair is tested over the units that items share, by swapping the two models within them or,
where units overlap, by Student's t; p-values are corrected for the number of pairs (Holm). Models
that do not differ significantly are tied. "Detectable" is the smallest true difference that these
items would show with a chance of 80 %. A leaderboard uses the items that all its runs share; a pair
uses the n items that the two share. A measure over two runs, such as agreement, has a value for
each pair and no test.

--contamination takes runs of several models on the published and the fresh items of a set. It tests
of each whether it gains more on the published ones than the others do, which are its references:
then it is called contaminated. That is wrong for a table in about 5 % of the cases if no model has
seen anything, and the references are of about the same ability (docs/measures.md).
"""

from __future__ import annotations

import sys
from argparse import Namespace

from gnomon.cli.selection import tables_of
from gnomon.errors import UsageError
from gnomon.runs import open_runs


def main(args: Namespace) -> int:
    """Compare and print."""
    from gnomon.measures.compared import compare_entries
    from gnomon.measures.contamination import contamination
    from gnomon.measures.entries import entries_of, matched_by, restricted
    from gnomon.measures.prompts import pooled_over_prompts
    from gnomon.reports.tables.comparisons import contamination_shown, shown

    entries = entries_of(open_runs(args.runs))
    if args.on_items_of:
        entries = restricted(entries, tables_of(args.on_items_of))
    if args.contamination:
        tested = contamination(entries, level=args.level, unfinished=args.unfinished)
        print(contamination_shown(tested, args.format, args.level))
        return 0
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

"""Test whether models differ on the same items, and by how much.

examples:
  gnomon compare runs/scales@fresh-random* runs/scales@fresh-majority*
  gnomon compare runs/scales* --measure symmetry
  gnomon compare runs/scales* --measure agreement
  gnomon compare runs --prompts all
  gnomon compare runs --format markdown
  gnomon compare runs/scales@published-* runs/scales@fresh-* --contamination
  gnomon compare nights/monday nights/tuesday --fail-if-worse --by 3
  gnomon compare tonight --baseline baseline --fail-if-worse

Each pair is tested over the units that items share, by swapping the two models within them or,
where units overlap, by Student's t; p-values are corrected for the number of pairs (Holm). Models
that do not differ significantly are tied. Pairs keep the order in which runs are given; a folder
gives them by name. "Detectable" is the smallest true difference that these items would show with a
chance of 80 %. A leaderboard uses the items that all its runs share; a pair uses the n items that
the two share. A measure over two runs, such as agreement, has a value for each pair and no test.

--contamination takes runs of several models on the published and the fresh items of a set. It tests
of each whether it gains more on the published ones than the others do, which are its references:
then it is called contaminated. That is wrong for a table in about 5 % of the cases if no model has
seen anything, and the references are of about the same ability (docs/measures.md).

--fail-if-worse sets each new run beside the old one of its benchmark and says which items turned
wrong, and where. Exit code 0: no new run is worse, and a loss of --by points would have been seen.
1: one is significantly worse (Holm's correction over all). 3: none is, but such a loss could have
gone unseen: ask more items. docs/ci.md has a nightly job.
"""

import sys
from argparse import Namespace

from gnomon.cli.selection import tables_of
from gnomon.errors import UsageError, inert
from gnomon.runs import open_runs

WORSE, UNSEEN = 1, 3  # exit codes


def main(args: Namespace) -> int:
    """Compare and print."""
    if args.fail_if_worse or args.baseline:
        return _compare_with_old(args)
    return _compare_all(args)


def _compare_with_old(args: Namespace) -> int:
    """Set new runs beside old ones; the exit code says whether any is worse."""
    from gnomon.measures.cautions import cautions
    from gnomon.measures.entries import entries_of
    from gnomon.measures.regression import changes
    from gnomon.reports.tables.comparisons import changes_shown

    for option in ("over_seeds", "prompts", "contamination", "match", "on_items_of"):
        if getattr(args, option):
            flag = f"--{option.replace('_', '-')}"
            raise UsageError(f"{flag} and --fail-if-worse cannot be combined.", "Leave out one.")
    before, after = [args.baseline], args.runs
    if not args.baseline:
        before, after = args.runs[:1], args.runs[1:]
    if not after:
        raise UsageError(
            "There is an old run and no new one.",
            "Write: gnomon compare OLD NEW --fail-if-worse",
        )
    old, new = entries_of(open_runs(before)), entries_of(open_runs(after))
    found = changes(
        old,
        new,
        by=args.by / 100,
        measures=args.measure,
        level=args.level,
        draws=args.draws,
    )
    told = [remark for change in found for remark in change.remarks]
    for entry in new:
        told += cautions([(entry.label, entry.table)])
    for caution in dict.fromkeys(told):
        print(inert(caution), file=sys.stderr)
    print(changes_shown(found, args.format, by=args.by, level=args.level, plain=args.plain))
    verdicts = {change.verdict for change in found}
    if not args.fail_if_worse:
        return 0
    if "worse" in verdicts:
        return WORSE
    return UNSEEN if "cannot tell" in verdicts else 0


def _compare_all(args: Namespace) -> int:
    """Every pair of runs."""
    from gnomon.measures.compared import compare_entries
    from gnomon.measures.contamination import contamination
    from gnomon.measures.entries import entries_of, matched_by, restricted
    from gnomon.measures.prompts import pooled_over_prompts
    from gnomon.measures.regression import explained
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
        print(inert(remark), file=sys.stderr)
    print(shown(found, args.format, plain=args.plain, level=args.level))
    is_plain = not (args.prompts or args.over_seeds or args.match)
    if args.format == "table" and len(entries) == 2 and is_plain:
        print()
        for sentence in explained(*entries):
            print(inert(sentence))
    return 0

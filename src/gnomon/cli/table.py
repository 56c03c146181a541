"""One table of models by benchmarks, for the terminal or for a paper.

examples:
  gnomon table runs
  gnomon table runs --format latex > table.tex
  gnomon table runs/spacenli* --by class --format latex --marks stars
  gnomon table runs --format markdown --no-intervals
  gnomon table runs --level 0.9
  gnomon table runs --format latex --published

Each benchmark stands with its first measure. The best of a column is bold; what is not shown
to be better than chance is in italics. Letters tell which models differ: those of a column that
share one do not differ significantly. Stars tell which differ from the best. The test is that of
`gnomon compare` (paired, over the units that items share), with Holm's correction over all pairs of
a column, at the 5 % level whatever --level says of intervals: of six columns of equal models about
one in four tables has a false mark. Runs on other items than the rest have no marks, and standard
error says so. A mean rank has the error that ties leave it. LaTeX needs the packages booktabs,
graphicx and xcolor. `gnomon cite` has the BibTeX of what was used.
"""

from __future__ import annotations

import sys
from argparse import Namespace

from gnomon.cli.selection import tables_of
from gnomon.errors import UsageError
from gnomon.runs import open_runs


def main(args: Namespace) -> int:
    """Make the table and print it."""
    from gnomon.reports.overview import overview
    from gnomon.reports.study import studies
    from gnomon.reports.tables.overviews import in_terminal
    from gnomon.reports.tables.pivot import pivot, significance, written

    if args.format == "text" and args.published:
        raise UsageError(
            "The papers' models are not part of the text format.",
            "Choose --format latex, markdown, html, csv or json, or see `gnomon score "
            "--like-paper`.",
        )
    found = studies(open_runs(args.runs))
    if args.on_items_of:
        others = tables_of(args.on_items_of)
        found = [study.on_items_of(others) for study in found]
    made = overview(found, by=args.by, minimum=args.minimum, level=args.level)
    if args.format == "text":
        marks = significance(made, args.marks or "none")
        intervals = not args.no_intervals
        print(in_terminal(made, intervals=intervals, marks=marks, words=not args.by))
        return 0
    table = pivot(
        made,
        found,
        by=args.by,
        marks=args.marks or "letters",
        intervals=not args.no_intervals,
        published=args.published,
        caption=args.caption,
        label=args.label,
    )
    for note in made.notes:
        print(note, file=sys.stderr)
    print(written(table, args.format))
    return 0

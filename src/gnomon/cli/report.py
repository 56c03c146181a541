"""Write one page that shows what models get right and wrong: one file, which needs no network.

examples:
  gnomon report runs/*
  gnomon report runs/scales@* -o scales.html
  gnomon report runs/* --figures figures
"""

from argparse import Namespace
from pathlib import Path

from gnomon.reports.words import counted


def main(args: Namespace) -> int:
    """Write the page and say where it is."""
    import shlex

    from gnomon import api
    from gnomon.measures.prompts import check_prompts
    from gnomon.runs import open_runs

    runs = open_runs(args.runs)
    if args.prompts:
        check_prompts(runs)
    paths = [Path(run).as_posix() for run in args.runs]
    command = shlex.join(["gnomon", "report", *paths, "-o", args.output])
    page = api.report(runs, args.output, figures=args.figures, command=command)
    size = f"{page.stat().st_size / 1e6:.1f} MB, {counted(len(runs), 'runs')}"
    print(f"{page}: {size}  (open it in a browser)")
    if args.figures:
        drawings = list(Path(args.figures).glob("*.svg"))
        print(f"{args.figures}: {counted(len(drawings), 'figures')}")
    return 0

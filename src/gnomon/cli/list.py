"""List benchmarks, models, measures or runs.

examples:
  gnomon list
  gnomon list models
  gnomon list runs --runs results
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

KINDS = ("benchmarks", "models", "measures", "runs")


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("kind", nargs="?", choices=KINDS, help="what to list (default: all but runs)")
    parser.add_argument("--runs", default="runs", metavar="DIR", help="the folder of runs (default: runs)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def main(args: Namespace) -> int:
    """Print the names."""
    if args.kind == "runs":
        return _runs(args)
    from gnomon.registry import entries

    kinds = [args.kind] if args.kind else KINDS[:3]
    tables = {kind: entries(kind) for kind in kinds}
    if args.json:
        import msgspec

        found = {kind: [{"name": name, "summary": entry.summary} for name, entry in table.items()]
                 for kind, table in tables.items()}  # fmt: skip
        print(msgspec.json.encode(found[args.kind] if args.kind else found).decode())
        return 0
    width = max(len(name) for table in tables.values() for name in table)
    for kind, table in tables.items():
        if not args.kind:
            print(f"{kind}:")
        for name, entry in table.items():
            print(f"  {name:<{width}}  {entry.summary}")
    return 0


def _runs(args: Namespace) -> int:
    from gnomon.contracts import Listing
    from gnomon.report.tables import render
    from gnomon.runs import runs_in

    found = runs_in(args.runs)
    rows = tuple(
        (
            run.path.as_posix(),
            run.benchmark,
            run.model,
            f"{run.counts().asked:,} / {run.manifest.counts.items:,}",
            "finished" if run.manifest.finished else "unfinished",
            run.manifest.started.date().isoformat(),
        )
        for run in found
    )
    listing = Listing("", ("run", "benchmark", "model", "answers", "state", "started"), rows)
    if args.json:
        print(render(listing, "json"))
    elif rows:
        print(render(listing))
    else:
        print(f"No runs in {args.runs}. `gnomon run scales -m random` makes one.")
    return 0

"""List benchmarks, models, measures or runs; or what there is to know about one of them, its
options above all.

examples:
  gnomon list
  gnomon list models
  gnomon list models hf
  gnomon list runs --runs results
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gnomon.runs import Run

KINDS = ("benchmarks", "models", "measures", "runs")


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "kind", nargs="?", choices=KINDS, help="what to list (default: all but runs)"
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="a benchmark or model, to see the options it takes"
    )
    parser.add_argument(
        "--runs", default="runs", metavar="DIR", help="the folder of runs (default: runs)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def main(args: Namespace) -> int:
    """Print the names."""
    if args.name:
        return _one(args)
    if args.kind == "runs":
        return _runs(args)
    from gnomon.registry import entries

    kinds = [args.kind] if args.kind else KINDS[:3]
    tables = {kind: entries(kind) for kind in kinds}
    if args.json:
        import msgspec

        found = {
            kind: [{"name": name, "summary": entry.summary} for name, entry in table.items()]
            for kind, table in tables.items()
        }
        print(msgspec.json.encode(found[args.kind] if args.kind else found).decode())
        return 0
    width = max(len(name) for table in tables.values() for name in table)
    for kind, table in tables.items():
        if not args.kind:
            print(f"{kind}:")
        for name, entry in table.items():
            print(f"  {name:<{width}}  {entry.summary}")
    return 0


def _one(args: Namespace) -> int:
    """One benchmark or model: what it is, its options with their defaults, and what its code says
    about them."""
    from inspect import getdoc
    from textwrap import indent

    from gnomon.cli.choosing import how_to_give
    from gnomon.errors import UsageError
    from gnomon.options import options_of
    from gnomon.registry import benchmark, entries, model_factory

    if args.kind not in ("benchmarks", "models"):
        raise UsageError(
            f"There is nothing more to say about one of the {args.kind}.", "Leave out the name."
        )
    scheme = args.name.partition("@" if args.kind == "benchmarks" else ":")[0]
    made: dict[str, Callable[..., Any]] = (
        {f"{scheme}@{source}": function for source, function in benchmark(scheme).sources.items()}
        if args.kind == "benchmarks"
        else {scheme: model_factory(scheme)}
    )
    options = {name: options_of(function) for name, function in made.items()}
    summary = entries(args.kind)[scheme].summary
    if args.json:
        import msgspec

        known = {
            name: {option: None if default is ... else default for option, default in found.items()}
            for name, found in options.items()
        }
        print(msgspec.json.encode({"name": scheme, "summary": summary, "options": known}).decode())
        return 0
    print(f"{scheme}: {summary}")
    for name, found in options.items():
        print(f"\n{name} takes {'these options:' if found else 'no options.'}")
        told = [(*how_to_give(args.kind, option), default) for option, default in found.items()]
        width = max((len(given) for given, *_ in told), default=0)
        for given, line, default in told:
            print(
                f"  {given:<{width}}  {' '.join(filter(None, (line, _default(default))))}".rstrip()
            )
        if doc := getdoc(made[name]):
            print(f"\n{indent(doc, '  ')}")
    return 0


def _default(value: Any) -> str:
    if value is ...:
        return "(must be given)"
    if value is None or value == "":
        return ""
    return f"(default: {str(value).lower() if isinstance(value, bool) else value})"


def _runs(args: Namespace) -> int:
    from gnomon.contracts import Listing
    from gnomon.reporting.tables.render import UNCUT, render

    found = list(_found_runs(args.runs))
    if args.json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
        return 0
    if not found:
        print(f"No runs in {args.runs}. `gnomon run scales -m random` makes one.")
        return 0
    rows = tuple(
        (
            run["run"],
            run["benchmark"],
            run["model"],
            _asked(run),
            run["state"],
            (run["started"] or "")[:10],
        )
        for run in found
    )
    listing = Listing("", ("run", "benchmark", "model", "answers", "state", "started"), rows)
    print(
        render(listing, width=UNCUT)
    )  # a path is there to be copied: rather let the terminal break the line
    return 0


def _found_runs(folder: str) -> Iterator[dict[str, Any]]:
    """What there is to say about each run, oldest first; one that cannot be read does not hide the
    others."""
    from gnomon.errors import GnomonError
    from gnomon.runs import survey

    found = survey(folder)
    for path, error in found.damaged.items():
        yield _damaged(path, error)
    for run in found.runs:
        try:
            yield _told(run)
        except GnomonError as error:
            yield _damaged(run.path, error) | {"benchmark": run.benchmark, "model": run.model}


def _told(run: Run) -> dict[str, Any]:
    from gnomon.errors import DataError
    from gnomon.runs import LOG

    counts = run.counts()
    if run.manifest.items_sha256 and not counts.items:
        raise DataError(
            "the log is empty.",
            "Restore it, or start the run over with --fresh.",
            file=run.path / LOG,
        )
    return {
        "run": run.path.as_posix(),
        "benchmark": run.benchmark,
        "model": run.model,
        "options": run.manifest.options,
        "model_options": run.manifest.model_options,
        "limit": run.manifest.limit,
        "items": max(counts.items, run.manifest.counts.items),
        "asked": counts.asked,
        "answered": counts.answered,
        "unread": counts.unread,
        "errors": counts.errors,
        "state": "finished" if run.manifest.finished else "unfinished",
        "started": run.manifest.started.isoformat(),
    }


def _damaged(path: Path, error: Exception) -> dict[str, Any]:
    print(f"gnomon: {error}", file=sys.stderr)
    return {
        "run": path.as_posix(),
        "benchmark": None,
        "model": None,
        "state": "damaged",
        "started": None,
    }


def _asked(run: dict[str, Any]) -> str | None:
    return f"{run['asked']:,} / {run['items']:,}" if "asked" in run else None

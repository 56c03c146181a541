"""Show what a model's answers say together: its order of things, and what would have to change.

examples:
  gnomon beliefs runs/scales*
  gnomon beliefs runs/scales* --format json
  gnomon beliefs runs/scales* -o beliefs.html
  gnomon beliefs runs/scales* -o map.svg

An answer such as "a cow is larger than an ant" puts one thing over another. All answers in one
context (a scale and a form, a room, a story) are taken together: how many pairs were said both
ways, cycles of three, the largest tangle of things that lie on cycles together, and the least
number of answers to change so that all agree with one order. Tangles of up to 16 things are solved
exactly; of larger ones two bounds are given, and "at least" is the lower. "Right by the order" is
what would be right if all answers followed it. docs/beliefs.md says more.
"""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli.sharedoptions import format_argument
from gnomon.errors import UsageError
from gnomon.runs import open_runs

if TYPE_CHECKING:
    from gnomon.reports.beliefs import Believer

ENDINGS = (".html", ".svg")


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run folders, or a folder of runs")
    format_argument(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="also write a page with maps (.html), or the map of the largest order (.svg)",
    )


def main(args: Namespace) -> int:
    """Find the beliefs, print them, and write the page or the map."""
    _check_output(args.output)
    found = _believers(args.runs)
    if not found:
        raise UsageError(
            "The answers in these runs put nothing in an order.",
            "Ask a benchmark of sizes, heights or places, such as scales, or chains with "
            "--set ask=pairs.",
        )
    if args.output:
        _write(found, args)
    print(_shown(found, args.format))
    return 0


def _check_output(output: str | None) -> None:
    if output and Path(output).suffix.lower() not in ENDINGS:
        raise UsageError(f"'{output}' ends in none of {', '.join(ENDINGS)}.", "Change its ending.")


def _believers(paths: Sequence[str]) -> list[Believer]:
    from gnomon.measures.beliefs import beliefs
    from gnomon.measures.entries import entries_of
    from gnomon.reports.beliefs import Believer

    found = []
    for entry in entries_of(open_runs(paths)):
        for belief in beliefs(entry.table):
            found.append(Believer(entry.table.benchmark, entry.label, belief))
    return found


def _shown(found: Sequence[Believer], format: str) -> str:
    from gnomon.reports.beliefs import by_model, flat_records, records, sentence, summary
    from gnomon.tabular import render

    if format == "json":
        return render(records(found), format)
    if format == "csv":
        return render(flat_records(found), format)
    for own in by_model(found):
        print(sentence(own), file=sys.stderr)
    return render(summary(found), format)


def _write(found: Sequence[Believer], args: Namespace) -> None:
    from gnomon.items.writing import atomic_file
    from gnomon.reports.beliefs import map_file, page

    output = Path(args.output)
    if output.suffix.lower() == ".svg":
        largest = max(found, key=lambda one: one.belief.answers)
        content = map_file(largest)
    else:
        content = page(found, shlex.join(["gnomon", "beliefs", *args.runs, "-o", args.output]))
    with atomic_file(output.resolve()) as part:
        part.write_text(content, encoding="utf-8", newline="\n")
    print(f"{output}: {len(content) / 1e6:.1f} MB", file=sys.stderr)

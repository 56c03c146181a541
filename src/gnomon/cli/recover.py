"""Save what can still be read of a damaged run: its items and answers go into a new run.

examples:
  gnomon recover runs/RUN -o recovered/RUN

The damaged run is left as it is. If all its items could be read, `gnomon run` with --runs recovered
goes on with the new one and asks again for the answers that were lost.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("run", metavar="RUN", help="the folder of the damaged run")
    parser.add_argument(
        "-o", "--output", required=True, metavar="FOLDER", help="the new run; it must not exist yet"
    )


def main(args: Namespace) -> int:
    """Copy what can be read, and say how much of how much that is."""
    from gnomon.errors import inert
    from gnomon.runs import Run, recover

    found = recover(Run.open(args.run), Path(args.output))
    items = found.items + found.lost_items
    answers = found.answers + found.lost_answers
    print(
        f"Saved {found.items:,} of {items:,} items and {found.answers:,} of {answers:,} answers "
        f"in {inert(args.output)}."
    )
    if found.lost_items:
        print("Items are lost: the new run can be scored and shown, but not gone on with.")
        return 1
    return 0

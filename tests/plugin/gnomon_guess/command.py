"""Count the answers of a run by the choice that was picked.

examples:
  gnomon tally runs/RUN
"""

from collections import Counter

import gnomon


def arguments(parser):
    """Add the options of this command."""
    parser.add_argument("run", metavar="RUN", help="the folder of a run")
    parser.add_argument("--least", type=int, default=1, metavar="N", help="only if picked N times")


def main(args):
    """Count and print."""
    run = gnomon.Run.open(args.run)
    picked = Counter(answer.choice for _, answer in run.answers())
    for choice, count in sorted(picked.items()):
        if count >= args.least:
            print(f"{count:>5}  {choice}")
    return 0

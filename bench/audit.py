"""How long an audit takes: CPU seconds of each check on so many items, without proofs.

    python bench/audit.py               50,000 items of 55 words in three splits and 4,000 groups
    python bench/audit.py --items 5000

Texts are drawn word by word from 20,000 words with frequencies like those of a language; labels are
drawn, too, so that the only alarm is that groups are divided among the splits.
"""

from __future__ import annotations

import argparse
import resource
from random import Random
from time import process_time

from gnomon.audit.auditing import CHECKS
from gnomon.audit.sets import GROUPS, AuditSet
from gnomon.audit.sources import plain_item
from gnomon.audit.subject import Subject
from gnomon.records import Item

LABELS = ("entailment", "neutral", "contradiction")
WORDS = 20_000
PROOFS = ("clash", "proof")


def drawn(items: int) -> AuditSet:
    """A set whose labels have nothing to do with its texts."""
    draw = Random(0)
    words = [f"w{number}" for number in range(WORDS)]
    weights = [1 / (number + 1) for number in range(WORDS)]
    questions = []
    for number in range(items):
        text = draw.choices(words, weights, k=55)
        questions.append(
            plain_item(
                Item(
                    id=str(number),
                    form="choice",
                    context=" ".join(text[:40]),
                    text=" ".join(text[40:]),
                    choices=LABELS,
                    gold=(draw.choice(LABELS),),
                    group=f"g{number % 4000}",
                    tags={"split": draw.choice(["train", "dev", "test"])},
                )
            )
        )
    return AuditSet("drawn", ("context", "text"), questions, (GROUPS,))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=50_000)
    args = parser.parse_args()
    subject = Subject(drawn(args.items))
    begun = process_time()
    for name, check in CHECKS.items():
        if name in PROOFS:
            continue
        start = process_time()
        alarms = sum(finding.alarm for finding in check(subject))
        print(f"{name:<15} {process_time() - start:6.1f} s  {alarms} alarms")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'all':<15} {process_time() - begun:6.1f} s  {peak:.0f} MB at most")


if __name__ == "__main__":
    main()

"""What the audit finds and what it makes up: planted leaks, clean sets, and how long it takes.

    python bench/audit.py                      CPU seconds of each check on 50,000 items
    python bench/audit.py --items 5000
    python bench/audit.py --planted 10         22 kinds of leak, 10 sets each of 1,000 items
    python bench/audit.py --clean 15           7 kinds and 4 sizes of clean sets, 15 of each
    python bench/audit.py --prior 10           1,200 sets of options and a prior that is planted
    python bench/audit.py --planted 10 --kind length --seed 7

`leaks.py` says what is drawn. A leak is found if a check that is for it raises an alarm; a clean
set must raise none at all. Without a count only the time is taken: texts are drawn word by word
from 20,000 words with frequencies like those of a language; labels are drawn, too, so that the only
alarm is that groups are divided among the splits.
"""

from __future__ import annotations

import argparse
import resource
from collections import Counter
from random import Random
from time import process_time

from gnomon.audit.auditing import CHECKS, AuditReport, audit
from gnomon.audit.sets import GROUPS, AuditSet
from gnomon.audit.sources import plain_item
from gnomon.audit.subject import Subject
from gnomon.records import Item
from leaks import CLEAN, EXPECTED, LABELS, PLANTED, SIZES, blind_prior

WORDS = 20_000
PROOFS = ("clash", "proof")
MADE = [check for check in CHECKS if check not in PROOFS]


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


def alarms(report: AuditReport) -> list[str]:
    """What was alarmed, in a few words."""
    return [f"{finding.check} ({finding.part})" for finding in report.alarms]


def planted(sets: int, items: int, kind: str, seed: int) -> None:
    """How many of the leaks of each kind are found, and by what."""
    for name, make in PLANTED.items():
        if kind not in name:
            continue
        caught = 0
        told: Counter[str] = Counter()
        for number in range(sets):
            report = audit(make(Random(f"{name} {seed} {number}"), items), MADE)
            caught += any(finding.check in EXPECTED[name] for finding in report.alarms)
            told.update(alarms(report))
        most = ", ".join(f"{part} {times}" for part, times in told.most_common(3))
        print(f"{name:<42} {caught} of {sets}: {most}", flush=True)


def clean(sets: int, kind: str, seed: int) -> None:
    """In how many clean sets there is any alarm."""
    false = 0
    audits = 0
    for name, make in CLEAN.items():
        if kind not in name:
            continue
        of_kind = 0
        for size in SIZES:
            for number in range(sets):
                report = audit(make(Random(f"{name} {size} {seed} {number}"), size), MADE)
                of_kind += bool(report.alarms)
                for alarm in alarms(report):
                    print(f"  {name}, {size} items, number {number}: {alarm}")
        false += of_kind
        audits += sets * len(SIZES)
        print(f"{name:<42} {of_kind} of {sets * len(SIZES)} with an alarm", flush=True)
    print(f"{'all':<42} {false} of {audits} ({false / max(1, audits):.1%})")


def priors(sets: int, seed: int) -> None:
    """The figure of a blind prior that is planted, beside what the audit says."""
    for number in range(sets):
        audited, right = blind_prior(Random(f"prior {seed} {number}"), 5_700)
        report = audit(audited, ["priors"])
        [rates] = [finding for finding in report.findings if finding.part == "labels"]
        value, chance = rates.value or 0.0, rates.chance or 0.0
        print(
            f"{len(audited):,} items, planted {right:.1%}, told {value:.1%}, guess {chance:.1%}, "
            f"{'alarm' if rates.alarm else 'no alarm'}"
        )


def seconds(items: int) -> None:
    """CPU seconds of each check."""
    subject = Subject(drawn(items))
    begun = process_time()
    for name in MADE:
        start = process_time()
        found = len(list(CHECKS[name](subject)))
        print(f"{name:<15} {process_time() - start:6.1f} s  {found} findings")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'all':<15} {process_time() - begun:6.1f} s  {peak:.0f} MB at most")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, help="in each set that is planted in, or timed")
    parser.add_argument("--planted", type=int, default=0, metavar="SETS")
    parser.add_argument("--clean", type=int, default=0, metavar="SETS")
    parser.add_argument("--prior", type=int, default=0, metavar="SETS")
    parser.add_argument("--kind", default="", help="kinds whose name has this")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    if args.planted:
        planted(args.planted, args.items or 1_000, args.kind, args.seed)
    if args.clean:
        clean(args.clean, args.kind, args.seed)
    if args.prior:
        priors(args.prior, args.seed)
    if not args.planted and not args.clean and not args.prior:
        seconds(args.items or 50_000)


if __name__ == "__main__":
    main()

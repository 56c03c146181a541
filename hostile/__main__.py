"""All attacks, and a table of what came of them.

    python -m hostile [PART ...] [--short] [--markdown]

The long form takes less than half an hour on two cores, the short form a minute or two. Two jobs run
at once, and one more that waits most of its time. The exit code is 1 if anything was lost, doubled,
wrong without a word, leaked, or ended in a traceback, and if the long form tried less than it should.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

from hostile.jobs import Done, Harness, Job, done, harness
from hostile.tally import FAULTS, KEPT, Tally, different

PARTS = (
    "kills", "training", "servers", "readers", "strangers", "native", "pictures", "people",
    "encodings", "weights", "crowds",
)  # fmt: skip
# How the name of a reader begins -> the row of the table in which it is counted.
GROUPS = {
    "answers ": "files of answers",
    "items of ": "files of items",
    "log ": "logs of other programs",
    "replies: ": "replies of models",
    "run": "runs, damaged",
    "": "other files",
}
KILLED = "killed: "
SERVERS = "hostile servers"
STRANGERS = "files of strangers"
# Beside the nine kinds of files that people send each other.
MORE_KINDS = ("stranger's prompt", "stranger's answers", "stranger's any_command")
# What the long form tries at least: how it is told -> how the rows begin that count, and how many.
LEAST: dict[str, tuple[tuple[str, ...], int]] = {
    "kills": ((KILLED,), 3000),
    "mutated inputs": (("published files", *GROUPS.values()), 100_000),
    "of these items and logs": (("files of items", "logs of other programs"), 50_000),
    "of these replies": (("replies of models",), 50_000),
    "pictures": (("pictures",), 1500),
    "hostile servers": ((SERVERS,), 150),
    "hostile files of nine kinds": ((STRANGERS,), 2000),
    "single tensors": (("weights",), 40),
}


@dataclass
class Row:
    """A row of the table: the tallies of one command or of several readers together."""

    tally: Tally = field(default_factory=Tally)
    names: set[str] = field(default_factory=set)


class Sizes(NamedTuple):
    """How much is tried."""

    kills: int
    trainings: int
    inputs: int
    strangers: int
    files: int
    servers: int
    pictures: int
    people: int
    encodings: int
    tensors: int
    megabytes: int
    connections: int
    shares: int  # in which the work of a part is cut, so that both cores have some to the end


LONG = Sizes(
    kills=10**9,
    trainings=500,
    inputs=125_000,
    strangers=3000,
    files=600,
    servers=10**6,
    pictures=5000,
    people=50,
    encodings=600,
    tensors=44,
    megabytes=300,
    connections=300,
    shares=6,
)
SHORT = Sizes(
    kills=5,
    trainings=5,
    inputs=800,
    strangers=50,
    files=20,
    servers=12,
    pictures=90,
    people=2,
    encodings=48,
    tensors=2,
    megabytes=6,
    connections=300,
    shares=2,
)


def jobs(sizes: Sizes, parts: list[str]) -> Iterator[Job]:
    """What is done, the longest first."""
    made = {
        "readers": _shared("readers", sizes, "trying", "--inputs", sizes.inputs),
        "strangers": _shared("strangers", sizes, "strangers", "--files", sizes.strangers),
        "kills": _shared("kills", sizes, "kills", "--most", sizes.kills),
        "training": _shared("training", sizes, "kills", "--training", "--most", sizes.trainings),
        "pictures": [_job("pictures", "pictures", "--files", sizes.pictures)],
        "encodings": [
            _job("encodings", "encodings", "--trials", sizes.encodings),
            _job("encodings", "encodings", "--trials", sizes.encodings, "--plain"),
        ],
        "weights": [
            _job(
                "weights", *("weights", "--tensors", sizes.tensors, "--megabytes", sizes.megabytes)
            )
        ],
        "native": _shared("native", sizes, "native", "--files", sizes.files),
        "servers": [_job("servers", "servers", "--most", sizes.servers, waits=True)],
        "people": [_job("people", "people", "--kills", sizes.people, waits=True)],
        "crowds": [_job("crowds", "crowds", "--connections", sizes.connections, waits=True)],
    }
    for part, found in made.items():
        if part in parts:
            yield from found


def _job(part: str, *words: object, waits: bool = False) -> Job:
    return Job(part, tuple(map(str, words)), waits)


def _shared(part: str, sizes: Sizes, *words: object) -> list[Job]:
    """The work of a part, cut into shares."""
    of = sizes.shares
    return [_job(part, *words, "--part", f"{number}/{of}") for number in range(1, of + 1)]


def all_done(wanted: list[Job], within: Harness) -> list[Done]:
    """Do all jobs: two at once, and beside them one that waits; each is told as it ends."""
    began = time.monotonic()
    numbered = list(enumerate(wanted))

    def do(numbered: tuple[int, Job]) -> Done:
        number, job = numbered
        result = done(job, number, within)
        minutes = (time.monotonic() - began) / 60
        told = (
            f"{minutes:5.1f} min  {job.part:<10}{result.tried:>8,} tried{result.faults:>4} faults"
        )
        took = f"{result.seconds:7.0f} s, {result.busy:.0f} s of CPU"
        print(f"{told}{took}   {job.command}", file=sys.stderr, flush=True)
        return result

    busy = [(number, job) for number, job in numbered if not job.waits]
    waiting = [(number, job) for number, job in numbered if job.waits]
    with ThreadPoolExecutor(2) as cores, ThreadPoolExecutor(1) as beside:
        begun = [cores.map(do, busy), beside.map(do, waiting)]
    return [result for results in begun for result in results]


def row_name(part: str, name: str) -> str:
    """The row of the table in which a tally is counted."""
    if part in ("kills", "training"):
        return f"{KILLED}{name}"
    if part == "strangers":
        return f"more {STRANGERS}" if name in MORE_KINDS else STRANGERS
    if part != "readers":
        return name
    if "@" in name:
        return "published files"
    return next(row for start, row in GROUPS.items() if name.startswith(start))


def total(results: list[Done]) -> dict[str, Row]:
    """The rows of the table."""
    rows: dict[str, Row] = {}
    for result in results:
        for name, tally in result.found.items():
            row = rows.setdefault(row_name(result.job.part, name), Row())
            row.names.add(name)
            row.tally.add(tally)
    return rows


def table(rows: dict[str, Row], *, markdown: bool) -> str:
    """The rows and their sum, for people."""
    lines = []
    everything = Tally()
    for name, row in rows.items():
        if len(row.names) > 1:
            name = f"{name} ({len(row.names)} readers)"
        lines.append([name, *cells(row.tally)])
        everything.add(row.tally)
    lines.append(["all", *cells(everything)])
    return _printed(["what", "tried", *FAULTS], lines, markdown=markdown)


def times(results: list[Done], *, markdown: bool) -> str:
    """What each part took, in seconds of any time and of processor time."""
    lines = []
    for part in PARTS:
        mine = [result for result in results if result.job.part == part]
        if mine:
            seconds = [sum(each.seconds for each in mine), sum(each.busy for each in mine)]
            lines.append([part, str(len(mine)), *[f"{number:,.0f}" for number in seconds]])
    return _printed(["part", "jobs", "seconds", "CPU s"], lines, markdown=markdown)


def _printed(head: list[str], lines: list[list[str]], *, markdown: bool) -> str:
    if markdown:
        rule = ["---", *["---:"] * (len(head) - 1)]
        return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])
    wide = max(len(line[0]) for line in lines) + 2
    shown = []
    for name, *numbers in [head, *lines]:
        shown.append(name.ljust(wide) + "".join(number.rjust(10) for number in numbers))
    return "\n".join(shown)


def too_few(rows: dict[str, Row]) -> list[str]:
    """What was tried less often than the long form should; all counts are printed."""
    missed = []
    for told, (starts, least) in LEAST.items():
        tried = sum(row.tally.tried for name, row in rows.items() if name.startswith(starts))
        print(f"{told:<30}{tried:>10,}   at least {least:,}")
        if tried < least:
            missed.append(f"only {tried:,} {told}, not {least:,}")
    return missed


def cells(tally: Tally) -> list[str]:
    """The numbers of a row."""
    return [f"{number:,}" for number in (tally.tried, *tally.faults.values())]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; else all")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    if unknown := [part for part in args.parts if part not in PARTS]:
        parser.error(f"there is no part {unknown[0]}: the parts are {', '.join(PARTS)}")

    signal.signal(
        signal.SIGINT, signal.SIG_DFL
    )  # the guard ends the jobs, however this process ends
    began = time.monotonic()
    sizes = SHORT if args.short else LONG
    with harness() as within:
        results = all_done(list(jobs(sizes, args.parts or list(PARTS))), within)
        kept = list(within.scratch.glob(f"{KEPT}*"))
    rows = total(results)
    print(table(rows, markdown=args.markdown))
    print(f"\n{times(results, markdown=args.markdown)}")

    peak = max((row.tally.peak for row in rows.values()), default=0)
    minutes = (time.monotonic() - began) / 60
    busy = sum(result.busy for result in results) / 60
    print(
        f"\n{minutes:.1f} minutes, {busy:.1f} of processor time; at most {peak:,} MB above the start "
        "for one file."
    )
    missed = [] if args.short or args.parts else too_few(rows)
    for result in results:
        tell_more(result)
    for folder in kept:
        print(f"inputs with faults: {folder}")
    for line in missed:
        print(line)
    faults = sum(result.faults for result in results)
    well = not missed and not faults
    print("No fault." if well else f"{faults:,} faults; tried too little of {len(missed)} kinds.")
    return 0 if well else 1


def tell_more(result: Done) -> None:
    """What a job did not do, what it measured, and its faults with what repeats them."""
    if not result.found:  # no llama.cpp, or no C compiler
        print(f"skipped: {result.job.command}")
    if result.said and (result.faults or result.job.part == "weights"):
        print(result.said.strip()[-2000:])
    if result.faults:
        print(f"repeat it (seed 0): {result.job.command}")
    for name, tally in result.found.items():
        for note in different(tally.notes):
            print(f"    {name}: {note}")


if __name__ == "__main__":
    sys.exit(main())

"""All attacks, one after the other, and a table of what came of them.

    python -m hostile [PART ...] [--short] [--markdown]

The long form takes less than half an hour on two cores, the short form a minute or two. The exit
code is 1 if anything was lost, doubled, wrong without a word, leaked, or ended in a traceback, and
if the long form tried less than it should.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from hostile.tally import FAULTS, Tally, loaded

ROOT = Path(__file__).parent.parent
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


class Job(NamedTuple):
    """A module with its arguments, and the part to which it belongs."""

    part: str
    words: tuple[str, ...]


class Done(NamedTuple):
    """What a job found, and what it said beside."""

    job: Job
    found: dict[str, Tally]
    said: str


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
)


def jobs(sizes: Sizes, parts: list[str]) -> Iterator[Job]:
    """What is done, the longest first."""
    halves = ("1/2", "2/2")
    if "kills" in parts:
        for half in halves:
            yield Job("kills", ("kills", "--most", str(sizes.kills), "--part", half))
    if "training" in parts:
        yield Job("training", ("kills", "--training", "--most", str(sizes.trainings)))
    if "servers" in parts:
        yield Job("servers", ("servers", "--most", str(sizes.servers)))
    if "readers" in parts:
        for half in halves:
            yield Job("readers", ("trying", "--inputs", str(sizes.inputs), "--part", half))
    if "strangers" in parts:
        for half in halves:
            yield Job("strangers", ("strangers", "--files", str(sizes.strangers), "--part", half))
    if "native" in parts:
        for half in halves:
            yield Job("native", ("native", "--files", str(sizes.files), "--part", half))

    if "pictures" in parts:
        yield Job("pictures", ("pictures", "--files", str(sizes.pictures)))
    if "people" in parts:
        yield Job("people", ("people", "--kills", str(sizes.people)))
    if "encodings" in parts:
        for words in ((), ("--plain",)):
            yield Job("encodings", ("encodings", "--trials", str(sizes.encodings), *words))
    if "weights" in parts:
        size = ("--megabytes", str(sizes.megabytes))
        yield Job("weights", ("weights", "--tensors", str(sizes.tensors), *size))
    if "crowds" in parts:
        yield Job("crowds", ("crowds", "--connections", str(sizes.connections)))


def done(job: Job) -> Done:
    """Do a job in a process of its own."""
    module, *words = job.words
    command = [sys.executable, "-m", f"hostile.{module}", *words, "--json"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    try:
        found = loaded(result.stdout)
    except ValueError:
        failed = Tally()
        failed.fault("failed", result.stderr[-600:])
        found = {" ".join(job.words): failed}
    return Done(job, found, result.stderr)


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
    for job, found, _ in results:
        for name, tally in found.items():
            row = rows.setdefault(row_name(job.part, name), Row())
            row.names.add(name)
            row.tally.add(tally)
    return rows


def table(rows: dict[str, Row], *, markdown: bool) -> str:
    """The rows and their sum, for people."""
    head = ["what", "tried", *FAULTS]
    lines = []
    everything = Tally()
    for name, row in rows.items():
        if len(row.names) > 1:
            name = f"{name} ({len(row.names)} readers)"
        lines.append([name, *cells(row.tally)])
        everything.add(row.tally)
    lines.append(["all", *cells(everything)])
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

    began = time.monotonic()
    sizes = SHORT if args.short else LONG
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(done, jobs(sizes, args.parts or list(PARTS))))
    rows = total(results)
    print(table(rows, markdown=args.markdown))

    peak = max((row.tally.peak for row in rows.values()), default=0)
    minutes = (time.monotonic() - began) / 60
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = (children.ru_utime + children.ru_stime) / 60
    print(
        f"\n{minutes:.1f} minutes, {busy:.1f} of processor time; at most {peak:,} MB above the start "
        "for one file."
    )
    missed = [] if args.short or args.parts else too_few(rows)
    for job, found, said in results:
        if not found:  # no llama.cpp, or no C compiler
            print(f"skipped: {' '.join(job.words)}")
        if "inputs with faults" in said or "no sample" in said:
            print(said.strip())
        for name, tally in found.items():
            for note in tally.notes:
                print(f"    {name}: {note}")
    for line in missed:
        print(line)
    return 1 if missed or any(row.tally.faulty for row in rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

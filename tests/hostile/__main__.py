"""All attacks, one after the other, and a table of what came of them.

    python tests/hostile [--short] [--markdown]

The long form takes about ten minutes on two cores, the short form less than a minute. The exit
code is 1 if anything was lost, doubled, wrong without a word, leaked, or ended in a traceback.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
COMMANDS = (
    "run",
    "run, gone on with",
    "run --restart, then without",
    "run --restart, twice",
    "make",
    "report",
    "report --figures",
    "rm",
    "recover",
    "data get",
)
COLUMNS = (
    *("tried", "lost", "doubled", "wrong", "traceback", "hang", "memory", "died", "leaked"),
    *("unclear", "failed"),
)
NAMES = {"late": "hang"}  # what a part calls otherwise
GROUPS = {
    "@": "published files",
    "answers ": "files of answers",
    "run": "runs, damaged",
    "": "other files",
}


class Job(NamedTuple):
    """A script with its arguments, and to which part of the table it belongs."""

    part: str
    words: tuple[str, ...]


class Sizes(NamedTuple):
    """How much is tried."""

    kills: int
    inputs: int
    files: int
    servers: int


LONG = Sizes(kills=10**9, inputs=52_000, files=600, servers=10**6)
SHORT = Sizes(kills=10, inputs=1500, files=20, servers=20)


def jobs(sizes: Sizes, parts: list[str]) -> Iterator[Job]:
    """What is done, the longest first."""
    if "kills" in parts:
        for command in COMMANDS:
            words = ("kills.py", "--most", str(sizes.kills), "--only", command)
            yield Job("kills", words)
    if "servers" in parts:
        yield Job("servers", ("servers.py", "--most", str(sizes.servers)))
    halves = ("1/2", "2/2")
    if "readers" in parts:
        for half in halves:
            yield Job("readers", ("trying.py", "--inputs", str(sizes.inputs), "--part", half))
    if "native" in parts:
        for half in halves:
            yield Job("native", ("native.py", "--files", str(sizes.files), "--part", half))


def done(job: Job) -> tuple[Job, dict[str, dict], str]:
    """What a script reports, and what it says beside."""
    script, *words = job.words
    command = [sys.executable, str(HERE / script), *words, "--json"]
    result = subprocess.run(command, capture_output=True, text=True)
    try:
        found = json.loads(result.stdout)
    except ValueError:
        found = {" ".join(job.words): {"tried": 0, "failed": 1, "notes": [result.stderr[-600:]]}}
    return job, found, result.stderr


def group(job: Job, name: str) -> str:
    """The row of the table to which a count belongs."""
    if job.part == "kills":
        return f"killed: {name}"
    if job.part != "readers":
        return name
    for mark, title in GROUPS.items():
        if mark == "@" and "@" in name:
            return title
        if mark != "@" and name.startswith(mark):
            return title
    return name


def total(results: list[tuple[Job, dict[str, dict], str]]) -> tuple[dict[str, dict], list[str]]:
    """The rows of the table, and all notes on faults."""
    rows: dict[str, dict] = {}
    notes = []
    for job, found, _ in results:
        for name, tally in found.items():
            row = rows.setdefault(group(job, name), {"peak": 0, "readers": set()})
            row["readers"].add(name)
            row["peak"] = max(row["peak"], tally.get("peak", 0))
            notes += [f"{name}: {note}" for note in tally["notes"]]
            for key, value in tally.items():
                if isinstance(value, int) and key != "peak":
                    column = NAMES.get(key, key)
                    row[column] = row.get(column, 0) + value
    return rows, notes


def table(rows: dict[str, dict], *, markdown: bool) -> str:
    """The rows, for people."""
    head = ["what", *COLUMNS]
    lines = []
    for name, row in rows.items():
        if len(row["readers"]) > 1:
            name = f"{name} ({len(row['readers'])} readers)"
        lines.append([name, *(f"{row.get(column, 0):,}" for column in COLUMNS)])
    sums = [sum(row.get(column, 0) for row in rows.values()) for column in COLUMNS]
    lines.append(["all", *(f"{number:,}" for number in sums)])
    if markdown:
        rule = ["---", *["---:"] * len(COLUMNS)]
        return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])
    wide = max(len(line[0]) for line in lines) + 2
    shown = []
    for name, *cells in [head, *lines]:
        shown.append(name.ljust(wide) + "".join(cell.rjust(10) for cell in cells))
    return "\n".join(shown)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = ["kills", "servers", "readers", "native"]
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(known)}; else all")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    if unknown := [part for part in args.parts if part not in known]:
        parser.error(f"there is no part {unknown[0]}")
    began = time.monotonic()
    sizes = SHORT if args.short else LONG
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(done, jobs(sizes, args.parts or known)))
    rows, notes = total(results)
    print(table(rows, markdown=args.markdown))
    peak = max((row["peak"] for row in rows.values()), default=0)
    minutes = (time.monotonic() - began) / 60
    print(f"\n{minutes:.1f} minutes; at most {peak:,} MB above the start for one file.")
    for job, found, said in results:
        if not found:  # no llama.cpp, or no C compiler
            print(f"skipped: {' '.join(job.words)}")
        if "inputs with faults" in said or "no sample" in said:
            print(said.strip())
    for note in notes:
        print("    " + note)
    return 1 if notes else 0


if __name__ == "__main__":
    sys.exit(main())

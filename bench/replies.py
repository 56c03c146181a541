"""Replies of real models read by the rules, beside what others read in the same replies.

Takes JSON lines with model, task, choices, reply and authors_read (the letter that the authors of
the set read, or null): how many agree, differ or are unread, by model and task, how fast replies
are read, and how long the slowest takes. `--mutate N` reads N damaged replies as well, of which
none may break. `--list FILE` writes down every reply that is read otherwise than by the authors.
"""

import argparse
import gc
import gzip
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path
from string import ascii_uppercase

from gnomon.models.reading.replies import ReplyReading, explain

MOST_UNREAD = 0.015  # of the replies that the authors read
MOST_UNREAD_OF_A_CELL = 0.10
SIGNS = "()<>\"'*\n.,:;|\\{}[] ABab01✓不é"


def rows_of(file: Path) -> list[dict]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def letter(found: ReplyReading) -> str | None:
    return None if found.place is None else ascii_uppercase[found.place]


def read_all(rows: list[dict]) -> tuple[list[ReplyReading], float, float]:
    """The readings, CPU seconds for all of them, and for the slowest reply."""
    for row in rows:
        read(row)  # words and phrases are compiled once
    gc.freeze()  # what was loaded is not searched again while replies are timed
    found = []
    slowest = 0.0
    start = time.process_time()
    for row in rows:
        before = time.process_time()
        found.append(read(row))
        slowest = max(slowest, time.process_time() - before)
    return found, time.process_time() - start, slowest


def read(row: dict, reply: str | None = None) -> ReplyReading:
    words = [[choice] for choice in row["choices"]]
    return explain(row["reply"] if reply is None else reply, words)


def mutated(reply: str, other: str, rng: random.Random) -> str:
    """A reply with a part lost, doubled or replaced, or run together with another one."""
    start, end = sorted(rng.randrange(len(reply) + 1) for _ in range(2))
    kind = rng.randrange(4)
    if kind == 0:
        return reply[:start] + reply[end:]
    if kind == 1:
        return reply[:end] + reply[start:]
    if kind == 2:
        return reply[:start] + "".join(rng.choices(SIGNS, k=5)) + reply[end:]
    return reply[:start] + other[:end]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--mutate", type=int, default=0)
    parser.add_argument("--list", type=Path)
    args = parser.parse_args()
    rows = rows_of(args.file)
    readings, seconds, slowest = read_all(rows)
    asked, unread, counts = Counter(), Counter(), Counter()
    differing = []
    for row, found in zip(rows, readings, strict=True):
        ours, theirs = letter(found), row["authors_read"]
        cell = (row["model"], row["task"])
        if theirs is None:
            kind = "neither read" if ours is None else "read by us alone"
        else:
            asked[cell] += 1
            unread[cell] += ours is None
            kind = "unread" if ours is None else "agree" if ours == theirs else "differ"
        counts[kind] += 1
        if ours and ours != theirs:
            differing.append({**row, "read": ours, "rule": found.rule})
    share = counts["unread"] / max(1, sum(asked.values()))
    print(dict(counts), f"unread of what the authors read: {share:.2%}")
    cells = sorted(((unread[cell] / asked[cell], cell) for cell in asked), reverse=True)
    for part, cell in cells[:10]:
        print(f"  {part:6.1%} unread of {asked[cell]}: {', '.join(cell)}")
    print(f"{len(rows) / seconds:,.0f} replies a second; the slowest took {slowest * 1000:.1f} ms")
    if args.list:
        args.list.write_text("".join(json.dumps(row) + "\n" for row in differing))
    rng = random.Random(0)
    for _ in range(args.mutate):
        row, other = rng.choice(rows), rng.choice(rows)
        read(row, mutated(row["reply"], other["reply"], rng))
    print(f"{args.mutate:,} mutated replies were read without an exception")
    return int(share > MOST_UNREAD or cells[0][0] > MOST_UNREAD_OF_A_CELL)


if __name__ == "__main__":
    sys.exit(main())

"""Ways to divide VSR into train, dev and test, with a seed (the authors' shuffles had none).

The released random split leaks: the two halves of a contrastive pair (one caption, two images,
opposite labels) are divided at random, so a caption seen in training tells the answer in the test:
the other one. `contrast` keeps all uses of a caption in one part.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from random import Random
from typing import TypeVar

from gnomon.benchmarks.vsr.files import PARTS, Caption

Parts = dict[str, list[Caption]]
T = TypeVar("T")
SHARES = (10, 25, 50, 75)  # percent of the training part, for sample efficiency (section 3.4)
SHOTS = 100


def random_split(rows: Sequence[Caption], seed: int) -> Parts:
    """70/10/20 % at random: int() cuts at 70 and 80 %, as the authors do."""
    shuffled = _shuffled(rows, seed, "random")
    first, second = int(0.7 * len(rows)), int(0.8 * len(rows))
    return {
        "train": shuffled[:first],
        "dev": shuffled[first:second],
        "test": shuffled[second:],
    }


def zeroshot_split(rows: Sequence[Caption], seed: int) -> Parts:
    """Parts that share no concept: 50/20/30 % of the concepts.

    Captions whose two concepts are in different parts are left out. Concepts are read from the
    captions; the authors read them from a field that had lost its first letters, so their parts
    share horse, hot dog and elephant.
    """
    names: set[str] = set()
    for row in rows:
        names.update(row.concepts)
    names.discard("")
    shuffled = _shuffled(sorted(names), seed, "zeroshot")
    first, second = int(0.5 * len(names)), int(0.7 * len(names))
    home = dict.fromkeys(shuffled, "test")
    home |= dict.fromkeys(shuffled[:second], "dev")
    home |= dict.fromkeys(shuffled[:first], "train")

    parts: Parts = {part: [] for part in PARTS}
    for row in rows:
        a, b = row.concepts
        if a in home and home[a] == home.get(b):
            parts[home[a]].append(row)
    return parts


def contrast_split(rows: Sequence[Caption], seed: int) -> Parts:
    """70/10/20 % of the rows, by whole captions: none of the test was seen in training."""
    uses: defaultdict[str, list[Caption]] = defaultdict(list)
    for row in rows:
        uses[row.caption].append(row)
    parts: Parts = {part: [] for part in PARTS}
    room = {"test": len(rows) // 5, "dev": len(rows) // 10, "train": len(rows)}
    for caption in _shuffled(list(uses), seed, "contrast"):
        group = uses[caption]
        part = next(part for part, most in room.items() if len(parts[part]) + len(group) <= most)
        parts[part] += group
    return parts


def training_prefix(train: Sequence[Caption], seed: int, size: str) -> list[Caption]:
    """A part of the training rows for sample efficiency: "100" rows, or 10, 25, 50 or 75 %.

    Smaller ones are in larger.

    >>> len(training_prefix(list(range(7083)), 0, "25"))
    1770
    """
    shuffled = _shuffled(train, seed, "efficiency")
    if size == str(SHOTS):
        return shuffled[:SHOTS]
    share = int(size) / 100
    return shuffled[: int(share * len(train))]


def _shuffled(rows: Sequence[T], seed: int, what: str) -> list[T]:
    shuffled = list(rows)
    Random(f"{seed}/{what}").shuffle(shuffled)
    return shuffled

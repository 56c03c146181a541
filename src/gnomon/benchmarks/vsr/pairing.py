"""Contrastive pairs: one caption that an annotator wrote for two photographs, true of one of them.

The released files do not name the pairs. They are found again in the raw annotations, where the two
halves of a task mostly stand one after the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from gnomon.benchmarks.vsr.files import VsrCaption

Key = tuple[str, str]  # of a caption: its image and its text
Task = tuple[int, str]  # who wrote it, and the text


def contrastive_pairs(rows: Sequence[VsrCaption]) -> dict[Key, str]:
    """The name of the pair that each caption belongs to; a caption without another half has none.

    Neighbours with opposite labels are a pair. What then remains of an annotator's caption is one
    if it is one true and one false row: more could be matched in several ways, and are left.
    """
    tasks: defaultdict[Task, list[VsrCaption]] = defaultdict(list)
    halves: list[tuple[VsrCaption, VsrCaption]] = []
    taken: set[Key] = set()
    for row, following in pairwise(rows):
        if row.key not in taken and _are_halves(row, following):
            halves.append((row, following))
            taken |= {row.key, following.key}
    for row in rows:
        if row.key not in taken:
            tasks[_task(row)].append(row)
    for rest in tasks.values():
        if len(rest) == 2 and _are_halves(*rest):
            halves.append((rest[0], rest[1]))

    names: dict[Key, str] = {}
    counts: defaultdict[Task, int] = defaultdict(int)
    for one, other in halves:
        task = _task(one)
        counts[task] += 1
        name = f"{one.annotator_id}/{one.caption.strip(' .').replace(' ', '_')}/{counts[task]}"
        names[one.key] = names[other.key] = name
    return names


def _are_halves(one: VsrCaption, other: VsrCaption) -> bool:
    return _task(one) == _task(other) and one.label != other.label


def _task(row: VsrCaption) -> Task:
    return row.annotator_id, row.caption

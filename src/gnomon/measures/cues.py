"""Which cue a model follows: matched items in which an easy cue is right, and in which it is wrong.

The tag `cue` says which (consistent, counter), and the tag `frame` whether a question leaves open
whose left and right it means. A model that follows the cue is right on the one and wrong on the
other: the gap is the measure.
"""

import numpy as np

from gnomon.contracts import Measure
from gnomon.measures.columns import Floats
from gnomon.measures.statistics import Statistics, mean_of, ratio
from gnomon.measures.table import Flags, Table

CUE, CONSISTENT, COUNTER = "cue", "consistent", "counter"
FRAME, OPEN = "frame", "unstated"


def cue_gap(table: Table) -> Statistics:
    """Accuracy where the cue is right, minus accuracy where it is wrong: 1 for a slave of it."""
    stated = ~has_value(table, FRAME, OPEN)
    consistent = has_value(table, CUE, CONSISTENT) & stated
    counter = has_value(table, CUE, COUNTER) & stated
    asked = consistent | counter
    part = table.where(asked)
    first, second = consistent[asked], counter[asked]
    right = part.right
    columns = np.stack([first & right, first, second & right, second], axis=1).astype(float)
    return Statistics.of(part.clusters, columns, _gap, bounds=(-1.0, 1.0))


def _gap(sums: Floats) -> Floats:
    return np.asarray(ratio(sums[..., :2]) - ratio(sums[..., 2:]))


def own_frame(table: Table) -> Statistics:
    """Of open questions whose two frames differ, the share answered by the thing's own front."""
    part = table.where(has_value(table, CUE, COUNTER) & has_value(table, FRAME, OPEN))
    return mean_of(np.where(part.answered, part.right, np.nan), part.clusters)


def has_cues(table: Table) -> bool:
    """Whether there are items in which a cue is right, and others in which it is wrong."""
    return bool(has_value(table, CUE, CONSISTENT).any() and has_value(table, CUE, COUNTER).any())


def has_open_frames(table: Table) -> bool:
    """Whether questions leave the frame open."""
    return bool((has_value(table, FRAME, OPEN) & has_value(table, CUE, COUNTER)).any())


def has_value(table: Table, tag: str, value: str) -> Flags:
    """Which rows have a value of a tag."""
    if not table.has(tag):
        return np.zeros(len(table), dtype=bool)
    column = table.column(tag)
    wanted = [code for code, known in enumerate(column.values) if known == value]
    return np.asarray(np.isin(column.codes, wanted))


CUE_GAP = Measure(name="cue_gap", statistics=cue_gap, better="lower", needs=frozenset({"cues"}))
OWN_FRAME = Measure(name="own_frame", statistics=own_frame, needs=frozenset({"frames"}))

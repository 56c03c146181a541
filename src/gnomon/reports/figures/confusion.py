"""What was answered where what was right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.measures.table import Flags, Table
from gnomon.reports.charts.axes import percent
from gnomon.reports.charts.panels import Panel, matrix_panel, panels
from gnomon.reports.figures import Figure
from gnomon.reports.figures.enough import ITEMS, enough
from gnomon.reports.study import Entrant, Study

MOST_LABELS = 12
MOST_BESIDE = 4  # labels of matrices that fit side by side
NONE = "none"  # an answer that failed or could not be read


class Matrix(NamedTuple):
    """How often each label was answered where each was right."""

    right: tuple[str, ...]
    answered: tuple[str, ...]  # the same, and none where some answers are missing
    counts: NDArray[np.int64]
    possible: Flags  # which answers were among the choices


def confusion(study: Study) -> Iterator[Figure]:
    """A matrix for each model; rows add up to one."""
    charts: list[Panel] = []
    rows: list[tuple[Any, ...]] = []
    widest = 0
    for entrant in study.entrants:
        single = entrant.table.where(entrant.table.cardinality == 1)
        labels = _labels(single)
        if not 2 <= len(labels) <= MOST_LABELS:
            return
        widest = max(widest, len(labels))
        matrix = _matrix(single, labels)
        if enough(int(matrix.counts.sum(axis=1).min())):
            charts.append(_panel(entrant, matrix))
        for right, answered, count, share in _cells(matrix):
            rows.append((entrant.label, right, answered, count, share))
    if not charts:
        return
    yield Figure(
        name="confusion",
        title="Which answers are confused",
        caption="Each row is a right answer; the cells say, in per cent, what was answered. "
        f"Drawn where each right answer has {ITEMS} items or more.",
        description="Confusion matrices; the table below gives the counts.",
        body=panels(charts, columns=2 if widest <= MOST_BESIDE else 1),
        columns=("model", "right", "answered", "items", "share"),
        rows=tuple(rows),
        detail=True,
    )


def _labels(table: Table) -> list[str]:
    """The labels that are a choice somewhere."""
    if not len(table):
        return []
    codes = np.unique(table.kinds.choices[np.unique(table.kind)])
    return [table.labels[code] for code in codes.tolist() if code >= 0]


def _matrix(table: Table, labels: Sequence[str]) -> Matrix:
    place = {label: i for i, label in enumerate(labels)}
    none = len(labels)
    gold = table.column("gold")
    # what is right of items with several right labels is in the vocabulary too, and not in the rows
    right = np.array([place.get(label, none) for label in gold.values])[gold.codes]
    # code -1, nothing answered, picks the last entry
    columns = [place.get(label, none) for label in table.labels]
    said = np.array([*columns, none])[table.choice]
    counts = np.zeros((none, none + 1), dtype=np.int64)
    np.add.at(counts, (right, said), 1)
    possible = _offered(table, place)

    kept = counts.sum(axis=1) > 0
    answered = tuple(labels)
    if counts[:, none].any():
        answered = (*labels, NONE)
    shown = slice(0, len(answered))
    names = tuple(label for label, there in zip(labels, kept, strict=True) if there)
    return Matrix(names, answered, counts[kept, shown], possible[kept, shown])


def _offered(table: Table, place: dict[str, int]) -> Flags:
    """For each right answer, which answers were among its choices; none at all always is."""
    found = np.zeros((len(place), len(place) + 1), dtype=bool)
    found[:, -1] = True
    for kind in np.unique(table.kind).tolist():
        choices = table.kinds.choices[kind].tolist()
        offered = [place[table.labels[code]] for code in choices if code >= 0]
        found[np.ix_(offered, offered)] = True
    return found


def _cells(matrix: Matrix) -> Iterator[tuple[str, str, int, float]]:
    """The right label, the answer, how many items and which share of the row."""
    for i, right in enumerate(matrix.right):
        total = int(matrix.counts[i].sum())
        for j, answered in enumerate(matrix.answered):
            if matrix.possible[i, j]:
                count = int(matrix.counts[i, j])
                yield right, answered, count, count / total


def _panel(entrant: Entrant, matrix: Matrix) -> Panel:
    values: dict[str, dict[str, float | None]] = {}
    notes: dict[str, dict[str, str]] = {}
    for right in matrix.right:
        values[right] = dict.fromkeys(matrix.answered)
        notes[right] = dict.fromkeys(matrix.answered, "")
    for right, answered, count, share in _cells(matrix):
        values[right][answered] = share
        told = f"right: {right}, answered: {answered}: {count:,} items, {percent(share)}"
        notes[right][answered] = told
    return matrix_panel(
        entrant.label,
        matrix.right,
        matrix.answered,
        [list(row.values()) for row in values.values()],
        "right answer",
        "answered",
        notes=[list(row.values()) for row in notes.values()],
    )

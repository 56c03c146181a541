"""What the answers look like: reliability, confusion, agreement between forms, and each object's bias."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gnomon.measures.table import Table
from gnomon.report.figures import Figure, words
from gnomon.report.plots import Curve, Panel, curves, matrix_panel, panels, percent
from gnomon.report.study import Study

BINS = 10
MOST_LABELS = 12


def confusion(study: Study) -> Iterator[Figure]:
    """What was answered where what was right; rows add up to one."""
    charts: list[Panel] = []
    rows = []
    for e in study.entrants:
        single = e.table.where(e.table.cardinality == 1)
        labels = _labels(single)
        if not len(single) or not 2 <= len(labels) <= MOST_LABELS:
            return
        gold = single.column("gold")
        at = {label: i for i, label in enumerate(labels)}
        right = np.array([at.get(v, -1) for v in gold.values])[gold.codes]
        said = np.array([*(at.get(v, len(labels)) for v in single.labels), len(labels)])[single.choice]
        counts = np.zeros((len(labels), len(labels) + 1), dtype=int)
        np.add.at(counts, (right, said), 1)
        columns = [*labels, "none"] if counts[:, -1].any() else list(labels)
        counts = counts[:, : len(columns)]
        share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        present = [i for i in range(len(labels)) if counts[i].sum()]
        notes = [[f"right: {labels[i]}, answered: {c}: {counts[i, j]:,} items, {percent(share[i, j])}"
                  for j, c in enumerate(columns)] for i in present]
        charts.append(matrix_panel(e.label, [labels[i] for i in present], columns, share[present].tolist(), "right answer",
                                   "answered", notes=notes))
        rows += [(e.label, labels[i], c, int(counts[i, j]), float(share[i, j])) for i in present for j, c in enumerate(columns)]
    if charts:
        widest = max(len(_labels(e.table)) for e in study.entrants)
        yield Figure(
            name="confusion", title="What is taken for what",
            caption="Each row is a right answer; the cells say, in per cent, what was answered instead.",
            description="Confusion matrices; the table below gives the counts.",
            body=panels(charts, columns=2 if widest <= 4 else 1),
            columns=("model", "right", "answered", "items", "share"), rows=tuple(rows),
        )  # fmt: skip


def _labels(table: Table) -> list[str]:
    return [table.labels[i] for i in np.unique(table.kinds.choices[np.unique(table.kind)]) if i >= 0] if len(table) else []


def reliability_diagram(study: Study) -> Iterator[Figure]:
    """Accuracy against the certainty the model claims."""
    lines, rows = [], []
    for i, e in enumerate(study.entrants):
        known = np.isfinite(e.sure)
        if known.sum() < 50:
            continue
        code = np.minimum((e.sure[known] * BINS).astype(int), BINS - 1)
        count = np.bincount(code, minlength=BINS)
        sure = np.bincount(code, weights=e.sure[known], minlength=BINS) / np.maximum(count, 1)
        right = np.bincount(code, weights=e.right[known], minlength=BINS) / np.maximum(count, 1)
        shown = [j for j in range(BINS) if count[j] >= 5]
        lines.append(Curve(e.label, i, tuple((float(sure[j]), float(right[j])) for j in shown), dots=True))
        rows += [(e.label, float(sure[j]), float(right[j]), int(count[j])) for j in range(BINS) if count[j]]
    if not any(line.points for line in lines):
        return
    yield Figure(
        name="reliability", title="Does the model know when it is right?",
        caption="Accuracy against the probability that the model gives to its answer. On the dotted line the two agree; "
                "below it the model is too sure of itself.",
        description="Reliability diagram with one curve per model; the table below gives each bin.",
        body=curves(lines, "probability of the answer given", "accuracy", names=study.labels, diagonal=True, height=270),
        columns=("model", "confidence", "accuracy", "items"), rows=tuple(rows),
    )  # fmt: skip


def forms(study: Study) -> Iterator[Figure]:
    """How often the same fact, asked in two forms, is answered alike: right in both or wrong in both."""
    return iter(())


def objects(study: Study) -> Iterator[Figure]:
    """How often each object is called the greater one, whichever side it stands on (spatial commonsense, Figure 5)."""
    return iter(())

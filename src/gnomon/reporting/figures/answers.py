"""What the answers look like: reliability, confusion, agreement between forms, and each object's
bias."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gnomon.measures.calibration import reliability
from gnomon.measures.consistency import agreement, within_groups
from gnomon.measures.relations import Bias, object_bias
from gnomon.measures.table import Flags, Table
from gnomon.reporting.charts.panels import Panel, Stack, matrix_panel, panels, stacked_panel
from gnomon.reporting.charts.plots import Curve, curves, percent
from gnomon.reporting.figures import Figure
from gnomon.reporting.study import Study
from gnomon.reporting.tables.export import file_name

MOST_LABELS = 12
PARTS = ("called greater, named first", "called lesser, named second")
MOST_OBJECTS = 40
LEAST_SCORED, LEAST_IN_BIN = 50, 5  # items for a diagram, and for a point in it


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
        said = np.array([*(at.get(v, len(labels)) for v in single.labels), len(labels)])[
            single.choice
        ]
        counts = np.zeros((len(labels), len(labels) + 1), dtype=int)
        np.add.at(counts, (right, said), 1)
        columns = [*labels, "none"] if counts[:, -1].any() else list(labels)
        counts = counts[:, : len(columns)]
        share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        present = [i for i in range(len(labels)) if counts[i].sum()]
        possible = _offered(single, labels, len(columns))
        cells = [
            [float(share[i, j]) if possible[i, j] else None for j in range(len(columns))]
            for i in present
        ]
        notes = [
            [
                f"right: {labels[i]}, answered: {c}: {counts[i, j]:,} items, {percent(share[i, j])}"
                for j, c in enumerate(columns)
            ]
            for i in present
        ]
        charts.append(
            matrix_panel(
                e.label,
                [labels[i] for i in present],
                columns,
                cells,
                "right answer",
                "answered",
                notes=notes,
            )
        )
        rows += [
            (e.label, labels[i], c, int(counts[i, j]), float(share[i, j]))
            for i in present
            for j, c in enumerate(columns)
            if possible[i, j]
        ]
    if charts:
        widest = max(len(_labels(e.table)) for e in study.entrants)
        yield Figure(
            name="confusion",
            title="What is taken for what",
            caption="Each row is a right answer; the cells say, in per cent, what was answered to it.",
            description="Confusion matrices; the table below gives the counts.",
            body=panels(charts, columns=2 if widest <= 4 else 1),
            columns=("model", "right", "answered", "items", "share"),
            rows=tuple(rows),
        )


def _offered(table: Table, labels: list[str], columns: int) -> Flags:
    """For each right answer, which answers were among its choices, or none at all."""
    at = {label: i for i, label in enumerate(labels)}
    found = np.zeros((len(labels), len(labels) + 1), dtype=bool)
    found[:, -1] = True
    for kind in np.unique(table.kind).tolist():
        offered = [at[table.labels[c]] for c in table.kinds.choices[kind] if c >= 0]
        found[np.ix_(offered, offered)] = True
    return np.asarray(found[:, :columns])


def _labels(table: Table) -> list[str]:
    return (
        [table.labels[i] for i in np.unique(table.kinds.choices[np.unique(table.kind)]) if i >= 0]
        if len(table)
        else []
    )


def reliability_diagram(study: Study) -> Iterator[Figure]:
    """Accuracy against the certainty the model claims."""
    lines, rows = [], []
    for i, e in enumerate(study.entrants):
        bins = [b for b in reliability(e.table) if b.n]
        if sum(b.n for b in bins) < LEAST_SCORED:
            continue
        shown = tuple((b.confidence, b.accuracy) for b in bins if b.n >= LEAST_IN_BIN)
        lines.append(Curve(e.label, i, shown, dots=True))
        rows += [(e.label, b.low, b.high, b.n, b.confidence, b.accuracy) for b in bins]
    if not any(line.points for line in lines):
        return
    yield Figure(
        name="reliability",
        title="Does the model know when it is right?",
        caption="Accuracy against the probability that the model gives to its answer. On the dotted line the two "
        "agree; below it the model is too sure of itself.",
        description="Reliability diagram with one curve for each model; the table below gives each bin.",
        body=curves(lines, "probability of the answer given", "accuracy", diagonal=True),
        columns=("model", "low", "high", "items", "confidence", "accuracy"),
        rows=tuple(rows),
    )


def forms(study: Study) -> Iterator[Figure]:
    """How often the same fact, asked in two forms, is answered alike; on the diagonal, twice in one
    form."""
    charts: list[Panel] = []
    rows = []
    for e in study.entrants:
        names = e.table.form.values
        if len(names) < 2:
            continue
        grid: list[list[float | None]] = []
        for a in range(len(names)):
            grid.append([])
            for b in range(len(names)):
                part = e.table.where(np.isin(e.table.form.codes, (a, b)))
                found = agreement(within_groups(part, between_forms=a != b))
                value = found.value
                grid[-1].append(value if value == value else None)
                rows.append((e.label, names[a], names[b], grid[-1][-1], found.n))
        if any(
            value is not None
            for a, line in enumerate(grid)
            for b, value in enumerate(line)
            if a != b
        ):
            charts.append(matrix_panel(e.label, names, names, grid, "", "", notes=()))
    if charts:
        yield Figure(
            name="forms",
            title="The same fact asked in different forms",
            caption="Share, in per cent, of pairs of items about one fact that are answered alike (both right or both "
            "wrong where the right labels differ).",
            description="Agreement matrices of the forms; the table below gives the values.",
            body=panels(charts, columns=2),
            columns=("model", "form", "other form", "agreement", "n"),
            rows=tuple(rows),
        )


def objects(study: Study) -> Iterator[Figure]:
    """How often each object is called the greater one, named first or second (spatial commonsense,
    Figure 5)."""
    by_context: dict[str, list[tuple[str, list[Bias]]]] = {}
    for e in study.entrants:
        biases: dict[str, list[Bias]] = {}
        for bias in object_bias(e.table):
            biases.setdefault(bias.context, []).append(bias)
        for context, found in biases.items():
            by_context.setdefault(context, []).append(
                (e.label, sorted(found, key=lambda b: (b.is_greater, b.object)))
            )
    for context, models in by_context.items():
        charts = [
            stacked_panel(
                label,
                [_stack(b) for b in found[:: -(-len(found) // MOST_OBJECTS)]],
                PARTS,
                "truly greater",
            )
            for label, found in models
        ]
        yield Figure(
            name=f"objects-{file_name(context)}",
            title=f"Is each object's rank the same both ways? ({context})",
            caption="Blue: how often the object is called greater than the others when named first. Orange: how often "
            "the others are called greater than it when they are named first. A consistent model's bars end at "
            "1; the tick is the truth for the blue part.",
            description="; ".join(f"{label}: {_balance(found)}" for label, found in models) + ".",
            body=panels(charts, columns=2),
            columns=("model", "context", *(name for name in Bias._fields if name != "context")),
            rows=tuple(
                (
                    label,
                    context,
                    *(value for name, value in b._asdict().items() if name != "context"),
                )
                for label, found in models
                for b in found
            ),
        )


def _stack(bias: Bias) -> Stack:
    return Stack(
        bias.object, bias.called_greater_first, 1 - bias.called_greater_second, bias.is_greater
    )


def _balance(found: list[Bias]) -> str:
    sums = [b.called_greater_first + 1 - b.called_greater_second for b in found]
    off = sum(1 for total in sums if abs(total - 1) > 0.2)
    return f"{off} of {len(found)} objects end more than 0.2 away from 1"

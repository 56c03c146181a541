"""Bars by category, relation, class ... with intervals, and curves over the number of right
labels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gnomon import registry
from gnomon.contracts import Benchmark, Measure
from gnomon.errors import GnomonError
from gnomon.measures.grouping import large_enough
from gnomon.measures.scoring import scores
from gnomon.measures.table import Table, in_order
from gnomon.records import Score
from gnomon.reporting.charts.plots import Curve, Estimate, bars, curves, percent
from gnomon.reporting.figures import Figure, words
from gnomon.reporting.page.items import filters
from gnomon.reporting.study import Study
from gnomon.reporting.tables.export import file_name
from gnomon.reporting.words import axis_name, measure_name

MOST_KEYS = 30  # rows in a bar chart; the table behind it holds all
MOST_TAGS = 6
CURVES = {"cardinality", "label_cardinality"}  # drawn as curves, not as bars


def headline_measure(spec: Benchmark | None) -> Measure:
    """The measure that the benchmark puts first; accuracy where the benchmark is not known."""
    name = spec.measures[0] if spec and spec.measures else "accuracy"
    try:
        return registry.measure(name)
    except (GnomonError, ImportError, AttributeError):
        return registry.measure("accuracy")


def pattern_measure(study: Study) -> Measure | None:
    """The first measure of whole groups that the benchmark names, if it names one."""
    for name in study.spec.measures if study.spec else ():
        if name.startswith(("pattern_accuracy@", "without_partial_credit")):
            try:
                return registry.measure(name)
            except (GnomonError, ImportError, AttributeError):
                continue
    return None


def guess(table: Table) -> float:
    """The expected share of right answers of someone who guesses among the choices."""
    if not len(table):
        return 0.0
    share = table.kinds.gold.sum(axis=1) / np.maximum((table.kinds.choices >= 0).sum(axis=1), 1)
    return float(share[table.kind].mean())


def chance(study: Study) -> float | None:
    """What a guess is worth on the items of the runs; none where it is not the same for all of
    them."""
    found = {round(guess(e.table), 6) for e in study.entrants if len(e.table)}
    return found.pop() if len(found) == 1 else None


def tags_of(study: Study) -> list[str]:
    """The tags to slice by: the benchmark's own, else the few-valued ones."""
    present = {tag for item in study.items for tag in item.tags} - CURVES
    declared = [tag for tag in (study.spec.slices if study.spec else ()) if tag in present]
    return (declared or [tag for tag in filters(study) if tag in present])[:MOST_TAGS]


def by_slice(study: Study) -> Iterator[Figure]:
    """One figure for each tag with the headline measure, and for the first also with the measure of
    whole groups."""
    first = True
    for tag in tags_of(study):
        drawn = _bars(study, tag, headline_measure(study.spec))
        if drawn:
            yield drawn
            whole = pattern_measure(study) if first else None
            second = _bars(study, tag, whole) if whole else None
            if second:
                yield second
            first = False


def _bars(study: Study, tag: str, measure: Measure) -> Figure | None:
    flat = [
        (i, s)
        for i, e in enumerate(study.entrants)
        if tag in e.table.tags and large_enough(measure.name, e.table)
        for s in scores(e.table, [measure], by=tag)
        if s.key and s.value is not None
    ]
    keys = list(dict.fromkeys(s.key for _, s in flat))
    if not 2 <= len(keys) <= 400:
        return None
    shown = _order(keys, flat)
    wanted = set(shown[:MOST_KEYS])
    estimates = [
        Estimate(s.key, i, s.value, s.low, s.high, f", {s.n:,} items")
        for key in shown[:MOST_KEYS]
        for i, s in flat
        if s.key == key
    ]
    name = measure_name(measure.name)
    guide = chance(study) if measure.name == "accuracy" else None
    axis = axis_name(measure.name) + (
        f" (dotted: a guess over all items, {percent(guide)})" if guide else ""
    )
    body = bars(estimates, study.labels, axis, guide=guide)
    left_out = (
        f" The {MOST_KEYS} with most items of {len(keys)} are drawn."
        if len(keys) > MOST_KEYS
        else ""
    )
    apart = (
        " Each run is on its own items: compare those on the same ones."
        if len(study.item_sets()) > 1
        else ""
    )
    return Figure(
        name=f"{measure.name.replace('@', '-')}-by-{file_name(tag)}",
        title=f"{name} by {words(tag)}",
        caption=f"With 95 % intervals over independent groups of items.{apart}{left_out}",
        description=_extremes(study, [(i, s) for i, s in flat if s.key in wanted], words(tag)),
        body=body,
        columns=("model", tag, measure.name, "low", "high", "n", "clusters"),
        rows=tuple(
            (study.labels[i], s.key, s.value, s.low, s.high, s.n, s.clusters) for i, s in flat
        ),
    )


def _order(keys: list[str], flat: list[tuple[int, Score]]) -> list[str]:
    """Numbers by size; few words by their mean value, the best first; many words by how many items
    they have."""
    if all(in_order(key)[0] == 0 for key in keys):
        return sorted(keys, key=in_order)
    counts = {key: max(s.n for _, s in flat if s.key == key) for key in keys}
    if len(keys) > MOST_KEYS:
        return sorted(keys, key=lambda key: -counts[key])
    means = {
        key: np.mean([s.value for _, s in flat if s.key == key and s.value is not None])
        for key in keys
    }
    return sorted(keys, key=lambda key: (-means[key], key))


def _extremes(study: Study, flat: list[tuple[int, Score]], tag: str) -> str:
    parts = []
    for i, label in enumerate(study.labels):
        own = [s for j, s in flat if j == i and s.value is not None]
        if own:
            best, worst = max(own, key=lambda s: s.value or 0), min(own, key=lambda s: s.value or 0)
            parts.append(
                f"{label}: highest for {best.key} ({percent(best.value or 0)}), lowest for {worst.key} "
                f"({percent(worst.value or 0)})"
            )
    return f"Bars by {tag}. " + "; ".join(parts[:12]) + "."


def by_cardinality(study: Study) -> Iterator[Figure]:
    """How the score changes with the number of labels that count as right (ViPhy, Figure 5)."""
    most = [len(e.table) and int(e.table.cardinality.max()) for e in study.entrants]
    if max(most, default=0) < 2:
        return
    names = [
        n
        for n in (study.spec.measures if study.spec else ())
        if n in ("relaxed_accuracy", "true_confidence")
    ]
    for name in names or ["accuracy"]:
        measure = registry.measure(name)
        lines, rows = [], []
        for i, e in enumerate(study.entrants):
            points = []
            for cardinality in np.unique(e.table.cardinality):
                part = e.table.where(e.table.cardinality == cardinality)
                s = scores(part, [measure])[0]
                if s.value is not None:
                    points.append((int(cardinality), s))
                    rows.append(
                        (e.label, int(cardinality), s.value, s.low, s.high, s.n, s.clusters)
                    )
            lines.append(
                Curve(
                    e.label,
                    i,
                    tuple((float(c), s.value or 0.0) for c, s in points),
                    tuple(
                        s.value if s.low is None else s.low
                        for _, s in points
                        if s.value is not None
                    ),
                    tuple(
                        s.value if s.high is None else s.high
                        for _, s in points
                        if s.value is not None
                    ),
                    dots=True,
                )
            )
        cardinalities = sorted({row[1] for row in rows})
        if len(cardinalities) < 2:
            continue
        body = curves(
            lines,
            "labels that count as right",
            axis_name(measure.name),
            x_form=lambda v: f"{v:.0f}",
            x_domain=(cardinalities[0] - 0.3, cardinalities[-1] + 0.3),
            x_ticks=[float(c) for c in cardinalities],
        )
        yield Figure(
            name=f"{measure.name}-by-right-labels",
            title=f"{measure_name(measure.name)} by number of right labels",
            caption="The more labels count as right, the easier it is to guess one: compare models at the same number.",
            description=f"Curves over {cardinalities[0]} to {cardinalities[-1]} right labels.",
            body=body,
            columns=("model", "cardinality", measure.name, "low", "high", "n", "clusters"),
            rows=tuple(rows),
        )

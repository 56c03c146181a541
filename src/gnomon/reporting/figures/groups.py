"""What groups tell: pattern-accuracy curves, the data map of confidence and variability, box plots
per category."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gnomon.measures.grouping import groups, items_each
from gnomon.measures.pattern_accuracy import MapPoint, curve, curve_at
from gnomon.measures.pattern_accuracy import data_map as measured_map
from gnomon.measures.statistics import Floats
from gnomon.measures.table import Table
from gnomon.reporting.charts.panels import Dot, panels, scatter_panel
from gnomon.reporting.charts.plots import Body, Box, Curve, boxes, curves, percent
from gnomon.reporting.charts.svg import HUES, Point, mark, shorten, text, width_of
from gnomon.reporting.figures import Figure, words
from gnomon.reporting.figures.slices import tags_of
from gnomon.reporting.study import Study
from gnomon.reporting.tables.export import file_name
from gnomon.reporting.words import listed

LEAST = 4  # items that a group must have on average for a share of it to mean something
MOST_DOTS = 400  # on one data map
LABELS = {"entailment": 2, "neutral": 0, "contradiction": 1}  # hues as in SpaceNLI, Figure 4


def sizeable(table: Table) -> bool:
    """Whether the groups are large enough to speak of shares of a group."""
    found = groups(table)
    return len(found.size) >= 3 and len(table) / len(found.size) >= LEAST


def sizes(tables: Sequence[Table]) -> str:
    """How many items the groups of some tables have."""
    return listed(list(dict.fromkeys(items_each(table) for table in tables)))


def pattern_curves(study: Study) -> Iterator[Figure]:
    """The share of groups of which at least a share t of the items is right, over t (SpaceNLI,
    section 4.2.2)."""
    lines, rows, ends, tables = [], [], [], []
    noun = study.noun
    for i, e in enumerate(study.entrants):
        if not sizeable(e.table):
            continue
        tables.append(e.table)
        found = curve(e.table)
        lines.append(
            Curve(e.label, i, tuple(_steps(found.threshold.tolist(), found.share.tolist())))
        )
        rows += [
            (e.label, t, v)
            for t, v in zip(found.threshold.tolist(), found.share.tolist(), strict=True)
        ]
        half, whole = curve_at(e.table, np.array([0.5, 1.0])).tolist()
        ends.append(f"{e.label}: {percent(half)} of {noun} at half, {percent(whole)} at all")
    if not lines:
        return
    yield Figure(
        name="pattern-accuracy",
        title=f"How consistently {noun} are solved",
        caption=f"Share of {noun} ({sizes(tables)}) of which at least so many items are right. A flat curve is "
        f"consistent: {noun} are right or wrong as a whole. The curve of a guess falls steeply. The area below "
        f"is the mean accuracy of {noun}.",
        description=f"Falling curves. {'; '.join(ends)}.",
        columns=("model", "threshold", "pattern_accuracy"),
        rows=tuple(rows),
        body=curves(
            lines,
            f"share of a {noun.removesuffix('s')}'s items that must be right",
            f"share of {noun}",
        ),
    )


def data_map(study: Study) -> Iterator[Figure]:
    """Each group by the mean and spread of the probability of its right answer (SpaceNLI, Figure
    4)."""
    found = [
        (e, [p for p in measured_map(e.table) if p.confidence == p.confidence])
        for e in study.entrants
        if e.scored and sizeable(e.table)
    ]
    found = [(e, points) for e, points in found if points]
    if not found:
        return
    noun = study.noun
    hues = _hues([gold for e, _ in found for gold in _gold_of(e.table).values()])
    widest = min(0.5, max(0.05, *(p.variability for _, points in found for p in points)) * 1.08)
    charts, rows = [], []
    for e, points in found:
        gold = _gold_of(e.table)
        dots = [
            Dot(
                p.variability,
                p.confidence,
                hues.get(gold[p.pattern], 0),
                f"{p.pattern} ({gold[p.pattern]}): confidence {percent(p.confidence)}, "
                f"variability {percent(p.variability)}, "
                f"{percent(p.correctness)} of {p.n} right",
            )
            for p in _some(points)
        ]
        charts.append(scatter_panel(e.label, dots, "variability", "confidence", widest))
        rows += [
            (e.label, p.pattern, gold[p.pattern], p.confidence, p.variability, p.correctness, p.n)
            for p in points
        ]
    body = panels(charts, columns=2)
    cut = any(len(points) > MOST_DOTS for _, points in found)
    yield Figure(
        name="data-map",
        title=f"Data map: which {noun} are easy, hard or unstable",
        caption=f"Each point is one of the {noun} ({sizes([e.table for e, _ in found])}): mean (upwards) and standard "
        "deviation (rightwards) of the probability of the right answer over its items. Top left is easy, "
        "bottom left is hard, the right is unstable."
        f"{f' {MOST_DOTS} evenly chosen ones are drawn.' if cut else ''}",
        description=f"{len(charts)} scatter plots of {noun}; the table below gives every point.",
        body=_with_legend(body, hues) if len(hues) > 1 else body,
        columns=("model", "group", "gold", "confidence", "variability", "accuracy", "n"),
        rows=tuple(rows),
    )


def box_plots(study: Study) -> Iterator[Figure]:
    """How the groups' accuracies spread within each category, over all models (spatialQA, Figure
    3)."""
    tag = next(iter(tags_of(study)), None)
    if tag is None or not all(sizeable(e.table) and tag in e.table.tags for e in study.entrants):
        return
    by_key: dict[str, list[float]] = {}
    rows = []
    for e in study.entrants:
        for key, part in e.table.by(tag):
            names, share = group_shares(part)
            by_key.setdefault(key, []).extend(share.tolist())
            rows += [(e.label, key, name, float(v)) for name, v in zip(names, share, strict=True)]
    if not 2 <= len(by_key) <= 20:
        return
    noun = study.noun
    drawn = sorted(
        (_box(key, np.array(values)) for key, values in by_key.items() if values),
        key=lambda b: -b.middle,
    )
    yield Figure(
        name=f"boxes-by-{file_name(tag)}",
        title=f"Spread of {noun} within each {words(tag)}",
        caption=f"Accuracy of each of the {noun} ({sizes([e.table for e in study.entrants])})"
        f"{', over all models' if len(study.entrants) > 1 else ''}. The box "
        "holds the middle half, the line in it the median; whiskers reach 1.5 times its width.",
        description="Box plots: "
        + "; ".join(f"{b.key} median {percent(b.middle)}" for b in drawn)
        + ".",
        body=boxes(drawn, f"accuracy of a {noun.removesuffix('s')}"),
        columns=("model", tag, "group", "accuracy"),
        rows=tuple(rows),
    )


def group_shares(table: Table) -> tuple[list[str], Floats]:
    """The share of right answers in each named group."""
    part = table.where(np.flatnonzero(table.group.codes >= 0))
    found = groups(part)
    names = part.group.text()
    return [names[row] for row in found.first.tolist()], found.share


def _steps(thresholds: list[float], shares: list[float]) -> Iterator[tuple[float, float]]:
    """The corners of a curve that holds each share up to its threshold."""
    last = 0.0
    for threshold, share in zip(thresholds, shares, strict=True):
        yield last, share
        yield threshold, share
        last = threshold


def _gold_of(table: Table) -> dict[str, str]:
    """The right answer of each group, or `mixed` where its items differ."""
    gold, names = table.column("gold"), table.group.text()
    found: dict[str, str] = {}
    for name, code in zip(names, gold.codes.tolist(), strict=True):
        label = gold.values[code]
        found[name] = label if found.get(name, label) == label else "mixed"
    return found


def _hues(labels: list[str]) -> dict[str, int]:
    """A colour for each right answer; none where there are too many to tell apart."""
    known = list(dict.fromkeys(labels))
    if len(known) > HUES or not known:
        return {}
    if set(known) <= set(LABELS):
        return {label: LABELS[label] for label in known}
    return {label: i for i, label in enumerate(known)}


def _some(points: list[MapPoint]) -> list[MapPoint]:
    step = max(1, -(-len(points) // MOST_DOTS))
    return points[::step]


def _box(key: str, values: Floats) -> Box:
    q1, q2, q3 = np.quantile(values, [0.25, 0.5, 0.75])
    reach = 1.5 * (q3 - q1)
    inside = values[(values >= q1 - reach) & (values <= q3 + reach)]
    beyond = values[(values < q1 - reach) | (values > q3 + reach)]
    return Box(
        key,
        float(inside.min()),
        float(q1),
        float(q2),
        float(q3),
        float(inside.max()),
        tuple(sorted(set(np.round(beyond, 3).tolist()))),
    )


def _with_legend(body: Body, hues: dict[str, int]) -> Body:
    """The meaning of the colours, below the panels."""
    out, left = [], 0.0
    for name, hue in hues.items():
        label = shorten(name, 150, 11)
        out += [
            mark(Point(left + 6, body.height + 8), hue, 3.6),
            text(left + 15, body.height + 12, label, "strong"),
        ]
        left += 32 + width_of(label, 11)
    return Body(body.markup + "".join(out), body.height + 20)

"""What groups tell: pattern-accuracy curves, the data map of confidence and variability, box plots per category."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gnomon.measures.statistics import Floats, compact
from gnomon.measures.table import Table
from gnomon.report.figures import Figure, words
from gnomon.report.figures.slices import tags_of
from gnomon.report.plots import Body, Box, Curve, Dot, boxes, curves, panels, percent, scatter_panel
from gnomon.report.study import Study
from gnomon.report.svg import Point, mark, shorten, text, width_of
from gnomon.report.words import group_noun

LEAST = 4  # items that a group must have on average for a share of it to mean something
MOST_DOTS = 400  # on one data map
LABELS = {"entailment": 2, "neutral": 0, "contradiction": 1}  # hues as in SpaceNLI, Figure 4


def sizeable(table: Table) -> bool:
    """Whether the groups are large enough to speak of shares of a group."""
    named = table.group.codes >= 0
    count = len(np.unique(table.group.codes[named]))
    return count >= 3 and int(named.sum()) / count >= LEAST


def pattern_curves(study: Study) -> Iterator[Figure]:
    """The share of groups of which at least a share t of the items is right, over t (SpaceNLI, section 4.2.2)."""
    thresholds = np.linspace(0, 1, 101)
    lines, rows = [], []
    for i, e in enumerate(study.entrants):
        if not sizeable(e.table):
            continue
        share = np.sort(group_shares(e.table)[1])
        passed = 1 - np.searchsorted(share, thresholds - 1e-12) / len(share)
        lines.append(Curve(e.label, i, tuple(zip(thresholds.tolist(), passed.tolist(), strict=True))))
        rows += [(e.label, round(float(t), 2), float(v)) for t, v in zip(thresholds, passed, strict=True)]
    if not lines:
        return
    noun = group_noun(study.base)
    ends = "; ".join(f"{c.name}: {percent(c.points[50][1])} of {noun} at half, {percent(c.points[-1][1])} at all" for c in lines)
    yield Figure(
        name="pattern-accuracy", title=f"How consistently {noun} are solved",
        caption=f"Share of {noun} of which at least so many items are right. A flat curve is consistent; a steep fall "
                "at the right end means that the words filled in decide. The area below is the accuracy.",
        description=f"Falling curves. {ends}.", columns=("model", "threshold", "pattern_accuracy"), rows=tuple(rows),
        body=curves(lines, f"share of a {noun.removesuffix('s')}'s items that must be right", f"share of {noun}",
                    names=study.labels),
    )  # fmt: skip


def data_map(study: Study) -> Iterator[Figure]:
    """Each group by the mean and spread of the probability of its right answer (SpaceNLI, Figure 4)."""
    charts, rows = [], []
    noun = group_noun(study.base)
    hues: dict[str, int] = {}
    left_out = False
    spread = 0.05
    points = []
    for e in study.entrants:
        if e.scored and sizeable(e.table):
            confidence, variability, names, gold = _dynamics(e.table)
            spread = max(spread, float(np.nanmax(variability)))
            points.append((e.label, confidence, variability, names, gold))
    for label, confidence, variability, names, gold in points:
        for g in gold:
            hues.setdefault(g, LABELS.get(g, len(hues)))
        keep = np.arange(len(names))
        if len(keep) > MOST_DOTS:
            keep = np.sort(np.random.default_rng(0).choice(len(names), MOST_DOTS, replace=False))
            left_out = True
        dots = [Dot(float(variability[j]), float(confidence[j]), hues[gold[j]] if len(hues) <= 7 else 0,
                    f"{names[j]} ({gold[j]}): confidence {percent(confidence[j])}, variability {percent(variability[j])}")
                for j in keep]
        charts.append(scatter_panel(label, dots, "variability", "confidence", min(0.5, spread * 1.08)))
        rows += [(label, names[j], gold[j], float(confidence[j]), float(variability[j])) for j in range(len(names))]
    if not charts:
        return
    body = panels(charts, columns=2)
    if 1 < len(hues) <= 7:
        body = _with_legend(body, hues)
    yield Figure(
        name="data-map", title=f"Data map: which {noun} are easy, hard or unstable",
        caption=f"Each point is one of the {noun}: mean (upwards) and standard deviation (rightwards) of the probability of "
                f"the right answer over its items. Top left is easy, bottom left is hard, the right is unstable."
                f"{f' A sample of {MOST_DOTS} is drawn.' if left_out else ''}",
        description=f"{len(charts)} scatter plots of {noun}; the table below gives every point.", body=body,
        columns=("model", "group", "gold", "confidence", "variability"), rows=tuple(rows),
    )  # fmt: skip


def box_plots(study: Study) -> Iterator[Figure]:
    """How the groups' accuracies spread within each category, over all models (spatialQA, Figure 3)."""
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
    noun = group_noun(study.base)
    drawn = sorted((_box(key, np.array(values)) for key, values in by_key.items() if values), key=lambda b: -b.middle)
    yield Figure(
        name=f"boxes-by-{tag}", title=f"Spread of {noun} within each {words(tag)}",
        caption=f"Accuracy of each of the {noun}{', over all models' if len(study.entrants) > 1 else ''}. The box "
                "holds the middle half, the line in it the median; whiskers reach 1.5 times its width.",
        description="Box plots: " + "; ".join(f"{b.key} median {percent(b.middle)}" for b in drawn) + ".",
        body=boxes(drawn, f"accuracy of a {noun.removesuffix('s')}"), columns=("model", tag, "group", "accuracy"),
        rows=tuple(rows),
    )  # fmt: skip


def group_shares(table: Table) -> tuple[list[str], Floats]:
    """The share of right answers in each named group."""
    named = table.group.codes >= 0
    codes, count = compact(table.group.codes[named])
    total = np.bincount(codes, minlength=count)
    right = np.bincount(codes, weights=table.right[named], minlength=count)
    names = [table.group.values[c] for c in np.unique(table.group.codes[named])]
    return names, right / np.maximum(total, 1)


def _dynamics(table: Table) -> tuple[Floats, Floats, list[str], list[str]]:
    chance = np.where(table.gold_at, table.probabilities, 0).sum(axis=1)
    known = (table.group.codes >= 0) & np.isfinite(chance)
    codes, count = compact(table.group.codes[known])
    total = np.maximum(np.bincount(codes, minlength=count), 1)
    mean = np.bincount(codes, weights=chance[known], minlength=count) / total
    square = np.bincount(codes, weights=chance[known] ** 2, minlength=count) / total
    gold = table.column("gold")
    present, first = np.unique(table.group.codes[known], return_index=True)
    labels = [gold.values[c] for c in gold.codes[known][first]]
    return mean, np.sqrt(np.maximum(square - mean**2, 0)), [table.group.values[c] for c in present], labels


def _box(key: str, values: Floats) -> Box:
    q1, q2, q3 = np.quantile(values, [0.25, 0.5, 0.75])
    reach = 1.5 * (q3 - q1)
    inside = values[(values >= q1 - reach) & (values <= q3 + reach)]
    beyond = values[(values < q1 - reach) | (values > q3 + reach)]
    return Box(key, float(inside.min()), float(q1), float(q2), float(q3), float(inside.max()),
               tuple(sorted(set(np.round(beyond, 3).tolist()))))


def _with_legend(body: Body, hues: dict[str, int]) -> Body:
    """The meaning of the colours, below the panels."""
    out, left = [], 0.0
    for name, hue in hues.items():
        label = shorten(name, 150, 11)
        out += [mark(Point(left + 6, body.height + 8), hue, 3.6), text(left + 15, body.height + 12, label, "strong")]
        left += 32 + width_of(label, 11)
    return Body(body.markup + "".join(out), body.height + 20)

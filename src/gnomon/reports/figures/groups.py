"""What groups tell: pattern-accuracy curves, the data map, box plots by category."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gnomon.measures.accuracy import MapPoint, curve, curve_at, groups, items_each
from gnomon.measures.accuracy import data_map as measured_map
from gnomon.measures.columns import Floats
from gnomon.measures.table import Table
from gnomon.registry import role
from gnomon.reports.charts.axes import percent
from gnomon.reports.charts.curvepanel import under_legend
from gnomon.reports.charts.panels import Dot, panels, scatter_panel
from gnomon.reports.charts.plots import Box, Curve, boxes, curves
from gnomon.reports.charts.svg import MEANINGS
from gnomon.reports.figures import Figure, grouped
from gnomon.reports.figures.enough import GROUP, GROUPS
from gnomon.reports.figures.slices import tags_of
from gnomon.reports.study import Entrant, Study
from gnomon.reports.tables.export import file_name
from gnomon.reports.words import listed

FEWEST = 3  # groups that are looked at one by one
MOST_DOTS = 400  # on one data map
MOST_BOXES = 20
# of greys and shapes that are no model's
LABELS = {"entailment": MEANINGS[2], "neutral": MEANINGS[0], "contradiction": MEANINGS[1]}


def sizeable(table: Table) -> bool:
    """Whether the groups are large enough to speak of shares of a group."""
    count = len(groups(table).size)
    return count >= FEWEST and len(table) / count >= GROUP


def many(table: Table) -> bool:
    """Whether there are groups enough to speak of a share of them."""
    return len(groups(table).size) >= GROUPS


def sizes(tables: Iterable[Table]) -> str:
    """How many items the groups of some tables have."""
    return listed(list(dict.fromkeys(items_each(table) for table in tables)))


def group_shares(table: Table) -> tuple[list[str], Floats]:
    """The share of right answers in each named group."""
    part = table.where(np.flatnonzero(table.group.codes >= 0))
    found = groups(part)
    names = part.group.text()
    return [names[row] for row in found.first.tolist()], found.share


def pattern_curves(study: Study) -> Iterator[Figure]:
    """The share of groups with at least a share t of items right, over t (SpaceNLI 2 and 6)."""
    noun = study.noun
    lines, rows, ends, tables = [], [], [], []
    for entrant in study.entrants:
        if not sizeable(entrant.table) or not many(entrant.table):
            continue
        tables.append(entrant.table)
        found = curve(entrant.table)
        steps = list(zip(found.threshold.tolist(), found.share.tolist(), strict=True))
        lines.append(Curve(entrant.label, entrant.series, tuple(_corners(steps))))
        rows += [(entrant.label, threshold, share) for threshold, share in steps]
        half, whole = curve_at(entrant.table, np.array([0.5, 1.0])).tolist()
        ends.append(f"{entrant.label}: {percent(half)} of {noun} at half, {percent(whole)} at all")
    if not lines:
        return
    axis = f"share of a {noun.removesuffix('s')}'s items that must be right"
    yield Figure(
        name="pattern-accuracy",
        title=f"How consistently {noun} are solved",
        caption=f"Share of {noun} ({sizes(tables)}) of which at least so many items are right. A "
        f"flat curve is consistent: {noun} are right or wrong as a whole. The curve of a guess "
        f"falls steeply. The area below is the mean accuracy of {noun}.",
        description=f"Falling curves. {'; '.join(ends)}.",
        columns=("model", "threshold", "pattern_accuracy"),
        rows=tuple(rows),
        body=curves(lines, axis, f"share of {noun}"),
    )


def _corners(steps: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """The corners of a curve that holds each share up to its threshold."""
    last = 0.0
    for threshold, share in steps:
        yield last, share
        yield threshold, share
        last = threshold


def data_map(study: Study) -> Iterator[Figure]:
    """Each group by mean and spread of its right answer's probability (SpaceNLI, Figure 4)."""
    found = []
    for entrant in study.entrants:
        found += _map_points(entrant)
    if not found:
        return
    hues = _hues(list(grouped(found, lambda one: one.gold)))
    widest = max(one.point.variability for one in found)
    reach = min(0.5, max(0.05, widest) * 1.08)
    by_model = grouped(found, lambda one: one.entrant.label)

    charts, rows = [], []
    for label, own in by_model.items():
        step = -(-len(own) // MOST_DOTS)
        dots = [_dot(one, hues) for one in own[::step]]
        charts.append(scatter_panel(label, dots, "variability", "confidence", reach))
        for _, point, gold in own:
            spread = (point.confidence, point.variability, point.correctness)
            rows.append((label, point.pattern, gold, *spread, point.n))
    noun = study.noun
    tables = [own[0].entrant.table for own in by_model.values()]
    caption = (
        f"Each point is one of the {noun} ({sizes(tables)}): mean (upwards) and standard deviation "
        "(rightwards) of the probability of the right answer over its items. Top left is easy, "
        "bottom left is hard, the right is unstable."
    )
    if max(map(len, by_model.values())) > MOST_DOTS:
        caption += f" {MOST_DOTS} evenly chosen ones are drawn."
    legend = [(hue, label) for label, hue in hues.items()]
    yield Figure(
        name="data-map",
        title=f"Data map: which {noun} are easy, hard or unstable",
        caption=caption,
        description=f"{len(charts)} scatter plots of {noun}; the table below gives every point.",
        body=under_legend(panels(charts, columns=2), legend),
        columns=("model", "group", "gold", "confidence", "variability", "accuracy", "n"),
        rows=tuple(rows),
        detail=True,
    )


class Mapped(NamedTuple):
    """A group on the data map of a model."""

    entrant: Entrant
    point: MapPoint
    gold: str


def _map_points(entrant: Entrant) -> list[Mapped]:
    if not entrant.scored or not sizeable(entrant.table):
        return []
    gold = _gold_of(entrant.table)
    found = []
    for point in measured_map(entrant.table):
        if not np.isnan(point.confidence):
            found.append(Mapped(entrant, point, gold[point.pattern]))
    return found


def _gold_of(table: Table) -> dict[str, str]:
    """The right answer of each group, or `mixed` where its items differ."""
    gold, names = table.column("gold"), table.group.text()
    found: dict[str, str] = {}
    for name, code in zip(names, gold.codes.tolist(), strict=True):
        label = gold.values[code]
        if found.setdefault(name, label) != label:
            found[name] = "mixed"
    return found


def _hues(labels: Sequence[str]) -> dict[str, int]:
    """A colour for each right answer; none where there are too many to tell apart."""
    if len(labels) > len(MEANINGS):
        return {}
    if set(labels) <= set(LABELS):
        return {label: LABELS[label] for label in labels}
    return dict(zip(labels, MEANINGS, strict=False))


def _dot(one: Mapped, hues: dict[str, int]) -> Dot:
    point = one.point
    told = (
        f"{point.pattern} ({one.gold}): confidence {percent(point.confidence)}, "
        f"variability {percent(point.variability)}, "
        f"{percent(point.correctness)} of {point.n} right"
    )
    return Dot(point.variability, point.confidence, hues.get(one.gold, MEANINGS[0]), told)


def box_plots(study: Study) -> Iterator[Figure]:
    """How the groups' accuracies spread within each category (spatialQA, Figure 3)."""
    tag = next(iter(tags_of(study)), None)
    models = [entrant for entrant in study.entrants if not role(entrant.run.model)]
    models = models or study.entrants
    tables = [entrant.table for entrant in models]
    if tag is None or not all(sizeable(table) and tag in table.tags for table in tables):
        return
    rows = []
    by_key: dict[str, list[float]] = {}
    for entrant in models:
        for value, part in entrant.table.by(tag):
            key = study.words(tag, value)
            names, found = group_shares(part)
            shares = found.tolist()
            by_key.setdefault(key, []).extend(shares)
            for name, share in zip(names, shares, strict=True):
                rows.append((entrant.label, key, name, share))
    if not 2 <= len(by_key) <= MOST_BOXES:
        return
    boxes_by_key = [_box(key, np.array(shares)) for key, shares in by_key.items()]
    drawn = sorted(boxes_by_key, key=lambda box: -box.middle)
    medians = "; ".join(f"{box.key} median {percent(box.middle)}" for box in drawn)
    noun = study.noun
    whose = f" over {listed([entrant.label for entrant in models])}" if len(models) > 1 else ""
    yield Figure(
        name=f"boxes-by-{file_name(tag)}",
        title=f"Spread of {noun} by {study.words(tag)}",
        caption=f"Accuracy of each of the {noun} ({sizes(tables)}){whose}. The box holds the "
        "middle half, the line in it the median; whiskers reach 1.5 times its width.",
        description=f"Box plots: {medians}.",
        body=boxes(drawn, f"accuracy of a {noun.removesuffix('s')}"),
        columns=("model", tag, "group", "accuracy"),
        rows=tuple(rows),
        detail=True,
    )


def _box(key: str, values: Floats) -> Box:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    reach = 1.5 * (high - low)
    beyond = (values < low - reach) | (values > high + reach)
    inside = values[~beyond]
    outliers = sorted(set(np.round(values[beyond], 3).tolist()))
    ends = (float(inside.min()), float(inside.max()))
    return Box(key, ends[0], low, middle, high, ends[1], tuple(outliers))

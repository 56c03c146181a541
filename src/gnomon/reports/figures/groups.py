"""What groups tell: pattern-accuracy curves, data map, box plots, the hardest and the easiest."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gnomon.measures.accuracy import MapPoint, curve, curve_at, groups, items_each
from gnomon.measures.accuracy import data_map as measured_map
from gnomon.measures.columns import Floats
from gnomon.measures.table import Table
from gnomon.reports.charts.panels import Dot, panels, scatter_panel, under_legend
from gnomon.reports.charts.plots import BoxPlot, CaptionedBar, Curve, boxes, captioned_bars, curves
from gnomon.reports.charts.svg import MEANINGS
from gnomon.reports.figures import GROUP, GROUPS, Figure, figure, grouped
from gnomon.reports.figures.sizes import sized_models
from gnomon.reports.figures.slices import tags_of
from gnomon.reports.study import Entrant, Study
from gnomon.reports.words import listed, plain, whole_percent

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
        at_half = f"{whole_percent(half)} of {noun} at half"
        ends.append(f"{entrant.label}: {at_half}, {whole_percent(whole)} at all")
    if lines:
        axis = f"share of a {noun.removesuffix('s')}'s items that must be right"
        body = curves(lines, axis, f"share of {noun}")
        told = "; ".join(ends)
        yield figure("pattern-accuracy", body, rows, study=study, sizes=sizes(tables), told=told)


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
    more = ""
    if max(map(len, by_model.values())) > MOST_DOTS:
        more = f" {MOST_DOTS} evenly chosen ones are drawn."
    legend = [(hue, label) for label, hue in hues.items()]
    yield figure(
        "data-map",
        under_legend(panels(charts, columns=2), legend),
        rows,
        study=study,
        sizes=sizes(own[0].entrant.table for own in by_model.values()),
        more=more,
        count=len(charts),
    )


class _MappedGroup(NamedTuple):
    """A group on the data map of a model."""

    entrant: Entrant
    point: MapPoint
    gold: str


def _map_points(entrant: Entrant) -> list[_MappedGroup]:
    if not entrant.scored or not sizeable(entrant.table):
        return []
    gold = _gold_of(entrant.table)
    found = []
    for point in measured_map(entrant.table):
        if not np.isnan(point.confidence):
            found.append(_MappedGroup(entrant, point, gold[point.pattern]))
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


def _dot(one: _MappedGroup, hues: dict[str, int]) -> Dot:
    point = one.point
    told = (
        f"{point.pattern} ({one.gold}): confidence {whole_percent(point.confidence)}, "
        f"variability {whole_percent(point.variability)}, "
        f"{whole_percent(point.correctness)} of {point.n} right"
    )
    return Dot(point.variability, point.confidence, hues.get(one.gold, MEANINGS[0]), told)


def box_plots(study: Study) -> Iterator[Figure]:
    """How the groups' accuracies spread within each category (spatialQA, Figure 3)."""
    tag = next(iter(tags_of(study)), None)
    models = [entrant for entrant in study.entrants if not entrant.is_baseline]
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
                rows.append((entrant.label, value, name, share))
    if not 2 <= len(by_key) <= MOST_BOXES:
        return
    boxes_by_key = [_box(key, np.array(shares)) for key, shares in by_key.items()]
    drawn = sorted(boxes_by_key, key=lambda box: -box.middle)
    noun = study.noun
    whose = f" over {listed([entrant.label for entrant in models])}" if len(models) > 1 else ""
    yield figure(
        "boxes",
        boxes(drawn, f"accuracy of a {noun.removesuffix('s')}"),
        rows,
        study=study,
        tag=tag,
        sizes=sizes(tables),
        whose=whose,
        told="; ".join(f"{box.key} median {whole_percent(box.middle)}" for box in drawn),
    )


def _box(key: str, values: Floats) -> BoxPlot:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    reach = 1.5 * (high - low)
    beyond = (values < low - reach) | (values > high + reach)
    inside = values[~beyond]
    outliers = sorted(set(np.round(values[beyond], 3).tolist()))
    ends = (float(inside.min()), float(inside.max()))
    return BoxPlot(key, ends[0], low, middle, high, ends[1], tuple(outliers))


# The hardest and the easiest groups over several models (spatialQA, Figures 9 and 10).


EACH = 3  # groups of a category, as in the paper
ALONE = 10  # groups where there are no categories
MOST_CATEGORIES = 8


class JudgedGroup(NamedTuple):
    """A group with what the models make of it."""

    category: str
    name: str
    shares: tuple[float, ...]  # each model's accuracy on it
    items: int
    example: str

    @property
    def span(self) -> tuple[float, float, float]:
        """The mean accuracy over the models, the lowest and the highest."""
        return sum(self.shares) / len(self.shares), min(self.shares), max(self.shares)


def hard_and_easy(study: Study) -> Iterator[Figure]:
    """Groups by their mean accuracy: the lowest of each category, then the highest."""
    models = judges_of_groups(study)
    if len(models) < 2:
        return
    tag = next(iter(tags_of(study)), "")
    found = _groups(study, models, tag)
    by_category = grouped(found, lambda group: group.category)
    count = EACH if len(by_category) > 1 else ALONE
    if len(by_category) > MOST_CATEGORIES or len(found) < 2 * count:
        return
    hardest, easiest = [], []
    for own in by_category.values():
        ranked = sorted(own, key=lambda group: (group.span[0], group.name))
        hardest += ranked[:count]
        easiest += ranked[: -count - 1 : -1]
    yield _figure(study, "hardest", tag, models, found, hardest)
    yield _figure(study, "easiest", tag, models, found, easiest)


def judges_of_groups(study: Study) -> list[Entrant]:
    """The models whose accuracies are averaged, all on the same items.

    They are the largest of each family where sizes are known, else all that are not baselines.
    """
    largest = {model.family: model.entrant for model in sized_models(study)}
    if len(largest) > 1:
        return [entrant for entrant in largest.values() if sizeable(entrant.table)]
    found = []
    for i in study.item_sets()[0] if study.entrants else ():
        entrant = study.entrants[i]
        if not entrant.is_baseline and sizeable(entrant.table):
            found.append(entrant)
    return found


def _groups(study: Study, models: Sequence[Entrant], tag: str) -> list[JudgedGroup]:
    """The groups by name, with an example and the category of their first item."""
    items = grouped(study.items, lambda item: item.group)
    shares: list[tuple[str, float]] = []
    for entrant in models:
        names, found = group_shares(entrant.table)
        shares += zip(names, found.tolist(), strict=True)
    groups = []
    for name, own in grouped(shares, lambda pair: pair[0]).items():
        first = items[name][0]
        example = " → ".join(filter(None, (first.context, first.text)))
        each = tuple(share for _, share in own)
        groups.append(JudgedGroup(first.tags.get(tag, ""), name, each, len(items[name]), example))
    return groups


def _figure(
    study: Study,
    which: str,
    tag: str,
    models: Sequence[Entrant],
    found: Sequence[JudgedGroup],
    chosen: Sequence[JudgedGroup],
) -> Figure:
    drawn = []
    for group in chosen:
        heading = study.words(tag, group.category)
        drawn.append(CaptionedBar(heading, group.name, plain(group.example), *group.span))
    rows = []
    for group in sorted(found, key=lambda group: group.span[0], reverse=which == "easiest"):
        rows.append((group.category, group.name, *group.span, group.items, group.example))
    return figure(
        "hard-and-easy",
        captioned_bars(drawn, "mean accuracy"),
        rows,
        study=study,
        which=which,
        count=len(models),
        where=f"by {study.words(tag)} " if tag else "",
        models=", ".join(entrant.label for entrant in models),
        told="; ".join(f"{group.name} {100 * group.span[0]:.0f} %" for group in chosen),
        category=tag or "category",
    )

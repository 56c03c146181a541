"""What answers are like: sure or not, right or confused, by form, by place and by object."""

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.measures.calibration import reliability
from gnomon.measures.consistency import agreement, within_groups
from gnomon.measures.intervals import t_quantile, wilson
from gnomon.measures.itemstatistics import PlacePicks, accuracy_spread
from gnomon.measures.itemstatistics import by_place as places_of
from gnomon.measures.laws import ObjectBias, object_bias
from gnomon.measures.table import Flags, Table
from gnomon.reports.charts.panels import ChartPanel, Stack, matrix_panel, panels, stacked_panel
from gnomon.reports.charts.plots import CurvePlace, Estimate, bars, curve_of, curves
from gnomon.reports.charts.svg import MEANINGS
from gnomon.reports.figures import Figure, enough, figure, grouped
from gnomon.reports.study import Entrant, Study
from gnomon.reports.words import known, whole_percent

LEAST_SCORED = 50  # items for a diagram


def reliability_diagram(study: Study) -> Iterator[Figure]:
    """Accuracy against the certainty the model claims."""
    lines, rows = [], []
    for entrant in study.entrants:
        bins = [one for one in reliability(entrant.table) if one.n]
        if sum(one.n for one in bins) < LEAST_SCORED:
            continue
        places = []
        for one in bins:
            if enough(one.n):
                ends = _range(one.accuracy, one.n)
                places.append(CurvePlace(one.confidence, one.accuracy, *ends))
        lines.append(curve_of(entrant.label, entrant.series, places))
        for one in bins:
            rows.append((entrant.label, one.low, one.high, one.n, one.confidence, one.accuracy))
    if not any(line.points for line in lines):
        return
    body = curves(lines, "probability of the answer given", "accuracy", diagonal=True)
    yield figure("reliability", body, rows)


def _range(share: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a share of items."""
    return wilson(share, sqrt(share * (1 - share) / n), n, t_quantile(0.975, n - 1))


def forms(study: Study) -> Iterator[Figure]:
    """How often one fact, asked in two forms, is answered alike; on the diagonal, in one form."""
    charts: list[ChartPanel] = []
    rows = []
    for entrant in study.entrants:
        names = entrant.table.form.values
        if len(names) < 2:
            continue
        grid: list[list[float | None]] = []
        across = False  # whether two forms of a fact were asked at all
        for a, name in enumerate(names):
            grid.append([])
            for b, other in enumerate(names):
                value, n = _agreement(entrant.table, a, b)
                shown = value if enough(n) else None
                grid[a].append(shown)
                rows.append((entrant.label, name, other, value, n))
                across = across or (a != b and shown is not None)
        if across:
            charts.append(matrix_panel(entrant.label, names, names, grid, "", "", notes=()))
    if charts:
        yield figure("forms", panels(charts, columns=2), rows)


def _agreement(table: Table, form: int, other: int) -> tuple[float | None, int]:
    """The share of pairs that agree, and of how many; none where there is no pair."""
    part = table.where(np.isin(table.form.codes, (form, other)))
    found = agreement(within_groups(part, between_forms=form != other))
    return known(found.value), found.n


# What was answered where what was right.


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
    charts: list[ChartPanel] = []
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
    if charts:
        body = panels(charts, columns=2 if widest <= MOST_BESIDE else 1)
        yield figure("confusion", body, rows)


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


def _panel(entrant: Entrant, matrix: Matrix) -> ChartPanel:
    known = {(right, answered): cell for right, answered, *cell in _cells(matrix)}
    values: list[list[float | None]] = []
    notes: list[list[str]] = []
    for right in matrix.right:
        values.append([])
        notes.append([])
        for answered in matrix.answered:
            count, share = known.get((right, answered), (0, None))
            values[-1].append(share)
            told = f"{count:,} items, {whole_percent(share or 0.0)}"
            notes[-1].append(f"right: {right}, answered: {answered}: {told}")
    names = matrix.right, matrix.answered
    return matrix_panel(entrant.label, *names, values, "right answer", "answered", notes=notes)


# Bias by place, for runs whose choices were permuted: how often each place is picked and right.


SERIES = ("chosen", "right", "accuracy if the right answer stands there")


def by_place(study: Study) -> Iterator[Figure]:
    """One figure for each run whose choices were permuted."""
    for entrant in study.entrants:
        if entrant.run.manifest.permute is None:
            continue
        places = places_of(entrant.table)
        if places and enough(len(entrant.table)):
            yield _figure(entrant, places)


def _figure(entrant: Entrant, places: list[PlacePicks]) -> Figure:
    drawn = []
    for place in places:
        key = f"place {place.place}"
        chosen = (place.chosen, known(place.low), known(place.high))
        ends = (known(place.accuracy_low), known(place.accuracy_high))
        drawn.append(Estimate(key, MEANINGS[0], *chosen))
        drawn.append(Estimate(key, MEANINGS[1], place.right))
        drawn.append(Estimate(key, MEANINGS[2], known(place.accuracy), *ends))
    more = ""
    unlisted = entrant.run.manifest.unlisted
    if unlisted:
        more = (
            f" The prompt does not list the choices of {', '.join(unlisted)} items: their order "
            "changes nothing there."
        )
    return figure(
        "by-place",
        bars(drawn, dict(zip(MEANINGS, SERIES, strict=False)), "share of items"),
        [tuple(map(known, place)) for place in places],
        file=entrant.label,
        model=entrant.label,
        spread=100 * accuracy_spread(places),
        more=more,
        told=", ".join(f"place {each.place} {100 * each.chosen:.1f} %" for each in places),
    )


# Is each object's rank the same, named first or second? (Spatial commonsense, Figure 5.)


PARTS = ("called greater, named first", "called lesser, named second")
LEAST_OBJECTS = 5  # fewer have no rank to speak of
MOST_OBJECTS = 40
OFF = 0.2  # how far from 1 the two parts of a consistent object may end by chance


def objects(study: Study) -> Iterator[Figure]:
    """How often each object is called the greater one, named first or second."""
    found: list[tuple[str, ObjectBias]] = []
    for entrant in study.entrants:
        found += [(entrant.label, bias) for bias in object_bias(entrant.table)]
    for context, own in grouped(found, lambda pair: pair[1].context).items():
        drawn = [pair for pair in own if enough(pair[1].n)]
        models = grouped(drawn, lambda pair: pair[0])
        if max(map(len, models.values()), default=0) >= LEAST_OBJECTS:
            yield _object_figure(context, models)


def _object_figure(context: str, models: dict[str, list[tuple[str, ObjectBias]]]) -> Figure:
    charts, said, rows = [], [], []
    for label, found in models.items():
        biases = [bias for _, bias in found]
        ranked = sorted(biases, key=lambda bias: (bias.is_greater, bias.object))
        charts.append(_object_panel(label, ranked))
        said.append(f"{label}: {_balance(ranked)}")
        for bias in ranked:
            rows.append((label, *bias))
    return figure(
        "objects",
        panels(charts, columns=2),
        rows,
        file=context,
        context=context,
        told="; ".join(said),
    )


def _object_panel(label: str, ranked: Sequence[ObjectBias]) -> ChartPanel:
    step = -(-len(ranked) // MOST_OBJECTS)
    stacks = []
    for bias in ranked[::step]:
        lesser = 1 - bias.called_greater_second
        stacks.append(Stack(bias.object, bias.called_greater_first, lesser, bias.is_greater))
    return stacked_panel(label, stacks, PARTS, "truly greater")


def _balance(found: Sequence[ObjectBias]) -> str:
    off = 0
    for bias in found:
        if abs(bias.called_greater_first - bias.called_greater_second) > OFF:
            off += 1
    return f"{off} of {len(found)} objects end more than {OFF} away from 1"

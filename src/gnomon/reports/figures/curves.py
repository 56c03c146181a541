"""Scores against the amount of training, part by part, with intervals and the papers' own curves.

The parts are those of the recipe: unseen items of seen groups, unseen groups, unseen families.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gnomon.measures.curves import SHARES, AtAmount, over_draws
from gnomon.reports.charts.plots import Curve, curves
from gnomon.reports.figures import Figure
from gnomon.reports.papers import published_curves
from gnomon.reports.study import Study
from gnomon.reports.words import axis_name, measure_name, percentage

UNITS = {
    "per_pattern": "training items per pattern",
    "train_share": "percent of the training items",
}
MOST_TICKS = 8
Parts = dict[str, dict[float, list[float]]]  # part -> amount -> values of the draws


class Taught(NamedTuple):
    """Trainings that differ in the amount and the draw alone."""

    name: str  # what they began with
    unit: str
    parts: Parts
    measure: str = SHARES[0]
    items: Mapping[str, int] = {}  # how many items a part holds


def learning_curves(study: Study) -> Iterator[Figure]:
    """A chart for each recipe whose models were trained with several amounts."""
    for number, taught in enumerate(_taught(study)):
        figure = curve_figure(taught, study.spec.name if study.spec else "", number)
        if figure:
            yield figure


def curve_figure(taught: Taught, benchmark: str, number: int = 0) -> Figure | None:
    """The curves of each part, beside those of the papers; none where there is one amount."""
    drawn = _own_lines(taught)
    if not drawn.lines:
        return None
    told = drawn.told
    measure = taught.measure
    published = _published_lines(benchmark, taught, len(drawn.lines))
    lines = [*drawn.lines, *published.lines]
    rows = [*drawn.rows, *published.rows]
    amounts = sorted({row[1] for row in rows})
    body = curves(
        lines,
        UNITS[taught.unit],
        axis_name(measure),
        x_domain=(min(0.0, amounts[0]), amounts[-1]),
        x_form=lambda value: f"{value:g}",
        x_ticks=amounts if len(amounts) <= MOST_TICKS else None,
    )
    return Figure(
        name=f"learning-{number + 1}",
        title=f"{measure_name(measure)} by {UNITS[taught.unit]}: {taught.name}",
        caption=_caption(bool(published.lines)),
        description="; ".join(told) + ".",
        body=body,
        columns=("curve", taught.unit, measure, "low", "high", "deviation", "draws"),
        rows=tuple(rows),
    )


class Drawn(NamedTuple):
    """Curves, the figures behind them, and what they show in words."""

    lines: list[Curve]
    rows: list[tuple[Any, ...]]
    told: list[str]


def _own_lines(taught: Taught) -> Drawn:
    drawn = Drawn([], [], [])
    for part, grown in taught.parts.items():
        if len(grown) < 2:
            continue
        points = over_draws(grown, items=taught.items.get(part, 0))
        drawn.lines.append(_line(part, -1 - len(drawn.lines), points))
        drawn.told.append(_told(part, points))
        drawn.rows.extend((part, *point) for point in points)
    return drawn


def _published_lines(benchmark: str, taught: Taught, first: int) -> Drawn:
    drawn = Drawn([], [], [])
    for name, known in published_curves(benchmark, taught.unit, taught.measure).items():
        places = tuple((point.amount, point.value) for point in known)
        drawn.lines.append(
            Curve(name, -1 - first - len(drawn.lines), places, dots=True, joined=False)
        )
        drawn.rows.extend((name, *place, None, None, None, None) for place in places)
    return drawn


def _line(name: str, series: int, points: Sequence[AtAmount]) -> Curve:
    places, low, high = [], [], []
    for point in points:
        places.append((point.amount, point.mean))
        low.append(point.mean if point.low is None else point.low)
        high.append(point.mean if point.high is None else point.high)
    return Curve(name, series, tuple(places), tuple(low), tuple(high), dots=True)


def _caption(has_paper: bool) -> str:
    text = (
        "Each point is the mean over draws of the training items, on parts that training never "
        "saw; the upright is its 95 % interval over draws. Larger draws contain the smaller ones."
    )
    if has_paper:
        text += (
            " Of the papers' curves the points are shown that their texts and tables give: "
            "on their own items, with their own models."
        )
    return text


def _told(part: str, points: Sequence[AtAmount]) -> str:
    first, last = points[0], points[-1]
    return (
        f"{part}: from {percentage(first.mean, 1)} at {first.amount:g} to "
        f"{percentage(last.mean, 1)} at {last.amount:g}"
    )


def _taught(study: Study) -> list[Taught]:
    """The trainings of a study's models, those together that differ in amount and draw alone."""
    found: dict[str, Taught] = {}
    for entrant in study.entrants:
        description = entrant.run.manifest.model_description
        training = description.get("training")
        unit = _unit(description)
        if not isinstance(training, dict) or not unit:
            continue
        name = str(training.get("from") or training.get("kind", ""))
        for part, scores in training.get("tests", {}).items():
            measure = drawn_measure(scores)
            if not measure:
                continue
            key = f"{unit}/{measure}/{amountless(training.get('recipe'))}"
            items = training.get("items", {})
            taught = found.setdefault(key, Taught(name, unit, {}, measure, items))
            grown = taught.parts.setdefault(part, {})
            grown.setdefault(float(description[unit]), []).append(scores[measure])
    return list(found.values())


def drawn_measure(scores: Iterable[str]) -> str:
    """The measure of a part that is drawn; empty if it has none of them."""
    known = set(scores)
    for measure in SHARES:
        if measure in known:
            return measure
    return ""


def _unit(description: Mapping[str, Any]) -> str:
    """In what unit a manifest says how much a model was taught; empty if it does not."""
    for unit in UNITS:
        if unit in description:
            return unit
    return ""


def amountless(recipe: Any) -> str:
    """A recipe without what differs between the points of a curve, to tell curves apart."""
    if not isinstance(recipe, dict):
        return ""
    kept = _without(recipe, ("seeds",))
    kept["schedule"] = _without(recipe.get("schedule"), ("epochs", "steps"))  # 0 before training
    data = recipe.get("data")
    if isinstance(data, dict):
        train = _without(data.get("train"), ("per_group", "percent", "draw"))
        kept["data"] = {**data, "train": train}
    return repr(sorted(kept.items()))


def _without(section: Any, names: Sequence[str]) -> dict[str, Any]:
    if not isinstance(section, dict):
        return {}
    return {name: value for name, value in section.items() if name not in names}

"""Scores against the amount of training, part by part, with intervals and the papers' own curves.

The parts are those of the recipe: unseen items of seen groups, unseen groups, unseen families.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gnomon.measures.curves import AtAmount, over_draws
from gnomon.reporting.charts.plots import Curve, curves
from gnomon.reporting.figures import Figure
from gnomon.reporting.published.curves import published_curves
from gnomon.reporting.study import Study
from gnomon.reporting.words import axis_name, measure_name, percentage

UNITS = {
    "per_pattern": "training items per pattern",
    "train_share": "percent of the training items",
}
MOST_TICKS = 8
MEASURE = "accuracy"
Parts = Mapping[str, Mapping[float, Sequence[float]]]  # part -> amount -> values of the draws


class Taught(NamedTuple):
    """Trainings that differ in the amount and the draw alone."""

    name: str  # what they began with
    unit: str
    parts: Parts


def learning_curves(study: Study) -> Iterator[Figure]:
    """A chart for each recipe whose models were trained with several amounts."""
    for number, taught in enumerate(_taught(study)):
        figure = curve_figure(taught, study.spec.name if study.spec else "", number)
        if figure:
            yield figure


def curve_figure(taught: Taught, benchmark: str, number: int = 0) -> Figure | None:
    """The curves of each part, beside those of the papers; none where there is one amount."""
    own = {part: over_draws(grown) for part, grown in taught.parts.items()}
    own = {part: points for part, points in own.items() if len(points) > 1}
    if not own:
        return None
    lines = [_line(part, series, points) for series, (part, points) in enumerate(own.items())]
    rows: list[tuple[Any, ...]] = []
    for part, points in own.items():
        rows += [(part, *point) for point in points]
    published = published_curves(benchmark, taught.unit, MEASURE)
    for name, known in published.items():
        places = tuple((point.amount, point.value) for point in known)
        lines.append(Curve(name, len(lines), places, dots=True))
        rows += [(name, *place, None, None, None, None) for place in places]
    amounts = sorted({row[1] for row in rows})
    body = curves(
        lines,
        UNITS[taught.unit],
        axis_name(MEASURE),
        x_domain=(min(0.0, amounts[0]), amounts[-1]),
        x_form=lambda value: f"{value:g}",
        x_ticks=amounts if len(amounts) <= MOST_TICKS else None,
    )
    return Figure(
        name=f"learning-{number + 1}",
        title=f"{measure_name(MEASURE)} by {UNITS[taught.unit]}: {taught.name}",
        caption=_caption(bool(published)),
        description="; ".join(_told(part, points) for part, points in own.items()) + ".",
        body=body,
        columns=("curve", taught.unit, MEASURE, "low", "high", "deviation", "draws"),
        rows=tuple(rows),
    )


def _line(name: str, series: int, points: Sequence[AtAmount]) -> Curve:
    places = tuple((point.amount, point.mean) for point in points)
    low = tuple(point.mean if point.low is None else point.low for point in points)
    high = tuple(point.mean if point.high is None else point.high for point in points)
    return Curve(name, series, places, low, high, dots=True)


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
    found: dict[str, dict[str, dict[float, list[float]]]] = {}
    named: dict[str, tuple[str, str]] = {}
    for entrant in study.entrants:
        description = entrant.run.manifest.model_description
        training = description.get("training")
        unit = next((name for name in UNITS if name in description), "")
        if not isinstance(training, dict) or not unit:
            continue
        key = f"{unit}/{amountless(training.get('recipe'))}"
        named[key] = (str(training.get("from") or training.get("kind", "")), unit)
        parts = found.setdefault(key, {})
        for part, scores in training.get("tests", {}).items():
            if MEASURE in scores:
                grown = parts.setdefault(part, {})
                grown.setdefault(float(description[unit]), []).append(scores[MEASURE])
    return [Taught(*named[key], parts) for key, parts in found.items()]


def amountless(recipe: Any) -> str:
    """A recipe without what differs between the points of a curve, to tell curves apart."""
    if not isinstance(recipe, dict):
        return ""
    kept = {name: value for name, value in recipe.items() if name not in ("seeds", "schedule")}
    data = kept.get("data")
    if isinstance(data, dict) and isinstance(data.get("train"), dict):
        amounts = ("per_group", "percent", "draw")
        train = {name: value for name, value in data["train"].items() if name not in amounts}
        kept["data"] = {**data, "train": train}
    schedule = recipe.get("schedule")
    if isinstance(schedule, dict):
        # the model before training took no epochs
        how = {name: value for name, value in schedule.items() if name not in ("epochs", "steps")}
        kept["schedule"] = how
    return repr(sorted(kept.items()))

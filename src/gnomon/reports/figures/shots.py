"""Scores against how much a model was shown (SpaceNLI, Figure 3; VSR, Figure 15)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gnomon.contracts import Measure
from gnomon.measures.scoring import scores
from gnomon.records import digest
from gnomon.reports.charts.plots import Curve, curves
from gnomon.reports.figures import Figure
from gnomon.reports.figures.curves import amountless
from gnomon.reports.figures.slices import headline_measure
from gnomon.reports.study import Entrant, Study
from gnomon.reports.words import axis_name, measure_name, model_name, plain

# Where a manifest may say how much a model was shown, and how the axis is called.
AMOUNTS = {
    "shots": "worked examples in the prompt",
    "train_items": "training items",
    "train_share": "share of the training data",
    "per_pattern": "training items per pattern",
}
MOST_TICKS = 8
Grown = dict[float, list[float]]  # amount -> the figures of the runs with it


class Setting(NamedTuple):
    """A model, and what else may make a difference: its options but for seeds and the prompt."""

    model: str
    options: str


def against_shots(study: Study) -> Iterator[Figure]:
    """The headline measure of models that were run with several amounts of examples or items."""
    measure = headline_measure(study.spec)
    for key in AMOUNTS:
        found: dict[Setting, Grown] = {}
        series: dict[Setting, int] = {}  # a curve has the colour of its first run
        for entrant in study.entrants:
            amount = _amount(entrant, key)
            value = scores(entrant.table, [measure])[0].value
            if amount is not None and value is not None:
                setting = _setting(entrant, key)
                series.setdefault(setting, entrant.series)
                by_amount = found.setdefault(setting, {})
                by_amount.setdefault(amount, []).append(value)
        grown = {which: by for which, by in found.items() if len(by) > 1}
        if grown:
            yield _figure(measure, key, grown, series)


def _figure(
    measure: Measure, key: str, grown: Mapping[Setting, Grown], series: Mapping[Setting, int]
) -> Figure:
    lines, rows = [], []
    caption = "Each curve is one model with the same options, but for seeds and the prompt."
    for name, (setting, by) in zip(_names(grown), grown.items(), strict=True):
        lines.append(_curve(name, series[setting], by))
        for amount, values in sorted(by.items()):
            rows.append((name, amount, sum(values) / len(values), len(values)))
    if any(row[-1] > 1 for row in rows):
        caption += " Runs with the same number are averaged; the bar spans them."
    amounts = sorted({amount for _, amount, _, _ in rows})
    body = curves(
        lines,
        AMOUNTS[key],
        axis_name(measure.name),
        x_domain=(min(0.0, amounts[0]), amounts[-1]),
        x_form=lambda value: f"{value:g}",
        x_ticks=amounts if len(amounts) <= MOST_TICKS else None,
    )
    return Figure(
        name=f"by-{key}",
        title=f"{measure_name(measure.name)} by {AMOUNTS[key]}",
        caption=caption,
        description=f"Curves from {amounts[0]:g} to {amounts[-1]:g}.",
        columns=("model", key, measure.name, "runs"),
        rows=tuple(rows),
        body=body,
    )


def _curve(name: str, series: int, by: Grown) -> Curve:
    points, lows, highs = [], [], []
    for amount, values in sorted(by.items()):
        points.append((amount, sum(values) / len(values)))
        lows.append(min(values))
        highs.append(max(values))
    return Curve(name, series, tuple(points), tuple(lows), tuple(highs), dots=True)


def _setting(entrant: Entrant, key: str) -> Setting:
    manifest = entrant.run.manifest
    options: dict[str, Any] = {f"items {name}": of for name, of in manifest.options.items()}
    options |= {**manifest.model_options, "limit": manifest.limit}
    model = manifest.name or entrant.run.model
    training = manifest.model_description.get("training")
    if isinstance(training, dict):  # the points of a curve have a folder each
        model = str(training.get("from") or training.get("kind"))
        options["recipe"] = digest(amountless(training.get("recipe")), digits=6)
    kept = []
    for name, value in sorted(options.items()):
        if name not in (key, "prompt") and "seed" not in name and value is not None:
            kept.append(f"{name} {value}")
    return Setting(model, ", ".join(kept))


def _names(settings: Iterable[Setting]) -> list[str]:
    """A curve's name: the model, with its options where it has several curves."""
    found: Sequence[Setting] = list(settings)
    models = [setting.model for setting in found]
    names = []
    for model, options in found:
        name = model_name(model)
        if models.count(model) > 1:
            name += f" ({plain(options)})"
        names.append(name)
    return names


def _amount(entrant: Entrant, key: str) -> float | None:
    """What the manifest says, in the model's options, its description or its prompt."""
    manifest = entrant.run.manifest
    places: list[Mapping[str, Any]] = [manifest.model_options, manifest.model_description]
    prompt = manifest.model_description.get("prompt")
    if isinstance(prompt, dict):
        places.append(prompt)
    for place in places:
        value = place.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return None

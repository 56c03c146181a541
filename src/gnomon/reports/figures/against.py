"""Scores against something: examples shown, training, steps, the number of right labels.

Each is a curve for each model over that, drawn in one way. A learning curve has the papers' own
points beside it (SpaceNLI, Figure 3; VSR, Figure 15; ViPhy, Figure 5).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gnomon import registry
from gnomon.contracts import Benchmark, Measure
from gnomon.measures.scoring import scores
from gnomon.measures.seeds import SHARES, AtAmount, over_draws
from gnomon.records import Score, digest
from gnomon.reports.charts.axes import ChartBody
from gnomon.reports.charts.plots import Curve, CurvePlace, curve_of, curves
from gnomon.reports.figures import RULE, Figure, figure, grouped, well_known
from gnomon.reports.figures.slices import declared_measures, headline_measure
from gnomon.reports.papers import published_curves
from gnomon.reports.study import Entrant, Study
from gnomon.reports.words import axis_name, model_name, percentage, plain

MOST_TICKS = 8
OF_ITEMS = frozenset({"scores"})  # what a measure that judges items one by one may need
PER_PATTERN = "training items per pattern"
# Where a manifest may say how much a model was shown, and how the axis is called.
AMOUNTS = {
    "shots": "worked examples in the prompt",
    "train_items": "training items",
    "train_share": "share of the training data",
    "per_pattern": PER_PATTERN,
}
# Of models that were trained here.
UNITS = {"per_pattern": PER_PATTERN, "train_share": "percent of the training items"}
SPANNED = " Runs with the same number are averaged; the bar spans them."
PAPERS = (
    " Of the papers' curves the points are shown that their texts and tables give: on their own "
    "items, with their own models."
)
LOSSES = "Each point is the mean over a stretch of steps; lower is better."
DEV_SCORES = "Measured while training on items that the model was not trained on."


def _over_amounts(lines: Sequence[Curve], label: str, measure: str) -> ChartBody:
    """Curves over amounts, from 0 on, with a tick at each amount where they are few."""
    amounts = sorted({at for line in lines for at, _ in line.points})
    return curves(
        lines,
        label,
        axis_name(measure),
        x_domain=(min(0.0, amounts[0]), amounts[-1]),
        x_form=lambda value: f"{value:g}",
        x_ticks=amounts if len(amounts) <= MOST_TICKS else None,
    )


# Examples and items that a model was shown.


# A model, and what else may make a difference: its options but for seeds and the prompt.
_Setting = tuple[str, str]


class _Shown(NamedTuple):
    """The runs of a model in one setting, by how much it was shown."""

    series: int  # of its first run
    values: dict[float, list[float]]

    def places(self) -> list[CurvePlace]:
        """The mean of the runs with each amount, and what they span."""
        places = []
        for amount, values in sorted(self.values.items()):
            mean = sum(values) / len(values)
            places.append(CurvePlace(amount, mean, min(values), max(values)))
        return places


def against_shots(study: Study) -> Iterator[Figure]:
    """The headline measure of models that were run with several amounts of examples or items."""
    measure = headline_measure(study.spec)
    for key in AMOUNTS:
        settings: dict[_Setting, _Shown] = {}
        for entrant in study.entrants:
            amount = _amount(entrant, key)
            if amount is None:
                continue
            value = scores(entrant.table, [measure])[0].value
            if value is not None:
                shown = settings.setdefault(_setting(entrant, key), _Shown(entrant.series, {}))
                shown.values.setdefault(amount, []).append(value)
        grown = {setting: shown for setting, shown in settings.items() if len(shown.values) > 1}
        if grown:
            yield _shots_figure(measure, key, grown)


def _shots_figure(measure: Measure, key: str, grown: Mapping[_Setting, _Shown]) -> Figure:
    lines, rows = [], []
    for name, shown in zip(_names(list(grown)), grown.values(), strict=True):
        lines.append(curve_of(name, shown.series, shown.places()))
        for place in shown.places():
            rows.append((name, place.at, place.value, len(shown.values[place.at])))
    amounts = sorted({amount for _, amount, _, _ in rows})
    return figure(
        "shots",
        _over_amounts(lines, AMOUNTS[key], measure.name),
        rows,
        measure=measure,
        key=key,
        amounts=AMOUNTS[key],
        more=SPANNED if any(runs > 1 for *_, runs in rows) else "",
        first=amounts[0],
        last=amounts[-1],
    )


def _setting(entrant: Entrant, key: str) -> _Setting:
    manifest = entrant.run.manifest
    options: dict[str, Any] = {f"items {name}": of for name, of in manifest.options.items()}
    options |= {**manifest.model_options, "limit": manifest.limit}
    model = manifest.name or entrant.run.model
    training = manifest.model_description.get("training")
    if isinstance(training, dict):  # the points of a curve have a folder each
        model = str(training.get("from") or training.get("kind"))
        options["recipe"] = digest(_amountless(training.get("recipe")), digits=6)
    kept = []
    for name, value in sorted(options.items()):
        if name not in (key, "prompt") and "seed" not in name and value is not None:
            kept.append(f"{name} {value}")
    return model, ", ".join(kept)


def _names(settings: Sequence[_Setting]) -> list[str]:
    """A curve's name: the model, with its options where it has several curves."""
    models = [model for model, _ in settings]
    names = []
    for model, options in settings:
        name = model_name(model)
        if models.count(model) > 1:
            name += f" ({plain(options)})"
        names.append(name)
    return names


def _amount(entrant: Entrant, key: str) -> float | None:
    """What the manifest says, in the model's options, its description or its prompt."""
    manifest = entrant.run.manifest
    prompt = manifest.model_description.get("prompt")
    for place in (manifest.model_options, manifest.model_description, prompt):
        value = place.get(key) if isinstance(place, dict) else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return None


# The amount of training, on the parts of the recipe: unseen items of seen groups, unseen groups,
# unseen families.


class Taught(NamedTuple):
    """Trainings that differ in the amount and the draw alone."""

    name: str  # what they began with
    unit: str
    parts: dict[str, dict[float, list[float]]]  # part -> amount -> values of the draws
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
    lines: list[Curve] = []
    rows: list[tuple[Any, ...]] = []
    told = []
    for part, grown in taught.parts.items():
        if len(grown) < 2:
            continue
        points = over_draws(grown, items=taught.items.get(part, 0))
        places = [CurvePlace(each.amount, each.mean, each.low, each.high) for each in points]
        lines.append(curve_of(part, -1 - len(lines), places))
        rows += [(part, *point) for point in points]
        told.append(_ends(part, points))
    if not lines:
        return None
    published = published_curves(benchmark, taught.unit, taught.measure)
    for name, known in published.items():
        places = [CurvePlace(point.amount, point.value) for point in known]
        lines.append(curve_of(name, -1 - len(lines), places, joined=False))
        rows += [(name, place.at, place.value, None, None, None, None) for place in places]
    return figure(
        "learning",
        _over_amounts(lines, UNITS[taught.unit], taught.measure),
        rows,
        measure=registry.measure(taught.measure),
        number=number + 1,
        unit=taught.unit,
        unit_words=UNITS[taught.unit],
        model=taught.name,
        more=PAPERS if published else "",
        told="; ".join(told),
    )


def _ends(part: str, points: Sequence[AtAmount]) -> str:
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
        unit = next((unit for unit in UNITS if unit in description), "")
        if not isinstance(training, dict) or not unit:
            continue
        name = str(training.get("from") or training.get("kind", ""))
        items = training.get("items", {})
        for part, measured in _measured_at(description, training, float(description[unit])).items():
            measure = drawn_measure(measured)
            if not measure:
                continue
            key = f"{unit}/{measure}/{_amountless(training.get('recipe'))}"
            taught = found.setdefault(key, Taught(name, unit, {}, measure, items))
            grown = taught.parts.setdefault(part, {})
            for amount, values in measured[measure].items():
                if "curve" in description:  # which has the values of all draws
                    grown[amount] = values
                else:
                    grown.setdefault(amount, []).extend(values)
    return list(found.values())


_Measured = dict[str, dict[str, dict[float, list[float]]]]  # part -> measure -> amount -> values


def _measured_at(
    description: Mapping[str, Any], training: Mapping[str, Any], amount: float
) -> _Measured:
    """What a training measured, part by part, by amounts: its own, or those of its whole curve."""
    found: _Measured = {}
    for point in description.get("curve", ()):
        if point["part"] != "dev":  # which chose the step, and so flatters
            measures = found.setdefault(point["part"], {})
            measures.setdefault(point["measure"], {})[point["amount"]] = point["values"]
    if found:
        return found
    for part, measured in training.get("tests", {}).items():
        found[part] = {measure: {amount: [value]} for measure, value in measured.items()}
    return found


def drawn_measure(measures: Iterable[str]) -> str:
    """The measure of a part that is drawn; empty if it has none of them."""
    known = set(measures)
    return next((measure for measure in SHARES if measure in known), "")


def _amountless(recipe: Any) -> str:
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


# The steps of a training.


def training_curves(study: Study) -> Iterator[Figure]:
    """Losses, and scores on the development part, of the models that Gnomon trained."""
    losses: dict[str, Curve] = {}
    dev: dict[str, dict[str, Curve]] = {}  # measure -> model -> curve
    for entrant in study.entrants:
        training = entrant.run.manifest.model_description.get("training")
        if not isinstance(training, dict):
            continue
        losses[entrant.label] = _steps(entrant, training.get("losses", ()))
        for measure, points in _dev_scores(training).items():
            dev.setdefault(measure, {})[entrant.label] = _steps(entrant, points)
    if any(line.points for line in losses.values()):
        yield _steps_figure("loss", "Loss in training", "loss", losses.values(), LOSSES)
    for measure, by_model in dev.items():
        name = axis_name(measure)
        title = f"{name.capitalize()} on the development part"
        yield _steps_figure(f"dev-{measure}", title, name, by_model.values(), DEV_SCORES)


def _steps(entrant: Entrant, points: Iterable[tuple[float, float]]) -> Curve:
    kept = tuple((step, value) for step, value in points)
    return Curve(entrant.label, entrant.series, kept, dots=len(kept) <= 20)


def _dev_scores(training: Mapping[str, Any]) -> dict[str, list[tuple[float, float]]]:
    """For each measure on dev its points, where there are several."""
    points: dict[str, list[tuple[float, float]]] = {}
    for step, values in training.get("dev", ()):
        for measure, value in values.items():
            points.setdefault(measure, []).append((step, value))
    return {measure: own for measure, own in points.items() if len(own) > 1}


def _steps_figure(
    name: str, title: str, label: str, lines: Iterable[Curve], caption: str
) -> Figure:
    lines = list(lines)
    rows = [(line.name, *point) for line in lines for point in line.points]
    most = max(value for _, _, value in rows)
    # a share is drawn from 0 to 1, as everywhere else
    is_share = most <= 1 and label != "loss"
    shares: dict[str, Any] = {} if is_share else {"y_domain": (0.0, most), "form": _short}
    told = []
    for line in lines:
        if line.points:
            told.append(f"{line.name} from {line.points[0][1]:.3g} to {line.points[-1][1]:.3g}")
    last = max(step for _, step, _ in rows)
    body = curves(lines, "step", label, x_domain=(0.0, last), x_form=lambda x: f"{x:g}", **shares)
    words: dict[str, Any] = {"key": name, "title": title, "label": label, "caption": caption}
    return figure("training", body, rows, told="; ".join(told), **words)


def _short(value: float) -> str:
    return f"{value:.3g}"


# The number of labels that count as right.


class _AtCardinality(NamedTuple):
    """A figure of one run on the items that have so many right labels."""

    series: int
    number: int
    score: Score
    value: float  # of the score, which is known


def by_cardinality(study: Study) -> Iterator[Figure]:
    """A curve for each model over the number of right labels."""
    for measure in _measures_of_items(study.spec):
        found = []
        for entrant in study.entrants:
            table = entrant.table
            for number in np.unique(table.cardinality).tolist():
                score = scores(table.where(table.cardinality == number), [measure])[0]
                if score.value is not None:
                    found.append(_AtCardinality(entrant.series, number, score, score.value))
        if len({each.number for each in found if well_known(each.score, measure)}) > 1:
            yield _cardinality_figure(study, measure, found)


def _measures_of_items(spec: Benchmark | None) -> list[Measure]:
    """The first measure that judges items one by one, and the first of those that reads scores."""
    of_items = [measure for measure in declared_measures(spec) if measure.needs <= OF_ITEMS]
    by_need = grouped(of_items, lambda measure: measure.needs)
    return [measures[0] for measures in by_need.values()]


def _cardinality_figure(study: Study, measure: Measure, found: Sequence[_AtCardinality]) -> Figure:
    lines, rows = [], []
    for series, points in grouped(found, lambda point: point.series).items():
        label = study.drawn_names[series]
        places = []
        for _, number, score, value in points:
            if well_known(score, measure):
                places.append(CurvePlace(float(number), value, score.low, score.high))
            rows.append((label, number, value, score.low, score.high, score.n, score.clusters))
        lines.append(curve_of(label, series, places))
    numbers = sorted({point.number for point in found})
    body = curves(
        lines,
        "labels that count as right",
        axis_name(measure.name),
        x_form=lambda value: f"{value:.0f}",
        x_domain=(numbers[0] - 0.3, numbers[-1] + 0.3),
        x_ticks=numbers,
    )
    ends: dict[str, Any] = {"first": numbers[0], "last": numbers[-1]}
    return figure("cardinality", body, rows, measure=measure, rule=RULE, **ends)

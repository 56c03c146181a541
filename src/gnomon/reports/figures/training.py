"""How the models of a study were trained: the loss of their steps, and their scores on dev."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.reports.charts.plots import Curve, curves
from gnomon.reports.figures import Figure
from gnomon.reports.study import Study
from gnomon.reports.words import axis_name, whole_percent

Points = tuple[tuple[float, float], ...]


def training_curves(study: Study) -> Iterator[Figure]:
    """Losses, and scores on the development part, of the models that Gnomon trained."""
    losses: dict[str, Points] = {}
    scores: dict[str, dict[str, Points]] = {}  # measure -> model -> points
    series = {entrant.label: entrant.series for entrant in study.entrants}
    for entrant in study.entrants:
        training = entrant.run.manifest.model_description.get("training")
        if not isinstance(training, dict):
            continue
        losses[entrant.label] = tuple((step, loss) for step, loss in training.get("losses", ()))
        for measure, points in _scores(training).items():
            scores.setdefault(measure, {})[entrant.label] = points
    if any(losses.values()):
        yield _figure("loss", "Loss in training", "loss", losses, _LOSSES, series)
    for measure, by_model in scores.items():
        title = f"{axis_name(measure).capitalize()} on the development part"
        yield _figure(f"dev-{measure}", title, axis_name(measure), by_model, _SCORES, series)


_LOSSES = "Each point is the mean over a stretch of steps; lower is better."
_SCORES = "Measured while training on items that the model was not trained on."


def _scores(training: Mapping[str, Any]) -> dict[str, Points]:
    """For each measure on dev its points, losses aside: those have a chart of their own."""
    found: dict[str, list[tuple[float, float]]] = {}
    for step, values in training.get("dev", ()):
        for measure, value in values.items():
            found.setdefault(measure, []).append((step, value))
    return {measure: tuple(points) for measure, points in found.items() if len(points) > 1}


def _figure(
    name: str,
    title: str,
    y_label: str,
    by_model: Mapping[str, Points],
    caption: str,
    series: Mapping[str, int],
) -> Figure:
    lines, rows = [], []
    for label, points in by_model.items():
        lines.append(Curve(label, series[label], points, dots=len(points) <= 20))
        rows += [(label, step, value) for step, value in points]
    last = max(step for _, step, _ in rows)
    most = max(value for _, _, value in rows)
    # a share is drawn from 0 to 1, as everywhere else
    is_share = most <= 1 and name.startswith("dev-") and y_label != "loss"
    body = curves(
        lines,
        "step",
        y_label,
        x_domain=(0.0, last),
        y_domain=(0.0, 1.0) if is_share else (0.0, most),
        x_form=lambda value: f"{value:g}",
        form=whole_percent if is_share else _plain,
    )
    return Figure(
        name=f"training-{name}",
        title=title,
        caption=caption,
        description=_description(by_model),
        columns=("model", "step", y_label),
        rows=tuple(rows),
        body=body,
        detail=True,
    )


def _plain(value: float) -> str:
    return f"{value:.3g}"


def _description(by_model: Mapping[str, Points]) -> str:
    """Where each curve begins and where it ends."""
    told = []
    for label, points in by_model.items():
        if points:
            first, last = points[0][1], points[-1][1]
            told.append(f"{label} from {first:.3g} to {last:.3g}")
    return "; ".join(told) + "."

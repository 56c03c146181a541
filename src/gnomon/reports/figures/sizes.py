"""Scores against model size, a curve for each family (spatialQA, Figures 2, 4, 7 and 8).

A model's size is what its manifest says, else what a paper lists for it, else a size in its name.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gnomon.contracts import Measure
from gnomon.measures.accuracy import large_enough
from gnomon.measures.scoring import scores
from gnomon.records import Score
from gnomon.reports.charts.axes import Axis
from gnomon.reports.charts.panels import curve_panel, panels, under_legend
from gnomon.reports.charts.plots import Curve, CurvePlace, curve_of, curves
from gnomon.reports.figures import Figure, figure, grouped, well_known
from gnomon.reports.figures.slices import group_measures, headline_measure, tags_of
from gnomon.reports.papers import published_size
from gnomon.reports.study import Entrant, Study
from gnomon.reports.words import axis_name, whole_percent

UNITS = {"m": 1e6, "b": 1e9}
SIZE_IN_NAME = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)([mb])(?![a-z0-9])", re.IGNORECASE)
SIZE_WORD = re.compile(
    r"(?i)[-_](tiny|mini|small|medium|base|large|x+l(arge)?|\d+(\.\d+)?[mb])(?=[-_.]|$)"
)
MOST_KEYS = 12  # panels in one figure
MOST_DECADES = 3  # of sizes, beyond which a small chart names every other one


class Sized(NamedTuple):
    """A model of known size."""

    family: str
    parameters: float
    entrant: Entrant


class _SizedFigure(NamedTuple):
    """Its figure, over all items or over those with one value of a tag."""

    model: Sized
    score: Score
    drawn: bool  # or only among the numbers, since it rests on too little

    @property
    def place(self) -> CurvePlace:
        """Where it stands in a chart; what has no interval is one."""
        value, low, high = self.score.value or 0.0, self.score.low, self.score.high
        ends = value if low is None else low, value if high is None else high
        return CurvePlace(self.model.parameters, value, *ends)


def against_size(study: Study) -> Iterator[Figure]:
    """Figures over all items: the headline measure, and one of whole groups."""
    models = sized_models(study)
    for measure in _measures(study, models):
        found = []
        for model in models:
            score = scores(model.entrant.table, [measure])[0]
            if score.value is not None:
                found.append(_SizedFigure(model, score, well_known(score, measure)))
        drawn = [one for one in found if one.drawn]
        if _several_sizes([one.model for one in drawn]):
            yield _whole(study, measure, found)


def against_size_by_slice(study: Study) -> Iterator[Figure]:
    """The same for each value of the first tag by which the benchmark is sliced."""
    models = sized_models(study)
    tags = tags_of(study)
    if not models or not tags:
        return
    for measure in _measures(study, models):
        found = []
        for model in models:
            for score in scores(model.entrant.table, [measure], by=tags[0]):
                if score.key and score.value is not None:
                    found.append(_SizedFigure(model, score, well_known(score, measure)))
        by_key = {one.score.key for one in found if one.drawn}
        if 2 <= len(by_key) <= MOST_KEYS:
            yield _sliced(study, measure, tags[0], found)


def sized_models(study: Study) -> list[Sized]:
    """The models of known size among those on the same items, the smallest first.

    They are of the first set of runs that has two sizes: on other items figures say nothing about
    size.
    """
    for members in study.item_sets():
        known = filter(None, [_sized(study.entrants[i]) for i in members])
        found = sorted(known, key=lambda model: model.parameters)
        if _several_sizes(found):
            return found
    return []


def _sized(entrant: Entrant) -> Sized | None:
    run = entrant.run
    size = parameters(run.model, run.manifest.model_description)
    if size is None:
        return None
    return Sized(family(run.model), size, entrant)


def _several_sizes(models: Sequence[Sized]) -> bool:
    return len({model.parameters for model in models}) > 1


def parameters(model: str, description: Mapping[str, Any]) -> float | None:
    """How many parameters a model has, if that is known.

    >>> parameters("hf:EleutherAI/pythia-1.4b", {}), parameters("answers:results-curie.tsv", {})
    (1400000000.0, 13000000000.0)
    >>> parameters("smollm2", {"file": "SmolLM2-135M-Instruct.gguf"})
    135000000.0
    """
    value = description.get("parameters")
    if isinstance(value, int | float) and value > 0:
        return float(value)
    listed = published_size(model)
    if listed is not None:
        return float(listed.parameters)
    found = SIZE_IN_NAME.search(str(description.get("file", ""))) or SIZE_IN_NAME.search(model)
    if found is None:
        return None
    return float(found[1]) * UNITS[found[2].lower()]


def family(model: str) -> str:
    """The family that a paper names for a model, else its name without its size.

    >>> family("hf:big-mnli"), family("hf:org/some-3b"), family("answers:results-ada.tsv")
    ('big-mnli', 'some', 'GPT-3')
    """
    listed = published_size(model)
    if listed is not None:
        return listed.family
    name = re.split("[:/]", model)[-1]
    return SIZE_WORD.sub("", name) or name


def short(value: float) -> str:
    """A count of parameters in few letters.

    >>> short(135e6), short(3e9)
    ('135M', '3B')
    """
    for unit, size in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.0f}"


def _measures(study: Study, models: Sequence[Sized]) -> list[Measure]:
    """The headline measure, and the first of whole groups for which the groups are large enough."""
    headline = headline_measure(study.spec)
    for measure in group_measures(study.spec):
        if all(large_enough(measure.name, model.entrant.table) for model in models):
            return list({headline.name: headline, measure.name: measure}.values())
    return [headline]


def _whole(study: Study, measure: Measure, found: Sequence[_SizedFigure]) -> Figure:
    drawn = [one for one in found if one.drawn]
    axis = _size_axis(drawn)
    body = curves(
        _curves(drawn),
        axis.label,
        axis_name(measure.name),
        x_domain=axis.domain,
        x_form=short,
        log=True,
    )
    rows = map(_row, found)
    caption, ends = _caption(study, drawn), _ends(drawn)
    return figure("size", body, rows, measure=measure, caption=caption, ends=ends)


def _row(one: _SizedFigure) -> tuple[Any, ...]:
    return one.model.entrant.label, one.model.family, *one.place, one.score.n


def _sliced(study: Study, measure: Measure, tag: str, found: Sequence[_SizedFigure]) -> Figure:
    drawn = [one for one in found if one.drawn]
    families = [(curve.series, curve.name) for curve in _curves(drawn)]
    axis = _size_axis(drawn)
    charts, said, rows = [], [], []
    for value, own in grouped(drawn, lambda one: one.score.key).items():
        key = study.words(tag, value)
        charts.append(curve_panel(key, _curves(own), axis))
        said.append(f"{key}: {_ends(own)}")
    for one in found:
        name, family, size, value, *_, n = _row(one)
        rows.append((name, family, size, one.score.key, value, n))
    return figure(
        "size-by-slice",
        under_legend(panels(charts, columns=2), families, lines=True),
        rows,
        measure=measure,
        study=study,
        tag=tag,
        caption=_caption(study, drawn),
        ends="; ".join(said),
    )


def _curves(found: Sequence[_SizedFigure]) -> list[Curve]:
    """A curve for each family, which has the same colour in every panel."""
    lines = []
    for name, own in grouped(found, lambda one: one.model.family).items():
        series = min(one.model.entrant.series for one in own)  # the colour of its first model
        lines.append(curve_of(name, series, [one.place for one in own]))
    return lines


def _size_axis(found: Sequence[_SizedFigure]) -> Axis:
    """Whole powers of ten around the sizes; where it stands, the chart says."""
    sizes = [one.model.parameters for one in found]
    low = math.floor(math.log10(min(sizes)))
    high = math.ceil(math.log10(max(sizes) * 1.01))
    step = 1 if high - low <= MOST_DECADES else 2
    marks = [10.0**power for power in range(low, high + 1, step)]
    return Axis((10.0**low, 10.0**high), (0.0, 1.0), "parameters", short, log=True, marks=marks)


def _ends(found: Sequence[_SizedFigure]) -> str:
    first, last = found[0], found[-1]
    small = f"{first.model.entrant.label} {whole_percent(first.place.value)}"
    return f"{small}, {last.model.entrant.label} {whole_percent(last.place.value)}"


def _caption(study: Study, found: Sequence[_SizedFigure]) -> str:
    """How to read the figure, and who is not in it."""
    drawn = {one.model.entrant.label for one in found}
    asked = found[0].model.entrant.asked
    others, unknown = 0, 0
    for entrant in study.entrants:
        if (entrant.asked != asked).any():
            others += 1
        elif entrant.label not in drawn and not entrant.is_baseline:  # a guess has no size
            unknown += 1
    counts = sorted({one.score.n for one in found})
    span = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    said = f"Models of one family are joined; the scale to the right is logarithmic. {span} items "
    said += "or groups a point, with 95 % intervals."
    if others:
        said += f" Runs on other items ({others}) are left out."
    if unknown:
        said += f" Models of unknown size ({unknown}) are left out."
    return said

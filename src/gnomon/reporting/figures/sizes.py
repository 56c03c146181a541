"""Scores against model size, a curve for each family (spatialQA, Figures 2, 4, 7 and 8).

A model's size is what its manifest says, else what a paper lists for it, else a size in its name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gnomon.contracts import Measure
from gnomon.measures.grouping import large_enough
from gnomon.measures.scoring import scores
from gnomon.measures.table import Table
from gnomon.registry import role
from gnomon.reporting.charts.curvepanel import log_curve_panel
from gnomon.reporting.charts.panels import panels
from gnomon.reporting.charts.plots import WIDTH, Body, Curve, curves, legend, percent
from gnomon.reporting.figures import Figure, words
from gnomon.reporting.figures.slices import group_measures, headline_measure, tags_of
from gnomon.reporting.published.results import published_size
from gnomon.reporting.study import Entrant, Study
from gnomon.reporting.tables.export import file_name
from gnomon.reporting.words import axis_name, measure_name

UNITS = {"m": 1e6, "b": 1e9}
SIZE_IN_NAME = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)([mb])(?![a-z0-9])", re.IGNORECASE)
SIZE_WORD = re.compile(
    r"(?i)[-_](tiny|mini|small|medium|base|large|x+l(arge)?|\d+(\.\d+)?[mb])(?=[-_.]|$)"
)
MOST_KEYS = 12  # panels in one figure


class Sized(NamedTuple):
    """A model of known size."""

    family: str
    parameters: float
    entrant: Entrant


class Measured(NamedTuple):
    """Its figure, over all items or over those with one value of a tag."""

    model: Sized
    key: str
    value: float


def against_size(study: Study) -> Iterator[Figure]:
    """Figures over all items: the headline measure, and one of whole groups."""
    models = sized_models(study)
    for i, measure in enumerate(_measures(study, models)):
        found = _values(models, measure, "")
        if len({one.model.parameters for one in found}) > 1:
            yield _whole(study, measure, found, "size" if i == 0 else f"size-{_stem(measure)}")


def against_size_by_slice(study: Study) -> Iterator[Figure]:
    """The same for each value of the first tag by which the benchmark is sliced."""
    models = sized_models(study)
    tag = next(iter(tags_of(study)), None)
    if tag is None:
        return
    for measure in _measures(study, models):
        found = _values(models, measure, tag)
        keys = list(dict.fromkeys(one.key for one in found))
        several = len({one.model.parameters for one in found}) > 1
        if several and 2 <= len(keys) <= MOST_KEYS:
            yield _sliced(study, measure, tag, keys, found)


def sized_models(study: Study) -> list[Sized]:
    """The models of known size among those on the same items: the first such set that has two
    sizes, since on other items figures say nothing about size."""
    for members in study.item_sets():
        found = []
        for i in members:
            entrant = study.entrants[i]
            run = entrant.run
            size = parameters(run.model, run.manifest.model_description)
            if size is not None:
                found.append(Sized(family(run.model), size, entrant))
        if len({model.parameters for model in found}) > 1:
            return sorted(found, key=lambda model: model.parameters)
    return []


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
    for name in (str(description.get("file", "")), model):
        found = SIZE_IN_NAME.search(name)
        if found:
            return float(found[1]) * UNITS[found[2].lower()]
    return None


def family(model: str) -> str:
    """The family that a paper names for a model, else its name without its size.

    >>> family("hf:big-mnli"), family("hf:org/some-3b"), family("answers:results-ada.tsv")
    ('big-mnli', 'some', 'GPT-3')
    """
    listed = published_size(model)
    if listed is not None:
        return listed.family
    name = model.partition(":")[2] or model
    name = name.rsplit("/", 1)[-1]
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
    found = [headline_measure(study.spec)]
    for measure in group_measures(study.spec):
        if all(large_enough(measure.name, model.entrant.table) for model in models):
            return found if measure.name == found[0].name else [*found, measure]
    return found


def _values(models: Sequence[Sized], measure: Measure, tag: str) -> list[Measured]:
    found = []
    for model in models:
        table: Table = model.entrant.table
        if tag and tag not in table.tags:
            continue
        for score in scores(table, [measure], by=tag or None):
            if score.value is not None and (score.key or not tag):
                found.append(Measured(model, score.key, score.value))
    return found


def _whole(study: Study, measure: Measure, found: Sequence[Measured], name: str) -> Figure:
    least, most = found[0], found[-1]
    ends = [f"{one.model.entrant.label} {percent(one.value)}" for one in (least, most)]
    rows = [
        (one.model.entrant.label, one.model.family, one.model.parameters, one.value)
        for one in found
    ]
    families = list(dict.fromkeys(one.model.family for one in found))
    return Figure(
        name=name,
        title=f"{measure_name(measure.name)} against model size",
        caption=_caption(study, found),
        description=f"From the smallest model to the largest: {ends[0]}, {ends[1]}.",
        columns=("model", "family", "parameters", measure.name),
        rows=tuple(rows),
        body=curves(
            _curves(found, families),
            "parameters",
            axis_name(measure.name),
            x_domain=_domain(found),
            x_form=short,
            log=True,
        ),
    )


def _sliced(
    study: Study, measure: Measure, tag: str, keys: Sequence[str], found: Sequence[Measured]
) -> Figure:
    domain = _domain(found)
    ticks = _ticks(domain)
    families = list(dict.fromkeys(one.model.family for one in found))
    charts, said = [], []
    for key in keys:
        here = [one for one in found if one.key == key]
        lines = _curves(here, families)
        charts.append(log_curve_panel(key, lines, "parameters", domain, short, ticks))
        said.append(f"{key} {percent(here[0].value)} to {percent(here[-1].value)}")
    rows = []
    for one in found:
        model = one.model
        rows.append((model.entrant.label, model.family, model.parameters, one.key, one.value))
    return Figure(
        name=f"size-{_stem(measure)}-by-{file_name(tag)}",
        title=f"{measure_name(measure.name)} against model size, by {words(tag)}",
        caption=_caption(study, found),
        description=f"From the smallest model to the largest: {'; '.join(said)}.",
        body=_with_legend(panels(charts, columns=2), families),
        columns=("model", "family", "parameters", tag, measure.name),
        rows=tuple(rows),
    )


def _stem(measure: Measure) -> str:
    return measure.name.replace("@", "-")


def _curves(found: Sequence[Measured], families: Sequence[str]) -> list[Curve]:
    """A curve for each family, which has the same colour in every panel."""
    lines = []
    for i, name in enumerate(families):
        own = [one for one in found if one.model.family == name]
        points = tuple((one.model.parameters, one.value) for one in own)
        lines.append(Curve(name, i, points, dots=True))
    return lines


def _domain(found: Sequence[Measured]) -> tuple[float, float]:
    """Whole powers of ten around the sizes."""
    sizes = [one.model.parameters for one in found]
    low = math.floor(math.log10(min(sizes)))
    high = math.ceil(math.log10(max(sizes) * 1.01))
    return 10.0**low, 10.0**high


def _ticks(domain: tuple[float, float]) -> list[float]:
    """Powers of ten, every other one where there are many."""
    low, high = round(math.log10(domain[0])), round(math.log10(domain[1]))
    step = 1 if high - low <= 3 else 2
    return [10.0**power for power in range(low, high + 1, step)]


def _caption(study: Study, found: Sequence[Measured]) -> str:
    said = "Models of one family are joined; the scale to the right is logarithmic."
    drawn = {id(one.model.entrant) for one in found}
    asked = found[0].model.entrant.asked
    unknown = other = 0
    for entrant in study.entrants:
        if id(entrant) in drawn:
            continue
        if (entrant.asked != asked).any():
            other += 1
        elif not role(entrant.run.model):  # nobody asks how large a guess is
            unknown += 1
    if other:
        said += f" Runs on other items ({other}) are left out."
    if unknown:
        said += f" Models of unknown size ({unknown}) are left out."
    return said


def _with_legend(body: Body, families: Sequence[str]) -> Body:
    if len(families) < 2:
        return body
    names = legend(list(enumerate(families)), 0, body.height + 12, WIDTH, lines=True)
    return Body(body.markup + names.markup, body.height + names.height + 4)

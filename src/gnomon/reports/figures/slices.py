"""Bars by category, relation, class ... and by wording of the prompt; and what they show."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, median
from typing import Any, NamedTuple

import numpy as np

from gnomon.contracts import Benchmark, Measure
from gnomon.measures.accuracy import large_enough
from gnomon.measures.chance import chance_of
from gnomon.measures.prompts import by_prompt, prompt_name, promptless
from gnomon.measures.runlabels import labels
from gnomon.measures.scoring import scores
from gnomon.measures.table import Table, in_order
from gnomon.records import Score
from gnomon.registry import known_measure
from gnomon.reports.charts.plots import Estimate, bars
from gnomon.reports.figures import ITEMS, WIDEST, Figure, figure, grouped, well_known
from gnomon.reports.page.items import filters, items_address
from gnomon.reports.papers import results_of
from gnomon.reports.study import Entrant, Study
from gnomon.reports.words import axis_name, counted, model_name, percentage, span, whole_percent

MOST_KEYS = 30  # rows in a bar chart; the table behind it holds all
MOST_VALUES = 400  # of a tag that is drawn at all
MOST_TAGS = 6
MOST_TOLD = 12  # models in a description
BAND = re.compile(r"(\d+(?:\.\d+)?)[-+]")  # such as 1.5-3 and 100+
CURVES = {"cardinality", "label_cardinality"}  # drawn as curves, not as bars


class Bar(NamedTuple):
    """A figure of one run on the items with one value of a tag."""

    series: int
    score: Score
    value: float  # of the score, which is known

    @property
    def key(self) -> str:
        """The value of the tag."""
        return self.score.key


def known_measures(names: Iterable[str]) -> list[Measure]:
    """The measures of these names that this installation has, each once."""
    return list(filter(None, map(known_measure, dict.fromkeys(names))))


def declared_measures(spec: Benchmark | None) -> list[Measure]:
    """The measures of the benchmark; where none of them is here, a benchmark's default."""
    names = spec.measures if spec else ()
    return known_measures(names) or known_measures(Benchmark.measures)


def headline_measure(spec: Benchmark | None) -> Measure:
    """The measure that the benchmark puts first; accuracy where the benchmark is not known."""
    return declared_measures(spec)[0]


def group_measures(spec: Benchmark | None) -> list[Measure]:
    """The measures of whole groups: the first that the paper reports, and the declared ones."""
    reported = known_measures(result.measure for result in results_of(spec))
    first = list(filter(_is_of_groups, reported))[:1]
    return first + list(filter(_is_of_groups, declared_measures(spec)))


def _is_of_groups(measure: Measure) -> bool:
    return measure.least_group > 0


def shared_chance(study: Study, measure: Measure) -> float | None:
    """What a guess is worth; none where that is not known, or not the same for all runs."""
    found: set[float | None] = set()
    for entrant in study.entrants:
        if len(entrant.table):
            chance = chance_of(measure, entrant.table)
            found.add(chance and round(chance, 6))
    return found.pop() if len(found) == 1 else None


def tags_of(study: Study) -> list[str]:
    """The tags to slice by: the benchmark's own, else the few-valued ones."""
    present: set[str] = set()
    for item in study.items:
        present.update(item.tags)
    present -= CURVES
    own = study.spec.slices if study.spec else ()
    declared = list(filter(present.__contains__, own))
    return (declared or list(filter(present.__contains__, filters(study))))[:MOST_TAGS]


def by_slice(study: Study) -> Iterator[Figure]:
    """One figure for each tag with the headline measure (spatialQA, Figures 1, 5 and 6).

    For the first of them also one with a measure of whole groups (SpaceNLI, Figure 5).
    """
    headline = headline_measure(study.spec)
    drawn = {}
    for tag in tags_of(study):
        chart = _bars(study, tag, headline)
        if chart is not None:
            drawn[tag] = chart
    for i, (tag, chart) in enumerate(drawn.items()):
        yield chart
        if i == 0:
            yield from _of_groups(study, tag)


def _of_groups(study: Study, tag: str) -> list[Figure]:
    """The first measure of whole groups for which the groups are large enough."""
    for measure in group_measures(study.spec):
        chart = _bars(study, tag, measure)
        if chart is not None:
            return [chart]
    return []


def _bars(study: Study, tag: str, measure: Measure) -> Figure | None:
    found = _measured(study, tag, measure)
    known = [bar for bar in found if well_known(bar.score, measure)]
    by_key = grouped(known, lambda bar: bar.key)
    if not 2 <= len(by_key) <= MOST_VALUES:
        return None
    drawn: list[Bar] = []
    for key in _order(by_key)[:MOST_KEYS]:
        drawn += by_key[key]
    guide = shared_chance(study, measure)
    axis = axis_name(measure.name)
    if guide:
        axis += f" (dashed: chance over all items, {whole_percent(guide)})"
    rows = []
    for series, score, value in found:
        label = study.drawn_names[series]
        rows.append((label, score.key, value, score.low, score.high, score.n, score.clusters))
    estimates = [_estimate(study, tag, bar) for bar in drawn]
    links = {}
    for key in by_key:
        links[study.words(tag, key)] = items_address(study.name, tags={tag: key})
    return figure(
        "slices",
        bars(estimates, study.drawn_names, axis, guide=guide, links=links),
        rows,
        measure=measure,
        study=study,
        tag=tag,
        caption=_caption(study, drawn, len(by_key), len(found) - len(known)),
        extremes=_extremes(study, drawn, tag),
    )


def _measured(study: Study, tag: str, measure: Measure) -> list[Bar]:
    found = []
    for entrant in study.entrants:
        table = entrant.table
        if tag not in table.tags or not large_enough(measure.name, table):
            continue
        for score in scores(table, [measure], by=tag):
            if score.key and score.value is not None:
                found.append(Bar(entrant.series, score, score.value))
    return found


def _estimate(study: Study, tag: str, bar: Bar) -> Estimate:
    score = bar.score
    key = study.words(tag, score.key)
    return Estimate(key, bar.series, bar.value, score.low, score.high, f", {score.n:,} items")


def _caption(study: Study, drawn: Sequence[Bar], keys: int, left_out: int) -> str:
    counts = [bar.score.n for bar in drawn]
    said = f"{span(counts)} items a bar"
    if any(bar.score.low is not None for bar in drawn):
        said += ", with 95 % intervals over the units that items share"
    said += "."
    if left_out:
        bars_left = counted(left_out, "bars")
        said += f" Not drawn, in the numbers only: {bars_left} with fewer than {ITEMS} items or an "
        said += f"interval of more than {100 * WIDEST:.0f} points."
    if len(study.item_sets()) > 1:
        said += " Each run is on its own items: compare those on the same ones."
    if keys > MOST_KEYS:
        said += f" The {MOST_KEYS} with most items of {keys} are drawn."
    return said


def _order(by_key: Mapping[str, Sequence[Bar]]) -> list[str]:
    """Numbers by size, few words by their mean value, many words by how many items they have."""

    def mean(key: str) -> float:
        return float(np.mean([bar.value for bar in by_key[key]]))

    def items(key: str) -> int:
        return max(bar.score.n for bar in by_key[key])

    if all(in_order(key)[0] == 0 for key in by_key):
        return sorted(by_key, key=in_order)
    if all(map(BAND.match, by_key)):
        return sorted(by_key, key=_start)
    if len(by_key) > MOST_KEYS:
        return sorted(by_key, key=items, reverse=True)
    return sorted(by_key, key=lambda key: (-mean(key), key))


def _start(band: str) -> float:
    """Where a band of numbers begins.

    >>> _start("1.5-3"), _start("100+")
    (1.5, 100.0)
    """
    found = BAND.match(band)
    return float(found[1]) if found else 0.0


def _extremes(study: Study, found: Sequence[Bar], tag: str) -> str:
    """Where each model is highest and lowest, in words."""
    parts = []
    by_series = grouped(found, lambda bar: bar.series)
    for series in sorted(by_series)[:MOST_TOLD]:
        best = max(by_series[series], key=lambda bar: bar.value)
        worst = min(by_series[series], key=lambda bar: bar.value)
        high = f"highest for {study.words(tag, best.key)} ({whole_percent(best.value)})"
        low = f"lowest for {study.words(tag, worst.key)} ({whole_percent(worst.value)})"
        parts.append(f"{study.drawn_names[series]}: {high}, {low}")
    return "; ".join(parts)


# The headline measure in each wording of the prompt, for models that were asked in several.


MANY = 6  # wordings beyond which they stand in the order of their figures
Entrants = Mapping[int, Entrant]  # by the id() of their tables


class _Wordings(NamedTuple):
    """One model with its figure in each wording."""

    label: str
    series: int
    each: Sequence[tuple[str, Score, str]]  # the wording's name, and its text where the run says

    @property
    def values(self) -> list[float]:
        """The figures that are known."""
        return [score.value for _, score, _ in self.each if score.value is not None]

    def told(self) -> str:
        """Mean, worst, best and spread in a sentence."""
        low, high = min(self.values), max(self.values)
        return (
            f"{self.label}: {percentage(fmean(self.values), 1)} on average over "
            f"{len(self.values)} wordings, median {percentage(median(self.values), 1)}, "
            f"{percentage(low, 1)} to {percentage(high, 1)}, a spread of "
            f"{100 * (high - low):.1f} points"
        )


def over_prompts(study: Study) -> Iterator[Figure]:
    """A bar for each wording, if any model was asked in several; of many the best first."""
    measure = headline_measure(study.spec)
    tables = [entrant.table for entrant in study.entrants if len(entrant.table)]
    groups = [group for group in by_prompt(tables) if len(group) > 1]
    entrants = {id(entrant.table): entrant for entrant in study.entrants}
    models = [found for found in _models(groups, measure, entrants) if len(found.values) > 1]
    if models:
        yield _wordings_figure(models, measure, chance_of(measure, groups[0][0]))


def _prompt_text(entrant: Entrant) -> str:
    prompt = entrant.run.manifest.model_description.get("prompt")
    return str(prompt.get("label", "")) if isinstance(prompt, dict) else ""


def _models(
    groups: Sequence[Sequence[Table]], measure: Measure, entrants: Entrants
) -> Iterator[_Wordings]:
    names = [model_name(group[0].model) for group in groups]
    called = labels(names, [promptless(group[0]) for group in groups])
    for label, group in zip(called, groups, strict=True):
        each = []
        for table in group:
            text = _prompt_text(entrants[id(table)])
            each.append((prompt_name(table), scores(table, [measure])[0], text))
        if len(each) > MANY:
            each.sort(key=lambda one: -(one[1].value or 0.0))
        yield _Wordings(label, entrants[id(group[0])].series, each)  # the colour of its first run


def _wordings_figure(models: Sequence[_Wordings], measure: Measure, chance: float | None) -> Figure:
    drawn: list[Estimate] = []
    rows: list[tuple[Any, ...]] = []
    for found in models:
        for name, each, text in found.each:
            note = f" · {text}" if text else ""
            drawn.append(Estimate(name, found.series, each.value, each.low, each.high, note))
            figures = (each.value, each.low, each.high, each.chance, each.n)
            rows.append((found.label, name, *figures, text))
    told = "; ".join(found.told() for found in models)
    names = {found.series: found.label for found in models}
    body = bars(drawn, names, axis_name(measure.name), guide=chance)
    drawn_figure = figure("over-prompts", body, rows, measure=measure, told=told)
    if any(row[-1] for row in rows):
        return replace(drawn_figure, columns=(*drawn_figure.columns, "prompt"))
    return replace(drawn_figure, rows=tuple(row[:-1] for row in rows))  # the package's prompts

"""The headline measure in each wording of the prompt, for models that were asked in several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import Any, NamedTuple

from gnomon.contracts import Measure
from gnomon.measures.chance import chance_of
from gnomon.measures.prompts import by_prompt, prompt_name, promptless
from gnomon.measures.runlabels import labels
from gnomon.measures.scoring import score
from gnomon.measures.table import Table
from gnomon.records import Score
from gnomon.reports.charts.plots import Estimate, bars
from gnomon.reports.figures import Figure
from gnomon.reports.figures.slices import headline_measure
from gnomon.reports.study import Entrant, Study
from gnomon.reports.words import axis_name, measure_name, model_name, percentage

MANY = 6  # wordings beyond which they stand in the order of their figures
Entrants = Mapping[int, Entrant]  # by the id() of their tables


class Wordings(NamedTuple):
    """One model with its figure in each wording."""

    label: str
    series: int
    names: tuple[str, ...]
    scores: tuple[Score, ...]
    texts: tuple[str, ...]  # the prompts themselves, where the runs say

    @property
    def values(self) -> list[float]:
        """The figures that are known."""
        return [score.value for score in self.scores if score.value is not None]

    def told(self) -> str:
        """Mean, worst, best and spread in a sentence."""
        low, high = min(self.values), max(self.values)
        return (
            f"{self.label}: {percentage(fmean(self.values), 1)} on average over "
            f"{len(self.values)} wordings, median {percentage(median(self.values), 1)}, "
            f"{percentage(low, 1)} to {percentage(high, 1)}, a spread of "
            f"{100 * (high - low):.1f} points"
        )

    def best_first(self) -> Wordings:
        """The wordings in the order of their figures."""
        places = range(len(self.names))
        order = sorted(places, key=lambda place: -(self.scores[place].value or 0.0))
        return Wordings(
            self.label,
            self.series,
            tuple(self.names[place] for place in order),
            tuple(self.scores[place] for place in order),
            tuple(self.texts[place] for place in order),
        )


def over_prompts(study: Study) -> Iterator[Figure]:
    """A bar for each wording, if any model was asked in several; of many the best first."""
    measure = headline_measure(study.spec)
    tables = [entrant.table for entrant in study.entrants if len(entrant.table)]
    groups = [group for group in by_prompt(tables) if len(group) > 1]
    entrants = {id(entrant.table): entrant for entrant in study.entrants}
    models = [found for found in _models(groups, measure, entrants) if len(found.values) > 1]
    if models:
        yield _figure(models, measure, chance_of(measure, groups[0][0]))


def _prompt_text(entrant: Entrant) -> str:
    prompt = entrant.run.manifest.model_description.get("prompt")
    return str(prompt.get("label", "")) if isinstance(prompt, dict) else ""


def _models(
    groups: Sequence[Sequence[Table]], measure: Measure, entrants: Entrants
) -> Iterator[Wordings]:
    names = [model_name(group[0].model) for group in groups]
    called = labels(names, [promptless(group[0]) for group in groups])
    for label, group in zip(called, groups, strict=True):
        scores = tuple(score(table, measure) for table in group)
        said = tuple(_prompt_text(entrants[id(table)]) for table in group)
        series = entrants[id(group[0])].series  # the colour of its first run
        found = Wordings(label, series, tuple(map(prompt_name, group)), scores, said)
        yield found.best_first() if len(group) > MANY else found


def _figure(models: Sequence[Wordings], measure: Measure, chance: float | None) -> Figure:
    drawn: list[Estimate] = []
    rows: list[tuple[Any, ...]] = []
    for found in models:
        for name, each, text in zip(found.names, found.scores, found.texts, strict=True):
            note = f" · {text}" if text else ""
            drawn.append(Estimate(name, found.series, each.value, each.low, each.high, note))
            figures = (each.value, each.low, each.high, each.chance, each.n)
            rows.append((found.label, name, *figures, text))
    columns: tuple[str, ...] = ("model", "wording", measure.name, "low", "high", "chance", "n")
    if any(any(found.texts) for found in models):
        columns = (*columns, "prompt")
    else:  # the prompts are those of the package
        rows = [row[:-1] for row in rows]
    told = "; ".join(found.told() for found in models)
    names = {found.series: found.label for found in models}
    return Figure(
        name="over-prompts",
        title=f"{measure_name(measure.name)} by wording of the prompt",
        caption=f"{told}. The same items in other words; dashed: chance.",
        description=f"Bars by wording. {told}.",
        body=bars(drawn, names, axis_name(measure.name), guide=chance),
        columns=columns,
        rows=tuple(rows),
    )

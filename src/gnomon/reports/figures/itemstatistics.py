"""Items over several models: the hardest, those that better models miss, and means by slice."""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from gnomon.measures.itemstatistics import FEWEST_MODELS, item_statistics
from gnomon.reports.charts.axes import ChartBody
from gnomon.reports.charts.plots import CaptionedBar, Estimate, bars, captioned_bars
from gnomon.reports.charts.svg import MEANINGS
from gnomon.reports.figures import ITEMS, RUNS, Figure, enough, figure, grouped
from gnomon.reports.figures.slices import tags_of
from gnomon.reports.study import Entrant, Study
from gnomon.reports.words import counted, known, listed, plain

DRAWN = 12  # items in a drawing
LISTED = 200  # items in the table behind it
MOST_KEYS = 30  # values of a tag that are drawn
MOST_TAGS = 2
SERIES = ("share of models right", "discrimination")


class JudgedItem(NamedTuple):
    """An item, by its place in the study, with what the models make of it."""

    place: int
    difficulty: float  # share of models that are right
    discrimination: float  # NaN where all models agree


def over_models(study: Study) -> Iterator[Figure]:
    """The hardest items, the items that better models miss, and the means by slice."""
    entrants = judges(study)
    found = judged_items(entrants)
    if len(found) < ITEMS or len(entrants) < RUNS:
        return
    ranked = sorted(found, key=lambda each: (each.difficulty, study.items[each.place].id))
    yield _hardest(study, entrants, ranked)
    missed = [each for each in found if each.discrimination < 0]
    if missed:
        yield _missed(study, entrants, missed)
    for tag in tags_of(study)[:MOST_TAGS]:
        yield from _by_slice(study, entrants, found, tag)


def judges(study: Study) -> list[Entrant]:
    """The runs on the largest set of items that enough of them share.

    Baselines are among them only where there are too few models.
    """
    for members in study.item_sets():
        everyone = [study.entrants[i] for i in members]
        models = [entrant for entrant in everyone if not entrant.is_baseline]
        if len(models) >= FEWEST_MODELS:
            return models
        if len(everyone) >= FEWEST_MODELS:
            return everyone
    return []


def judged_items(entrants: Sequence[Entrant]) -> list[JudgedItem]:
    """The statistics of the items that all these models were asked; none without models."""
    if not entrants:
        return []
    places = np.flatnonzero(entrants[0].asked)
    right = np.stack([entrant.right[places] for entrant in entrants])
    found = item_statistics(right)
    columns = (places.tolist(), found.difficulty.tolist(), found.discrimination.tolist())
    return [JudgedItem(*row) for row in zip(*columns, strict=True)]


def _hardest(study: Study, entrants: Sequence[Entrant], ranked: Sequence[JudgedItem]) -> Figure:
    none = sum(each.difficulty == 0 for each in ranked)
    return figure(
        "hardest-items",
        _drawn(study, ranked),
        _rows(study, ranked),
        runs=len(entrants),
        models=listed([entrant.label for entrant in entrants]),
        none=counted(none, "items"),
        count=len(ranked),
        told=_told(study, ranked),
    )


def _missed(study: Study, entrants: Sequence[Entrant], missed: Sequence[JudgedItem]) -> Figure:
    ranked = sorted(missed, key=lambda each: (each.discrimination, -each.difficulty, each.place))
    few = f" With {len(entrants)} runs, many are below zero by chance."
    return figure(
        "items-that-better-models-miss",
        _drawn(study, ranked),
        _rows(study, ranked),
        runs=len(entrants),
        missed=counted(len(missed), "items"),
        few=few if len(entrants) < 10 else "",
        told=_told(study, ranked),
    )


def _by_slice(
    study: Study, entrants: Sequence[Entrant], found: Sequence[JudgedItem], tag: str
) -> Iterator[Figure]:
    """The means over the items with each value of a tag."""
    by_key = grouped(found, lambda each: study.items[each.place].tags.get(tag, ""))
    by_key.pop("", None)
    if not 2 <= len(by_key) <= MOST_KEYS:
        return
    rows, drawn = [], []
    for key, own in sorted(by_key.items()):
        difficulty = float(np.mean([each.difficulty for each in own]))
        discrimination = _mean_discrimination(own)
        rows.append((key, difficulty, discrimination, len(own)))
        if enough(len(own)):
            name = study.words(tag, key)
            drawn.append(Estimate(name, MEANINGS[0], difficulty))
            drawn.append(Estimate(name, MEANINGS[1], discrimination))
    if not drawn:
        return
    lowest = min(0.0, *(row[2] for row in rows if row[2] is not None), 0.0)
    names = dict(zip(MEANINGS, SERIES, strict=False))
    yield figure(
        "item-statistics",
        bars(drawn, names, "mean over items", domain=(lowest, 1.0)),
        rows,
        study=study,
        tag=tag,
        runs=len(entrants),
        told=", ".join(f"{key} {100 * share:.0f} %" for key, share, *_ in rows),
    )


def _mean_discrimination(items: Sequence[JudgedItem]) -> float | None:
    known = [each.discrimination for each in items if not isnan(each.discrimination)]
    return float(np.mean(known)) if known else None


def _drawn(study: Study, ranked: Sequence[JudgedItem]) -> ChartBody:
    found = []
    for each in ranked[:DRAWN]:
        name = study.items[each.place].id
        if not isnan(each.discrimination):
            name += f" (discrimination {each.discrimination:+.2f})"
        share = each.difficulty
        found.append(CaptionedBar("", plain(name), _question(study, each), share, share, share))
    return captioned_bars(found, "share of runs right")


def _question(study: Study, each: JudgedItem) -> str:
    item = study.items[each.place]
    return plain(" → ".join(filter(None, (item.context, item.text))), 200)


def _rows(study: Study, ranked: Sequence[JudgedItem]) -> Iterator[tuple[Any, ...]]:
    for each in ranked[:LISTED]:
        item = study.items[each.place]
        gold = " / ".join(item.gold)
        figures = each.difficulty, known(each.discrimination)
        yield (item.id, *figures, gold, _question(study, each))


def _told(study: Study, ranked: Sequence[JudgedItem]) -> str:
    parts = []
    for each in ranked[:DRAWN]:
        parts.append(f"{plain(study.items[each.place].id)} {100 * each.difficulty:.0f} %")
    return "; ".join(parts)

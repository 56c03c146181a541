"""Items over several models: the hardest, those that better models miss, and means by slice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from gnomon.measures.itemstatistics import FEWEST, item_statistics
from gnomon.reports.charts.plots import CaptionedBar, Estimate, bars, captioned_bars
from gnomon.reports.charts.svg import MEANINGS
from gnomon.reports.figures import ITEMS, RUNS, Figure, enough, grouped
from gnomon.reports.figures.files import file_name
from gnomon.reports.figures.slices import tags_of
from gnomon.reports.study import Entrant, Study
from gnomon.reports.words import counted, listed, plain

DRAWN = 12  # items in a drawing
LISTED = 200  # items in the table behind it
MOST_KEYS = 30  # values of a tag that are drawn
MOST_TAGS = 2
COLUMNS = ("item", "share of models right", "discrimination", "right answer", "question")
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
        if len(models) >= FEWEST:
            return models
        if len(everyone) >= FEWEST:
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
    return Figure(
        name="hardest-items",
        title=f"The hardest items over {len(entrants)} runs",
        caption=f"Share of runs that are right: {_names(entrants)}. "
        f"{counted(none, 'items')} of {len(ranked):,} no run gets right. Discrimination, in the "
        "table, is the correlation over runs of being right on the item with being right on the "
        "others.",
        description=f"Bars. {_told(study, ranked)}.",
        body=captioned_bars(_drawn(study, ranked), "share of runs right"),
        columns=COLUMNS,
        rows=_rows(study, ranked),
        detail=True,
    )


def _missed(study: Study, entrants: Sequence[Entrant], missed: Sequence[JudgedItem]) -> Figure:
    ranked = sorted(missed, key=lambda each: (each.discrimination, -each.difficulty, each.place))
    few = ""
    if len(entrants) < 10:
        few = f" With {len(entrants)} runs, many are below zero by chance."
    return Figure(
        name="items-that-better-models-miss",
        title=f"Items that better models miss, over {len(entrants)} runs",
        caption=f"{counted(len(missed), 'items')} with a discrimination below zero, the lowest "
        f"first: worse models get them right, better ones do not. Look at their labels.{few}",
        description=f"Bars. {_told(study, ranked)}.",
        body=captioned_bars(_drawn(study, ranked), "share of runs right"),
        columns=COLUMNS,
        rows=_rows(study, ranked),
        detail=True,
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
    told = [f"{key} {100 * share:.0f} %" for key, share, *_ in rows]
    yield Figure(
        name=f"item-statistics-by-{file_name(tag)}",
        title=f"Difficulty and discrimination by {study.words(tag)}",
        caption=f"Means over items, over {len(entrants)} runs. A slice with low discrimination "
        "does not tell models apart.",
        description=f"Bars. Share of runs right: {', '.join(told)}.",
        body=bars(
            drawn,
            dict(zip(MEANINGS, SERIES, strict=False)),
            "mean over items",
            domain=(lowest, 1.0),
        ),
        columns=(tag, *SERIES, "items"),
        rows=tuple(rows),
        detail=True,
    )


def _mean_discrimination(items: Sequence[JudgedItem]) -> float | None:
    known = [each.discrimination for each in items if not isnan(each.discrimination)]
    return float(np.mean(known)) if known else None


def _drawn(study: Study, ranked: Sequence[JudgedItem]) -> list[CaptionedBar]:
    found = []
    for each in ranked[:DRAWN]:
        item = study.items[each.place]
        name = item.id
        if not isnan(each.discrimination):
            name += f" (discrimination {each.discrimination:+.2f})"
        share = each.difficulty
        found.append(CaptionedBar("", plain(name), _question(study, each), share, share, share))
    return found


def _question(study: Study, each: JudgedItem) -> str:
    item = study.items[each.place]
    return plain(" → ".join(filter(None, (item.context, item.text))), 200)


def _rows(study: Study, ranked: Sequence[JudgedItem]) -> tuple[tuple[Any, ...], ...]:
    rows = []
    for each in ranked[:LISTED]:
        item = study.items[each.place]
        discrimination = None if isnan(each.discrimination) else each.discrimination
        gold = " / ".join(item.gold)
        rows.append((item.id, each.difficulty, discrimination, gold, _question(study, each)))
    return tuple(rows)


def _told(study: Study, ranked: Sequence[JudgedItem]) -> str:
    parts = []
    for each in ranked[:DRAWN]:
        parts.append(f"{plain(study.items[each.place].id)} {100 * each.difficulty:.0f} %")
    return "; ".join(parts)


def _names(entrants: Sequence[Entrant]) -> str:
    return listed([entrant.label for entrant in entrants])

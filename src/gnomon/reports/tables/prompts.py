"""Scores by wording and by place of the choices, and searches for wordings, as people read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import Any

from msgspec.structs import astuple

from gnomon.contracts import Listing
from gnomon.grouped import grouped
from gnomon.measures.entries import Entry
from gnomon.measures.places import Place, accuracy_spread, by_place
from gnomon.measures.prompts import PromptScore
from gnomon.measures.promptsearch import Search
from gnomon.measures.scoring import Scored
from gnomon.records import Score
from gnomon.reports.tables.scores import FIELDS, PLAIN, beside_chance
from gnomon.reports.words import interval, known, percent
from gnomon.tabular import Field, listing_of, render

MORE = (
    "label",
    "prompts",
    "median",
    "worst",
    "worst_prompt",
    "best",
    "best_prompt",
    "spread",
    "deviation",
)


def prompts_shown(
    scores: Sequence[PromptScore], format: str, *, plain: bool = False, level: float = 0.95
) -> str:
    """Scores over prompts in one of the formats: all fields, or a table for people."""
    if format in ("json", "csv"):
        return render(_all_fields(scores), format)
    slices = grouped(scores, lambda each: each.score.by)
    text = "\n\n".join(render(_listing(by, part, level), format) for by, part in slices.items())
    return text.translate(PLAIN) if plain else text


def _all_fields(scores: Sequence[PromptScore]) -> Listing:
    rows = []
    for each in scores:
        worst, best = each.worst, each.best
        extremes = (worst, each.prompt_of(worst), best, each.prompt_of(best))
        middle = (each.label, len(each.values), each.median)
        spread = (each.spread, known(each.deviation))
        rows.append((*astuple(each.score), *middle, *extremes, *spread))
    return Listing("", (*FIELDS, *MORE), tuple(rows))


def _listing(by: str, scores: Sequence[PromptScore], level: float) -> Listing:
    wide = f"{100 * level:g} % interval"
    fields = (
        Field("benchmark", lambda each: each.score.benchmark),
        Field("model", lambda each: each.label),
        Field("measure", lambda each: each.score.measure),
        Field(by, lambda each: each.score.key or "–", bool(by)),
        Field("mean", lambda each: percent(each.score.value)),
        Field(wide, lambda each: interval(each.score.low, each.score.high)),
        Field("chance", lambda each: percent(each.score.chance)),
        Field("median", lambda each: percent(each.median)),
        Field("worst", lambda each: percent(each.worst)),
        Field("best", lambda each: percent(each.best)),
        Field("spread", lambda each: f"{100 * each.spread:.1f}"),
        Field("prompts", lambda each: len(each.values)),
        Field("n", lambda each: each.score.n),
        Field("", _verdict, any(map(_verdict, scores))),
    )
    return listing_of("Over prompts", fields, scores)


def _verdict(each: PromptScore) -> str:
    return beside_chance(each.score.low, each.score.high, each.score.chance)


# A search for prompts as people and scripts read it: fold by fold, or every prompt in a row.


def fold_listing(search: Search, prompts: Sequence[str], objects: Sequence[int]) -> Listing:
    """A row for each fold: what it chose by how many items, and how that does on the others."""
    rows = []
    for number, fold in enumerate(search.folds):
        values = [percent(fold.values[name]) for name in search.measures]
        rows.append(
            (
                number + 1,
                objects[number],
                fold.choosing,
                percent(fold.chosen_by),
                fold.n,
                *values,
                prompts[fold.chosen],
            )
        )
    columns = ("fold", "objects", "chosen by", "there", "scored", *search.measures, "prompt")
    return Listing("Prompts chosen on one fold, scored on the others", columns, tuple(rows))


def mean_listing(search: Search) -> Listing:
    """Mean and standard deviation over folds, beside what the first prompt gets."""
    rows = []
    for name in search.measures:
        deviation = search.deviation(name)
        told = "" if isnan(deviation) else f"{100 * deviation:.1f}"
        rows.append((name, percent(search.mean(name)), told, percent(search.first(name))))
    columns = ("measure", "mean", "standard deviation", "first prompt")
    return Listing(f"Over {len(search.folds)} folds", columns, tuple(rows))


def grid_listing(scores: Sequence[Score], prompts: Sequence[str]) -> Listing:
    """A row for each prompt, the best first."""
    rows = []
    for number, score in enumerate(scores):
        cells = (percent(score.value), interval(score.low, score.high), score.n)
        rows.append((score.value or 0.0, number, cells))
    rows.sort(key=lambda row: (-row[0], row[1]))
    shown = [(number + 1, *cells, prompts[number]) for _, number, cells in rows]
    columns = ("wording", scores[0].measure, "95 % interval", "n", "prompt")
    return Listing("Every prompt on every item", columns, tuple(shown))


def search_fields(search: Search, prompts: Sequence[str]) -> dict[str, Any]:
    """A search for scripts: plain data, null where a figure is undefined."""
    folds = []
    for fold in search.folds:
        folds.append(
            {
                "wording": fold.chosen + 1,
                "prompt": prompts[fold.chosen],
                "choosing": fold.choosing,
                "chosen_by": known(fold.chosen_by),
                "n": fold.n,
                "values": _all_known(fold.values),
                "first": _all_known(fold.first),
            }
        )
    measures = search.measures
    return {
        "folds": folds,
        "mean": {name: known(search.mean(name)) for name in measures},
        "deviation": {name: known(search.deviation(name)) for name in measures},
        "first": {name: known(search.first(name)) for name in measures},
    }


def _all_known(values: Mapping[str, float]) -> dict[str, float | None]:
    return {name: known(value) for name, value in values.items()}


# Bias by place as scripts and people read it, for runs whose choices were permuted.


BY, CHOSEN = "place", "chosen"  # of a score: a share of answers by the place that was chosen


def is_permuted(entry: Entry) -> bool:
    """Whether the choices of a run were put in another order."""
    return "permute" in entry.table.settings


def place_listings(entries: Sequence[Entry], *, level: float = 0.95) -> Iterator[Listing]:
    """A table for each run whose choices were permuted."""
    for entry in entries:
        if not is_permuted(entry):
            continue
        places = by_place(entry.table, level=level)
        rows = [_cells(place) for place in places]
        spread = accuracy_spread(places)
        title = f"{entry.table.benchmark} · {entry.label}: by place of the choices"
        if not isnan(spread):
            title += f" (accuracy differs by {100 * spread:.1f} points)"
        wide = f"{100 * level:g} % interval"
        columns = ("place", "right", CHOSEN, wide, "", "accuracy if right there", wide, "n")
        yield Listing(title, columns, tuple(rows))


def _cells(place: Place) -> tuple[str | int, ...]:
    return (
        place.place,
        percent(place.right),
        percent(place.chosen),
        interval(place.low, place.high),
        place_verdict(place),
        percent(place.accuracy),
        interval(place.accuracy_low, place.accuracy_high),
        place.n,
    )


def place_verdict(place: Place) -> str:
    """Whether a place is chosen more or less often than it is right, in words."""
    if not place.is_biased:
        return ""
    return "too often" if place.excess > 0 else "too seldom"


def place_scores(entries: Sequence[Entry], *, level: float = 0.95) -> list[Scored]:
    """The same as scores: for each place the share of answers that chose it, and the accuracy.

    As chance of being chosen stands how often the place is right.
    """
    found = []
    for entry in entries:
        if not is_permuted(entry):
            continue
        for place in by_place(entry.table, level=level):
            found.append(Scored(_chosen(entry, place), entry.label, entry.table.about.seed))
            found.append(Scored(_accuracy(entry, place), entry.label, entry.table.about.seed))
    return found


def _chosen(entry: Entry, place: Place) -> Score:
    return Score(
        benchmark=entry.table.benchmark,
        model=entry.table.model,
        measure=CHOSEN,
        by=BY,
        key=str(place.place),
        value=place.chosen,
        low=known(place.low),
        high=known(place.high),
        chance=place.right,
        n=place.n,
        run=entry.table.about.folder,
    )


def _accuracy(entry: Entry, place: Place) -> Score:
    return Score(
        benchmark=entry.table.benchmark,
        model=entry.table.model,
        measure="accuracy",
        by=BY,
        key=str(place.place),
        value=known(place.accuracy),
        low=known(place.accuracy_low),
        high=known(place.accuracy_high),
        n=place.golds,
        run=entry.table.about.folder,
    )

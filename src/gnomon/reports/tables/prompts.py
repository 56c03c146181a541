"""Scores by wording and by place of the choices, and searches for wordings, as people read them."""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

from msgspec.structs import astuple, replace

from gnomon.contracts import Listing
from gnomon.grouped import grouped
from gnomon.measures.entries import ScoredTable
from gnomon.measures.itemstatistics import PlacePicks, accuracy_spread, by_place
from gnomon.measures.prompts import PromptScore, Search
from gnomon.measures.scoring import Scored
from gnomon.records import Score
from gnomon.reports.tables.scores import FIELDS, PLAIN, beside_chance
from gnomon.reports.words import interval, known, percent
from gnomon.tabular import Field, listing_of, render


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
    own = (
        Field("label", lambda each: each.label),
        Field("prompts", lambda each: len(each.values)),
        Field("median", lambda each: each.median),
        Field("worst", lambda each: each.worst),
        Field("worst_prompt", lambda each: each.prompt_of(each.worst)),
        Field("best", lambda each: each.best),
        Field("best_prompt", lambda each: each.prompt_of(each.best)),
        Field("spread", lambda each: each.spread),
        Field("deviation", lambda each: known(each.deviation)),
    )
    rows = []
    for each in scores:
        rows.append((*astuple(each.score), *(field.cell(each) for field in own)))
    return Listing("", (*FIELDS, *(field.head for field in own)), tuple(rows))


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
        Field("verdict", _verdict, any(map(_verdict, scores))),
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
        counts = (number + 1, objects[number], fold.choosing, percent(fold.chosen_by), fold.n)
        rows.append((*counts, *values, prompts[fold.chosen]))
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
                "values": {name: known(value) for name, value in fold.values.items()},
                "first": {name: known(value) for name, value in fold.first.items()},
            }
        )
    found: dict[str, Any] = {"folds": folds}
    for key, figure in (
        ("mean", search.mean),
        ("deviation", search.deviation),
        ("first", search.first),
    ):
        found[key] = {name: known(figure(name)) for name in search.measures}
    return found


# Bias by place as scripts and people read it, for runs whose choices were permuted.


BY, CHOSEN = "place", "chosen"  # of a score: a share of answers by the place that was chosen


def is_permuted(entry: ScoredTable) -> bool:
    """Whether the choices of a run were put in another order."""
    return "permute" in entry.table.settings


def place_listings(entries: Sequence[ScoredTable], *, level: float = 0.95) -> Iterator[Listing]:
    """A table for each run whose choices were permuted."""
    wide = f"{100 * level:g} % interval"
    fields = (
        Field("place", lambda place: place.place),
        Field("right", lambda place: percent(place.right)),
        Field(CHOSEN, lambda place: percent(place.chosen)),
        Field(wide, lambda place: interval(place.low, place.high)),
        Field("", place_verdict),
        Field("accuracy if right there", lambda place: percent(place.accuracy)),
        Field(wide, lambda place: interval(place.accuracy_low, place.accuracy_high)),
        Field("n", lambda place: place.n),
    )
    for entry in filter(is_permuted, entries):
        places = by_place(entry.table, level=level)
        spread = accuracy_spread(places)
        title = f"{entry.table.benchmark} · {entry.label}: by place of the choices"
        if not isnan(spread):
            title += f" (accuracy differs by {100 * spread:.1f} points)"
        yield listing_of(title, fields, places)


def place_verdict(place: PlacePicks) -> str:
    """Whether a place is chosen more or less often than it is right, in words."""
    if not place.is_biased:
        return ""
    return "too often" if place.excess > 0 else "too seldom"


def place_scores(entries: Sequence[ScoredTable], *, level: float = 0.95) -> list[Scored]:
    """The same as scores: for each place the share of answers that chose it, and the accuracy.

    As chance of being chosen stands how often the place is right.
    """
    found = []
    for entry in filter(is_permuted, entries):
        for place in by_place(entry.table, level=level):
            accuracy = Score(
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
            chosen = replace(
                accuracy,
                measure=CHOSEN,
                value=place.chosen,
                low=known(place.low),
                high=known(place.high),
                chance=place.right,
                n=place.n,
            )
            for score in (chosen, accuracy):
                found.append(Scored(score, entry.label, entry.table.about.seed))
    return found

"""Bias by place as scripts and people read it, for runs whose choices were permuted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

from gnomon.contracts import Listing
from gnomon.measures.entries import ScoredTable
from gnomon.measures.itemstatistics import PlacePicks, accuracy_spread, by_place
from gnomon.measures.scoring import Scored
from gnomon.records import Score
from gnomon.reports.tables.scores import interval, percent
from gnomon.reports.words import known

BY, CHOSEN = "place", "chosen"  # of a score: a share of answers by the place that was chosen


def is_permuted(entry: ScoredTable) -> bool:
    """Whether the choices of a run were put in another order."""
    return "permute" in entry.table.settings


def place_listings(entries: Sequence[ScoredTable], *, level: float = 0.95) -> Iterator[Listing]:
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


def _cells(place: PlacePicks) -> tuple[str | int, ...]:
    return (
        place.place,
        percent(place.right),
        percent(place.chosen),
        interval(place.low, place.high),
        verdict(place),
        percent(place.accuracy),
        interval(place.accuracy_low, place.accuracy_high),
        place.n,
    )


def verdict(place: PlacePicks) -> str:
    """Whether a place is chosen more or less often than it is right, in words."""
    if not place.is_biased:
        return ""
    return "too often" if place.excess > 0 else "too seldom"


def place_scores(entries: Sequence[ScoredTable], *, level: float = 0.95) -> list[Scored]:
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


def _chosen(entry: ScoredTable, place: PlacePicks) -> Score:
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


def _accuracy(entry: ScoredTable, place: PlacePicks) -> Score:
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

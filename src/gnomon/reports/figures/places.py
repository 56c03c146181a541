"""Bias by place, for runs whose choices were permuted: how often each place is picked and right."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import Any

from gnomon.measures.itemstatistics import PlacePicks, accuracy_spread
from gnomon.measures.itemstatistics import by_place as places_of
from gnomon.reports.charts.plots import Estimate, bars
from gnomon.reports.charts.svg import MEANINGS
from gnomon.reports.figures import Figure
from gnomon.reports.figures.enough import enough
from gnomon.reports.study import Entrant, Study
from gnomon.reports.tables.export import file_name

SERIES = ("chosen", "right", "accuracy if the right answer stands there")


def by_place(study: Study) -> Iterator[Figure]:
    """One figure for each run whose choices were permuted."""
    for entrant in study.entrants:
        if entrant.run.manifest.permute is None:
            continue
        places = places_of(entrant.table)
        if places and enough(len(entrant.table)):
            yield _figure(entrant, places)


def _figure(entrant: Entrant, places: list[PlacePicks]) -> Figure:
    drawn = []
    for place in places:
        key = f"place {place.place}"
        low, high = _known(place.accuracy_low), _known(place.accuracy_high)
        drawn.append(
            Estimate(key, MEANINGS[0], place.chosen, _known(place.low), _known(place.high))
        )
        drawn.append(Estimate(key, MEANINGS[1], place.right))
        drawn.append(Estimate(key, MEANINGS[2], _known(place.accuracy), low, high))
    told = [f"place {each.place} {100 * each.chosen:.1f} %" for each in places]
    return Figure(
        name=f"by-place-{file_name(entrant.label)}",
        title=f"Bias by place: {entrant.label}",
        caption=_caption(entrant, places),
        description=f"Bars. Chosen: {', '.join(told)}.",
        body=bars(drawn, dict(zip(MEANINGS, SERIES, strict=False)), "share of items"),
        columns=PlacePicks._fields,
        rows=tuple(map(_row, places)),
    )


def _row(place: PlacePicks) -> tuple[Any, ...]:
    return tuple(map(_known, place))


def _known(value: float) -> float | None:
    return None if isnan(value) else value


def _caption(entrant: Entrant, places: list[PlacePicks]) -> str:
    said = (
        "The choices of each item stood in an order of its own. Without a bias, a place is chosen "
        f"as often as it is right. Accuracy differs by {100 * accuracy_spread(places):.1f} points "
        "between places of the right answer."
    )
    unlisted = entrant.run.manifest.unlisted
    if unlisted:
        said += (
            f" The prompt does not list the choices of {', '.join(unlisted)} items: their order "
            "changes nothing there."
        )
    return said

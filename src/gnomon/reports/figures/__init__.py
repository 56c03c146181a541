"""Figures: each is a function from a study to charts, listed in the registry.

A figure that does not apply to a study gives nothing. It carries its drawing, a description in
words and the numbers behind it, so that the page can show all three and `gnomon report --figures`
can write SVG, PNG and CSV.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gnomon.contracts import Measure
from gnomon.grouped import grouped
from gnomon.records import Score
from gnomon.reports.charts.axes import WIDTH, ChartBody
from gnomon.reports.charts.svg import drawing
from gnomon.reports.study import Study

__all__ = ["Figure", "enough", "figures", "grouped", "well_known"]

# How many items a bar, a point or a cell needs before it is drawn: the one rule of all charts. What
# rests on less says more about chance than about the model; it stays in the numbers behind a chart.
ITEMS = 20  # that a bar, a point or a row of a matrix rests on
WIDEST = 0.5  # of a 95 % interval, as a share of the whole axis
GROUPS = 10  # that a figure of whole groups rests on
GROUP = 8  # items that a group has on average, before shares of groups are drawn
RUNS = 3  # that a share of runs, as on a single item, rests on
RULE = (
    f"Bars and points are drawn from {ITEMS} items (or {GROUPS} whole groups) on, where the 95 % "
    f"interval is at most {100 * WIDEST:.0f} points wide; the numbers behind a chart hold the rest."
)


@dataclass(frozen=True)
class Figure:
    """One chart of a study."""

    name: str  # unique within its study; names the files
    title: str
    caption: str  # how to read it
    description: str  # what it shows, for those who do not see it
    body: ChartBody
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    detail: bool = False  # folded away on the page until somebody asks for it

    def svg(self, prefix: str = "") -> str:
        """The drawing; `prefix` keeps the ids of several studies apart on one page."""
        markup, height = self.body
        name = f"{prefix}{self.name}"
        return drawing(WIDTH, height, [markup], self.title, self.description, name)


def figures(study: Study) -> list[Figure]:
    """The figures that apply to a study; none to one whose items name no right answers."""
    from gnomon import registry

    if not study.items:
        return []

    found: list[Figure] = []
    for draw in registry.figures().values():
        found += draw(study)
    return found


def enough(n: int) -> bool:
    """Whether a share of n items is worth drawing.

    >>> enough(3), enough(40)
    (False, True)
    """
    return n >= ITEMS


def well_known(score: Score, measure: Measure) -> bool:
    """Whether a figure is worth drawing; one of whole groups counts groups, not items."""
    least = GROUPS if measure.least_group else ITEMS
    if score.value is None or score.n < least:
        return False
    if score.low is None or score.high is None:
        return True
    return score.high - score.low <= WIDEST

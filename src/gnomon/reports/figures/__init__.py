"""Figures: each is a function from a study to charts, listed in the registry.

A figure that does not apply to a study gives nothing. It carries its drawing, a description in
words and the numbers behind it, so that the page can show all three and `gnomon report --figures`
can write SVG, PNG and CSV.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gnomon.grouped import grouped
from gnomon.reports.charts.axes import WIDTH, Body
from gnomon.reports.charts.svg import drawing
from gnomon.reports.study import Study

__all__ = ["Figure", "figures", "grouped"]


@dataclass(frozen=True)
class Figure:
    """One chart of a study."""

    name: str  # unique within its study; names the files
    title: str
    caption: str  # how to read it
    description: str  # what it shows, for those who do not see it
    body: Body
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

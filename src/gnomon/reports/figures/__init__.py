"""Figures: each is a function from a study to charts, listed in the registry.

A figure that does not apply to a study gives nothing. It carries its drawing, a description in
words and the numbers behind it, so that the page can show all three and `gnomon report --figures`
can write SVG, PNG and CSV.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from gnomon.contracts import Measure
from gnomon.files import read_yaml
from gnomon.grouped import grouped
from gnomon.records import Score
from gnomon.reports.charts.axes import WIDTH, ChartBody
from gnomon.reports.charts.svg import ASSETS, drawing, standalone
from gnomon.reports.study import Study
from gnomon.reports.words import measure_name
from gnomon.tabular import columns_of, frame_of

__all__ = ["Figure", "enough", "figure", "figures", "grouped", "well_known"]

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

    def save(self, path: str | Path) -> Path:
        """Write it as a file: .svg, .pdf, .png, or .csv for the numbers behind it."""
        from gnomon.reports.figures.files import save_figure

        return save_figure(self, Path(path))

    def to_frame(self, library: str = "") -> Any:
        """The numbers behind it as a DataFrame of pandas or polars."""
        return frame_of(columns_of(self.columns, self.rows), library)

    def _repr_svg_(self) -> str:
        return standalone(self.svg())


class FigureText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What stands around a kind of chart, with places in braces for what the study says."""

    title: str
    caption: str
    description: str
    columns: tuple[str, ...]
    name: str = ""  # where it is not that of the kind
    detail: bool = False


@cache
def figure_texts() -> dict[str, FigureText]:
    """The texts by kind of chart."""
    return msgspec.convert(read_yaml(ASSETS / "figures.yaml"), dict[str, FigureText])


def figure(
    kind: str,
    body: ChartBody,
    rows: Iterable[tuple[Any, ...]],
    *,
    study: Study | None = None,
    tag: str = "",
    measure: Measure | None = None,
    **words: Any,
) -> Figure:
    """A chart with the texts of its kind, and these words in their places.

    Some follow from its study, the tag that it is by, and its measure.
    """
    text = figure_texts()[kind]
    words["items"] = ITEMS
    if study is not None:
        words["noun"], words["tag"], words["tag_words"] = study.noun, tag, study.words(tag)
    words["file"] = file_name(tag or words.get("file", ""))
    if measure is not None:
        words["measure"], words["measure_id"] = measure_name(measure.name), measure.name
        words["stem"] = measure.name.replace("@", "-")
    return Figure(
        name=(text.name or kind).format(**words),
        title=text.title.format(**words),
        caption=text.caption.format(**words),
        description=text.description.format(**words),
        body=body,
        columns=tuple(column.format(**words) for column in text.columns),
        rows=tuple(rows),
        detail=text.detail,
    )


def figures(study: Study) -> list[Figure]:
    """The figures that apply to a study; none to one whose items name no right answers."""
    from gnomon import registry

    if not study.items:
        return []

    found: list[Figure] = []
    for draw in registry.figures().values():
        found += draw(study)
    return found


def file_name(text: str) -> str:
    """A name that every file system takes.

    >>> file_name("scales@fresh"), file_name("../a b")
    ('scales-fresh', 'a-b')
    """
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.")[:100] or "figure"


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

"""The overview in a terminal: models by benchmarks, the other way round where that fits better."""

from collections.abc import Iterator, Mapping
from math import isnan
from textwrap import wrap
from typing import Any

from gnomon.contracts import Listing
from gnomon.errors import inert
from gnomon.reports.overview import (
    IN_WORDS,
    Overview,
    OverviewCell,
    OverviewColumn,
    in_words,
)
from gnomon.reports.words import capitalised, interval, known, measure_name, per_cent, percent
from gnomon.tabular import UNCUT, Field, listing_of, render, room, too_wide

LONGEST = 100  # characters of a line of prose
Marked = Mapping[tuple[str, str], str]


def in_terminal(
    found: Overview,
    *,
    intervals: bool = True,
    marks: Marked | None = None,
    words: bool = True,
    width: int | None = None,
) -> str:
    """The whole overview as text: the table, what its signs mean, and what to know of it.

    With `words`, also what each model knows: of benchmarks, not of the values of a tag.
    """
    below = [*_words(found, width)] if words else []
    below += _notes(found, width)
    if len(found.models) == 1:
        return "\n".join([_of_one_model(found, width), *below])
    marks = marks or {}
    table = _fitting(found, intervals, marks, width)
    return "\n".join([table, *_legend(found, table, width), *below])


def _of_one_model(found: Overview, width: int | None) -> str:
    """One line a benchmark, with words for its verdict."""
    model = found.models[0]

    def cell(column: OverviewColumn) -> OverviewCell:
        return found.cells[model, column.name]

    for lean in (False, True):
        fields = (
            Field("benchmark", lambda column: column.name),
            Field("measure", lambda column: measure_name(column.measure).lower(), not lean),
            Field("score", lambda column: percent(cell(column).value)),
            Field(f"{100 * found.level:g} % interval", lambda column: _range(cell(column))),
            Field("chance", lambda column: percent(cell(column).chance)),
            Field("verdict", lambda column: IN_WORDS[cell(column).verdict]),
            Field("items", lambda column: cell(column).items, not lean),
        )
        listing = listing_of(model, fields, found.columns)
        whole = render(listing, width=UNCUT)
        if not too_wide(whole, width):
            return whole
    return render(listing, width=width)


def _range(cell: OverviewCell) -> str:
    return interval(known(cell.low), known(cell.high))


def _fitting(found: Overview, intervals: bool, marks: Marked, width: int | None) -> str:
    """The first way to lay the table out that fits: intervals go before anything is cut."""
    ways = [True, False] if intervals else [False]
    for with_intervals in ways:
        for layout in (_by_model, _by_benchmark):
            whole = render(layout(found, with_intervals, marks), width=UNCUT)
            if not too_wide(whole, width):
                return whole
    return render(_by_benchmark(found, False, marks), width=width)


def _by_model(found: Overview, intervals: bool, marks: Marked) -> Listing:
    heads = ["model", *(column.name for column in found.columns)]
    if found.mean_rank:
        heads.append("mean rank")
    rows = []
    for model in found.models:
        cells: list[Any] = [model]
        for column in found.columns:
            cells.append(_cell(found, model, column, intervals, marks))
        if found.mean_rank:
            cells.append(found.rank(model) or "–")
        rows.append(tuple(cells))
    chance: list[Any] = ["chance", *map(_chance, found.columns)]
    if found.mean_rank:
        chance.append("")
    return Listing(_title(found), tuple(heads), (*rows, tuple(chance)))


def _by_benchmark(found: Overview, intervals: bool, marks: Marked) -> Listing:
    """The same the other way round."""
    whole = _by_model(found, intervals, marks)
    (_, *models), *rows = zip(whole.columns, *whole.rows, strict=True)
    return Listing(whole.title, ("benchmark", *models), tuple(rows))


def _title(found: Overview) -> str:
    measures = list(dict.fromkeys(measure_name(column.measure) for column in found.columns))
    return f"{capitalised(', '.join(measures).lower())}, in per cent"


def _cell(
    found: Overview, model: str, column: OverviewColumn, intervals: bool, marks: Marked
) -> str:
    cell = found.cells.get((model, column.name))
    if cell is None or isnan(cell.value):
        return "    –"
    text = f"{per_cent(cell.value, 1):>5}"
    if intervals and not isnan(cell.low):
        text += f" [{interval(cell.low, cell.high, 'to')}]"
    mark = marks.get((model, column.name), "")
    return f"{text} {cell.marks} {mark}".rstrip()


def _chance(column: OverviewColumn) -> str:
    return f"{per_cent(column.chance, 1):>5}" if column.chance is not None else "    –"


def _legend(found: Overview, table: str, width: int | None) -> Iterator[str]:
    """What the signs mean that occur."""
    meanings = [f"{sign} {meaning}" for sign, meaning in found.legend.items()]
    longest = max(map(len, table.splitlines()))
    yield from wrap("; ".join(meanings), min(room(width), longest))


def _words(found: Overview, width: int | None) -> Iterator[str]:
    """What each model knows."""
    for model in found.models:
        told = in_words(found, model)
        if told and len(found.columns) > 1:
            line = inert(f"{model}: {told}.")
            yield from wrap(line, _room(width), subsequent_indent="  ")


def _notes(found: Overview, width: int | None) -> Iterator[str]:
    """What to know of the figures."""
    for note in found.notes:
        yield from wrap(inert(note), _room(width))


def _room(width: int | None) -> int:
    return min(room(width), LONGEST)

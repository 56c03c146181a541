"""Each paper's results tables in its own layout, with runs as further rows beside the published
models.

The published figures (data/published/*.csv) and the layouts (layouts.yaml) are data; a run's cell
is the same measure on the same slice, so that the two can be read side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import sqrt

import msgspec

from gnomon.contracts import Listing
from gnomon.errors import UsageError, unknown
from gnomon.files import package_data, parse, read_table, read_yaml
from gnomon.records import Score

Cells = dict[
    tuple[str, str, str, str, str], dict[str, Score]
]  # benchmark, form, measure, by, key -> model -> score
FIELDS = ("paper", "table", "model", "benchmark", "measure", "by", "key", "value", "sd", "note")


class Figure(msgspec.Struct, frozen=True):
    """One published figure, a fraction, with the table it stands in."""

    paper: str
    table: str
    model: str
    benchmark: str
    measure: str
    by: str
    key: str
    value: float
    sd: float | None
    note: str


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A column of a paper's table: a measure, on all items or on one slice."""

    head: str
    measure: str
    benchmark: str = ""  # where it is empty, the table's; the same for the form
    form: str = ""
    by: str = ""
    key: str = ""
    sd: bool | str = False  # true: as published; a tag: the spread over its slices


class Layout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One results table of a paper."""

    table: str
    title: str
    columns: tuple[Column, ...]
    benchmark: str = ""
    form: str = ""  # the table is about items of this form only


class Paper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The results tables of one paper, and how many digits they print."""

    digits: int
    tables: tuple[Layout, ...]


@cache
def figures(name: str) -> tuple[Figure, ...]:
    """The published figures in data/published/NAME.csv.

    >>> figures("vsr")[0].value
    0.954
    """
    file = package_data(f"published/{name}.csv")
    found = []
    for line, row in read_table(file, FIELDS):
        value, sd = (
            parse(row[key], float, field=key, file=file, line=line) if row[key] else None
            for key in ("value", "sd")
        )
        if value is not None:
            texts = {key: row[key] for key in FIELDS if key not in ("value", "sd")}
            found.append(Figure(**texts, value=value, sd=sd))
    return tuple(found)


@cache
def papers() -> dict[str, Paper]:
    """The papers by their short names."""
    return msgspec.convert(read_yaml(package_data("published/layouts.yaml")), dict[str, Paper])


def needed(paper: str, benchmark: str) -> set[tuple[str, str, str]]:
    """The forms, measures and tags (form, measure, by) that a paper's tables need of runs on a
    benchmark."""
    wanted = set()
    for layout in _paper(paper).tables:
        for column in _columns(layout):
            if column.benchmark == benchmark:
                wanted.add((column.form, column.measure, column.by))
                if isinstance(column.sd, str):
                    wanted.add((column.form, column.measure, column.sd))
    return wanted


def like_paper(paper: str, csv: str, scores: Mapping[str, Iterable[Score]]) -> list[Listing]:
    """The tables of a paper for which there are scores (by form): published models first, then the
    runs' models."""
    cells: Cells = {}
    for form, found in scores.items():
        for score in found:
            name = score.benchmark.partition("@")[0]
            cells.setdefault((name, form, score.measure, score.by, score.key), {})[score.model] = (
                score
            )
    digits = _paper(paper).digits
    tables = []
    for layout in _paper(paper).tables:
        columns = _columns(layout)
        ours = dict.fromkeys(model for column in columns for model in cells.get(_place(column), ()))
        if not ours:
            continue
        theirs = [f for f in figures(csv) if f.table == layout.table]
        rows = [
            (model, *(_published(c, model, theirs, digits) for c in columns))
            for model in dict.fromkeys(f.model for f in theirs)
        ]
        rows = [row for row in rows if any(cell is not None for cell in row[1:])]
        rows += [(model, *(_measured(c, model, cells, digits) for c in columns)) for model in ours]
        tables.append(
            Listing(
                f"{paper}, {layout.table}. {layout.title} (%){_fresh(columns, cells)}",
                ("Model", *(c.head for c in columns)),
                tuple(rows),
            )
        )
    return tables


def _fresh(columns: Iterable[Column], cells: Cells) -> str:
    """For the title: that runs in this table did not answer the paper's items."""
    sources = {
        score.benchmark.partition("@")[2]
        for c in columns
        for score in cells.get(_place(c), {}).values()
    }
    if "fresh" not in sources:
        return ""
    return (
        "; the runs answered fresh items"
        if sources == {"fresh"}
        else "; some runs answered fresh items"
    )


def _columns(layout: Layout) -> list[Column]:
    """The columns of a table, with what they take over from it filled in."""
    return [
        msgspec.structs.replace(
            c, benchmark=c.benchmark or layout.benchmark, form=c.form or layout.form
        )
        for c in layout.columns
    ]


def _place(column: Column) -> tuple[str, str, str, str, str]:
    return column.benchmark, column.form, column.measure, column.by, column.key


def _paper(name: str) -> Paper:
    if not name:
        raise UsageError("These runs are not on a benchmark of one of the papers.")
    if name not in papers():
        raise unknown("paper", name, papers())
    return papers()[name]


def _published(column: Column, model: str, rows: Sequence[Figure], digits: int) -> str | None:
    for row in rows:
        if (row.model, row.benchmark, row.measure, row.by, row.key) == (
            model,
            column.benchmark,
            column.measure,
            column.by,
            column.key,
        ):
            return _cell(row.value, row.sd if column.sd else None, digits)
    return None


def _measured(column: Column, model: str, cells: Cells, digits: int) -> str | None:
    score = cells.get(_place(column), {}).get(model)
    if score is None or score.value is None:
        return None
    sd = None
    if isinstance(column.sd, str):
        values = [
            found[model].value
            for (*place, by, _), found in cells.items()
            if (*place, by) == (column.benchmark, column.form, column.measure, column.sd)
            and model in found
        ]
        sd = _sample_sd([value for value in values if value is not None])
    return _cell(score.value, sd, digits)


def _cell(value: float, sd: float | None, digits: int) -> str:
    """Rounded once, half away from zero as the papers print it."""
    text = f"{100 * value + 1e-9:.{digits}f}"
    return text if sd is None else f"{text} ({100 * sd + 1e-9:.{digits}f})"


def _sample_sd(values: Sequence[float]) -> float | None:
    """Standard deviation with n - 1, as in Tables 2 and 6 of the spatialQA paper."""
    if len(values) < 2:
        return None
    mean = sum(values) / len(values)
    return sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))

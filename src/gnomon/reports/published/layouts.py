"""The papers' results tables: published rows first, then the runs.

How each paper lays them out is in data/published/layouts.yaml. Every figure that the package holds
has a place in a table. A run's cell is the same measure on the same slice, so that the two can be
read side by side; a column that no run can fill says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from functools import cache
from statistics import stdev
from typing import Literal, NamedTuple

import msgspec

from gnomon.contracts import Listing
from gnomon.errors import UsageError, check_known
from gnomon.files import package_data, read_yaml
from gnomon.reports.published.results import Result

ROUNDING = {"half up": ROUND_HALF_UP, "half even": ROUND_HALF_EVEN}


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A column of a paper's table: a measure, on all items or on one slice."""

    head: str
    measure: str
    benchmark: str = ""  # where it is empty, the table's; the same for the form
    form: str = ""
    by: str = ""
    key: str = ""
    spread: str = ""  # a run's spread is over its slices by this tag
    digits: int | None = None  # where it is none, the paper's
    paper_only: bool = False  # a run has no such figure
    options: Mapping[str, str] = {}  # with which the paper's items are asked for
    ours: str = ""  # the measure of runs, where the paper's means something else


class Layout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One results table of a paper."""

    table: str
    title: str
    columns: tuple[Column, ...]
    benchmark: str = ""
    form: str = ""  # the table is about items of this form only
    beside: tuple[str, ...] = ()  # forms of other rows that the paper prints in the same table

    def filled(self) -> list[Column]:
        """The columns, with what they take over from the table."""
        found = []
        for column in self.columns:
            benchmark = column.benchmark or self.benchmark
            form = column.form or self.form
            found.append(msgspec.structs.replace(column, benchmark=benchmark, form=form))
        return found


class Paper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The results tables of one paper, and how it prints its figures."""

    digits: int
    tables: tuple[Layout, ...]
    spread_digits: int | None = None  # of spreads below 10 %, where they have more digits
    rounding: Literal["half up", "half even"] = "half up"
    spread_after: Literal["brackets", "plus-minus"] = "brackets"  # 57.4 (0.9) or 57.4 ± 0.9


class Place(NamedTuple):
    """Which figure stands in a cell."""

    benchmark: str
    form: str
    measure: str
    by: str
    key: str


Value = float | None  # none where the groups are too small for the figure


@dataclass
class RunFigures:
    """The figures of a model's runs on the benchmarks of one paper, a row of its tables."""

    sources: set[str]  # of the items: published, fresh
    values: dict[Place, Value]
    deviations: dict[Place, float] = field(default_factory=dict)  # over seeds, where several ran


@cache
def papers() -> dict[str, Paper]:
    """The papers by their short names."""
    return msgspec.convert(read_yaml(package_data("published/layouts.yaml")), dict[str, Paper])


def paper_named(name: str) -> Paper:
    """The paper of that name."""
    if not name:
        raise UsageError(
            "These runs are not on a benchmark of one of the papers.",
            "Score them without --like-paper.",
        )
    check_known("paper", name, papers())
    return papers()[name]


def needed(paper: str, benchmark: str) -> set[tuple[str, str, str]]:
    """The forms, measures and tags that a paper's tables need of runs on a benchmark."""
    wanted: set[tuple[str, str, str]] = set()
    for _, column in columns_on(paper, benchmark):
        if not column.paper_only:
            measure = column.ours or column.measure
            wanted.add((column.form, measure, column.by))
            wanted.add((column.form, measure, column.spread or column.by))
    return wanted


def columns_on(paper: str, benchmark: str) -> list[tuple[str, Column]]:
    """The columns of a paper that are about one benchmark, each with the name of its table."""
    found = []
    for layout in paper_named(paper).tables:
        found += [(layout.table, column) for column in layout.filled()]
    return [(table, column) for table, column in found if column.benchmark == benchmark]


def like_paper(
    paper: str, results: Sequence[Result], runs: Mapping[str, RunFigures]
) -> list[Listing]:
    """The tables of a paper for which runs, by their names, have a figure."""
    how = paper_named(paper)
    tables = []
    for layout in how.tables:
        columns = layout.filled()
        places = {_run_place(column) for column in columns if not column.paper_only}
        shown = {name: run for name, run in runs.items() if places & run.values.keys()}
        if not shown:
            continue
        rows = published_rows(how, layout, results)
        for name, run in shown.items():
            rows.append((name, *(_measured(how, column, run) for column in columns)))
        heads = [column.head for column in columns]
        whose = _whose_items(set().union(*(run.sources for run in shown.values())))
        title = f"{paper}, {layout.table}. {layout.title} (%){whose}"
        tables.append(Listing(title, ("Model", *heads), tuple(rows)))
    return tables


def published_rows(
    how: Paper, layout: Layout, results: Sequence[Result]
) -> list[tuple[str | None, ...]]:
    """The rows of a table as the paper has them: a model's name, then its cells."""
    forms = {column.form for column in layout.filled()} | set(layout.beside)
    here = [r for r in results if r.table == layout.table and r.form in forms]
    rows: dict[tuple[str, str], dict[Place, Result]] = {}
    for result in here:
        rows.setdefault((result.model, result.variant), {})[place_of(result)] = result

    told = len({result.variant for result in here if result.kind == "model"}) > 1
    found: list[tuple[str | None, ...]] = []
    for (model, variant), own in rows.items():
        name = f"{model}, {variant}" if variant and told else model
        cells = [_printed(how, column, _found(column, own, layout)) for column in layout.filled()]
        found.append((name, *cells))
    return found


def _found(column: Column, own: Mapping[Place, Result], layout: Layout) -> Result | None:
    """A row's figure for a column: of its form, or of a form that stands beside it."""
    place = place_of(column)
    for form in (place.form, *layout.beside):
        if place._replace(form=form) in own:
            return own[place._replace(form=form)]
    return None


def place_of(what: Column | Result) -> Place:
    """Where a figure stands."""
    return Place(what.benchmark, what.form, what.measure, what.by, what.key)


def _run_place(column: Column) -> Place:
    """Where a run's figure for a column stands."""
    place = place_of(column)
    return place._replace(measure=column.ours or column.measure)


def rounded(value: float, digits: int, rounding: str) -> str:
    """A fraction in per cent, rounded once, as the paper rounds.

    >>> rounded(58 / 160, 1, "half even"), rounded(58 / 160, 1, "half up")
    ('36.2', '36.3')
    """
    exact = Decimal(f"{100 * value:.9f}")  # without the noise of floating point
    return str(exact.quantize(Decimal(1).scaleb(-digits), ROUNDING[rounding]))


def _whose_items(sources: set[str]) -> str:
    """For the title: that runs in this table did not answer the paper's items."""
    if sources == {"fresh"}:
        return "; the runs answered fresh items"
    if "fresh" in sources:
        return "; some runs answered fresh items"
    return ""


def _printed(how: Paper, column: Column, result: Result | None) -> str | None:
    if result is None:
        return None
    return _cell(how, column, result.value, result.sd)


def _measured(how: Paper, column: Column, run: RunFigures) -> str | None:
    value = run.values.get(_run_place(column))
    if value is None or column.paper_only:
        return None
    return _cell(how, column, value, _spread(column, run))


def _spread(column: Column, run: RunFigures) -> float | None:
    """The deviation over the slices by the tag that the column names, or else over seeds.

    With n - 1, as in Tables 2 and 6 of the spatialQA paper.
    """
    if not column.spread:
        return run.deviations.get(_run_place(column))
    wanted = (column.benchmark, column.form, column.ours or column.measure, column.spread)
    values = []
    for place, value in run.values.items():
        if place[:4] == wanted and place.key and value is not None:
            values.append(value)
    return stdev(values) if len(values) > 1 else None


def _cell(how: Paper, column: Column, value: float, sd: float | None) -> str:
    digits = how.digits if column.digits is None else column.digits
    text = rounded(value, digits, how.rounding)
    if sd is None:
        return text
    if how.spread_digits is not None and sd < 0.1:
        digits = how.spread_digits
    spread = rounded(sd, digits, how.rounding)
    return f"{text} ± {spread}" if how.spread_after == "plus-minus" else f"{text} ({spread})"

"""The table for the paper: models by benchmarks, or by the categories of one, with its caption."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, Literal

from gnomon import tabular
from gnomon.contracts import Listing
from gnomon.measures.cautions import asked_how
from gnomon.records import letter_of
from gnomon.reports.overview import ALL, Overview, OverviewCell, OverviewColumn
from gnomon.reports.page.headline import HeadlineRow, published_beside
from gnomon.reports.study import Study
from gnomon.reports.words import axis_name, capitalised, known, listed, measure_name, per_cent

RANK = "Mean rank"
Marks = Literal["letters", "stars", "none"]
UNFINISHED = "Dagger: the run is not finished, and the figure is over the items so far."
MEAN_RANK = (
    "Mean rank: over all columns, among the models that were asked the same items of all; its "
    "standard error is that of models whose ties are broken by chance."
)
PER_COLUMN = "The level holds for each column, not for all columns together."
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


@dataclass(frozen=True)
class PivotFigure:
    """A cell, as fractions. A figure of a paper has neither interval nor marks."""

    value: float
    low: float | None = None
    high: float | None = None
    best: bool = False
    weak: bool = False  # not shown to be better than chance
    unfinished: bool = False
    mark: str = ""  # letters or stars


@dataclass(frozen=True)
class PivotRow:
    """A line of the table: of a run, of chance, or of a paper."""

    name: str
    cells: tuple[PivotFigure | None, ...]
    kind: Literal["run", "chance", "published"] = "run"
    mean_rank: float | None = None
    rank_error: float | None = None
    rank: str = ""  # both, for people


@dataclass(frozen=True)
class Pivot:
    """The table: our rows, chance if it is known, and the models of the papers."""

    overview: Overview
    rows: tuple[PivotRow, ...]
    chance: tuple[PivotRow, ...]
    published: tuple[PivotRow, ...]
    caption: str
    label: str
    intervals: bool

    @property
    def every_row(self) -> tuple[PivotRow, ...]:
        """Our rows, chance, and those of the papers."""
        return (*self.rows, *self.chance, *self.published)


def pivot(
    found: Overview,
    studies: Sequence[Study],
    *,
    by: str = "",
    marks: Marks = "letters",
    intervals: bool = True,
    published: bool = False,
    caption: str = "",
    label: str = "",
) -> Pivot:
    """The overview as a table for a paper, with its caption."""
    marked = significance(found, marks)
    rows = []
    for model in found.models:
        places = [(model, column.name) for column in found.columns]
        cells = tuple(_figure(found.cells.get(place), marked.get(place, "")) for place in places)
        ranks = found.mean_rank.get(model), found.rank_error.get(model), found.rank(model)
        rows.append(PivotRow(model, cells, "run", *ranks))

    papers = _published_rows(found, studies, by) if published else []
    known = [column.chance for column in found.columns]
    guesses = tuple(None if chance is None else PivotFigure(chance) for chance in known)
    chance = [PivotRow("Chance", guesses, "chance")] if any(guesses) else []
    told = caption or _caption(found, rows, marks, intervals=intervals, papers=bool(papers))
    ours, theirs = tuple(rows), tuple(papers)
    return Pivot(found, ours, tuple(chance), theirs, told, label or "tab:gnomon", intervals)


def _figure(cell: OverviewCell | None, mark: str) -> PivotFigure | None:
    if cell is None or isnan(cell.value):
        return None
    weak = cell.verdict in ("at", "open", "below", "constant")
    ends = known(cell.low), known(cell.high)
    return PivotFigure(cell.value, *ends, cell.best, weak, not cell.finished, mark)


def significance(found: Overview, marks: Marks) -> Mapping[tuple[str, str], str]:
    """Letters or stars, by model and column; runs that were not compared have none."""
    marked: dict[tuple[str, str], str] = {}
    if marks == "none":
        return marked
    marks_of = _letters if marks == "letters" else _stars
    for column in found.columns:
        for model, mark in marks_of(found, column.name).items():
            marked[model, column.name] = mark
    return marked


def _letters(found: Overview, column: str) -> Mapping[str, str]:
    pairs = [pair for pair in found.pairs.get(column, ()) if pair.differ or pair.tied]
    members: set[str] = set()
    for pair in pairs:
        members |= {pair.first, pair.second}

    def goodness(model: str) -> tuple[bool, float]:
        cell = found.cells[model, column]
        return not cell.best, -cell.value  # the best has the first letter

    in_turn = sorted(members, key=goodness)
    return letters(in_turn, [(pair.first, pair.second) for pair in pairs if pair.differ])


def _stars(found: Overview, column: str) -> Mapping[str, str]:
    """How surely each model is told apart from the best; where several are, from all of them."""
    marked: dict[str, str] = {}
    for pair in found.pairs.get(column, ()):
        stars = _stars_of(pair.p_adjusted)
        for model, other in ((pair.first, pair.second), (pair.second, pair.first)):
            if found.cells[other, column].best and not found.cells[model, column].best:
                marked[model] = min(stars, marked.get(model, stars), key=len)
    return marked


def _stars_of(p: float) -> str:
    for level, stars in STARS:
        if p < level:
            return stars
    return ""


def _published_rows(found: Overview, studies: Sequence[Study], by: str) -> list[PivotRow]:
    """The models of the papers, those of several benchmarks of one paper in one row."""
    keys = [column.name for column in found.columns]
    rows: dict[str, dict[str, float]] = {}
    for study in studies:
        if by:
            values = [key for key in keys if key != ALL]
            measure = found.columns[0].measure
            _add_lines(rows, published_beside(study, measure, by, values), values)
            _add_lines(rows, published_beside(study, measure), [ALL])
            continue
        measure = next(each.measure for each in found.columns if each.name == study.name)
        _add_lines(rows, published_beside(study, measure), [study.name])

    papers = []
    for name, row in rows.items():
        cells = [PivotFigure(row[key]) if key in row else None for key in keys]
        if any(cells):
            papers.append(PivotRow(name, tuple(cells), "published"))
    return papers


def _add_lines(
    rows: dict[str, dict[str, float]], lines: Sequence[HeadlineRow], keys: list[str]
) -> None:
    for line in lines:
        row = rows.setdefault(line.model, {})
        for key, cell in zip(keys, line.cells, strict=True):
            if cell is not None and cell.value is not None:
                row[key] = cell.value


def _caption(
    found: Overview, rows: Sequence[PivotRow], marks: Marks, *, intervals: bool, papers: bool
) -> str:
    """What the reader must know of the table, in sentences."""
    every: list[PivotFigure] = []
    for row in rows:
        every += filter(None, row.cells)

    def some(mark: str) -> bool:
        return any(getattr(figure, mark) for figure in every)

    sentences = [
        (True, _what(found.columns, found.level if intervals else None)),
        (True, _asked(found)),
        (True, _prompts(found)),
        (some("best"), "Bold: the best of a column, among models asked the same items."),
        (some("weak"), "Italics: not shown to be better than chance (corrected over the columns)."),
        (some("mark"), _on_marks(marks)),
        (some("mark") and len(found.columns) > 1, PER_COLUMN),
        (some("unfinished"), UNFINISHED),
        (bool(found.mean_rank), MEAN_RANK),
        (papers, "Grey: figures that the papers report, on their own items."),
    ]
    return " ".join(sentence for applies, sentence in sentences if applies and sentence)


def _what(columns: Sequence[OverviewColumn], level: float | None) -> str:
    """The measure, which stands below the titles where there are several, and any intervals."""
    measures = {axis_name(column.measure) for column in columns}
    what = "The measure named below each title"
    if len(measures) == 1:
        what = capitalised(measures.pop())
    told = f"{what}, in per cent"
    if level is not None:
        told += f", with {100 * level:g} % intervals over the units that items share"
    return f"{told}."


def _asked(found: Overview) -> str:
    """How many items each column is about, by the names that repeat it."""
    parts = []
    for column in found.columns:
        asked = {cell.items for (_, name), cell in found.cells.items() if name == column.name}
        most = "" if len(asked) <= 1 else "up to "
        parts.append(f"{most}{column.items:,} of {column.name}")
    return f"Items: {listed(parts)}."


def _prompts(found: Overview) -> str:
    """With which prompts the models were asked; empty where none was."""
    models: dict[str, dict[str, None]] = {}
    for (model, _), cell in found.cells.items():
        prompt = asked_how(cell.run.manifest).get("prompt")
        if prompt:
            models.setdefault(prompt, {})[model] = None
    if len(models) == 1:
        return f"Prompt: {next(iter(models))}."
    parts = [f"{prompt} ({listed(list(asked))})" for prompt, asked in models.items()]
    return f"Prompts: {listed(parts)}." if parts else ""


def _on_marks(marks: Marks) -> str:
    test = "paired test over units, Holm's correction over all pairs of a column"
    if marks == "letters":
        return (
            f"Models of a column that share a letter do not differ significantly ({test}, 5 % "
            "level)."
        )
    levels = "* p < 0.05, ** p < 0.01, *** p < 0.001"
    return f"Stars: differs from the best of the column, {levels} ({test})."


def written(table: Pivot, format: str) -> str:
    """The table in a format, without a final newline."""
    if format == "csv":
        return tabular.as_csv(_fractions(table))
    if format == "json":
        return tabular.as_json(_data(table))
    return tabular.WRITERS[format](_printed(table))


def _printed(table: Pivot) -> tabular.PrintedTable:
    """The table as people see it, in per cent."""
    columns = table.overview.columns
    one_measure = len({column.measure for column in columns}) == 1
    heads = [tabular.PrintedHead("Model")]
    for column in columns:
        below = "" if one_measure else measure_name(column.measure)
        heads.append(tabular.PrintedHead(column.title, "c", below, column.name))
    ranked = any(row.mean_rank is not None for row in table.rows)
    if ranked:
        heads.append(tabular.PrintedHead(RANK, "r"))
    groups = []
    for rows in (table.rows, table.chance, table.published):
        if rows:
            groups.append(tuple(_printed_row(row, table.intervals, ranked) for row in rows))
    return tabular.PrintedTable(
        tuple(heads), tuple(groups), caption=table.caption, label=table.label
    )


def _printed_row(row: PivotRow, intervals: bool, ranked: bool) -> tabular.PrintedRow:
    cells = [tabular.PrintedCell(row.name)]
    cells += [_printed_cell(cell, intervals) for cell in row.cells]
    if ranked:
        cells.append(tabular.PrintedCell(row.rank))
    return tabular.PrintedRow(tuple(cells), grey=row.kind == "published")


def _printed_cell(figure: PivotFigure | None, intervals: bool) -> tabular.PrintedCell:
    if figure is None:
        return tabular.PrintedCell("–")
    below = ""
    if intervals and figure.low is not None and figure.high is not None:
        below = f"[{per_cent(figure.low, 1)}, {per_cent(figure.high, 1)}]"
    return tabular.PrintedCell(
        per_cent(figure.value, 1),
        below,
        bold=figure.best,
        italic=figure.weak,
        raised=figure.mark,
        dagger=figure.unfinished,
    )


def _fractions(table: Pivot) -> Listing:
    """A line for each model, with fractions in full; marks stand in columns of their own."""
    heads = ["model", "kind"]
    for column in table.overview.columns:
        heads += [column.name, f"{column.name} low", f"{column.name} high", f"{column.name} mark"]
    rows = []
    for row in table.every_row:
        cells: list[Any] = [row.name, row.kind]
        for figure in row.cells:
            known = figure and (figure.value, figure.low, figure.high, figure.mark)
            cells += known or (None, None, None, None)
        rows.append((*cells, row.mean_rank, row.rank_error))
    return Listing("", (*heads, "mean_rank", "rank_error"), tuple(rows))


def _data(table: Pivot) -> dict[str, Any]:
    """All that is known: fractions, and every mark by its name."""
    columns = table.overview.columns
    heads = []
    for column in columns:
        known = ("name", "title", "measure", "chance", "items")
        heads.append({name: getattr(column, name) for name in known})
    rows = []
    for row in table.every_row:
        cells = {}
        for column, figure in zip(columns, row.cells, strict=True):
            cells[column.name] = vars(figure) if figure else None
        about = {"model": row.name, "kind": row.kind, "mean_rank": row.mean_rank}
        about["rank_error"] = row.rank_error
        rows.append(about | {"cells": cells})
    return {
        "columns": heads,
        "rows": rows,
        "level": table.overview.level,
        "caption": table.caption,
        "notes": list(table.overview.notes),
    }


def letters(names: Sequence[str], differing: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """The letters of each name, given the pairs that differ; the first name has the first letter.

    The compact letter display of H.-P. Piepho (2004), by insertion and absorption.

    >>> letters(["best", "near", "far"], [("best", "far")])
    {'best': 'a', 'near': 'ab', 'far': 'b'}
    """
    groups = [frozenset(names)]
    for one, two in differing:
        split = []  # those that hold both in two copies, each without one of them
        for group in groups:
            split += [group - {one}, group - {two}] if {one, two} <= group else [group]
        distinct = dict.fromkeys(split)
        groups = [group for group in distinct if not any(group < other for other in distinct)]

    order = {name: place for place, name in enumerate(names)}
    groups.sort(key=lambda group: sorted(order[name] for name in group))
    marked = dict.fromkeys(names, "")
    for place, group in enumerate(groups):
        for name in group:
            marked[name] += letter_of(place)
    return marked

"""The headline table: every run with its figures and intervals, beside the published models of the
paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gnomon import registry
from gnomon.contracts import Benchmark, Measure
from gnomon.errors import GnomonError
from gnomon.files import package_data, parse, read_table
from gnomon.measures.grouping import enough_units, large_enough
from gnomon.measures.scoring import scores
from gnomon.records import Score
from gnomon.reporting.page.notes import few_units, notes_of
from gnomon.reporting.study import Study

MOST_KEYS = 8
COLUMNS = ("table", "model", "benchmark", "measure", "by", "key", "value")


class Published(NamedTuple):
    """One figure of a paper."""

    table: str
    model: str
    measure: str
    by: str
    key: str
    value: float
    note: str


class Line(NamedTuple):
    """A row of the table: a run, or a model of the paper with the table its figures come from."""

    model: str
    source: str  # empty for a run
    cells: tuple[Score | None, ...]  # in the order of the measures
    series: int  # the run's place in the study, -1 for the paper


class Headline(NamedTuple):
    """The whole table."""

    measures: tuple[str, ...]  # or, in a table of one measure by a tag, the tag's values
    lines: tuple[Line, ...]
    notes: tuple[str, ...]
    title: str = ""


def applicable(spec: Benchmark | None) -> list[Measure]:
    """The measures that the benchmark declares and this installation has; accuracy always."""
    found = []
    for name in dict.fromkeys((*(spec.measures if spec else ()), "accuracy")):
        try:
            found.append(registry.measure(name))
        except (GnomonError, ImportError, AttributeError):
            continue
    return found


def headline(study: Study) -> Headline:
    """Runs, the best first among those on the same items, and then the published models, the best
    first."""
    measures = applicable(study.spec)
    lines, few = [], dict[str, None]()
    for i, e in enumerate(study.entrants):
        told = [
            s
            for s in scores(e.table, measures)
            if s.value is not None and large_enough(s.measure, e.table)
        ]
        few |= dict.fromkeys(s.measure for s in told if not enough_units(s, e.table))
        found = {s.measure: s for s in told if enough_units(s, e.table)}
        lines.append(Line(e.label, "", tuple(found.get(m.name) for m in measures), i))
    used = [j for j, m in enumerate(measures) if any(line.cells[j] for line in lines)]
    names = tuple(measures[j].name for j in used)
    lines = [line._replace(cells=tuple(line.cells[j] for j in used)) for line in lines]
    papers = _published_lines(study, names)
    notes = notes_of(study, [m.name for m in measures], names, papers=bool(papers))
    return Headline(names, _ranked(study, lines, papers), (*notes, *few_units(list(few))))


def published(spec: Benchmark | None) -> list[Published]:
    """The paper's figures for a benchmark, from the file that ships with the package."""
    if not spec or not spec.published_results:
        return []
    file = package_data(f"published/{spec.published_results.removesuffix('.csv')}.csv")
    if not file.is_file():
        return []
    return [
        Published(
            row["table"],
            row["model"],
            row["measure"],
            row["by"],
            row["key"],
            parse(row["value"], float, field="value", file=file, line=line),
            row.get("note", ""),
        )
        for line, row in read_table(file, COLUMNS)
        if row["benchmark"].partition("@")[0] in ("", spec.name) and row["value"]
    ]


def sliced(study: Study) -> list[Headline]:
    """The paper's figures by category or split, with the same of the runs: one table for each
    measure and tag."""
    figures = published(study.spec)
    found = []
    for measure in applicable(study.spec):
        for tag in dict.fromkeys(f.by for f in figures if f.measure == measure.name and f.by):
            known = {
                key
                for e in study.entrants
                if tag in e.table.tags
                for key in e.table.tags[tag].values
            }
            paper = [
                f for f in figures if f.measure == measure.name and f.by == tag and f.key in known
            ]
            keys = list(dict.fromkeys(f.key for f in paper))
            if not 1 < len(keys) <= MOST_KEYS and not (keys and len(known) == 1):
                continue
            lines = []
            for i, e in enumerate(study.entrants):
                fit = tag in e.table.tags and large_enough(measure.name, e.table)
                mine = {s.key: s for s in scores(e.table, [measure], by=tag)} if fit else {}
                lines.append(Line(e.label, "", tuple(mine.get(key) for key in keys), i))
            if not any(cell for line in lines for cell in line.cells):
                continue
            papers = _grouped(study.name, [(f, f.key) for f in paper], keys)
            found.append(
                Headline(tuple(keys), _ranked(study, lines, papers), (), f"{measure.name} by {tag}")
            )
    return found


def _published_lines(study: Study, measures: Sequence[str]) -> list[Line]:
    figures = [f for f in published(study.spec) if not f.by and f.measure in measures]
    return _grouped(study.name, [(f, f.measure) for f in figures], measures)


def _grouped(
    benchmark: str, figures: Sequence[tuple[Published, str]], columns: Sequence[str]
) -> list[Line]:
    """One line for each model; a model that the paper has in several settings is told apart by the
    note."""
    rows: dict[tuple[str, str], dict[str, float]] = {}
    tables: dict[tuple[str, str], list[str]] = {}
    for figure, column in figures:
        who = (figure.model, figure.note)
        rows.setdefault(who, {}).setdefault(column, figure.value)
        tables.setdefault(who, []).append(figure.table)
    several = [model for model, _ in rows]
    lines = []
    for (model, note), values in rows.items():
        label = f"{model} ({note})" if note and several.count(model) > 1 else model
        cells = tuple(
            Score(benchmark=benchmark, model=model, measure=c, value=values[c])
            if c in values
            else None
            for c in columns
        )
        lines.append(Line(label, cited(dict.fromkeys(tables[model, note])), cells, -1))
    return lines


def cited(tables: Iterable[str]) -> str:
    """The tables of a paper, as one cites them.

    >>> cited(["Table 4", "Table 5"]), cited(["Table 2a"])
    ('Tables 4, 5', 'Table 2a')
    """
    numbers = [table.removeprefix("Table ") for table in tables]
    return f"Table{'s' * (len(numbers) > 1)} {', '.join(numbers)}"


def _ranked(study: Study, runs: Sequence[Line], papers: Sequence[Line]) -> tuple[Line, ...]:
    """Runs are ranked among those on the same items only, and never among the paper's models."""
    by_series = {line.series: line for line in runs}
    sets = [[by_series[i] for i in members] for members in study.item_sets()]
    return tuple(line for part in (*sets, papers) for line in sorted(part, key=_place))


def _place(line: Line) -> float:
    first = line.cells[0] if line.cells else None
    return 1.0 if first is None or first.value is None else -first.value

"""The headline table: every run with its figures and intervals, beside the published models of the
paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gnomon.contracts import Benchmark, Measure
from gnomon.files import package_data, parse, read_table
from gnomon.measures.scoring import scores
from gnomon.records import Score
from gnomon.registry import known_measure
from gnomon.reporting.groupsize import enough_units, large_enough
from gnomon.reporting.page.notes import few_units, notes_of
from gnomon.reporting.study import Entrant, Study

MOST_KEYS = 8
COLUMNS = ("table", "model", "benchmark", "measure", "by", "key", "value")


class Published(NamedTuple):
    """One figure of a paper."""

    table: str
    model: str
    kind: str  # who answered: model or human
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
    kind: str = ""  # of a row of the paper: model or human


class Headline(NamedTuple):
    """The whole table."""

    measures: tuple[str, ...]  # or, in a table of one measure by a tag, the tag's values
    lines: tuple[Line, ...]
    notes: tuple[str, ...]
    title: str = ""

    def entrants(self, study: Study) -> list[Entrant]:
        """The runs, in the order of the table."""
        return [study.entrants[line.series] for line in self.lines if line.series >= 0]


def applicable(spec: Benchmark | None) -> list[Measure]:
    """The measures that the benchmark declares and this installation has; accuracy always."""
    names = (*spec.measures, "accuracy") if spec else ("accuracy",)
    found = map(known_measure, dict.fromkeys(names))
    return [measure for measure in found if measure is not None]


def headline(study: Study) -> Headline:
    """Runs, the best first among those on the same items, and then the published models, the best
    first."""
    measures = applicable(study.spec)
    every = [measure.name for measure in measures]
    rows, few = [], dict[str, None]()
    for entrant in study.entrants:
        figures, too_few = _figures(entrant, measures)
        rows.append(figures)
        few |= dict.fromkeys(too_few)

    known = set().union(*rows)
    names = tuple(name for name in every if name in known)
    lines = []
    for i, (entrant, row) in enumerate(zip(study.entrants, rows, strict=True)):
        lines.append(Line(entrant.label, "", tuple(map(row.get, names)), i))

    papers = _published_lines(study, names)
    notes = notes_of(study, every, names, papers=bool(papers))
    first = measures[every.index(names[0])] if names else measures[0]
    ranked = _ranked(study, lines, papers, first)
    return Headline(names, ranked, (*notes, *few_units(list(few))))


def _figures(entrant: Entrant, measures: Sequence[Measure]) -> tuple[dict[str, Score], list[str]]:
    """The figures of a run, and the measures that too few pairs or groups speak for."""
    found, few = {}, []
    for score in scores(entrant.table, measures):
        if score.value is None or not large_enough(score.measure, entrant.table):
            continue
        if enough_units(score, entrant.table):
            found[score.measure] = score
        else:
            few.append(score.measure)
    return found, few


def published(spec: Benchmark | None) -> list[Published]:
    """The paper's figures for a benchmark, from the file that ships with the package."""
    if not spec or not spec.published_results:
        return []
    file = package_data(f"published/{spec.published_results.removesuffix('.csv')}.csv")
    if not file.is_file():
        return []
    found = []
    for line, row in read_table(file, COLUMNS):
        if row["value"] and row["benchmark"].partition("@")[0] in ("", spec.name):
            value = parse(row["value"], float, field="value", file=file, line=line)
            found.append(_published(row, value))
    return found


def _published(row: dict[str, str], value: float) -> Published:
    kind = row.get("kind")
    if not kind:
        kind = "human" if "human" in row["model"].lower() else "model"
    return Published(
        table=row["table"],
        model=row["model"],
        kind=kind,
        measure=row["measure"],
        by=row["by"],
        key=row["key"],
        value=value,
        note=row.get("note", ""),
    )


def sliced(study: Study) -> list[Headline]:
    """The paper's figures by category or split, with the same of the runs: one table for each
    measure and tag."""
    wanted: dict[tuple[str, str], list[Published]] = {}
    for figure in published(study.spec):
        if figure.by:
            wanted.setdefault((figure.measure, figure.by), []).append(figure)
    found = []
    for measure in applicable(study.spec):
        for (name, tag), paper in wanted.items():
            if name == measure.name:
                found += _slices(study, measure, tag, paper)
    return found


def _slices(study: Study, measure: Measure, tag: str, paper: Sequence[Published]) -> list[Headline]:
    """A measure of the runs by a tag, beside the paper's; nothing if they have no slice in
    common."""
    known: set[str] = set()
    for entrant in study.entrants:
        if tag in entrant.table.tags:
            known.update(entrant.table.tags[tag].values)
    shown = [figure for figure in paper if figure.key in known]
    keys = list(dict.fromkeys(figure.key for figure in shown))
    comparable = 1 < len(keys) <= MOST_KEYS or (keys and len(known) == 1)
    if not comparable:
        return []

    lines = []
    for i, entrant in enumerate(study.entrants):
        mine: dict[str, Score] = {}
        if tag in entrant.table.tags and large_enough(measure.name, entrant.table):
            mine = {score.key: score for score in scores(entrant.table, [measure], by=tag)}
        lines.append(Line(entrant.label, "", tuple(map(mine.get, keys)), i))
    if not any(any(line.cells) for line in lines):
        return []

    papers = _grouped(study.name, [(figure, figure.key) for figure in shown], keys)
    ranked = _ranked(study, lines, papers, measure)
    return [Headline(tuple(keys), ranked, (), f"{measure.name} by {tag}")]


def _published_lines(study: Study, measures: Sequence[str]) -> list[Line]:
    """The paper's rows over all items."""
    shown = []
    for figure in published(study.spec):
        if not figure.by and figure.measure in measures:
            shown.append((figure, figure.measure))
    return _grouped(study.name, shown, measures)


def _grouped(
    benchmark: str, figures: Sequence[tuple[Published, str]], columns: Sequence[str]
) -> list[Line]:
    """One line for each model; a model that the paper has in several settings is told apart by the
    note."""
    rows: dict[tuple[str, str], dict[str, Published]] = {}
    tables: dict[tuple[str, str], dict[str, None]] = {}
    for figure, column in figures:
        who = figure.model, figure.note
        rows.setdefault(who, {}).setdefault(column, figure)
        tables.setdefault(who, {})[figure.table] = None

    models = [model for model, _ in rows]
    lines = []
    for (model, note), row in rows.items():
        label = f"{model} ({note})" if note and models.count(model) > 1 else model
        cells = tuple(_cell(benchmark, row.get(column), column) for column in columns)
        kind = next(iter(row.values())).kind
        lines.append(Line(label, cited(tables[model, note]), cells, -1, kind))
    return lines


def _cell(benchmark: str, figure: Published | None, column: str) -> Score | None:
    if figure is None:
        return None
    return Score(benchmark=benchmark, model=figure.model, measure=column, value=figure.value)


def cited(tables: Iterable[str]) -> str:
    """The tables of a paper, as one cites them.

    >>> cited(["Table 4", "Table 5"]), cited(["Table 2a"])
    ('Tables 4, 5', 'Table 2a')
    """
    numbers = [table.removeprefix("Table ") for table in tables]
    word = "Table" if len(numbers) == 1 else "Tables"
    return f"{word} {', '.join(numbers)}"


def _ranked(
    study: Study, runs: Sequence[Line], papers: Sequence[Line], measure: Measure
) -> tuple[Line, ...]:
    """Runs are ranked among those on the same items only, and never among the paper's models."""

    def place(line: Line) -> float:
        first = line.cells[0] if line.cells else None
        if first is None or first.value is None:
            return float("inf")
        return -first.value if measure.better == "higher" else first.value

    by_series = {line.series: line for line in runs}
    found = []
    for members in study.item_sets():
        found += sorted([by_series[i] for i in members], key=place)
    return (*found, *sorted(papers, key=place))

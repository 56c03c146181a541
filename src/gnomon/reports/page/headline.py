"""The headline table: every run with its figures, beside the published models of the paper."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from gnomon.contracts import Benchmark, Measure
from gnomon.grouped import grouped
from gnomon.measures.accuracy import enough_units, large_enough
from gnomon.measures.scoring import scores
from gnomon.measures.table import Table
from gnomon.records import Score
from gnomon.registry import known_measure
from gnomon.reports.page.notes import baseline_notes, few_units, notes_of
from gnomon.reports.papers import Result, results_of
from gnomon.reports.references import NOTE as PEOPLE_NOTE
from gnomon.reports.references import baselines, people_together
from gnomon.reports.study import Entrant, Study
from gnomon.reports.words import measure_name

MOST_KEYS = 8


class HeadlineRow(NamedTuple):
    """A row of the table: a run, a baseline that was asked for the page, or a model of the paper.

    The last has the table its figures come from.
    """

    model: str
    source: str  # empty for a run
    cells: tuple[Score | None, ...]  # in the order of the measures
    series: int  # the run's place in the study, -1 for the paper
    kind: str = ""  # of a row of the paper: model, human or chance; or baseline; or people

    @property
    def first(self) -> Score | None:
        """The figure by the table's first measure."""
        return next(iter(self.cells), None)

    @property
    def is_published(self) -> bool:
        """Whether the row is of a paper."""
        return self.kind in ("model", "human", "chance")


class Headline(NamedTuple):
    """The whole table."""

    measures: tuple[str, ...]  # or, in a table of one measure by a tag, the tag's values
    lines: tuple[HeadlineRow, ...]
    notes: tuple[str, ...]
    title: str = ""

    @property
    def columns(self) -> list[str]:
        """The heads of the columns; the values of a tag are as they are."""
        return list(self.measures if self.title else map(measure_name, self.measures))

    @property
    def has_chance(self) -> bool:
        """Whether it is known what a guess gets; in a table by a tag, that differs by column."""
        return not self.title and any(line.first and line.first.chance for line in self.lines)

    def entrants(self, study: Study) -> list[Entrant]:
        """The runs, in the order of the table."""
        return [study.entrants[line.series] for line in self.lines if line.series >= 0]


def applicable(spec: Benchmark | None) -> list[Measure]:
    """The measures that the benchmark declares and this installation has; accuracy always."""
    names = (*spec.measures, "accuracy") if spec else ("accuracy",)
    found = map(known_measure, dict.fromkeys(names))
    return [measure for measure in found if measure is not None]


def headline(study: Study) -> Headline:
    """The runs and then the published models, both from the best down.

    Runs are ranked among those on the same items.
    """
    measures = applicable(study.spec)
    every = [measure.name for measure in measures]
    rows = [figures_of(entrant.table, measures) for entrant in study.entrants]
    few = dict.fromkeys(name for _, too_few in rows for name in too_few)
    beside = list(baselines(study))
    asked_too = {}
    for baseline in beside:
        if baseline.table is not None:
            asked_too[baseline.spec], _ = figures_of(baseline.table, measures)
    known = set().union(*(figures for figures, _ in rows), *asked_too.values())
    names = tuple(name for name in every if name in known)
    lines = []
    for series, (entrant, (row, _)) in enumerate(zip(study.entrants, rows, strict=True)):
        lines.append(HeadlineRow(entrant.label, "", tuple(map(row.get, names)), series))

    papers = _published_lines(study, names)
    notes = [*notes_of(study, every, names, papers=bool(papers)), *few_units(list(few))]
    notes += baseline_notes(beside)
    together = people_together(study, measures)
    if together:
        notes.append(PEOPLE_NOTE)
    first = next((measure for measure in measures if measure.name in known), measures[0])
    also = []
    for spec, row in asked_too.items():
        cells = tuple(map(row.get, names))
        also.append(HeadlineRow(spec, "for this page", cells, -1, "baseline"))
    for people in together:
        cells = tuple(map(people.figures.get, names))
        also.append(HeadlineRow(people.label, "human ceiling", cells, -1, "people"))
    ranked = _ranked(study, lines, papers, first, also)
    return Headline(names, ranked, tuple(notes))


def figures_of(table: Table, measures: Sequence[Measure]) -> tuple[dict[str, Score], list[str]]:
    """The figures of a run, and the measures that too few pairs or groups speak for."""
    found, few = {}, []
    for score in scores(table, measures):
        if score.value is None or not large_enough(score.measure, table):
            continue
        if enough_units(score, table):
            found[score.measure] = score
        else:
            few.append(score.measure)
    return found, few


def sliced(study: Study) -> list[Headline]:
    """The paper's figures by category or split, with the same of the runs.

    One table for each measure, tag and form of items.
    """
    by_tag = [result for result in _results(study) if result.by]
    wanted = grouped(by_tag, lambda result: (result.measure, result.by, result.form))
    found = []
    for measure in applicable(study.spec):
        for (name, tag, form), paper in wanted.items():
            if name == measure.name:
                found += _slices(study, measure, tag, form, paper)
    return found


def _slices(
    study: Study, measure: Measure, tag: str, form: str, paper: Sequence[Result]
) -> list[Headline]:
    """A measure of the runs by a tag, beside the paper's; nothing if they share no slice."""
    tables = [_of_form(entrant.table, form) for entrant in study.entrants]
    known = {key for table in tables if tag in table.tags for key, _ in table.by(tag)}
    shown = [result for result in paper if result.key in known]
    keys = list(dict.fromkeys(result.key for result in shown))
    comparable = 1 < len(keys) <= MOST_KEYS or (keys and len(known) == 1)
    if not comparable:
        return []

    lines = []
    for series, (entrant, table) in enumerate(zip(study.entrants, tables, strict=True)):
        figures = _by_tag(table, measure, tag)
        lines.append(HeadlineRow(entrant.label, "", tuple(map(figures.get, keys)), series))
    if not any(any(line.cells) for line in lines):
        return []

    papers = _grouped(study.name, [(result, result.key) for result in shown], keys)
    title = f"{measure.name} by {tag}"
    if form and _forms(study) != {form}:
        title += f", {form} items"
    return [Headline(tuple(keys), _ranked(study, lines, papers, measure), (), title)]


def _by_tag(table: Table, measure: Measure, tag: str) -> dict[str, Score]:
    """A measure by the values of a tag, where enough pairs or groups speak for it."""
    if tag not in table.tags or not large_enough(measure.name, table):
        return {}
    parts = dict(table.by(tag))
    found = {}
    for score in scores(table, [measure], by=tag):
        if enough_units(score, parts[score.key]):
            found[score.key] = score
    return found


def _of_form(table: Table, form: str) -> Table:
    """The rows of a form; all of them where the paper's figure names none."""
    if not form:
        return table
    wanted = [i for i, name in enumerate(table.form.values) if name == form]
    return table.where(np.isin(table.form.codes, wanted))


def _forms(study: Study) -> set[str]:
    """The forms of the items that were asked."""
    return {form for entrant in study.entrants for form, _ in entrant.table.by("form")}


def _results(study: Study) -> list[Result]:
    """The paper's figures for models, people and chance, without averages over models."""
    if study.spec and not study.spec.asks_as_paper(study.name.partition("@")[2]):
        return []
    return [result for result in results_of(study.spec) if result.kind != "average"]


def _published_lines(study: Study, measures: Sequence[str]) -> list[HeadlineRow]:
    """The paper's rows over all items, if the runs were asked in the form that they are about."""
    shown = []
    for result in _in_same_form(study):
        if not result.by and result.measure in measures:
            shown.append((result, result.measure))
    return _grouped(study.name, shown, measures)


def _in_same_form(study: Study) -> list[Result]:
    """The paper's figures that name no form of items, or the one that the runs were asked in."""
    forms = _forms(study)
    return [result for result in _results(study) if not result.form or forms == {result.form}]


def _grouped(
    benchmark: str, results: Sequence[tuple[Result, str]], columns: Sequence[str]
) -> list[HeadlineRow]:
    """One line for each model, or for each variant in which the paper has it."""
    rows: dict[tuple[str, str], dict[str, Result]] = {}
    tables: dict[tuple[str, str], dict[str, None]] = {}
    for result, column in results:
        who = result.model, result.variant
        rows.setdefault(who, {}).setdefault(column, result)
        tables.setdefault(who, {})[result.table] = None

    models = [model for model, _ in rows]
    lines = []
    for (model, variant), row in rows.items():
        label = f"{model} ({variant})" if variant and models.count(model) > 1 else model
        cells = tuple(_cell(benchmark, row.get(column), column) for column in columns)
        kind = next(iter(row.values())).kind
        lines.append(HeadlineRow(label, cited(tables[model, variant]), cells, -1, kind))
    return lines


def _cell(benchmark: str, result: Result | None, column: str) -> Score | None:
    if result is None:
        return None
    return Score(benchmark=benchmark, model=result.model, measure=column, value=result.value)


def cited(tables: Iterable[str]) -> str:
    """The tables of a paper, as one cites them.

    >>> cited(["Table 4", "Table 5"]), cited(["Table 2a"]), cited(["README"])
    ('Tables 4, 5', 'Table 2a', 'README')
    """
    named = list(tables)
    numbers = [table.removeprefix("Table ") for table in named if table.startswith("Table ")]
    others = [table for table in named if not table.startswith("Table ")]
    if numbers:
        word = "Table" if len(numbers) == 1 else "Tables"
        others.insert(0, f"{word} {', '.join(numbers)}")
    return ", ".join(others)


def _ranked(
    study: Study,
    runs: Sequence[HeadlineRow],
    papers: Sequence[HeadlineRow],
    measure: Measure,
    beside: Sequence[HeadlineRow] = (),
) -> tuple[HeadlineRow, ...]:
    """Runs are ranked among those on the same items only, and never among the paper's models.

    Baselines that were asked for the page stand between the two.
    """

    def place(line: HeadlineRow) -> float:
        if line.first is None or line.first.value is None:
            return float("inf")
        return -line.first.value if measure.better == "higher" else line.first.value

    by_series = {line.series: line for line in runs}
    found = []
    for members in study.item_sets():
        found += sorted([by_series[i] for i in members], key=place)
    return (*found, *sorted(beside, key=place), *sorted(papers, key=place))


def published_beside(
    study: Study, measure: str, tag: str = "", keys: Sequence[str] = ()
) -> list[HeadlineRow]:
    """The paper's models and people by one measure: over all items, or a cell for each of the keys.

    Left out is what the paper asked in a form that the runs were not asked in.
    """
    shown = []
    for result in _in_same_form(study):
        same_figure = result.measure == measure and result.by == tag
        if same_figure and result.kind != "chance":
            shown.append((result, result.key or measure))
    return _grouped(study.name, shown, keys or [measure])

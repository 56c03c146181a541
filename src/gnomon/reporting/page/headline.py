"""The headline table: every run with its figures and intervals, beside the published models of the
paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from gnomon import registry
from gnomon.contracts import Benchmark, Measure
from gnomon.errors import GnomonError
from gnomon.measures.grouping import enough_units, large_enough
from gnomon.measures.scoring import scores
from gnomon.measures.table import Table
from gnomon.records import Score
from gnomon.reporting.page.notes import few_units, notes_of
from gnomon.reporting.published.results import Result, results_of
from gnomon.reporting.study import Study

MOST_KEYS = 8


class Line(NamedTuple):
    """A row of the table: a run, or a model of the paper with the table its figures come from."""

    model: str
    source: str  # empty for a run
    cells: tuple[Score | None, ...]  # in the order of the measures
    series: int  # the run's place in the study, -1 for the paper
    kind: str = ""  # of a row of the paper: model, human or chance


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


def sliced(study: Study) -> list[Headline]:
    """The paper's figures by category or split, with the same of the runs: one table for each
    measure, tag and form of items."""
    found = []
    wanted: dict[tuple[str, str, str], list[Result]] = {}
    for result in _single(study):
        if result.by:
            wanted.setdefault((result.measure, result.by, result.form), []).append(result)
    for measure in applicable(study.spec):
        for (name, tag, form), paper in wanted.items():
            if name == measure.name:
                found += _slices(study, measure, tag, form, paper)
    return found


def _slices(
    study: Study, measure: Measure, tag: str, form: str, paper: Sequence[Result]
) -> list[Headline]:
    """A measure of the runs by a tag, beside the paper's; nothing if they have no slice in
    common."""
    tables = [_of_form(e.table, form) for e in study.entrants]
    known = set()
    for table in tables:
        if tag in table.tags:
            known |= {key for key, part in table.by(tag) if len(part)}
    shown = [result for result in paper if result.key in known]
    keys = list(dict.fromkeys(result.key for result in shown))
    if not 1 < len(keys) <= MOST_KEYS and not (keys and len(known) == 1):
        return []
    lines = []
    for i, (e, table) in enumerate(zip(study.entrants, tables, strict=True)):
        mine: dict[str, Score] = {}
        if tag in table.tags and large_enough(measure.name, table):
            mine = {score.key: score for score in scores(table, [measure], by=tag)}
        lines.append(Line(e.label, "", tuple(mine.get(key) for key in keys), i))
    if not any(any(line.cells) for line in lines):
        return []
    papers = _grouped(study.name, [(result, result.key) for result in shown], keys)
    title = f"{measure.name} by {tag}"
    if form and _forms(study) != {form}:
        title += f", {form} items"
    return [Headline(tuple(keys), _ranked(study, lines, papers), (), title)]


def _of_form(table: Table, form: str) -> Table:
    """The rows of a form; all of them where the paper's figure names none."""
    if not form:
        return table
    wanted = [i for i, name in enumerate(table.form.values) if name == form]
    return table.where(np.isin(table.form.codes, wanted))


def _forms(study: Study) -> set[str]:
    """The forms of the items that were asked."""
    found = set()
    for e in study.entrants:
        found |= {form for form, part in e.table.by("form") if len(part)}
    return found


def _single(study: Study) -> list[Result]:
    """The paper's figures for models, people and chance, without averages over models."""
    return [result for result in results_of(study.spec) if result.kind != "average"]


def _published_lines(study: Study, measures: Sequence[str]) -> list[Line]:
    """The paper's rows over all items, if the runs were asked in the form that they are about."""
    forms = _forms(study)
    shown = []
    for result in _single(study):
        same_form = not result.form or forms == {result.form}
        if same_form and not result.by and result.measure in measures:
            shown.append((result, result.measure))
    return _grouped(study.name, shown, measures)


def _grouped(
    benchmark: str, results: Sequence[tuple[Result, str]], columns: Sequence[str]
) -> list[Line]:
    """One line for each model; a model that the paper has in several variants is told apart by
    them."""
    rows: dict[tuple[str, str], dict[str, float]] = {}
    tables: dict[tuple[str, str], list[str]] = {}
    kinds: dict[str, str] = {}
    for result, column in results:
        who = (result.model, result.variant)
        rows.setdefault(who, {}).setdefault(column, result.value)
        tables.setdefault(who, []).append(result.table)
        kinds[result.model] = result.kind
    several = [model for model, _ in rows]
    lines = []
    for (model, variant), values in rows.items():
        label = f"{model} ({variant})" if variant and several.count(model) > 1 else model
        cells = tuple(
            Score(benchmark=benchmark, model=model, measure=c, value=values[c])
            if c in values
            else None
            for c in columns
        )
        source = cited(dict.fromkeys(tables[model, variant]))
        lines.append(Line(label, source, cells, -1, kinds[model]))
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

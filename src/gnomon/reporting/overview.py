"""The overview: models by benchmarks, each cell with its score, interval, chance and marks.

A row is a model, with the settings in which its runs on any one benchmark differ, so that a prompt
or a limit has the same row in all columns. Models are told apart only on the same items, by the
paired test of `measures.comparison`, corrected for all pairs of a benchmark (Holm).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any, Literal

from gnomon.contracts import Benchmark, Measure
from gnomon.measures.chance import verdict
from gnomon.measures.compared import comparable_pairs
from gnomon.measures.comparison import Comparison
from gnomon.measures.runlabels import labels, settings_of
from gnomon.measures.scoring import score
from gnomon.records import Score
from gnomon.registry import role
from gnomon.reporting.figures.slices import headline_measure
from gnomon.reporting.study import Entrant, Study, all_runs, labels_of
from gnomon.reporting.words import listed
from gnomon.runs import Run

Verdict = Literal["above", "at", "below", "unknown"]
LEVEL = 0.95

_VERDICTS: dict[str, Verdict] = {
    "better than chance": "above",
    "no better than chance": "at",
    "worse than chance": "below",
    "": "unknown",
}
_TURNED: dict[Verdict, Verdict] = {
    "above": "below",
    "below": "above",
    "at": "at",
    "unknown": "unknown",
}


@dataclass(frozen=True)
class Cell:
    """One model on one benchmark. What is undefined is NaN."""

    value: float
    low: float
    high: float
    chance: float | None
    verdict: Verdict  # where the whole interval lies beside chance
    best: bool  # the best value among the runs on the same items
    tied: bool  # not told apart from the best by the corrected paired test
    items: int  # that were asked and name a right answer
    finished: bool  # whether all items were asked
    run: Run


@dataclass(frozen=True)
class Column:
    """One benchmark, or one part of it."""

    name: str  # NAME@SOURCE
    title: str
    measure: str
    chance: float | None  # none where it is not known, or not the same for all runs
    items: int  # of the run that was asked most
    skill: str = ""  # what someone who does well knows: "sizes"


@dataclass(frozen=True)
class Overview:
    """Models by benchmarks. A model that was not asked something has no cell there."""

    models: tuple[str, ...]
    columns: tuple[Column, ...]
    cells: Mapping[tuple[str, str], Cell]  # by model and the column's name
    # over the benchmarks, of models that were asked the same items of all of them
    mean_rank: Mapping[str, float]
    pairs: Mapping[str, Sequence[Comparison]] = field(default_factory=dict)  # by the column's name
    notes: tuple[str, ...] = ()  # what is not marked, and why; sentences


def overview(found: Sequence[Study]) -> Overview:
    """The headline measure of every run, beside chance and beside the other runs."""
    rows = row_labels(found)
    columns, notes = [], []
    cells: dict[tuple[str, str], Cell] = {}
    contests: dict[str, Contest] = {}
    for study in found:
        measure = headline_measure(study.spec)
        contest = contest_of(study, measure, rows)
        figures = [score(entrant.table, measure, level=LEVEL) for entrant in study.entrants]
        for entrant, figure in zip(study.entrants, figures, strict=True):
            row = rows[id(entrant)]
            cells[row, study.name] = cell(entrant, figure, measure, contest, row)
        columns.append(_column(study, measure, figures))
        contests[study.name] = contest
        notes += _notes(study, contest, rows)

    models = tuple(dict.fromkeys(rows.values()))
    pairs = {name: contest.pairs for name, contest in contests.items()}
    ranks = mean_ranks(models, contests)
    return Overview(models, tuple(columns), cells, ranks, pairs, tuple(notes))


def in_words(found: Overview, model: str) -> str:
    """What a model knows and what not, by the verdicts alone; empty where there are none.

    "knows sizes and colours; guesses at places; worse than chance at negation"
    """
    told: dict[Verdict, list[str]] = {}
    knows = "knows"
    for column, skill in zip(found.columns, _skills(found.columns), strict=True):
        cell = found.cells.get((model, column.name))
        if cell is None:
            continue
        told.setdefault(cell.verdict, []).append(skill)
        if role(cell.run.model) or cell.run.manifest.blind:
            knows = "better than chance at"  # words alone, or luck, are no knowledge of space

    verbs = {"above": knows, "at": "guesses at", "below": "worse than chance at"}
    parts = []
    for each, verb in verbs.items():
        if each in told:
            parts.append(f"{verb} {listed(told[each])}")
    return "; ".join(parts)


def _skills(columns: Sequence[Column]) -> list[str]:
    """What each column is about; sources of one benchmark are told apart."""
    plain = [column.skill or column.name.partition("@")[0] for column in columns]
    found = []
    for skill, column in zip(plain, columns, strict=True):
        if plain.count(skill) > 1:
            skill = f"{skill} ({column.name})"
        found.append(skill)
    return found


def row_labels(found: Sequence[Study]) -> dict[int, str]:
    """The row of each entrant, by its identity.

    The model's name and, where its runs on one benchmark differ in a setting, that setting. Runs
    that differ in nothing are numbered.
    """
    names: dict[str, str] = {}
    settings: dict[str, Mapping[str, Any]] = {}
    for run in all_runs(found):
        names[str(run.path)] = labels_of([run])[0]
        settings[str(run.path)] = settings_of(run)

    telling = _telling_apart(found, names, settings)
    kinds: dict[str, tuple[str, str]] = {}
    distinct: dict[tuple[str, str], Mapping[str, Any]] = {}
    for path, name in names.items():
        mine = {key: settings[path].get(key) for key in telling.get(name, ())}
        kind = name, repr(mine)
        kinds[path] = kind
        distinct[kind] = mine
    called = labels([name for name, _ in distinct], list(distinct.values()))
    label_of = dict(zip(distinct, called, strict=True))

    rows = {}
    for study in found:
        seen: dict[str, int] = {}
        for entrant in study.entrants:
            label = label_of[kinds[str(entrant.run.path)]]
            seen[label] = seen.get(label, 0) + 1
            rows[id(entrant)] = label if seen[label] == 1 else f"{label} #{seen[label]}"
    return rows


def _telling_apart(
    found: Sequence[Study], names: Mapping[str, str], settings: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[str]]:
    """For each name, the settings in which two of its runs on one benchmark differ."""
    telling: dict[str, dict[str, None]] = {}
    for study in found:
        of_name: dict[str, list[Mapping[str, Any]]] = {}
        for entrant in study.entrants:
            path = str(entrant.run.path)
            of_name.setdefault(names[path], []).append(settings[path])
        for name, several in of_name.items():
            keys = dict.fromkeys(key for each in several for key in each)
            for key in keys:
                if any(each.get(key) != several[0].get(key) for each in several):
                    telling.setdefault(name, {})[key] = None
    return {name: list(keys) for name, keys in telling.items()}


@dataclass(frozen=True)
class Contest:
    """The runs of a study that were asked the same items, and how they compare."""

    values: Mapping[str, float] = field(default_factory=dict)  # by row; empty if no two are alike
    better: Literal["higher", "lower"] = "higher"
    pairs: Sequence[Comparison] = ()

    def goodness(self, row: str) -> float:
        """A number that is higher for a better value."""
        value = self.values[row]
        return value if self.better == "higher" else -value

    @property
    def best(self) -> set[str]:
        """The rows with the best value; several if it is the same to the last digit."""
        top = max(map(self.goodness, self.values), default=nan)
        return {row for row in self.values if self.goodness(row) == top}

    @property
    def tied(self) -> set[str]:
        """The other rows that the test does not tell apart from one of the best."""
        found = set()
        for pair in self.pairs:
            both = {pair.first, pair.second}
            if pair.tied and both & self.best:
                found |= both - self.best
        return found


def contest_of(study: Study, measure: Measure, rows: Mapping[int, str]) -> Contest:
    """The largest set of runs on the same items; of two equally large ones that with more items."""
    sets = [members for members in study.item_sets() if len(members) > 1]
    if not sets:
        return Contest()
    members = [study.entrants[i] for i in max(sets, key=len)]
    return contest_between(members, measure, rows)


def contest_between(
    members: Sequence[Entrant], measure: Measure, rows: Mapping[int, str]
) -> Contest:
    """Who is best of runs on the same items, and whom the test does not tell apart from it."""
    names = [rows[id(entrant)] for entrant in members]
    values = {}
    for entrant, name in zip(members, names, strict=True):
        value = score(entrant.table, measure).value
        if value is not None:
            values[name] = value
    if len(values) < 2:
        return Contest()

    pairs = comparable_pairs([entrant.table for entrant in members], measure, names=names)
    return Contest(values, measure.better, pairs)


def cell(entrant: Entrant, figure: Score, measure: Measure, contest: Contest, row: str) -> Cell:
    """The figure of a run with its marks."""
    told = _VERDICTS[verdict(figure.low, figure.high, figure.chance)]
    if measure.better == "lower":
        told = _TURNED[told]
    return Cell(
        value=_number(figure.value),
        low=_number(figure.low),
        high=_number(figure.high),
        chance=figure.chance,
        verdict=told,
        best=row in contest.best,
        tied=row in contest.tied,
        items=len(entrant.table),
        finished=len(entrant.table) >= entrant.total,
        run=entrant.run,
    )


def _number(value: float | None) -> float:
    return nan if value is None else value


def _column(study: Study, measure: Measure, figures: Sequence[Score]) -> Column:
    chances = {figure.chance for figure in figures if figure.value is not None}
    chance = chances.pop() if len(chances) == 1 else None
    most = max((len(entrant.table) for entrant in study.entrants), default=0)
    title = _declared(study.spec, "title") or study.name
    skill = _declared(study.spec, "skill")
    return Column(study.name, title, measure.name, chance, most, skill)


def _declared(spec: Benchmark | None, name: str) -> str:
    return str(getattr(spec, name, ""))


def mean_ranks(models: Sequence[str], contests: Mapping[str, Contest]) -> dict[str, float]:
    """The mean over columns of a model's rank by value; equal values share the mean of their ranks.

    Only models that take part in the contests of all columns are ranked, among each other: anything
    else would average over other questions for each. Nothing for a single column or a single model.
    """
    ranked = [row for row in models if all(row in each.values for each in contests.values())]
    if len(ranked) < 2 or len(contests) < 2:
        return {}
    totals = dict.fromkeys(ranked, 0.0)
    for contest in contests.values():
        here = [contest.goodness(row) for row in ranked]
        for row in ranked:
            mine = contest.goodness(row)
            ahead = sum(other > mine for other in here)
            totals[row] += ahead + (here.count(mine) + 1) / 2
    return {row: total / len(contests) for row, total in totals.items()}


def _notes(study: Study, contest: Contest, rows: Mapping[int, str]) -> list[str]:
    """What of a study is unfinished, or stands beside others without being compared."""
    notes = []
    for entrant in study.entrants:
        if len(entrant.table) < entrant.total:
            asked = f"{len(entrant.table):,} of {entrant.total:,} items"
            notes.append(f"{rows[id(entrant)]} on {study.name} is not finished: asked {asked}.")
    apart = [rows[id(entrant)] for entrant in study.entrants]
    apart = [row for row in apart if row not in contest.values]
    if apart and len(study.entrants) > 1:
        verb = "was" if len(apart) == 1 else "were"
        others = "the others" if contest.values else "each other"
        notes.append(
            f"{study.name}: {listed(apart)} {verb} not asked the same items as {others}, and so "
            "not compared."
        )
    return notes

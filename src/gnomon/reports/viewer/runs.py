"""What the pages of one run and of one model show, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gnomon.errors import GnomonError
from gnomon.measures.chance import verdict
from gnomon.records import Score
from gnomon.reports.figures import figures
from gnomon.reports.overview import IN_WORDS, Overview, OverviewCell, OverviewColumn, in_words
from gnomon.reports.page.headline import applicable, figures_of
from gnomon.reports.page.notes import facts, few_units, small_groups
from gnomon.reports.page.views import figure_view
from gnomon.reports.study import Study, labels_of
from gnomon.reports.viewer.home import progress
from gnomon.reports.viewer.shelf import Shelf, compare_address, model_address, run_address
from gnomon.reports.words import capitalised, counted, interval_of, measure_name, percentage
from gnomon.runs import Run
from gnomon.runs.pace import duration


def run_page(shelf: Shelf, run: Run) -> dict[str, Any]:
    """One run: how far it has come, its figures, its charts, what was noted, how it was made."""
    study = shelf.study([run])
    results = shelf.keep("results", [run], lambda: _results(study))
    others = _others(run, shelf.listed())
    label, *of_others = labels_of([run, *others])  # with the settings in which they differ
    return {
        "run": run,
        "label": label,
        "model_url": model_address(labels_of([run])[0]),
        "title": study.title,
        "url": run_address(run),
        "progress": progress(shelf, run),
        **results,
        **_noted(run),
        "usage": usage_in_words(shelf, [run]),
        "facts": facts(run.manifest, shelf.counts(run)),
        "peers": _peers(run, others, of_others),
    }


def _noted(run: Run) -> dict[str, Any]:
    """What people noted about a run, or why that cannot be read."""
    try:
        notes = run.notes
    except GnomonError as problem:
        return {"notes": [], "hidden": False, "doubts": 0, "notes_problem": problem.message}
    rows = []
    for note in notes.notes:
        rows.append({"id": note.id, "text": note.text, "at": note.at.strftime("%Y-%m-%d %H:%M")})
    return {
        "notes": rows,
        "hidden": notes.hidden,
        "doubts": len(notes.doubts),
        "notes_problem": "",
    }


def _results(study: Study) -> dict[str, Any]:
    """What takes time to compute: scores and charts."""
    entrant = study.entrants[0]
    measures = applicable(study.spec)
    names = [measure.name for measure in measures]
    if not len(entrant.table):
        return {"scores": [], "remarks": list(small_groups(study, names)), "figures": []}
    scores, few = figures_of(entrant.table, measures)
    return {
        "scores": list(map(_score_row, scores.values())),
        "remarks": [*small_groups(study, names), *few_units(few)],
        "figures": [figure_view(chart, "r-") for chart in figures(study)],
    }


def _score_row(score: Score) -> dict[str, str]:
    return {
        "measure": measure_name(score.measure),
        "value": percentage(score.value, 1),
        "n": f"{score.n:,}",
        "units": score.units,
        "range": interval_of(score.low, score.high, 1),
        "chance": "" if score.chance is None else percentage(score.chance, 1),
        "verdict": verdict(score.low, score.high, score.chance),
    }


def _others(run: Run, runs: Sequence[Run]) -> list[Run]:
    """The other runs on the benchmark."""
    found = []
    for other in runs:
        if other.benchmark == run.benchmark and other.path != run.path:
            found.append(other)
    return found


def _peers(run: Run, others: Sequence[Run], labels: Sequence[str]) -> list[dict[str, str]]:
    """Each other run with the page that compares the two."""
    found = []
    for other, label in zip(others, labels, strict=True):
        found.append({"label": label, "url": compare_address([run, other])})
    return found


def model_page(shelf: Shelf, name: str) -> dict[str, Any] | None:
    """One model: all its runs, what it knows in words, its settings, what it took."""
    listed = shelf.listed()
    mine = [run for run in listed if labels_of([run])[0] == name]
    if not mine:
        return None
    readable = [run for run in listed if shelf.readable(run)]
    overview = shelf.overview(readable)
    paths = {run.path for run in mine}
    rows, sentences = [], []
    for model in overview.models:
        cells = _cells_of(overview, model, paths)
        if not cells:
            continue
        sentences += _in_words(overview, model, name)
        for column, cell in cells:
            rows.append({"label": model, **_model_row(shelf, column, cell)})
    return {
        "name": name,
        "sentences": sentences,
        "rows": rows,
        "count": counted(len(mine), "runs"),
        "usage": usage_in_words(shelf, mine),
        "facts": _common_facts(shelf, mine),
    }


def _cells_of(
    overview: Overview, model: str, paths: set[Path]
) -> list[tuple[OverviewColumn, OverviewCell]]:
    """The figures in a row of the overview that are of these runs."""
    found = []
    for column in overview.columns:
        cell = overview.cells.get((model, column.name))
        if cell is not None and cell.run.path in paths:
            found.append((column, cell))
    return found


def _in_words(overview: Overview, row: str, name: str) -> list[str]:
    """What a row of the overview says, as a sentence; a model may have rows by its settings."""
    words = in_words(overview, row)
    if not words:
        return []
    if row == name:
        return [f"{capitalised(words)}."]
    return [f"{row}: {words}."]


def _model_row(shelf: Shelf, column: OverviewColumn, cell: OverviewCell) -> dict[str, Any]:
    return {
        "url": run_address(cell.run),
        "title": column.title,
        "measure": measure_name(column.measure),
        "value": percentage(cell.value, 1),
        "range": interval_of(cell.low, cell.high, 1),
        "chance": percentage(cell.chance, 1),
        "verdict": IN_WORDS[cell.verdict],
        "items": f"{cell.items:,}",
        "state": shelf.state(cell.run),
        "usage": usage_in_words(shelf, [cell.run]),
        "notes": len(shelf.notes(cell.run).notes),
    }


def _common_facts(shelf: Shelf, runs: Sequence[Run]) -> list[tuple[str, str]]:
    """What is the same for all runs of a model, and that something differs where it does."""
    wanted = ("Model", "Model details", "Scores", "Versions")
    found: dict[str, dict[str, None]] = {}
    for run in runs:
        for name, value in facts(run.manifest, shelf.counts(run)):
            if name in wanted:
                found.setdefault(name, {})[value] = None
    rows = []
    for name, values in found.items():
        if len(values) == 1:
            rows.append((name, next(iter(values))))
        else:
            rows.append((name, f"{len(values)} settings: see each run"))
    return rows


def usage_in_words(shelf: Shelf, runs: Sequence[Run]) -> str:
    """How long the answers took, and how many tokens; empty where no model says so."""
    read, written, seconds, cost = 0, 0, 0.0, 0.0
    for run in runs:
        try:
            used = shelf.keep("usage", [run], run.usage)
        except (GnomonError, OSError):  # damaged: the run's own page says so
            continue
        read += used.tokens_read or 0
        written += used.tokens_written or 0
        seconds += used.seconds or 0.0
        cost += used.cost or 0.0
    parts = []
    if seconds >= 1:
        parts.append(f"{duration(seconds)} of answering")
    if read or written:
        parts.append(f"{read:,} tokens read, {written:,} written")
    if cost:
        parts.append(f"cost {cost:.2f} at the prices given")
    return " · ".join(parts)

"""What the pages of one run and of one model show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from gnomon.errors import GnomonError
from gnomon.reports.figures import figures
from gnomon.reports.overview import IN_WORDS, Overview, in_words
from gnomon.reports.page.headline import applicable, figures_of
from gnomon.reports.page.notes import facts, few_units, small_groups
from gnomon.reports.study import Study, labels_of
from gnomon.reports.viewer.home import progress
from gnomon.reports.viewer.shelf import Shelf
from gnomon.reports.words import capitalised
from gnomon.runs import Notes, Run
from gnomon.runs.pace import duration


def run_page(shelf: Shelf, request: Request) -> dict[str, Any]:
    """One run: how far it has come, its figures, its charts, what was noted, how it was made."""
    run = shelf.asked(request)
    study = shelf.study([run])
    others = []
    for other in shelf.listed():
        if other.benchmark == run.benchmark and other.path != run.path:
            others.append(other)
    label, *of_others = labels_of([run, *others])  # with the settings in which they differ
    return {
        "run": run,
        "label": label,
        "model": labels_of([run])[0],
        "title": study.title,
        "progress": progress(shelf, run),
        **shelf.keep("results", [run], lambda: _results(study)),
        **_noted(run),
        "usage": usage_in_words(shelf, [run]),
        "facts": facts(run.manifest, shelf.counts(run)),
        "peers": list(zip(of_others, others, strict=True)),
    }


def _noted(run: Run) -> dict[str, Any]:
    """What people noted about a run, or why that cannot be read."""
    try:
        return {"noted": run.notes, "notes_problem": ""}
    except GnomonError as problem:
        return {"noted": Notes(), "notes_problem": problem.message}


def _results(study: Study) -> dict[str, Any]:
    """What takes time to compute: scores and charts."""
    entrant = study.entrants[0]
    measures = applicable(study.spec)
    small = small_groups(study, [measure.name for measure in measures])
    if not len(entrant.table):
        return {"scores": [], "remarks": list(small), "figures": []}
    scores, few = figures_of(entrant.table, measures)
    return {
        "scores": list(scores.values()),
        "remarks": [*small, *few_units(few)],
        "figures": figures(study),
    }


def model_page(shelf: Shelf, request: Request) -> dict[str, Any]:
    """One model: all its runs, what it knows in words, its settings, what it took."""
    name = request.query_params.get("name", "")
    listed = shelf.listed()
    mine = [run for run in listed if labels_of([run])[0] == name]
    if not mine:
        raise HTTPException(404, "No run here is of this model.")
    overview = shelf.overview([run for run in listed if shelf.readable(run)])
    paths = {run.path for run in mine}
    rows: list[dict[str, Any]] = []
    sentences = []
    for model in overview.models:
        cells = [overview.cells.get((model, column.name)) for column in overview.columns]
        found = []
        for column, cell in zip(overview.columns, cells, strict=True):
            if cell is not None and cell.run.path in paths:
                found.append({"label": model, "column": column, "cell": cell})
        if found:
            sentences += _in_words(overview, model, name)
            rows += found
    return {
        "name": name,
        "sentences": sentences,
        "rows": rows,
        "verdicts": IN_WORDS,
        "shelf": shelf,
        "usage_in_words": usage_in_words,
        "runs": mine,
        "facts": _common_facts(shelf, mine),
    }


def _in_words(overview: Overview, row: str, name: str) -> list[str]:
    """What a row of the overview says, as a sentence; a model may have rows by its settings."""
    words = in_words(overview, row)
    if not words:
        return []
    return [f"{capitalised(words)}." if row == name else f"{row}: {words}."]


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
        several = f"{len(values)} settings: see each run"
        rows.append((name, several if len(values) > 1 else next(iter(values))))
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

"""The viewer's first page, and those of a benchmark, of a run and of a model."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from gnomon.errors import GnomonError, UsageError
from gnomon.grouped import grouped
from gnomon.measures.cautions import cautions
from gnomon.registry import asked_benchmark, role
from gnomon.reports.figures import figures
from gnomon.reports.figures.overall import over_dates
from gnomon.reports.overview import IN_WORDS, Overview, in_words
from gnomon.reports.page.headline import applicable, figures_of
from gnomon.reports.page.notes import facts, few_units, small_groups
from gnomon.reports.page.overviews import Leads, overview_view
from gnomon.reports.page.page import range_plot
from gnomon.reports.study import Study, labels_of
from gnomon.reports.tables.pivot import pivot, written
from gnomon.reports.viewer.items import tag_values
from gnomon.reports.viewer.shelf import (
    BoardPart,
    RunBoard,
    Shelf,
    benchmark_address,
    model_address,
    run_address,
)
from gnomon.reports.words import capitalised
from gnomon.runs import Notes, Run
from gnomon.runs.pace import duration, pace_in_words, read_pace

FILTERS = ("benchmark", "model", "state", "hidden")
Query = Mapping[str, str]


def home(shelf: Shelf, request: Request) -> dict[str, Any]:
    """All runs: the overview, those that are not finished, and the leaderboards, with filters."""
    query = request.query_params
    every = shelf.runs()
    shown = shown_runs(shelf, query)
    readable = [run for run in shown if shelf.readable(run)]
    by_benchmark = grouped(readable, lambda run: run.benchmark)
    wanted = query.get("benchmark", "")
    boards = []
    for name in sorted(by_benchmark):
        if wanted in ("", name):
            found = board_view(shelf, shelf.board(name, by_benchmark[name]), query)
            if found["parts"]:
                boards.append(found)
    filtered = any(query.get(key) for key in ("benchmark", "model", "state"))
    in_turn = [run for runs in by_benchmark.values() for run in runs]
    return {
        "overview": _overview(shelf, in_turn) if readable and not filtered else None,
        "live": live(shelf, shown),
        "boards": boards,
        "benchmarks": sorted({run.benchmark for run in every}),
        "query": {key: query.get(key, "") for key in FILTERS},
        "total": len(shown),
        "hidden": len(every) - len(shelf.listed()),
        "folder": str(shelf.folder),
        "unreadable": [run.path.name for run in shown if shelf.damaged(run)],
    }


def _overview(shelf: Shelf, runs: Sequence[Run]) -> dict[str, Any]:
    """Models by benchmarks, to be read, sorted and copied."""
    overview = shelf.overview(runs)
    leads = Leads(
        model=lambda cell: model_address(labels_of([cell.run])[0]),
        column=lambda column: benchmark_address(column.name),
        cell=lambda _, cell: run_address(cell.run),
        digits=1,
    )
    copied = written(pivot(overview, ()), "markdown")
    return {**overview_view(overview, leads), "markdown": copied, "figure": overview.plot()}


def shown_runs(shelf: Shelf, query: Query) -> list[Run]:
    """The runs that a list shows: those that are hidden only if it is asked for them."""
    return shelf.runs() if query.get("hidden") else shelf.listed()


def live(shelf: Shelf, runs: Sequence[Run]) -> dict[str, Any]:
    """The runs that are not finished, and a digest that changes when a run comes or ends."""
    states = [f"{run.path.name} {run.manifest.finished} {run.name}" for run in runs]
    going = [run for run in runs if run.manifest.finished is None]
    rows = []
    for members in grouped(going, lambda run: run.benchmark).values():
        for run, label in zip(members, labels_of(members), strict=True):
            rows.append(_live_row(shelf, run, label))
    version = sha256("\n".join(states).encode(errors="replace")).hexdigest()[:16]
    return {"version": version, "runs": rows}


def _live_row(shelf: Shelf, run: Run, label: str) -> dict[str, Any]:
    spec = asked_benchmark(run.benchmark, run.manifest.about)
    return {
        "name": run.path.name,
        "label": label,
        "benchmark": run.benchmark,
        "title": (spec.title if spec else "") or run.benchmark,
        "url": run_address(run),
        **progress(shelf, run),
    }


def progress(shelf: Shelf, run: Run) -> dict[str, Any]:
    """How far a run has come, and how fast it goes."""
    counts = shelf.counts(run)
    state = shelf.state(run)
    pace = read_pace(run.path) if state == "running" else None
    return {
        "state": state,
        "pace": pace_in_words(pace) if pace else "",
        "total": counts.items,
        "done": counts.asked,
        "answered": counts.answered,
        "unread": counts.unread,
        "errors": counts.errors,
        "share": counts.asked / max(1, counts.items),
    }


def benchmark_page(shelf: Shelf, request: Request) -> dict[str, Any]:
    """One benchmark: its leaderboard, over all items or over those of a category."""
    query = request.query_params
    name, part = query.get("name", ""), query.get("part", "")
    runs = [run for run in shelf.listed() if run.benchmark == name and shelf.readable(run)]
    if not runs:
        raise HTTPException(404, "No run here is on this benchmark.")
    study = shelf.study(runs)
    categories: dict[str, dict[str, str]] = {}  # of a tag, the values in words
    words: dict[str, str] = {}
    for tag, values in shelf.keep("tags", runs, lambda: tag_values(study)).items():
        of_tag = {f"{tag}={value}": study.words(tag, value) for value in values}
        categories[capitalised(study.words(tag))] = of_tag
        words |= of_tag
    if part and part not in words:
        raise UsageError(f"{name} has no category {part}.", "Choose one from the list.")
    return {
        "board": board_view(shelf, shelf.board(name, runs, part), {}),
        "part": part,
        "part_words": words.get(part, ""),
        "categories": categories,
        "title": study.title,
        "name": name,
        "doubts": len(shelf.doubts(runs)),
        "cautions": shelf.keep("cautions", runs, lambda: _cautions(study)),
        "dates": shelf.keep("dates", runs, lambda: list(over_dates(study))),
    }


def board_view(shelf: Shelf, board: RunBoard, query: Query) -> dict[str, Any]:
    """One benchmark's leaderboard: a part for each set of items that runs share."""
    several = len(board.parts) > 1
    parts = []
    shown: list[dict[str, Any]] = []
    for part in board.parts:
        lines = _lines(shelf, part, query, alone=several)
        if lines:
            parts.append({"items": part.items, "lines": lines})
            shown += lines
    # Ticked to be compared: the best two that are not baselines, or else the best.
    wanted = sorted(shown, key=lambda line: line["baseline"])[:2]
    for line in shown:
        line["ticked"] = line in wanted
    spec = board.spec
    return {
        "name": board.benchmark,
        "title": (spec.title if spec else "") or board.benchmark,
        "about": spec.summary if spec else "",
        "measure": board.measure,
        "parts": parts,
        "several": several,
        "total": len(shown),
    }


def _lines(shelf: Shelf, part: BoardPart, query: Query, *, alone: bool) -> list[dict[str, Any]]:
    """The rows of runs on the same items; one that has no other to be ranked with has no rank."""
    words = query.get("model", "").lower()
    ranked = len(part.places) > 1 or not alone
    lines = []
    for run, label, rank in part.places:
        state = shelf.state(run)
        if words in label.lower() and query.get("state", "") in ("", state):
            lines.append(
                {
                    "run": run,
                    "label": label,
                    "rank": rank,
                    "ranked": ranked,
                    "plot": range_plot(rank),
                    "baseline": bool(role(run.model)),
                    "counts": shelf.counts(run),
                    "state": "stopped by itself" if stopped(run) else state,
                    "hidden": shelf.notes(run).hidden,
                }
            )
    return lines


def stopped(run: Run) -> bool:
    """Whether a run stopped because enough was known."""
    look = run.manifest.last_look
    return look is not None and look.verdict not in ("", "all")


# The pages of one run and of one model.


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
        "remarks": [*small, *few_units(few), *_cautions(study)],
        "figures": figures(study),
    }


def _cautions(study: Study) -> list[str]:
    """What would mislead about the runs: one answer to all, settings that differ."""
    return list(cautions([(entrant.label, entrant.table) for entrant in study.entrants]))


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

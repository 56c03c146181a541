"""The viewer's first page and that of a benchmark: overview, what goes on, leaderboards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from math import isnan
from typing import Any

from gnomon.errors import UsageError
from gnomon.measures.chance import verdict
from gnomon.measures.comparison import Rank
from gnomon.registry import asked_benchmark, role
from gnomon.reports.page.overviews import Leads, overview_view
from gnomon.reports.page.views import range_plot
from gnomon.reports.study import Study, labels_of
from gnomon.reports.tables.pivot import pivot, written
from gnomon.reports.viewer.items import tag_values
from gnomon.reports.viewer.shelf import (
    BoardPart,
    RunBoard,
    RunPlace,
    Shelf,
    benchmark_address,
    model_address,
    run_address,
)
from gnomon.reports.words import capitalised, interval_of, measure_name, percentage
from gnomon.runs import Run
from gnomon.runs.pace import pace_in_words, read_pace

FILTERS = ("benchmark", "model", "state", "hidden")
Query = Mapping[str, str]


def home(shelf: Shelf, query: Query) -> dict[str, Any]:
    """All runs: the overview, those that are not finished, and the leaderboards, with filters."""
    every = shelf.runs()
    shown = shown_runs(shelf, query)
    by_benchmark, unreadable = _readable(shelf, shown)
    wanted = query.get("benchmark", "")
    boards = []
    for name in sorted(by_benchmark):
        if wanted in ("", name):
            found = board_view(shelf, shelf.board(name, by_benchmark[name]), query)
            if found["parts"]:
                boards.append(found)
    filtered = any(query.get(key) for key in ("benchmark", "model", "state"))
    readable: list[Run] = []
    for members in by_benchmark.values():
        readable += members
    return {
        "overview": _overview(shelf, readable) if readable and not filtered else None,
        "live": live(shelf, shown),
        "boards": boards,
        "benchmarks": sorted({run.benchmark for run in every}),
        "query": {key: query.get(key, "") for key in FILTERS},
        "total": len(shown),
        "hidden": len(every) - len(shelf.listed()),
        "folder": str(shelf.folder),
        "unreadable": unreadable,
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
    return {**overview_view(overview, leads), "markdown": copied}


def shown_runs(shelf: Shelf, query: Query) -> list[Run]:
    """The runs that a list shows: those that are hidden only if it is asked for them."""
    return shelf.runs() if query.get("hidden") else shelf.listed()


def _readable(shelf: Shelf, runs: Sequence[Run]) -> tuple[dict[str, list[Run]], list[str]]:
    """The runs by benchmark, and the names of those that hold nothing that can be read."""
    readable: dict[str, list[Run]] = {}
    unreadable = []
    for run in runs:
        if shelf.readable(run):
            readable.setdefault(run.benchmark, []).append(run)
        elif shelf.damaged(run):
            unreadable.append(run.path.name)
    return readable, unreadable


def live(shelf: Shelf, runs: Sequence[Run]) -> dict[str, Any]:
    """The runs that are not finished, and a digest that changes when a run comes or ends."""
    states = []
    going: dict[str, list[Run]] = {}
    for run in runs:
        states.append(f"{run.path.name} {run.manifest.finished} {run.name}")
        if run.manifest.finished is None:
            going.setdefault(run.benchmark, []).append(run)
    rows = []
    for members in going.values():
        for run, label in zip(members, labels_of(members), strict=True):
            rows.append(_live_row(shelf, run, label))
    version = sha256("\n".join(states).encode(errors="replace")).hexdigest()[:16]
    return {"version": version, "runs": rows}


def _live_row(shelf: Shelf, run: Run, label: str) -> dict[str, Any]:
    return {
        "name": run.path.name,
        "label": label,
        "benchmark": run.benchmark,
        "title": _title_of(run),
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


def _title_of(run: Run) -> str:
    """The benchmark of a run as people call it; its name where it has no title."""
    spec = asked_benchmark(run.benchmark, run.manifest.about)
    return (spec.title if spec else "") or run.benchmark


def benchmark_page(shelf: Shelf, query: Query) -> dict[str, Any] | None:
    """One benchmark: its leaderboard, over all items or over those of a category."""
    name, part = query.get("name", ""), query.get("part", "")
    runs = [run for run in shelf.listed() if run.benchmark == name and shelf.readable(run)]
    if not runs:
        return None
    study = shelf.study(runs)
    categories = _categories(study, shelf.keep("tags", runs, lambda: tag_values(study)))
    words: dict[str, str] = {}
    for tag in categories:
        words |= {each["value"]: each["text"] for each in tag["values"]}
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
    }


def _categories(study: Study, tags: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """The tags that the benchmark's items can be divided by, each with its values, in words."""
    found = []
    for tag, values in tags.items():
        words = []
        for value in values:
            words.append({"value": f"{tag}={value}", "text": study.words(tag, value)})
        found.append({"title": capitalised(study.words(tag)), "values": words})
    return found


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
    _tick(shown)
    spec = board.spec
    return {
        "name": board.benchmark,
        "title": (spec.title if spec else "") or board.benchmark,
        "url": benchmark_address(board.benchmark),
        "about": spec.summary if spec else "",
        "measure": measure_name(board.measure),
        "parts": parts,
        "several": several,
        "total": len(shown),
    }


def _tick(lines: list[dict[str, Any]]) -> None:
    """Tick two runs to be compared: the best that are not baselines, or else the best."""
    wanted = sorted(lines, key=lambda line: line["baseline"])[:2]
    for line in lines:
        line["ticked"] = line in wanted


def _lines(shelf: Shelf, part: BoardPart, query: Query, *, alone: bool) -> list[dict[str, Any]]:
    """The rows of runs on the same items; one that has no other to be ranked with has no rank."""
    words = query.get("model", "").lower()
    wanted = query.get("state", "")
    ranked = len(part.places) > 1 or not alone
    lines = []
    for place in part.places:
        state = shelf.state(place.run)
        if words in place.label.lower() and wanted in ("", state):
            lines.append({"state": state, **_line(shelf, place, ranked=ranked)})
    return lines


def _line(shelf: Shelf, place: RunPlace, *, ranked: bool) -> dict[str, Any]:
    run, rank = place.run, place.rank
    counts = shelf.counts(run)
    known = not isnan(rank.value)
    return {
        "rank": _span(rank) if ranked else "–",
        "best": rank.best,
        "label": place.label,
        "name": run.path.name,
        "baseline": bool(role(run.model)),
        "url": run_address(run),
        "value": percentage(rank.value if known else None, 1),
        "sort": rank.value if known else "",
        "range": interval_of(rank.low, rank.high, 1),
        "plot": range_plot(rank.value, rank.low, rank.high, rank.chance),
        "chance": percentage(rank.chance, 1),
        "verdict": verdict(rank.low, rank.high, rank.chance),
        "tied": ", ".join(rank.tied),
        "total": counts.items,
        "done": counts.asked,
        "started": run.manifest.started.strftime("%Y-%m-%d"),
        "hidden": shelf.notes(run).hidden,
    }


def _span(rank: Rank) -> str:
    if rank.worst > rank.best:
        return f"{rank.best}–{rank.worst}"
    return str(rank.best)

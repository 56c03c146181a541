"""What the viewer's first two pages show, as plain data: the leaderboards, and one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any
from urllib.parse import quote, urlencode

from gnomon.measures.chance import verdict
from gnomon.measures.comparison import Rank
from gnomon.measures.grouping import large_enough
from gnomon.registry import known_benchmark
from gnomon.reporting.figures import figures
from gnomon.reporting.page.headline import applicable
from gnomon.reporting.page.methods import facts
from gnomon.reporting.page.notes import small_groups
from gnomon.reporting.page.views import figure_view, range_plot
from gnomon.reporting.study import Entrant, Study, labels_of
from gnomon.reporting.viewer.ranking import Board, Part, Place
from gnomon.reporting.viewer.shelf import Shelf
from gnomon.reporting.words import measure_name, percentage
from gnomon.runs import Run
from gnomon.runs.pace import pace_in_words, read_pace


def address(run: Run) -> str:
    """The page of a run."""
    return f"/run/{quote(run.path.name, safe='')}"


def leaderboard(shelf: Shelf, query: Mapping[str, str]) -> dict[str, Any]:
    """All runs by benchmark, ranked, with filters."""
    readable: dict[str, list[Run]] = {}
    unreadable = []
    runs = shelf.runs()
    for run in runs:
        if shelf.readable(run):
            readable.setdefault(run.benchmark, []).append(run)
        else:
            unreadable.append(run.path.name)
    wanted = query.get("benchmark", "")
    boards = []
    for name in sorted(readable):
        if wanted in ("", name):
            found = _board(shelf, shelf.board(name, readable[name]), query)
            if found["parts"]:
                boards.append(found)
    return {
        "boards": boards,
        "benchmarks": sorted({run.benchmark for run in runs}),
        "query": {key: query.get(key, "") for key in ("benchmark", "model", "state")},
        "total": len(runs),
        "folder": str(shelf.folder),
        "unreadable": unreadable,
    }


def _board(shelf: Shelf, board: Board, query: Mapping[str, str]) -> dict[str, Any]:
    """One benchmark's leaderboard: a part for each set of items that runs share."""
    several = len(board.parts) > 1
    parts = []
    shown: list[dict[str, Any]] = []
    for part in board.parts:
        lines = _lines(shelf, part, query, alone=several)
        if lines:
            parts.append({"items": part.items, "lines": lines})
            shown += lines
    for i, line in enumerate(shown):  # the two that are ticked to be compared
        line["first"] = i == 0
        line["second"] = i == 1
    spec = known_benchmark(board.benchmark)
    return {
        "name": board.benchmark,
        "about": spec.summary if spec else "",
        "measure": measure_name(board.measure),
        "parts": parts,
        "several": several,
        "total": len(shown),
    }


def _lines(
    shelf: Shelf, part: Part, query: Mapping[str, str], *, alone: bool
) -> list[dict[str, Any]]:
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


def _line(shelf: Shelf, place: Place, *, ranked: bool) -> dict[str, Any]:
    run, rank = place.run, place.rank
    counts = shelf.counts(run)
    known = not isnan(rank.value)
    return {
        "rank": _span(rank) if ranked else "–",
        "best": rank.best,
        "label": place.label,
        "name": run.path.name,
        "url": address(run),
        "value": percentage(rank.value if known else None, 1),
        "sort": rank.value if known else "",
        "range": _range(rank.low, rank.high),
        "plot": range_plot(rank.value, rank.low, rank.high, rank.chance),
        "chance": percentage(rank.chance, 1),
        "verdict": verdict(rank.low, rank.high, rank.chance),
        "tied": ", ".join(rank.tied),
        "total": counts.items,
        "done": counts.asked,
        "started": run.manifest.started.strftime("%Y-%m-%d"),
    }


def _span(rank: Rank) -> str:
    if rank.worst > rank.best:
        return f"{rank.best}–{rank.worst}"
    return str(rank.best)


def _range(low: float | None, high: float | None) -> str:
    if low is None or high is None or isnan(low):
        return ""
    return f"{100 * low:.1f}–{100 * high:.1f}"


def run_page(shelf: Shelf, run: Run) -> dict[str, Any]:
    """One run: how far it has come, its figures, its charts, how it was made."""
    study = shelf.study([run])
    results = shelf.keep("results", [run], lambda: _results(study))
    return {
        "run": run,
        "url": address(run),
        "progress": progress(shelf, run),
        **results,
        "facts": facts(run.manifest, shelf.counts(run)),
        "peers": _peers(run, shelf.runs()),
    }


def _results(study: Study) -> dict[str, Any]:
    """What takes time to compute: scores and charts."""
    entrant = study.entrants[0]
    charts = figures(study) if entrant.asked.any() else []
    measures = [measure.name for measure in applicable(study.spec)]
    return {
        "scores": _scores(study, entrant),
        "notes": list(small_groups(study, measures)),
        "figures": [figure_view(chart, "r-") for chart in charts],
    }


def _peers(run: Run, runs: Sequence[Run]) -> list[dict[str, str]]:
    """The other runs on the benchmark, each with the page that compares the two."""
    peers = []
    for other in runs:
        if other.benchmark == run.benchmark and other.path != run.path:
            peers.append(other)
    found = []
    for other, label in zip(peers, labels_of(peers), strict=True):
        query = urlencode({"a": run.path.name, "b": other.path.name})
        found.append({"label": label, "url": f"/compare?{query}"})
    return found


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


def _scores(study: Study, entrant: Entrant) -> list[dict[str, str]]:
    from gnomon.measures.scoring import scores

    if not len(entrant.table):
        return []
    rows = []
    for score in scores(entrant.table, applicable(study.spec)):
        if score.value is not None and large_enough(score.measure, entrant.table):
            rows.append(
                {
                    "measure": measure_name(score.measure),
                    "value": percentage(score.value, 1),
                    "n": f"{score.n:,}",
                    "units": score.units,
                    "range": _range(score.low, score.high),
                }
            )
    return rows

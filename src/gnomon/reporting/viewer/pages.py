"""What the viewer's pages show: plain data for the templates, made from the shelf of runs."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np

from gnomon.errors import UsageError
from gnomon.measures.comparison import compare as compared
from gnomon.measures.grouping import large_enough
from gnomon.records import Answer, Item
from gnomon.reporting.figures import figures
from gnomon.reporting.figures.slices import guess, headline_measure
from gnomon.reporting.page.headline import applicable
from gnomon.reporting.page.items import clip
from gnomon.reporting.page.methods import facts
from gnomon.reporting.page.notes import small_groups
from gnomon.reporting.page.views import figure_view, range_plot
from gnomon.reporting.study import NO_ANSWER, NOT_ASKED, Entrant, Study, known_benchmark, labels_of
from gnomon.reporting.viewer.ranking import Part
from gnomon.reporting.viewer.shelf import Shelf
from gnomon.reporting.words import counted, measure_name, percentage
from gnomon.runs import Run

PAGE = 50
REPLY = 4_000  # characters of a reply on an item's page


def leaderboard(shelf: Shelf, query: Mapping[str, str]) -> dict[str, Any]:
    """All runs by benchmark, ranked, with filters."""
    runs = shelf.runs()
    benchmarks = sorted({run.benchmark for run in runs})
    wanted, words, state = (
        query.get("benchmark", ""),
        query.get("model", "").lower(),
        query.get("state", ""),
    )
    boards = []
    for name in benchmarks:
        members = [run for run in runs if run.benchmark == name and shelf.readable(run)]
        if (wanted and name != wanted) or not members:
            continue
        found = shelf.board(name, members)
        parts: list[dict[str, Any]] = [
            {"items": part.items, "lines": lines}
            for part in found.parts
            if (lines := _lines(shelf, part, words, state, alone=len(found.parts) > 1))
        ]
        if parts:
            spec = known_benchmark(name)
            shown = [line for part in parts for line in part["lines"]]
            for i, line in enumerate(shown):
                line["first"], line["second"] = i == 0, i == 1
            boards.append(
                {
                    "name": name,
                    "about": spec.summary if spec else "",
                    "measure": measure_name(found.measure),
                    "parts": parts,
                    "several": len(found.parts) > 1,
                    "total": len(shown),
                }
            )
    return {
        "boards": boards,
        "benchmarks": benchmarks,
        "query": {"benchmark": wanted, "model": query.get("model", ""), "state": state},
        "total": len(runs),
        "folder": str(shelf.folder),
        "unreadable": [run.path.name for run in runs if not shelf.readable(run)],
    }


def address(run: Run) -> str:
    """The page of a run."""
    return f"/run/{quote(run.path.name, safe='')}"


def _lines(
    shelf: Shelf, part: Part, words: str, state: str, *, alone: bool
) -> list[dict[str, Any]]:
    """The rows of runs on the same items; one that has no other to be ranked with has no rank."""
    lines = []
    ranked = len(part.ranks) > 1 or not alone
    for run, label, rank in part.ranks:
        counts, now = shelf.counts(run), shelf.state(run)
        if words not in label.lower() or state not in ("", now):
            continue
        table = shelf.table(run)
        span = f"{rank.best}–{rank.worst}" if rank.worst > rank.best else str(rank.best)
        lines.append(
            {
                "rank": span if ranked else "–",
                "best": rank.best,
                "label": label,
                "name": run.path.name,
                "url": address(run),
                "value": percentage(None if np.isnan(rank.value) else rank.value, 1),
                "sort": "" if np.isnan(rank.value) else rank.value,
                "range": ""
                if np.isnan(rank.low)
                else f"{100 * rank.low:.1f}–{100 * rank.high:.1f}",
                "plot": range_plot(rank.value, rank.low, rank.high, guess(table)),
                "tied": ", ".join(rank.tied),
                "total": counts.items,
                "done": counts.asked,
                "state": now,
                "started": run.manifest.started.strftime("%Y-%m-%d"),
            }
        )
    return lines


def run_page(shelf: Shelf, run: Run) -> dict[str, Any]:
    """One run: how far it has come, its figures, its charts, how it was made."""
    study = shelf.study([run])
    entrant = study.entrants[0]
    peers = [
        other
        for other in shelf.runs()
        if other.benchmark == run.benchmark and other.path != run.path
    ]
    charts = figures(study) if entrant.asked.any() else []
    return {
        "run": run,
        "url": address(run),
        "progress": progress(shelf, run),
        "scores": _scores(study, entrant),
        "notes": list(small_groups(study, [m.name for m in applicable(study.spec)])),
        "figures": [figure_view(chart, "r-") for chart in charts],
        "facts": facts(run.manifest, shelf.counts(run)),
        "peers": [
            {
                "label": label,
                "url": "/compare?" + urlencode({"a": run.path.name, "b": other.path.name}),
            }
            for other, label in zip(peers, labels_of(peers), strict=True)
        ],
    }


def progress(shelf: Shelf, run: Run) -> dict[str, Any]:
    """How far a run has come."""
    counts = shelf.counts(run)
    done = counts.asked
    return {
        "state": shelf.state(run),
        "total": counts.items,
        "done": done,
        "answered": counts.answered,
        "unread": counts.unread,
        "errors": counts.errors,
        "share": done / counts.items if counts.items else 0.0,
    }


def _scores(study: Study, entrant: Entrant) -> list[dict[str, str]]:
    from gnomon.measures.scoring import scores

    found = scores(entrant.table, applicable(study.spec)) if len(entrant.table) else []
    return [
        {
            "measure": measure_name(s.measure),
            "value": percentage(s.value, 1),
            "n": f"{s.n:,}",
            "clusters": f"{s.clusters:,}",
            "range": f"{100 * s.low:.1f}–{100 * s.high:.1f}"
            if s.low is not None and s.high is not None
            else "",
        }
        for s in found
        if s.value is not None and large_enough(s.measure, entrant.table)
    ]


def items_page(shelf: Shelf, run: Run, query: Mapping[str, str]) -> dict[str, Any]:
    """The items of a run, searched, filtered and paged."""
    study = shelf.study([run])
    entrant = study.entrants[0]
    keep = np.ones(len(study.items), dtype=bool)
    outcome, words = query.get("outcome", ""), query.get("q", "").lower().split()
    if outcome:
        keep &= {
            "right": entrant.right,
            "wrong": entrant.asked & ~entrant.right,
            "silent": entrant.choice == NO_ANSWER,
        }.get(outcome, keep)
    where = [i for i in np.flatnonzero(keep).tolist() if not words or _holds(study.items[i], words)]
    page, pages, part = _paged(where, query)
    return {
        "run": run,
        "url": address(run),
        "total": len(where),
        "page": page,
        "pages": pages,
        "query": {"q": query.get("q", ""), "outcome": outcome},
        "links": _links(query, page, pages),
        "rows": [_row(study, i) for i in part],
    }


def compare_page(shelf: Shelf, one: Run, two: Run, query: Mapping[str, str]) -> dict[str, Any]:
    """Two runs on the same benchmark, down to the items where they differ."""
    if one.benchmark != two.benchmark:
        raise UsageError(
            f"{one.path.name} is on {one.benchmark}, {two.path.name} on {two.benchmark}.",
            "Compare runs on the same benchmark.",
        )
    study = shelf.study([one, two])
    a, b = study.entrants
    both = a.asked & b.asked
    sort = query.get("sort", "differ")
    kinds = {
        "differ": both & (a.choice != b.choice),
        "first": both & a.right & ~b.right,
        "second": both & b.right & ~a.right,
        "neither": both & ~a.right & ~b.right,
        "both": both & a.right & b.right,
    }
    where = np.flatnonzero(kinds.get(sort, kinds["differ"])).tolist()
    page, pages, part = _paged(where, query)
    try:
        verdict = _verdict(study)
    except UsageError as problem:
        verdict = {"text": problem.message, "differ": False}
    return {
        "study": study.name,
        "a": {"label": a.label, "name": one.path.name, "accuracy": _share(a, both)},
        "b": {"label": b.label, "name": two.path.name, "accuracy": _share(b, both)},
        "verdict": verdict,
        "counts": {key: int(value.sum()) for key, value in kinds.items()},
        "common": int(both.sum()),
        "sort": sort,
        "page": page,
        "pages": pages,
        "links": _links(query, page, pages),
        "rows": [_row(study, i) for i in part],
        "total": len(where),
    }


def _verdict(study: Study) -> dict[str, Any]:
    """Which of two runs is ahead on the items that both were asked, as far as these tell."""
    measure = headline_measure(study.spec)
    first, second = (e.label for e in study.entrants)
    both = study.entrants[0].asked & study.entrants[1].asked
    if not both.any():
        return {
            "text": f"{first} and {second} share no items, so they cannot be compared.",
            "differ": False,
        }
    found = compared([e.table.where(both[e.places]) for e in study.entrants], measure, draws=0)[0]
    if isnan(found.p):
        shared = f"{counted(found.n, 'items')} in {counted(found.clusters, 'independent groups')}"
        return {
            "text": f"{first} and {second} cannot be compared: they share {shared}.",
            "differ": False,
        }
    ahead, behind = (first, second) if found.difference >= 0 else (second, first)
    gap = f"{abs(100 * found.difference):.1f} points"
    if found.differ:
        said = f"{ahead} is ahead of {behind} by {gap} of {measure_name(measure.name).lower()}"
    else:
        said = f"{first} and {second} cannot be told apart: they differ by {gap} of {measure_name(measure.name).lower()}"
    low, high = (found.low, found.high) if found.difference >= 0 else (-found.high, -found.low)
    said += f" (interval {100 * low:+.1f} to {100 * high:+.1f}, p = {found.p:.3g})."
    if not found.differ and found.detectable > 0:
        said += f" These items would show a true difference of {100 * found.detectable:.1f} points four times in five."
    return {"text": said, "differ": found.differ}


def item_page(shelf: Shelf, benchmark: str, name: str) -> dict[str, Any] | None:
    """One item and what every model answered to it."""
    item: Item | None = None
    rows = []
    runs = [run for run in shelf.runs() if run.benchmark == benchmark]
    for run, label in zip(runs, labels_of(runs), strict=True):
        found = run.row(name)
        if found is None:
            continue
        theirs, answer = found
        item = item or theirs
        rows.append(
            _answer_row(
                run,
                label,
                theirs,
                answer,
                same=theirs.text == item.text and theirs.context == item.context,
            )
        )
    if item is None:
        return None
    return {
        "item": item,
        "benchmark": benchmark,
        "rows": rows,
        "tags": sorted(item.tags.items()),
        "context": clip(item.context, 20_000),
        "text": clip(item.text, 20_000),
    }


def _answer_row(
    run: Run, label: str, item: Item, answer: Answer | None, *, same: bool
) -> dict[str, Any]:
    chances: list[tuple[str, str]] = []
    if answer and answer.scores and run.manifest.scale != "none":
        values = np.array(answer.scores, dtype=float)
        with np.errstate(all="ignore"):
            values = (
                np.exp(values - np.nanmax(values))
                if run.manifest.scale == "log-probability"
                else values
            )
            values = values / np.nansum(values)
        chances = [
            (choice, percentage(float(v)) if np.isfinite(v) else "–")
            for choice, v in zip(item.choices, values, strict=False)
        ]
    return {
        "label": label,
        "url": address(run),
        "same": same,
        "asked": answer is not None,
        "said": (answer.choice or "no answer") if answer else "not asked",
        "chances": chances,
        "right": bool(answer and answer.choice in item.gold),
        "reply": clip(answer.reply or "", REPLY) if answer else "",
        "error": (answer.error or "") if answer else "",
    }


def _row(study: Study, i: int) -> dict[str, Any]:
    item = study.items[i]
    return {
        "id": clip(item.id, 120),
        "context": clip(item.context),
        "text": clip(item.text),
        "gold": " or ".join(item.gold),
        "url": "/item?" + urlencode({"benchmark": study.name, "id": item.id}),
        "answers": [_said(item, e, i) for e in study.entrants],
    }


def _said(item: Item, e: Entrant, i: int) -> dict[str, Any]:
    code = int(e.choice[i])
    said = item.choices[code] if code >= 0 else "not asked" if code == NOT_ASKED else "no answer"
    sure = percentage(float(e.sure[i])) if np.isfinite(e.sure[i]) else ""
    return {"said": said, "right": bool(e.right[i]), "sure": sure}


def _holds(item: Item, words: list[str]) -> bool:
    text = f"{item.id}\n{item.context}\n{item.text}\n{item.group}".lower()
    return all(word in text for word in words)


def _share(entrant: Entrant, both: Any) -> str:
    return percentage(float(entrant.right[both].mean()), 1) if both.any() else "–"


def _paged(where: list[int], query: Mapping[str, str]) -> tuple[int, int, list[int]]:
    pages = max(1, -(-len(where) // PAGE))
    asked = query.get("page", "1")
    page = min(max(int(asked) if asked.isdecimal() and len(asked) < 9 else 1, 1), pages)
    return page, pages, where[(page - 1) * PAGE : page * PAGE]


def _links(query: Mapping[str, str], page: int, pages: int) -> dict[str, str]:
    def to(number: int) -> str:
        return "?" + urlencode({**{k: v for k, v in query.items() if k != "page"}, "page": number})

    return {
        "previous": to(page - 1) if page > 1 else "",
        "next": to(page + 1) if page < pages else "",
    }

"""The viewer's pages of items: of a run, where two runs differ, and one with every answer to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from gnomon.errors import UsageError
from gnomon.measures.comparison import Comparison
from gnomon.measures.comparison import compare as compared
from gnomon.records import Answer, Item
from gnomon.reporting.figures.slices import headline_measure
from gnomon.reporting.page.items import clip
from gnomon.reporting.pictures import Album
from gnomon.reporting.study import NO_ANSWER, NOT_ASKED, Entrant, Study, labels_of
from gnomon.reporting.viewer.pages import address
from gnomon.reporting.viewer.shelf import Shelf
from gnomon.reporting.words import counted, measure_name, percentage
from gnomon.runs import Run

PAGE = 50
REPLY = 4_000  # characters of a reply on an item's page
TEXT = 20_000  # characters of an item's text there
Query = Mapping[str, str]


def items_page(shelf: Shelf, run: Run, query: Query) -> dict[str, Any]:
    """The items of a run, searched, filtered and paged."""
    study = shelf.study([run])
    where = _matching(study, study.entrants[0], query)
    part = _paged(where, query)
    return {
        "run": run,
        "url": address(run),
        "total": len(where),
        "page": part.page,
        "pages": part.pages,
        "query": {"q": query.get("q", ""), "outcome": query.get("outcome", "")},
        "links": _links(query, part),
        "rows": [_row(study, i) for i in part.places],
    }


def _matching(study: Study, entrant: Entrant, query: Query) -> list[int]:
    """The positions of the items that were asked for."""
    everything = np.ones(len(study.items), dtype=bool)
    outcomes = {
        "right": entrant.right,
        "wrong": entrant.asked & ~entrant.right,
        "silent": entrant.choice == NO_ANSWER,
    }
    keep = outcomes.get(query.get("outcome", ""), everything)
    where: list[int] = np.flatnonzero(keep).tolist()
    words = query.get("q", "").lower().split()
    if not words:
        return where
    return [i for i in where if _holds(study.items[i], words)]


def _holds(item: Item, words: list[str]) -> bool:
    text = f"{item.id}\n{item.context}\n{item.text}\n{item.group}".lower()
    return all(word in text for word in words)


def compare_page(shelf: Shelf, one: Run, two: Run, query: Query) -> dict[str, Any]:
    """Two runs on the same benchmark, down to the items where they differ."""
    if one.benchmark != two.benchmark:
        raise UsageError(
            f"{one.path.name} is on {one.benchmark}, {two.path.name} on {two.benchmark}.",
            "Compare runs on the same benchmark.",
        )
    study = shelf.study([one, two])
    a, b = study.entrants
    both = a.asked & b.asked
    kinds = {
        "differ": both & (a.choice != b.choice),
        "first": both & a.right & ~b.right,
        "second": both & b.right & ~a.right,
        "neither": both & ~a.right & ~b.right,
        "both": both & a.right & b.right,
    }
    sort = query.get("sort", "differ")
    where = np.flatnonzero(kinds.get(sort, kinds["differ"])).tolist()
    part = _paged(where, query)
    return {
        "study": study.name,
        "a": {"label": a.label, "name": one.path.name, "accuracy": _share(a, both)},
        "b": {"label": b.label, "name": two.path.name, "accuracy": _share(b, both)},
        "verdict": shelf.keep("verdict", [one, two], lambda: _verdict(study, both)),
        "counts": {key: int(value.sum()) for key, value in kinds.items()},
        "common": int(both.sum()),
        "sort": sort,
        "page": part.page,
        "pages": part.pages,
        "links": _links(query, part),
        "rows": [_row(study, i) for i in part.places],
        "total": len(where),
    }


def _verdict(study: Study, both: NDArray[np.bool_]) -> dict[str, Any]:
    """Which of two runs is ahead on the items that both were asked, if that can be said."""
    first, second = study.labels
    if not both.any():
        text = f"{first} and {second} share no items, so they cannot be compared."
        return {"text": text, "differ": False}
    tables = [entrant.table.where(both[entrant.places]) for entrant in study.entrants]
    measure = headline_measure(study.spec)
    try:
        found = compared(tables, measure, draws=0)[0]
    except UsageError as problem:
        return {"text": problem.message, "differ": False}
    if isnan(found.p):
        shared = f"{counted(found.n, 'items')} ({found.units})"
        text = f"{first} and {second} cannot be compared: they share {shared}."
        return {"text": text, "differ": False}
    name = measure_name(measure.name).lower()
    lower_is_better = measure.better == "lower"
    return {"text": _said(found, name, lower_is_better, study.labels), "differ": found.differ}


def _said(found: Comparison, measure: str, lower_is_better: bool, names: Sequence[str]) -> str:
    """A difference in words, from the side of the run that is ahead."""
    first, second = names
    gap = f"{abs(100 * found.difference):.1f} points of {measure}"
    first_is_ahead = (found.difference >= 0) != lower_is_better
    ahead, behind = (first, second) if first_is_ahead else (second, first)
    low, high = found.low, found.high
    if found.difference < 0:
        low, high = -found.high, -found.low
    interval = f"(interval {100 * low:+.1f} to {100 * high:+.1f}, p = {found.p:.3g})."
    if found.differ:
        return f"{ahead} is ahead of {behind} by {gap} {interval}"
    text = f"{first} and {second} do not differ significantly: by {gap} {interval}"
    if found.detectable > 0:
        points = f"{100 * found.detectable:.1f} points"
        text += f" These items would show a true difference of {points} four times in five."
    return text


def item_page(shelf: Shelf, benchmark: str, name: str) -> dict[str, Any] | None:
    """One item and what every model answered to it; none if no run has it."""
    item: Item | None = None
    rows = []
    runs = [run for run in shelf.runs() if run.benchmark == benchmark]
    for run, label in zip(runs, labels_of(runs), strict=True):
        found = run.row(name)
        if found is None:
            continue
        theirs, answer = found
        item = item or theirs
        same = (theirs.text, theirs.context) == (item.text, item.context)
        rows.append({"label": label, "same": same, **_answer_row(run, theirs, answer)})
    if item is None:
        return None
    from markupsafe import Markup

    return {
        "item": item,
        "benchmark": benchmark,
        "rows": rows,
        "tags": sorted(item.tags.items()),
        "context": clip(item.context, TEXT),
        "text": clip(item.text, TEXT),
        "thumbnails": Album().thumbnails(item),
        "sketches": [Markup(drawn) for drawn in Album().sketches(item)],  # noqa: S704 - our own
    }


def _answer_row(run: Run, item: Item, answer: Answer | None) -> dict[str, Any]:
    if answer is None:
        return {
            "url": address(run),
            "asked": False,
            "said": "not asked",
            "chances": [],
            "right": False,
            "reply": "",
            "rule": "",
            "error": "",
        }
    return {
        "url": address(run),
        "asked": True,
        "said": answer.choice or "no answer",
        "chances": _chances(run.manifest.scale, item, answer),
        "right": answer.choice in item.gold,
        "reply": clip(answer.reply or "", REPLY),
        "rule": answer.rule or "",
        "error": answer.error or "",
    }


def _chances(scale: str, item: Item, answer: Answer) -> list[tuple[str, str]]:
    """The probability of each choice, by the rule that measures use."""
    from gnomon.measures.table import Table

    if answer.scores is None or scale == "none":
        return []
    table = Table.of([(item, answer)], scale=scale)
    found = []
    for choice, chance in zip(item.choices, table.probabilities[0].tolist(), strict=False):
        found.append((choice, "–" if isnan(chance) else percentage(chance)))
    return found


def _row(study: Study, i: int) -> dict[str, Any]:
    item = study.items[i]
    return {
        "id": clip(item.id, 120),
        "context": clip(item.context),
        "text": clip(item.text),
        "gold": " or ".join(item.gold),
        "url": "/item?" + urlencode({"benchmark": study.name, "id": item.id}),
        "thumbnails": Album().thumbnails(item),
        "answers": [_picked(item, entrant, i) for entrant in study.entrants],
    }


def _picked(item: Item, entrant: Entrant, i: int) -> dict[str, Any]:
    names = {NOT_ASKED: "not asked", NO_ANSWER: "no answer"}
    code = int(entrant.choice[i])
    said = names.get(code) or item.choices[code]
    sure = float(entrant.sure[i])
    return {
        "said": said,
        "right": bool(entrant.right[i]),
        "sure": "" if isnan(sure) else percentage(sure),
    }


def _share(entrant: Entrant, both: NDArray[np.bool_]) -> str:
    if not both.any():
        return "–"
    return percentage(float(entrant.right[both].mean()), 1)


class _Part(NamedTuple):
    """One page of a list."""

    page: int
    pages: int
    places: list[int]


def _paged(where: list[int], query: Query) -> _Part:
    pages = max(1, -(-len(where) // PAGE))
    asked = query.get("page", "1")
    number = int(asked) if asked.isdecimal() and len(asked) < 9 else 1
    page = min(max(number, 1), pages)
    return _Part(page, pages, where[(page - 1) * PAGE : page * PAGE])


def _links(query: Query, part: _Part) -> dict[str, str]:
    kept = {key: value for key, value in query.items() if key != "page"}

    def to(number: int) -> str:
        if not 1 <= number <= part.pages:
            return ""
        return "?" + urlencode({**kept, "page": number})

    return {"previous": to(part.page - 1), "next": to(part.page + 1)}

"""The viewer's pages of items: those of a run, and one with every answer to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple
from urllib.parse import urlencode

from gnomon.errors import GnomonError
from gnomon.naming import clip
from gnomon.records import Answer, Item
from gnomon.reports.pictures import Album
from gnomon.reports.study import Entrant, Study, labels_of
from gnomon.reports.viewer.addresses import benchmark_address, item_address, run_address
from gnomon.reports.viewer.answers import answer_row
from gnomon.reports.viewer.filtering import OUTCOMES, SORTS, TAG, Filter, is_doubted, tag_values
from gnomon.reports.viewer.home import doubts_of
from gnomon.reports.viewer.shelf import Shelf
from gnomon.reports.words import capitalised, percentage
from gnomon.runs import Doubt, Run, wording_of

PAGE = 50
TEXT = 20_000  # characters of an item's text there
Query = Mapping[str, str]


def items_page(shelf: Shelf, run: Run, query: Query) -> dict[str, Any]:
    """The items of a run: searched, filtered, sorted and paged, as the address says."""
    study = shelf.study([run])
    wanted = Filter.of(query)
    doubted = doubts_of(shelf, _same_benchmark(shelf, run))
    where = wanted.places(study, study.entrants[0], doubted)
    part = paged(where, query)
    came_from = {"run": run.path.name, **wanted.query}
    rows = item_rows(study, study.entrants, part.places, came_from)
    for i, row in zip(part.places, rows, strict=True):
        row["doubtful"] = is_doubted(study.items[i], doubted)
    return {
        "run": run,
        "label": labels_of([run])[0],
        "title": study.title,
        "url": run_address(run),
        "total": len(where),
        "page": part.page,
        "pages": part.pages,
        "filter": wanted,
        "outcomes": OUTCOMES,
        "sorts": SORTS,
        "tags": _tag_filters(shelf, study, run, wanted),
        "links": links_of(list(wanted.query.items()), part),
        "rows": rows,
    }


def _same_benchmark(shelf: Shelf, run: Run) -> list[Run]:
    return [other for other in shelf.runs() if other.benchmark == run.benchmark]


def _tag_filters(shelf: Shelf, study: Study, run: Run, wanted: Filter) -> list[dict[str, Any]]:
    """The tags that items can be filtered by, in words, with what is chosen."""
    chosen = dict(wanted.tags)
    found = []
    for tag, values in shelf.keep("tags", [run], lambda: tag_values(study)).items():
        options = []
        for value in values:
            text = study.words(tag, value)
            options.append({"value": value, "text": text, "chosen": chosen.get(tag) == value})
        title = capitalised(study.words(tag))
        found.append({"name": TAG + tag, "title": title, "options": options})
    return found


def item_page(shelf: Shelf, query: Query) -> dict[str, Any] | None:
    """One item and what every model answered to it; none if no run has it."""
    from markupsafe import Markup

    benchmark, name = query.get("benchmark", ""), query.get("id", "")
    runs = [run for run in shelf.runs() if run.benchmark == benchmark]
    found = _answers(runs, name)
    if not found:
        return None
    home = next((run for run, *_ in found if run.path.name == query.get("run")), found[0][0])
    item = next(item for run, _, item, _ in found if run is home)
    study = shelf.study([home])
    album = Album()
    rows = []
    for run, label, theirs, answer in found:
        same = wording_of(theirs) == wording_of(item)
        rows.append({"label": label, "same": same, **answer_row(run, theirs, answer)})
    return {
        "item": item,
        "benchmark": benchmark,
        "benchmark_url": benchmark_address(benchmark),
        "title": study.title,
        "home": home.path.name,
        "home_url": run_address(home),
        "rows": rows,
        "tags": _tags_in_words(study, item),
        "context": clip(item.context, TEXT),
        "text": clip(item.text, TEXT),
        "large": album.pictures(item),
        "sketches": [Markup(drawn) for drawn in album.sketches(item)],  # noqa: S704 - our own
        "doubts": _doubts_on(shelf, runs, item),
        "mine": _doubt_beside(shelf, home, item),
        "steps": _steps(shelf, study, name, query),
    }


def _answers(runs: Sequence[Run], name: str) -> list[tuple[Run, str, Item, Answer | None]]:
    """The runs that have an item of that id, each with the item as it has it and its answer."""
    found = []
    for run, label in zip(runs, labels_of(runs), strict=True):
        try:
            row = run.row(name)
        except (GnomonError, OSError):  # damaged: the run's own page says so
            continue
        if row is not None:
            found.append((run, label, *row))
    return found


def _tags_in_words(study: Study, item: Item) -> list[tuple[str, str]]:
    found = []
    for tag, value in item.tags.items():
        found.append((study.words(tag), study.words(tag, value)))
    return sorted(found)


def _doubts_on(shelf: Shelf, runs: Sequence[Run], item: Item) -> list[dict[str, str]]:
    """The marks on an item, with the runs that they are kept beside."""
    found = []
    for run, label in zip(runs, labels_of(runs), strict=True):
        doubt = _doubt_beside(shelf, run, item)
        if doubt is not None:
            at = doubt.at.strftime("%Y-%m-%d %H:%M")
            found.append({"label": label, "comment": doubt.comment, "at": at})
    return found


def _doubt_beside(shelf: Shelf, run: Run, item: Item) -> Doubt | None:
    doubt = shelf.notes(run).doubts.get(item.id)
    if doubt is None or doubt.wording != wording_of(item):
        return None
    return doubt


def _steps(shelf: Shelf, study: Study, name: str, query: Query) -> dict[str, Any]:
    """The items before and after this one in the list that the reader came from."""
    wanted = Filter.of(query)
    run = study.entrants[0].run
    doubted = doubts_of(shelf, _same_benchmark(shelf, run)) if wanted.doubtful else ()
    where = wanted.places(study, study.entrants[0], doubted)
    came_from = {"run": run.path.name, **wanted.query}
    address = f"{run_address(run)}/items"
    if wanted.query:
        address += "?" + urlencode(wanted.query)
    here = next((at for at, i in enumerate(where) if study.items[i].id == name), None)
    found = {"list": address, "query": came_from, "total": len(where), "here": here}

    def to(at: int) -> str:
        if here is None or not 0 <= at < len(where):
            return ""
        return item_address(study.name, study.items[where[at]].id, came_from)

    place = here or 0
    return {**found, "previous": to(place - 1), "next": to(place + 1)}


def item_rows(
    study: Study,
    entrants: Sequence[Entrant],
    places: Sequence[int],
    came_from: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Items in a list, with what each of some runs answered."""
    album = Album()
    return [_item_row(study, entrants, i, album, came_from) for i in places]


def _item_row(
    study: Study,
    entrants: Sequence[Entrant],
    i: int,
    album: Album,
    came_from: Mapping[str, str] | None,
) -> dict[str, Any]:
    item = study.items[i]
    return {
        "id": clip(item.id, 120),
        "context": clip(item.context),
        "text": clip(item.text),
        "gold": " or ".join(item.gold),
        "url": item_address(study.name, item.id, came_from),
        "thumbnails": album.thumbnails(item),
        "answers": [_picked(item, entrant, i) for entrant in entrants],
    }


def _picked(item: Item, entrant: Entrant, i: int) -> dict[str, Any]:
    sure = float(entrant.sure[i])
    return {
        "label": entrant.label,
        "said": entrant.said(item, i),
        "right": bool(entrant.right[i]),
        "sure": "" if isnan(sure) else percentage(sure),
    }


class Part(NamedTuple):
    """One page of a list."""

    page: int
    pages: int
    places: list[int]


def paged(where: list[int], query: Query) -> Part:
    """The part of a list that the address asks for."""
    pages = max(1, -(-len(where) // PAGE))
    asked = query.get("page", "1")
    number = int(asked) if asked.isdecimal() and len(asked) < 9 else 1
    page = min(max(number, 1), pages)
    return Part(page, pages, where[(page - 1) * PAGE : page * PAGE])


def links_of(query: Sequence[tuple[str, str]], part: Part) -> dict[str, str]:
    """The addresses of the page before and the page after."""
    kept = [(key, value) for key, value in query if key != "page"]

    def to(number: int) -> str:
        if not 1 <= number <= part.pages:
            return ""
        return "?" + urlencode([*kept, ("page", number)])

    return {"previous": to(part.page - 1), "next": to(part.page + 1)}

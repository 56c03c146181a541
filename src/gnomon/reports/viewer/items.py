"""The viewer's pages of items: those of a run, filtered, and one with every answer to it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray
from starlette.exceptions import HTTPException
from starlette.requests import Request

from gnomon.errors import GnomonError
from gnomon.forms import is_right
from gnomon.naming import clip
from gnomon.records import Answer, Item, Preview
from gnomon.reports.pictures import Album, painted
from gnomon.reports.pointed import pointed
from gnomon.reports.prompts import prompt_of
from gnomon.reports.study import NO_ANSWER, Entrant, Study, labels_of
from gnomon.reports.viewer.shelf import Shelf, item_address, run_address
from gnomon.reports.words import percentage
from gnomon.runs import Doubt, Run, wording_of

# Which items of a run are shown, and in which order, as the address of the page says.


TAG = "tag."  # how the names of parameters begin that filter by a tag
OUTCOMES = {"": "any", "right": "right", "wrong": "wrong", "silent": "no answer"}
SORTS = {
    "": "order asked",
    "hard": "least probable right answer first",
    "sure": "most confident first",
    "id": "name",
}
MOST_VALUES = 40  # of a tag that is offered as a filter
MOST_TAGS = 8
Doubted = Collection[tuple[str, str]]  # items by id and wording


@dataclass(frozen=True)
class Filter:
    """What a reader asked for."""

    text: str = ""
    outcome: str = ""
    doubtful: bool = False
    sort: str = ""
    tags: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Filter:
        """The filter that an address holds; what it does not know is left out."""
        tags = []
        for key, value in query.items():
            if key.startswith(TAG) and value:
                tags.append((key.removeprefix(TAG), value))
        return cls(
            text=query.get("q", ""),
            outcome=_known(query.get("outcome", ""), OUTCOMES),
            doubtful=query.get("doubtful", "") == "1",
            sort=_known(query.get("sort", ""), SORTS),
            tags=tuple(tags),
        )

    @property
    def query(self) -> dict[str, str]:
        """The filter as it stands in an address."""
        given = {
            "q": self.text,
            "outcome": self.outcome,
            "doubtful": "1" if self.doubtful else "",
            "sort": self.sort,
        }
        for tag, value in self.tags:
            given[TAG + tag] = value
        return {key: value for key, value in given.items() if value}

    def places(self, study: Study, entrant: Entrant, doubted: Doubted) -> list[int]:
        """The positions of the items that were asked for, in order."""
        keep = _with_outcome(entrant, self.outcome, len(study.items))
        where: list[int] = np.flatnonzero(keep).tolist()
        for tag, value in self.tags:
            where = [i for i in where if value_of(study.items[i], tag) == value]
        words = words_of(self.text)
        if words:
            where = [i for i in where if _holds(study.items[i], words)]
        if self.doubtful:
            where = [i for i in where if is_doubted(study.items[i], doubted)]
        return _sorted(where, study, entrant, self.sort)


def _known(value: str, names: Mapping[str, str]) -> str:
    return value if value in names else ""


def words_of(text: str) -> list[str]:
    """What to search for: words, and phrases in quotation marks.

    >>> words_of('the "left of" box')
    ['the', 'left of', 'box']
    """
    found = []
    for phrase, word in re.findall(r'"([^"]+)"|(\S+)', text.lower()):
        found.append(phrase or word)
    return found


def value_of(item: Item, tag: str) -> str:
    """The value of a tag, or the form, of an item."""
    return item.form if tag == "form" else item.tags.get(tag, "")


def is_doubted(item: Item, doubted: Doubted) -> bool:
    """Whether an item's label was marked as doubtful."""
    return bool(doubted) and (item.id, wording_of(item)) in doubted


def tag_values(study: Study) -> dict[str, list[str]]:
    """The tags that items can be filtered by, with their values: those of the benchmark first."""
    values: dict[str, dict[str, None]] = {tag: {} for tag in (*study.slices, "form")}
    crowded: set[str] = set()
    for item in study.items:
        values["form"][item.form] = None
        for tag, value in item.tags.items():
            if tag in crowded:
                continue
            known = values.setdefault(tag, {})
            known[value] = None
            if len(known) > MOST_VALUES:
                crowded.add(tag)

    found: dict[str, list[str]] = {}
    for tag, known in values.items():
        if len(known) > 1 and tag not in crowded and len(found) < MOST_TAGS:
            found[tag] = sorted(known)
    return found


def _with_outcome(entrant: Entrant, outcome: str, count: int) -> NDArray[np.bool_]:
    if outcome == "right":
        return entrant.right
    if outcome == "wrong":
        return entrant.asked & ~entrant.right
    if outcome == "silent":
        return np.asarray(entrant.choice == NO_ANSWER)
    return np.ones(count, dtype=bool)


def _holds(item: Item, words: list[str]) -> bool:
    text = f"{item.id}\n{item.context}\n{item.text}\n{item.group}".lower()
    return all(word in text for word in words)


def _sorted(where: list[int], study: Study, entrant: Entrant, sort: str) -> list[int]:
    """The places in order; what has no probability comes last."""
    if sort == "id":
        return sorted(where, key=lambda i: study.items[i].id)
    if sort == "hard":
        values = entrant.gold[where]
    elif sort == "sure":
        values = -entrant.sure[where]
    else:
        return where
    order = np.argsort(values, kind="stable")  # NaN is sorted to the end
    return [where[i] for i in order.tolist()]


# What a run answered to an item, as the item's page shows it: with reply, prompt and pictures.


REPLY_LENGTH = 4_000  # characters of a reply
BRIEF = 0.01  # seconds: what takes less is not worth a word


def answer_row(run: Run, item: Item, answer: Answer | None) -> dict[str, Any]:
    """What a run answered to an item, and what it was asked."""
    asked = answer is not None
    given = answer or Answer(item=item.id)
    return {
        "run": run,
        "asked": asked,
        "said": (given.choice or "no answer") if asked else "not asked",
        "chances": _chances(run.manifest.scale, item, given),
        "right": is_right(item, given.choice),
        "reply": clip(given.reply or "", REPLY_LENGTH),
        "rule": given.rule or "",
        "error": given.error or "",
        "took": _took(given),
        "paintings": painted(run, given),
        "prompt": _prompt(run, item) if asked else None,
    }


def _took(answer: Answer) -> str:
    """How long an answer took, and how many tokens, as far as the model says."""
    parts = []
    if answer.tokens_read is not None or answer.tokens_written is not None:
        read, written = answer.tokens_read or 0, answer.tokens_written or 0
        parts.append(f"{read:,} tokens read, {written:,} written")
    elif answer.tokens is not None:
        parts.append(f"{answer.tokens:,} tokens")
    if answer.seconds is not None and answer.seconds >= BRIEF:
        parts.append(f"{answer.seconds:.2f} s")
    return " · ".join(parts)


def _prompt(run: Run, item: Item) -> Preview | None:
    """Exactly what the model read, where that can be said without loading it."""
    try:
        return prompt_of(run, item)
    except (GnomonError, ImportError):  # a model, prompt or file that is not here
        return None


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


# The viewer's pages of items: those of a run, and one with every answer to it.


PAGE = 50
Query = Mapping[str, str]


def items_page(shelf: Shelf, request: Request) -> dict[str, Any]:
    """The items of a run: searched, filtered, sorted and paged, as the address says."""
    run = shelf.asked(request)
    study = shelf.study([run])
    wanted = Filter.of(request.query_params)
    doubted = shelf.doubts(_same_benchmark(shelf, run))
    where = wanted.places(study, study.entrants[0], doubted)
    part = paged(where, request.query_params)
    came_from = {"run": run.path.name, **wanted.query}
    rows = item_rows(study, study.entrants, part.places, came_from)
    for row in rows:
        row["doubtful"] = is_doubted(row["item"], doubted)
    return {
        "run": run,
        "label": labels_of([run])[0],
        "study": study,
        "total": len(where),
        "part": part,
        "filter": wanted,
        "outcomes": OUTCOMES,
        "sorts": SORTS,
        "tags": shelf.keep("tags", [run], lambda: tag_values(study)),
        "chosen": dict(wanted.tags),
        "links": links_of(list(wanted.query.items()), part),
        "rows": rows,
    }


def _same_benchmark(shelf: Shelf, run: Run) -> list[Run]:
    return [other for other in shelf.runs() if other.benchmark == run.benchmark]


def item_page(shelf: Shelf, request: Request) -> dict[str, Any]:
    """One item and what every model answered to it."""
    query = request.query_params
    benchmark, name = query.get("benchmark", ""), query.get("id", "")
    runs = [run for run in shelf.runs() if run.benchmark == benchmark]
    found = _answers(runs, name)
    if not found:
        raise HTTPException(404, "No run here has this item.")
    of_home = [each for each in found if each[0].path.name == query.get("run")]
    home, _, item, _ = (of_home or found)[0]
    study = shelf.study([home])
    album = Album()
    rows = []
    for run, label, theirs, answer in found:
        same = wording_of(theirs) == wording_of(item)
        rows.append({"label": label, "same": same, **answer_row(run, theirs, answer)})
    doubts = []
    for run, label in zip(runs, labels_of(runs), strict=True):
        doubt = _doubt_beside(shelf, run, item)
        if doubt is not None:
            doubts.append((label, doubt))
    tags = item.tags.items()
    large = album.pictures(item)
    drawn = ""
    if item.form == "point":
        said = [(row["label"], row["said"], row["right"]) for row in rows if row["asked"]]
        drawn = pointed(item, large[0] if large else "", said)
    return {
        "item": item,
        "pointed": drawn,
        "benchmark": benchmark,
        "title": study.title,
        "home": home,
        "rows": rows,
        "tags": sorted((study.words(tag), study.words(tag, value)) for tag, value in tags),
        "large": large,
        "sketches": album.sketches(item),
        "doubts": doubts,
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


def _doubt_beside(shelf: Shelf, run: Run, item: Item) -> Doubt | None:
    doubt = shelf.notes(run).doubts.get(item.id)
    if doubt is None or doubt.wording != wording_of(item):
        return None
    return doubt


def _steps(shelf: Shelf, study: Study, name: str, query: Query) -> dict[str, Any]:
    """The items before and after this one in the list that the reader came from."""
    wanted = Filter.of(query)
    run = study.entrants[0].run
    doubted = shelf.doubts(_same_benchmark(shelf, run)) if wanted.doubtful else ()
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
    rows = []
    for i in places:
        item = study.items[i]
        rows.append(
            {
                "item": item,
                "url": item_address(study.name, item.id, came_from),
                "thumbnails": album.thumbnails(item),
                "answers": [_picked(item, entrant, i) for entrant in entrants],
            }
        )
    return rows


def _picked(item: Item, entrant: Entrant, i: int) -> dict[str, Any]:
    sure = float(entrant.sure[i])
    return {
        "label": entrant.label,
        "said": entrant.said(item, i),
        "right": bool(entrant.right[i]),
        "sure": "" if isnan(sure) else percentage(sure),
    }


class ItemsPage(NamedTuple):
    """One page of a list."""

    page: int
    pages: int
    places: list[int]


def paged(where: list[int], query: Query) -> ItemsPage:
    """The part of a list that the address asks for."""
    pages = max(1, -(-len(where) // PAGE))
    asked = query.get("page", "1")
    number = int(asked) if asked.isdecimal() and len(asked) < 9 else 1
    page = min(max(number, 1), pages)
    return ItemsPage(page, pages, where[(page - 1) * PAGE : page * PAGE])


def links_of(query: Sequence[tuple[str, str]], part: ItemsPage) -> dict[str, str]:
    """The addresses of the page before and the page after."""
    kept = [(key, value) for key, value in query if key != "page"]

    def to(number: int) -> str:
        if not 1 <= number <= part.pages:
            return ""
        return "?" + urlencode([*kept, ("page", number)])

    return {"previous": to(part.page - 1), "next": to(part.page + 1)}

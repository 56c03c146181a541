"""Which items of a run are shown, and in which order, as the address of the page says."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gnomon.records import Item
from gnomon.reports.study import NO_ANSWER, Entrant, Study
from gnomon.runs import wording_of

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

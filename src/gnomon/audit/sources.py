"""Where audited sets come from: benchmarks, what runs were asked, and files of strangers.

All are items that items/ reads, so that a file means the same here as for `gnomon run`. Derived
here is only what the checks need beside an item: votes, things that are compared, what is held out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gnomon.audit import sets
from gnomon.contracts import Benchmark, Laws, OrderLaw, RelationLaw
from gnomon.errors import DataError
from gnomon.items.converting import named_picture, picture_or_name
from gnomon.items.itemfiles import (
    Numbered,
    items_of_rows,
    mapping_of_rows,
    picture_folder,
    rows_of_set,
)
from gnomon.items.limits import spread
from gnomon.items.mapping import ColumnMap, column_names, entries_of_map, map_of
from gnomon.items.resolving import Rows
from gnomon.items.shapes import Row
from gnomon.items.source import ItemSource
from gnomon.items.values import MISSING, from_json, scalar, value_at
from gnomon.measures.units import KindOfUnit, Sharing
from gnomon.models.classifiers import units
from gnomon.records import Item
from gnomon.runs import Run, wording_of

FIELDS = ("context", "text")
MOST = 250_000  # questions that are audited; of more, so many are taken, spread evenly
LOOKED_AT = 100  # rows by which the columns are known
# What a file may say beside its items, and the columns that are taken for it without being told.
BESIDE: dict[str, tuple[str, ...]] = {
    "split": ("split",),
    "votes": ("votes",),
    "votes_true": ("votes_true", "vote_true_validator_id"),
    "votes_false": ("votes_false", "vote_false_validator_id"),
    "relation": ("relation",),
    "first": ("first", "obj_a", "o1"),
    "second": ("second", "obj_b", "o2"),
}
IN_TAGS = ("split", "relation", "first", "second")
THINGS = KindOfUnit(("first", "second"), "things")
TRUE = frozenset({"1", "true", "yes", "entailment"})
# what a choice may say of the first of two things
SAID = {
    "greater": ("greater", ">", "larger", "bigger", "taller", "higher", "above", "longer"),
    "lesser": ("lesser", "<", "smaller", "shorter", "lower", "below"),
    "level": ("level", "=", "same", "equal"),
}


def of_source(source: ItemSource) -> sets.AuditSet:
    """The items of a benchmark, with what it says of units, laws and slices."""
    about = source.benchmark
    items = [_item_of(item, about) for item in source.without_pictures()]
    return _of_benchmark(source.name, items, about)


def of_runs(runs: Sequence[Run], about: Benchmark | None) -> sets.AuditSet:
    """The items that runs on one benchmark were asked, each once."""
    items: dict[tuple[str, str], sets.AuditItem] = {}
    for run in runs:
        for item in run.items():
            name = item.id, wording_of(item)
            if name not in items:
                items[name] = _item_of(item, about) if about else plain_item(item)
    found = list(items.values())
    if about is None:
        return sets.AuditSet(runs[0].benchmark, FIELDS, found, (sets.GROUPS, sets.PICTURES))
    return _of_benchmark(runs[0].benchmark, found, about)


def _of_benchmark(name: str, items: list[sets.AuditItem], about: Benchmark) -> sets.AuditSet:
    return sets.AuditSet(
        name=name,
        fields=FIELDS,
        questions=items,
        kinds=Sharing.of(about).kinds,
        benchmark=name,
        slices=about.slices,
    )


def _item_of(item: Item, about: Benchmark) -> sets.AuditItem:
    return plain_item(item)._replace(
        held_out=units(item, about.hold_out), compared=comparison(item, about.laws)
    )


def plain_item(item: Item) -> sets.AuditItem:
    """An item, where nothing is known of its benchmark."""
    return sets.AuditItem(item, (item.context, item.text), votes=_votes_in_tags(item.tags))


def _votes_in_tags(tags: dict[str, str]) -> sets.VoteCount | None:
    """How people voted, where the tags say how many and which share of them agreed."""
    try:
        total = int(tags.get("votes", ""))
        share = float(tags.get("agreement", ""))
    except ValueError:
        return None
    return sets.VoteCount(round(share * total), total)


# Questions that ask which of two things is greater: "Is a cow smaller than an ant?" and "An ant is
# [MASK] than a cow" are put in one form, so that what is learnt of one holds for the other.


def comparison(item: Item, laws: Laws) -> sets.Compared | None:
    """How an item of a set of comparisons is put; none in other sets."""
    if laws.order:
        return _by_order(item, laws.order)
    if laws.relations and "entailment" not in item.choices:
        return _by_relations(item, laws.relations)
    return None


def _by_order(item: Item, order: OrderLaw) -> sets.Compared | None:
    """Larger or smaller is chosen, or a question asks with one of them."""
    first, second = item.tags[order.first], item.tags[order.second]
    scope = tuple(item.tags.get(tag, "") for tag in order.within)
    said = dict.fromkeys(order.greater, "greater") | dict.fromkeys(order.lesser, "lesser")
    if set(item.choices) <= set(said):
        targets = {choice: said[choice] for choice in item.choices}
        return sets.Compared(first, second, targets, scope)

    asked = said.get(item.tags.get(order.word, ""))
    if asked is None:
        return None
    if asked == "lesser":
        first, second = second, first
    return sets.Compared(first, second, {"yes": "greater", "no": "lesser"}, scope)


def _by_relations(item: Item, relations: RelationLaw) -> sets.Compared | None:
    """Two of the choices are the converse of one another, such as higher up and lower down."""
    first, second = item.tags[relations.first], item.tags[relations.second]
    scope = tuple(item.tags.get(tag, "") for tag in relations.within)
    for greater, lesser in relations.converse:
        if {greater, lesser} <= set(item.choices):
            targets = dict.fromkeys(item.choices, "level")
            targets |= {greater: "greater", lesser: "lesser"}
            return sets.Compared(first, second, targets, scope)
    return None


class FileColumns(NamedTuple):
    """Which columns hold the items, and which hold what stands beside them."""

    items: ColumnMap | None  # none for items that Gnomon wrote
    beside: dict[str, str]

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns with words of the question, each of which is looked at by itself."""
        if self.items is None:
            return FIELDS
        return (*self.items.context, *self.items.text)

    @property
    def kinds(self) -> tuple[KindOfUnit, ...]:
        """What the questions share."""
        if "first" in self.beside and not (self.items and self.items.group):
            return (THINGS,)
        return sets.GROUPS, sets.PICTURES


def of_files(name: str, paths: Sequence[Path], given: str = "", split: str = "") -> sets.AuditSet:
    """The items of one or several files; files named after splits are the splits of one set."""
    rows = partial(rows_of_set, paths, split)
    total = sum(1 for _ in rows())
    if not total:
        raise DataError("there are no questions in it.", "Give another file.", file=paths[0])
    told: dict[int, str] = {}
    columns = _columns(paths[0], rows, given, told)
    row_of: dict[int, int] = {}  # which row a line is
    kept = _kept(rows(), total, row_of)
    regions = partial(picture_or_name, picture_folder(paths[0], ""))
    numbered = items_of_rows(
        paths[0], rows, columns.items, named_picture, told.setdefault, kept, regions
    )
    items = [_item_in_row(found, columns, row_of[found.line]) for found in numbered]
    if not items:
        line, reason = next(iter(told.items()))
        raise DataError(f"{reason}.", "Correct the rows.", file=paths[0], line=line)
    left_out = len(row_of) - len(items) - len(told.keys() & row_of.keys())  # rows without choices
    return sets.AuditSet(
        name=name,
        fields=columns.texts,
        questions=items,
        kinds=columns.kinds,
        total=total - len(told) - left_out,
        slices=("relation",) if "relation" in columns.beside else (),
        contexts=columns.items.context if columns.items else ("context",),
        unasked=tuple(f"line {line}: {reason}" for line, reason in told.items()),
    )


def _columns(path: Path, rows: Rows, given: str, told: dict[int, str]) -> FileColumns:
    """The columns that the user names, and those with a usual name."""
    head = [row for _, row in islice(rows(), LOOKED_AT)]
    there = set(chain.from_iterable(head))
    beside: dict[str, str] = {}
    of_items = []
    for what, names in entries_of_map(given) if given else ():
        if what in BESIDE:
            beside[what] = names[0]
        else:
            of_items.append((what, names))
    for what, usual in BESIDE.items():
        name = next((name for name in usual if name in there), "")
        if name and what not in beside:
            beside[what] = name
    mapping = map_of(dict(of_items))
    if {"first", "second"} <= beside.keys() and not mapping.text and not _names_a_text(there):
        things = (beside["first"], beside["second"])  # their names are the question
        mapping = msgspec.structs.replace(mapping, text=things)
    found = mapping_of_rows(path, rows, mapping, told.setdefault)
    return FileColumns(found, beside)


def _names_a_text(columns: set[str]) -> bool:
    known = column_names()
    return not columns.isdisjoint((*known.usual["text"], *known.seldom["text"]))


def _kept(
    rows: Iterable[tuple[int, Row]], total: int, row_of: dict[int, int]
) -> Iterator[tuple[int, Row]]:
    """The rows, or as many as are audited: one by one, so that a large file is never in memory."""
    wanted = iter(spread(total, MOST))
    want = next(wanted, -1)
    for place, (line, row) in enumerate(rows):
        if place == want:
            row_of[line] = place + 1
            yield line, row
            want = next(wanted, -1)


def _item_in_row(found: Numbered, columns: FileColumns, number: int) -> sets.AuditItem:
    """An item, with what its row says beside it."""
    row = found.row
    tags = dict(found.item.tags)
    for what in IN_TAGS:
        text = _text_at(row, columns.beside.get(what, ""))
        if text:
            tags[what] = text
    item = msgspec.structs.replace(found.item, tags=tags)
    if columns.items is None:
        return plain_item(item)
    if not columns.items.id:
        item = msgspec.structs.replace(item, id=f"row {number}")
    things = (tags.get("first", ""), tags.get("second", ""))
    compared = sets.Compared(*things, _targets(item.choices)) if all(things) else None
    return sets.AuditItem(
        item,
        texts=tuple(_text_at(row, name) for name in columns.texts),
        held_out=things if compared else (),
        votes=_votes_in_row(row, columns),
        compared=compared,
    )


def _text_at(row: Row, name: str) -> str:
    """A cell as text; a list is joined."""
    value = value_at(row, name) if name else None
    if isinstance(value, list | tuple):
        return " ".join(scalar(part) or "" for part in value)
    return scalar(value) or ""


def _votes_in_row(row: Row, columns: FileColumns) -> sets.VoteCount | None:
    """How people voted: labels that they gave, or who said true and who said false."""
    cells: dict[str, Any] = {}
    for what, name in columns.beside.items():
        value = value_at(row, name)
        cells[what] = from_json(value) if isinstance(value, str) else value
    gold = _text_at(row, columns.items.gold[0] if columns.items else "").lower()
    true, false = cells.get("votes_true", MISSING), cells.get("votes_false", MISSING)
    if true is not MISSING and false is not MISSING:
        for_it = true if gold in TRUE else false
        return sets.VoteCount(_count(for_it), _count(true) + _count(false))
    votes = cells.get("votes")
    if isinstance(votes, str):
        votes = [part.strip() for part in votes.replace(";", "|").split("|")]
    if not isinstance(votes, list):
        return None
    agreeing = sum((scalar(vote) or "").lower() == gold for vote in votes)
    return sets.VoteCount(agreeing, len(votes))


def _count(value: Any) -> int:
    """How many voted: a number, or a list of the voters."""
    if isinstance(value, int):
        return value
    return len(value) if isinstance(value, list) else 0


@cache
def _targets(choices: tuple[str, ...]) -> Mapping[str, str]:
    """What each choice says of the first of two things."""
    meaning: dict[str, str] = {}
    for target, words in SAID.items():
        meaning |= dict.fromkeys(words, target)
    return {choice: meaning.get(choice.lower(), choice) for choice in choices}

"""Rows of answers into a table: from records, or straight from a run's log.

Each row costs a few dictionary look-ups; the texts of items are not kept.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from gnomon.errors import DataError
from gnomon.grouped import chunks
from gnomon.measures.columns import CodeBook, Column, Floats, TagColumns, TextColumn, codes_of
from gnomon.measures.table import Details, Kinds, Samples, Table, Wordings
from gnomon.measures.written import WrittenItem, marked
from gnomon.records import WRITTEN, Item

if TYPE_CHECKING:
    from gnomon.runs import AskedRow, Run

CHUNK = 256  # rows that are turned into columns together, short enough for the processor's cache


class BareItem(msgspec.Struct, frozen=True, gc=False):
    """The part of an Item that every measure needs."""

    id: str
    form: str
    choices: tuple[str, ...]
    gold: tuple[str, ...]
    group: str = ""


class TaggedItem(BareItem, frozen=True, gc=False):
    """The same with tags, by which slices and units are made."""

    tags: dict[str, str] = {}


class _Tagged(msgspec.Struct, frozen=True, gc=False):
    tags: dict[str, str] = {}


class _Worded(msgspec.Struct, frozen=True, gc=False):
    text: str
    context: str = ""


Scores = Sequence[float | None] | None
# An item that was asked, and its answer: scores, choice, error.
Row = tuple[Item | BareItem, Scores, str | None, str | None]
_bare = msgspec.json.Decoder(BareItem).decode
_tagged = msgspec.json.Decoder(_Tagged).decode
_worded = msgspec.json.Decoder(_Worded).decode
_floats = msgspec.json.Decoder(list[float | None]).decode


def build(
    rows: Iterable[tuple[Any, Any, Any, Any]], wordings: Wordings | None = None, **about: Any
) -> Table:
    """A table of rows whose items have tags, and texts if their wordings are not given.

    `about` are the further fields of Table.
    """
    growing = GrowingTable()
    for chunk in chunks(rows, CHUNK):
        growing.add(chunk, worded=wordings is None)
    return growing.done(wordings, **about)


class GrowingTable:
    """A table of rows whose items have tags, to which rows are added while it is in use."""

    def __init__(self) -> None:
        self.rows, self.tags, self.hashes = Builder(), TagColumns(), array("q")

    def add(self, chunk: Sequence[Row], *, worded: bool = True) -> None:
        """Add some rows."""
        self.rows.add(chunk)
        items: list[Any] = [row[0] for row in chunk]
        self.tags.extend([item.tags for item in items])
        if worded:
            self.hashes.extend([hash((item.context, item.text)) for item in items])

    def done(self, wordings: Wordings | None = None, **about: Any) -> Table:
        """The table so far; `about` are its further fields."""
        columns = self.tags.done()
        own = np.array(self.hashes, dtype=np.int64)
        return self.rows.done(Details(lambda: columns, wordings or (lambda: own)), **about)


class AskedSoFar:
    """The answers of a run that is asked by rounds, each of which is read once.

    They stand in the order of the rounds and then of ids, however often the run was stopped: sums
    are then the same to the last bit.
    """

    def __init__(self) -> None:
        self._growing = GrowingTable()
        self._ids: set[str] = set()
        self._last = -1  # up to this number all items of the log are rows

    def add(self, run: Run, wanted: Collection[str] | None = None) -> bool:
        """Read the answers to the items that are wanted, or to all; whether there are all."""
        new = []
        for asked in run.asked(self._last):
            if asked.id not in self._ids and (wanted is None or asked.id in wanted):
                new.append(asked)
        if wanted is not None and len(self._ids) + len(new) < len(wanted):
            return False
        self._last = new[-1].n if new and wanted is None else -1
        new.sort(key=lambda asked: asked.id)
        for chunk in chunks(new, CHUNK):
            self._growing.add(_decoded(run, chunk, run.item))
        self._ids.update(asked.id for asked in new)
        return True

    def table(self, run: Run, **about: Any) -> Table:
        """The table of all that was read."""
        table = self._growing.done(scale=run.manifest.scale, **about)
        return with_samples(table, run.further_samples())


def build_run(run: Run, **about: Any) -> Table:
    """The table of a run's log: texts of items are not kept, and not even decoded.

    Tags and wordings are read from the log in a further pass, if anybody asks for one.
    """
    builder = Builder()
    numbers = array("q")
    for chunk in chunks(run.asked(), CHUNK):
        builder.add(_decoded(run, chunk, _bare))
        numbers.extend([asked.n for asked in chunk])
    details = Details(lambda: _tags(run, numbers), lambda: _wordings(run, numbers))
    table = builder.done(details, numbers=np.frombuffer(numbers, dtype=np.int64), **about)
    return with_samples(table, run.further_samples())


def with_samples(table: Table, further: Iterable[tuple[str, str | None]]) -> Table:
    """The table, with the further answers to some of its items, by their ids."""
    count = np.ones(len(table))
    right = table.credit.copy()
    code = {label: number for number, label in enumerate(table.labels)}
    row_of: dict[str, int] = {}
    for name, choice in further:
        if not row_of:
            row_of = {item: row for row, item in enumerate(table.ids)}
        if name not in row_of:
            continue
        row = row_of[name]
        count[row] += 1
        if table.marks is not None and table.marks.asked[row] is not None:
            right[row] += table.marks.credit(row, choice)
        elif choice in code:
            right[row] += table.gold[row, code[choice]]
    if not row_of:
        return table
    return replace(table, samples=Samples(count, right / count))


def _decoded(
    run: Run, chunk: Sequence[AskedRow], decode: Callable[[str], Item | BareItem]
) -> list[Row]:
    try:
        return [
            (decode(record), _floats(scores) if scores else None, choice, error)
            for _, _, record, scores, choice, error in chunk
        ]
    except (msgspec.MsgspecError, TypeError) as error:
        raise run.damaged(error) from None


def _tags(run: Run, numbers: Sequence[int]) -> dict[str, Column]:
    found = TagColumns()
    for chunk in chunks(_again(run, numbers, _tagged), CHUNK):
        found.extend([item.tags for item in chunk])
    return found.done()


def _wordings(run: Run, numbers: Sequence[int]) -> NDArray[np.int64]:
    items = _again(run, numbers, _worded)
    hashes = (hash((item.context, item.text)) for item in items)
    return np.fromiter(hashes, dtype=np.int64, count=len(numbers))


def _again(run: Run, numbers: Sequence[int], decode: Callable[[str], Any]) -> Iterator[Any]:
    """The items of these numbers, which ascend. A run that is going on may have grown since."""
    wanted = iter(numbers)
    want = next(wanted, None)
    try:
        for n, record in run.records():
            if n == want:
                yield decode(record)
                want = next(wanted, None)
    except msgspec.MsgspecError as error:
        raise run.damaged(error) from None


class KindsSeen(dict[tuple[tuple[str, ...], tuple[str, ...]], int]):
    """(choices, gold) -> number, in the order of first use, and each label's place."""

    def __init__(self, labels: CodeBook) -> None:
        super().__init__()
        self.labels = labels
        self.places: list[dict[str | None, int]] = []

    def __missing__(self, key: tuple[tuple[str, ...], tuple[str, ...]]) -> int:
        number = self[key] = len(self)
        for label in key[0]:
            self.labels.setdefault(label, len(self.labels))
        self.places.append({label: place for place, label in enumerate(key[0])})
        return number

    def done(self) -> Kinds:
        """The finished table of kinds."""
        width = max([1, *(len(choices) for choices, _ in self)])  # scenes have no choices
        codes = np.full((max(1, len(self)), width), -1, dtype=np.int32)
        right = np.zeros(codes.shape, dtype=bool)
        first = np.zeros(len(codes), dtype=np.int64)
        for row, (choices, gold) in enumerate(self):
            codes[row, : len(choices)] = [self.labels[label] for label in choices]
            right[row, : len(choices)] = [label in gold for label in choices]
            first[row] = self.places[row].get(gold[0], 0) if gold else 0
        return Kinds(codes, right, first)


class Builder:
    """A table while it is being filled, a chunk of rows at a time."""

    def __init__(self) -> None:
        self.labels = CodeBook()
        self.kinds = KindsSeen(self.labels)
        self.ids: list[str] = []
        self.choice, self.picked, self.kind = array("i"), array("i"), array("i")
        self.failed = bytearray()
        self.group, self.form = TextColumn(), TextColumn()
        self.scores: list[Floats] = []
        self.any_scores = False
        self.written: list[tuple[int, WrittenItem, str | None]] = []

    def add(self, chunk: Sequence[Row]) -> None:
        """Add some rows."""
        items, scores, answers, errors = zip(*chunk, strict=True)
        kinds, labels = self.kinds, self.labels
        kind = []
        for place, (item, answer) in enumerate(zip(items, answers, strict=True), len(self.ids)):
            gold = item.gold
            if item.form in WRITTEN:
                judged_by = WrittenItem(item.form, item.choices, item.gold)
                self.written.append((place, judged_by, answer))
                gold = ()
            kind.append(kinds[item.choices, gold])
        self.ids.extend([item.id for item in items])
        self.kind.extend(kind)
        self.choice.extend([-1 if answer is None else labels[answer] for answer in answers])

        mine = [kinds.places[number] for number in kind]
        pairs = zip(mine, answers, strict=True)
        self.picked.extend([places.get(answer, -1) for places, answer in pairs])

        outcomes = zip(errors, answers, strict=True)
        self.failed.extend([answer is None and error is not None for error, answer in outcomes])

        self.form.extend([item.form for item in items])
        self.group.extend([item.group for item in items])
        self._add_scores(items, scores, list(map(len, mine)))

    def _add_scores(
        self, items: Sequence[Item | BareItem], scores: Sequence[Scores], widths: Sequence[int]
    ) -> None:
        given = [each for each in scores if each is not None]
        if not self.any_scores and not given:
            self.scores.append(np.full((len(items), 0), np.nan))
            return
        self.any_scores = True
        if len(given) == len(scores) and len({*widths, *map(len, given)}) == 1:
            self.scores.append(np.array(given, dtype=float))  # the usual case, and the fast one
            return
        padded = np.full((len(items), max(widths)), np.nan)
        for row, (item, each, width) in enumerate(zip(items, scores, widths, strict=True)):
            if each is None:
                continue
            if len(each) != width:
                raise DataError(
                    f"item '{item.id}' has {width} choices but its answer {len(each)} scores.",
                    "An answer has one score for each choice, or none.",
                )
            padded[row, :width] = each
        self.scores.append(padded)

    def done(self, details: Details, *, scale: str = "none", **about: Any) -> Table:
        """The finished table; `about` are its further fields.

        Scores of a scale that nobody named are log-probabilities if any is negative.
        """
        kinds = self.kinds.done()
        scores = self._scores(kinds.choices.shape[1])
        if scale == "none" and scores is not None:
            scale = "log-probability" if bool((scores < 0).any()) else "probability"
        ids = np.empty(len(self.ids), dtype=object)
        ids[:] = self.ids
        return Table(
            ids=ids,
            labels=tuple(self.labels),
            choice=codes_of(self.choice),
            picked=codes_of(self.picked),
            kind=codes_of(self.kind),
            kinds=kinds,
            failed=np.array(self.failed, dtype=bool),
            group=self.group.done(),
            form=self.form.done(),
            details=details,
            scores=scores,
            scale=scale,
            marks=marked(self.written, len(self.ids)),
            **about,
        )

    def _scores(self, width: int) -> Floats | None:
        if not self.any_scores:
            return None
        whole = np.full((len(self.ids), width), np.nan)
        start = 0
        for chunk in self.scores:
            whole[start : start + len(chunk), : chunk.shape[1]] = chunk
            start += len(chunk)
        return whole

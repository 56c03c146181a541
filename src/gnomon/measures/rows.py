"""Rows of answers into a table: from records, or straight from a run's log."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from gnomon.errors import DataError
from gnomon.measures.columns import (
    CodeBook,
    Column,
    Floats,
    TagColumns,
    Tags,
    TextColumn,
    WordingHashes,
    codes_of,
)
from gnomon.measures.table import Kinds, Table

if TYPE_CHECKING:
    from gnomon.runs import AskedRow, Run

# Rows into columns: builds a Table from any stream of items and answers.
#
# Each row costs a few dictionary look-ups; the texts of items are never kept.


CHUNK = 256  # rows that are turned into columns together


class BareItem(msgspec.Struct, frozen=True, gc=False):
    """The part of an Item that every measure needs."""

    id: str
    form: str
    choices: tuple[str, ...]
    gold: tuple[str, ...]
    group: str = ""


class TaggedItem(BareItem, frozen=True, gc=False):
    """The same with tags."""

    tags: dict[str, str] = {}


class ItemLike(Protocol):
    """An Item, or the part of it that measures need."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def form(self) -> str: ...  # noqa: D102
    @property
    def choices(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def gold(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def group(self) -> str: ...  # noqa: D102


Scores = Sequence[float | None] | None
# An item that was asked, and its answer: scores, choice, error.
Row = tuple[ItemLike, Scores, str | None, str | None]


def build(rows: Iterable[Any], **about: Any) -> Table:
    """A table of rows whose items have tags; `about` are the further fields of Table."""
    builder, tags, hashes = Builder(), TagColumns(), array("q")
    for chunk in chunks(rows):
        builder.add(chunk)
        items = [row[0] for row in chunk]
        tags.extend([item.tags for item in items])
        if hasattr(items[0], "text"):
            hashes.extend([hash((item.context, item.text)) for item in items])
    columns = tags.done()
    if len(hashes) and len(hashes) == len(builder.ids):
        about["wordings"] = WordingHashes(lambda: np.frombuffer(hashes, dtype=np.int64))
    return builder.done(Tags(lambda: columns), **about)


def chunks(rows: Iterable[Any]) -> Iterator[list[Any]]:
    """Rows in lists short enough to stay in the processor's cache."""
    source = iter(rows)
    while chunk := list(islice(source, CHUNK)):
        yield chunk


class KindsSeen(dict[tuple[tuple[str, ...], tuple[str, ...]], int]):
    """(choices, gold) -> number, in the order of first use, and each label's place."""

    def __init__(self, labels: CodeBook) -> None:
        super().__init__()
        self.labels = labels
        self.places: list[dict[str | None, int]] = []

    def __missing__(self, key: tuple[tuple[str, ...], tuple[str, ...]]) -> int:
        number = self[key] = len(self)
        self.labels.learn(key[0])
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

    def add(self, chunk: Sequence[Row]) -> None:
        """Add some rows."""
        items, scores, answers, errors = zip(*chunk, strict=True)
        kinds, labels = self.kinds, self.labels
        kind = [kinds[item.choices, item.gold] for item in items]
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

    def done(self, tags: Tags, *, scale: str = "none", **about: Any) -> Table:
        """The finished table.

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
            failed=np.frombuffer(self.failed, dtype=bool),
            group=self.group.done(),
            form=self.form.done(),
            tags=tags,
            scores=scores,
            scale=scale,
            **about,
        )

    def _add_scores(
        self, items: Sequence[ItemLike], scores: Sequence[Scores], widths: Sequence[int]
    ) -> None:
        given = [each for each in scores if each is not None]
        if not self.any_scores and not given:
            self.scores.append(np.full((len(items), 0), np.nan))
            return
        self.any_scores = True
        if len(given) == len(scores) and len({*widths, *map(len, given)}) == 1:
            self.scores.append(np.array(given, dtype=float))  # the usual case, and the fast one
            return
        widest = max(widths)
        blank: Sequence[float | None] = (None,) * widest
        padded: list[Sequence[float | None]] = []
        for item, each, width in zip(items, scores, widths, strict=True):
            if each is None:
                padded.append(blank)
                continue
            if len(each) != width:
                raise DataError(
                    f"item '{item.id}' has {width} choices but its answer {len(each)} scores.",
                    "An answer has one score for each choice, or none.",
                )
            padded.append((*each, *blank[width:]))
        self.scores.append(np.array(padded, dtype=float))

    def _scores(self, width: int) -> Floats | None:
        if not self.any_scores:
            return None
        whole = np.full((len(self.ids), width), np.nan)
        start = 0
        for chunk in self.scores:
            whole[start : start + len(chunk), : chunk.shape[1]] = chunk
            start += len(chunk)
        return whole


# A table straight from a run's log: texts of items are not kept, and not even decoded.
#
# Tags and wordings are read from the log in a further pass, if anybody asks for one.


class Tagged(msgspec.Struct, frozen=True, gc=False):
    """The part of an Item that slices need."""

    tags: dict[str, str] = {}


class Worded(msgspec.Struct, frozen=True, gc=False):
    """The part of an Item that people read."""

    text: str
    context: str = ""


_bare = msgspec.json.Decoder(BareItem).decode
_tagged = msgspec.json.Decoder(Tagged).decode
_worded = msgspec.json.Decoder(Worded).decode
_floats = msgspec.json.Decoder(list[float | None]).decode


def build_run(run: Run, **about: Any) -> Table:
    """The table of a run's log; `about` are the further fields of Table."""
    builder = Builder()
    numbers = array("q")
    for chunk in chunks(run.asked()):
        builder.add(_decoded(run, chunk))
        numbers.extend([asked.n for asked in chunk])
    return builder.done(
        Tags(lambda: _tags(run, numbers)),
        wordings=WordingHashes(lambda: _wordings(run, numbers)),
        numbers=np.frombuffer(numbers, dtype=np.int64),
        **about,
    )


def _decoded(run: Run, chunk: Sequence[AskedRow]) -> list[Row]:
    try:
        return [
            (_bare(record), _floats(scores) if scores else None, choice, error)
            for _, record, scores, choice, error in chunk
        ]
    except (msgspec.MsgspecError, TypeError) as error:
        raise run.damaged(error) from None


def _tags(run: Run, numbers: Sequence[int]) -> dict[str, Column]:
    found = TagColumns()
    try:
        for chunk in chunks(_records(run, numbers)):
            found.extend([_tagged(record).tags for record in chunk])
    except msgspec.MsgspecError as error:
        raise run.damaged(error) from None
    return found.done()


def _wordings(run: Run, numbers: Sequence[int]) -> NDArray[np.int64]:
    hashes = array("q")
    try:
        for record in _records(run, numbers):
            item = _worded(record)
            hashes.append(hash((item.context, item.text)))
    except msgspec.MsgspecError as error:
        raise run.damaged(error) from None
    return np.frombuffer(hashes, dtype=np.int64)


def _records(run: Run, numbers: Sequence[int]) -> Iterator[str]:
    """The items of these numbers, which ascend. A run that is going on may have grown since."""
    wanted = iter(numbers)
    want = next(wanted, None)
    for n, record in run.records():
        if n == want:
            yield record
            want = next(wanted, None)

"""Rows into columns: builds a Table from any stream of items and answers, or straight from a run's
log.

Each row costs a few dictionary look-ups; the texts of items are never kept, nor even decoded from a
log.
"""

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
    Column,
    TagColumns,
    Tags,
    TextColumn,
    Vocabulary,
    Wordings,
    codes_of,
)
from gnomon.measures.statistics import Floats
from gnomon.measures.table import Kinds, Table

if TYPE_CHECKING:
    from gnomon.runs import Asked, Run

CHUNK = 256  # rows that are turned into columns together


class Bare(msgspec.Struct, frozen=True, gc=False):
    """The part of an Item that every measure needs."""

    id: str
    form: str
    choices: tuple[str, ...]
    gold: tuple[str, ...]
    group: str = ""


class Whole(Bare, frozen=True, gc=False):
    """The same with tags."""

    tags: dict[str, str] = {}


class Tagged(msgspec.Struct, frozen=True, gc=False):
    """The part of an Item that slices need."""

    tags: dict[str, str] = {}


class Worded(msgspec.Struct, frozen=True, gc=False):
    """The part of an Item that people read."""

    text: str
    context: str = ""


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


# An item that was asked, and its answer: scores, choice, error.
Row = tuple[ItemLike, Sequence[float | None] | None, str | None, str | None]


def build_run(run: Run, **about: Any) -> Table:
    """The table of a run's log. Tags and wordings are read from it in a further pass, if anybody
    asks for one."""
    builder = Builder()
    numbers = array("q")
    for chunk in chunks(run.asked()):
        builder.add(_decoded(run, chunk))
        numbers.extend([asked.n for asked in chunk])
    wordings = Wordings(lambda: _wordings(run, numbers))
    tags = Tags(lambda: _tags(run, numbers))
    return builder.done(
        tags, wordings=wordings, numbers=np.frombuffer(numbers, dtype=np.int64), **about
    )


def build(rows: Iterable[Row], **about: Any) -> Table:
    """A table of rows whose items have tags; `about` are the fields of Table that say where they
    come from."""
    builder, tags, hashes = Builder(), TagColumns(), array("q")
    for chunk in chunks(rows):
        builder.add(chunk)
        tags.extend([item.tags for item, *_ in chunk])
        hashes.extend(
            [hash((item.context, item.text)) for item, *_ in chunk if hasattr(item, "text")]
        )
    columns = tags.done()
    if len(hashes) and len(hashes) == len(builder.ids):
        about["wordings"] = Wordings(lambda: np.frombuffer(hashes, dtype=np.int64))
    return builder.done(Tags(lambda: columns), **about)


def chunks(rows: Iterable[Any]) -> Iterator[list[Any]]:
    """Rows in lists short enough to stay in the processor's cache."""
    source = iter(rows)
    while chunk := list(islice(source, CHUNK)):
        yield chunk


_bare = msgspec.json.Decoder(Bare).decode
_tagged = msgspec.json.Decoder(Tagged).decode
_worded = msgspec.json.Decoder(Worded).decode
_floats = msgspec.json.Decoder(list[float | None]).decode


def _decoded(run: Run, chunk: Sequence[Asked]) -> list[Row]:
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


class KindsSeen(dict[tuple[tuple[str, ...], tuple[str, ...]], int]):
    """(choices, gold) -> number, in the order of first use, with the place of each label among the
    choices."""

    def __init__(self, labels: Vocabulary) -> None:
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
        width = max((len(choices) for choices, _ in self), default=1)
        codes = np.full((max(1, len(self)), width), -1, dtype=np.int32)
        right = np.zeros(codes.shape, dtype=bool)
        for row, (choices, gold) in enumerate(self):
            codes[row, : len(choices)] = [self.labels[label] for label in choices]
            right[row, : len(choices)] = [label in gold for label in choices]
        return Kinds(codes, right)


class Builder:
    """A table while it is being filled, a chunk of rows at a time."""

    def __init__(self) -> None:
        self.labels = Vocabulary()
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
        places = kinds.places
        self.picked.extend(
            [places[k].get(answer, -1) for k, answer in zip(kind, answers, strict=True)]
        )
        self.failed.extend(
            [e is not None and answer is None for e, answer in zip(errors, answers, strict=True)]
        )
        self.form.extend([item.form for item in items])
        self.group.extend([item.group for item in items])
        self._add_scores(items, scores, [len(places[k]) for k in kind])

    def done(self, tags: Tags, **about: Any) -> Table:
        """The finished table. Scores of a scale that nobody named are log-probabilities if any is
        negative."""
        kinds = self.kinds.done()
        scores = self._scores(kinds.choices.shape[1])
        if about.get("scale", "none") == "none" and scores is not None:
            about["scale"] = "log-probability" if bool((scores < 0).any()) else "probability"
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
            **about,
        )

    def _add_scores(
        self,
        items: Sequence[ItemLike],
        scores: Sequence[Sequence[float | None] | None],
        widths: Sequence[int],
    ) -> None:
        for item, given, width in zip(items, scores, widths, strict=True):
            if given is not None and len(given) != width:
                raise DataError(
                    f"item '{item.id}' has {width} choices but its answer {len(given)} scores.",
                    "An answer has one score for each choice, or none.",
                )
        width = max(widths)
        blank = (None,) * width
        padded = [
            blank if s is None else s if len(s) == width else (*s, *blank[len(s) :]) for s in scores
        ]
        self.any_scores = self.any_scores or any(s is not None for s in scores)
        self.scores.append(
            np.array(padded, dtype=float) if self.any_scores else np.full((len(items), 0), np.nan)
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


def unpack(
    table: Table,
) -> Iterator[tuple[Whole, list[float] | None, str | None, str | None]]:
    """The rows of a table again."""
    choices = [tuple(table.labels[i] for i in row[row >= 0]) for row in table.kinds.choices]
    gold = [
        tuple(label for label, right in zip(labels, flags.tolist(), strict=False) if right)
        for labels, flags in zip(choices, table.kinds.gold, strict=True)
    ]
    names = list(table.tags)
    columns = [table.tags[name].text() for name in names]
    rows = zip(
        table.ids.tolist(),
        table.form.text(),
        table.group.text(),
        table.kind.tolist(),
        table.choice.tolist(),
        table.failed.tolist(),
        strict=True,
    )
    for row, (name, form, group, kind, choice, failed) in enumerate(rows):
        item = Whole(
            name,
            form,
            choices[kind],
            gold[kind],
            group,
            {tag: column[row] for tag, column in zip(names, columns, strict=True) if column[row]},
        )
        scores = None
        if table.scores is not None and not np.isnan(table.scores[row]).all():
            scores = table.scores[row, : len(choices[kind])].tolist()
        yield (
            item,
            scores,
            table.labels[choice] if choice >= 0 else None,
            "failed" if failed else None,
        )

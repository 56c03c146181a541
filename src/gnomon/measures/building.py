"""Rows into columns: builds a Table from any stream of items and answers, or straight from a run's log.

Each row costs a few dictionary look-ups; the texts of items are never kept, nor even decoded from a log.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import numpy as np

from gnomon.errors import DataError
from gnomon.measures.statistics import Floats
from gnomon.measures.table import Column, Kinds, Table, codes_of

if TYPE_CHECKING:
    from gnomon.runs import Run

KindsSeen = dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[int, dict[str, int]]]  # -> number, places of labels
CHUNK = 20_000  # rows whose scores are turned into an array together


class Asked(msgspec.Struct, frozen=True, gc=False):
    """The part of an Item that measures need."""

    id: str
    form: str
    choices: tuple[str, ...]
    gold: tuple[str, ...]
    group: str = ""
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
    @property
    def tags(self) -> dict[str, str]: ...  # noqa: D102


Row = tuple[ItemLike, bool, Sequence[float | None] | None, str | None, str | None]  # item, asked, scores, choice, error


def stream(run: Run) -> Iterator[Row]:
    """The rows of a run's log, with no more decoded than measures need."""
    item = msgspec.json.Decoder(Asked).decode
    numbers = msgspec.json.Decoder(list[float | None]).decode
    sql = ("SELECT record, answers.n IS NOT NULL, scores, choice, error "
           "FROM items LEFT JOIN answers USING (n) ORDER BY n")
    try:
        for record, asked, scores, choice, error in run.query(sql):
            yield item(record), asked, numbers(scores) if scores else None, choice, error
    except msgspec.MsgspecError as error:
        raise DataError(f"the log holds a damaged record: {error}.", "Start the run over with --fresh.",
                        file=run.path) from None


class Vocabulary(dict[str, int]):
    """Text -> code, in the order of first use."""

    def __missing__(self, text: str) -> int:
        code = self[text] = len(self)
        return code

    def learn(self, texts: Iterable[str]) -> None:
        """Give each text a code, in this order."""
        for text in texts:
            self.setdefault(text, len(self))


class TextColumn:
    """A column while it is being filled."""

    def __init__(self) -> None:
        self.codes = array("i")
        self.words = Vocabulary()

    def put(self, row: int, text: str) -> None:
        """Set the value of a row, after those of all earlier rows."""
        if len(self.codes) < row:
            self.codes.extend([-1] * (row - len(self.codes)))
        self.codes.append(self.words[text])

    def done(self, length: int) -> Column:
        """The finished column."""
        return Column(codes_of(self.codes, length), tuple(self.words))


class ScoreMatrix:
    """The scores while they are being gathered: chunks of equal width, padded together at the end."""

    def __init__(self) -> None:
        self.chunks: list[Floats] = []
        self.waiting: list[Sequence[float | None] | None] = []
        self.any = False

    def put(self, scores: Sequence[float | None] | None) -> None:
        """Add the scores of the next row."""
        self.waiting.append(scores)
        if scores is not None:
            self.any = True
        if len(self.waiting) >= CHUNK:
            self.flush()

    def flush(self) -> None:
        """Turn what is waiting into one array."""
        width = max((len(scores) for scores in self.waiting if scores is not None), default=0)
        blank = (None,) * width
        rows = [blank if s is None else s if len(s) == width else (*s, *blank[len(s):]) for s in self.waiting]
        self.chunks.append(np.array(rows, dtype=float).reshape(len(rows), width))
        self.waiting = []

    def done(self, length: int, width: int) -> Floats | None:
        """The finished matrix; none if no row has scores."""
        self.flush()
        if not self.any:
            return None
        whole = np.full((length, max(width, max(chunk.shape[1] for chunk in self.chunks))), np.nan)
        start = 0
        for chunk in self.chunks:
            whole[start:start + len(chunk), : chunk.shape[1]] = chunk
            start += len(chunk)
        return whole[:, :width] if whole.shape[1] > width else whole


def build(rows: Iterable[Row], **about: Any) -> Table:
    """A table of rows; `about` are the fields of Table that say where they come from."""
    labels, kinds = Vocabulary(), KindsSeen()
    ids: list[str] = []
    choice, picked, kind = array("i"), array("i"), array("i")
    asked, failed = bytearray(), bytearray()
    group, form, tags, scores = TextColumn(), TextColumn(), dict[str, TextColumn](), ScoreMatrix()
    for row, (item, was_asked, numbers, answer, error) in enumerate(rows):
        key = (item.choices, item.gold)
        known = kinds.get(key)
        if known is None:
            labels.learn(item.choices)
            known = kinds[key] = len(kinds), {label: place for place, label in enumerate(item.choices)}
        ids.append(item.id)
        kind.append(known[0])
        choice.append(-1 if answer is None else labels[answer])
        picked.append(-1 if answer is None else known[1].get(answer, -1))
        asked.append(was_asked)
        failed.append(error is not None and answer is None)
        form.put(row, item.form)
        if item.group:
            group.put(row, item.group)
        for tag, value in item.tags.items():
            column = tags.get(tag)
            if column is None:
                column = tags[tag] = TextColumn()
            column.put(row, value)
        if numbers is not None and len(numbers) != len(item.choices):
            raise DataError(f"item '{item.id}' has {len(item.choices)} choices but its answer {len(numbers)} scores.",
                            "An answer has one score for each choice, or none.")
        scores.put(numbers)
    n = len(ids)
    table = _kinds(kinds, labels)
    return Table(ids=_objects(ids), labels=tuple(labels), choice=codes_of(choice, n), picked=codes_of(picked, n),
                 kind=codes_of(kind, n), kinds=table, asked=np.frombuffer(asked, dtype=bool),
                 failed=np.frombuffer(failed, dtype=bool), group=group.done(n), form=form.done(n),
                 tags={tag: column.done(n) for tag, column in tags.items()},
                 scores=scores.done(n, table.choices.shape[1]), **about)


def concatenate(tables: Sequence[Table]) -> Table:
    """Tables one below the other, with their codes brought together; for runs that differ only in the seed."""
    first = tables[0]
    return build((row for table in tables for row in unpack(table)), benchmark=first.benchmark, model=first.model,
                 scale=first.scale, cluster=first.cluster, laws=first.laws)


def unpack(table: Table) -> Iterator[Row]:
    """The rows of a table again."""
    choices = [tuple(table.labels[i] for i in row[row >= 0]) for row in table.kinds.choices]
    gold = [tuple(label for label, right in zip(labels, flags.tolist(), strict=False) if right)
            for labels, flags in zip(choices, table.kinds.gold, strict=True)]
    names = list(table.tags)
    columns = [table.tags[name].text() for name in names]
    rows = zip(table.ids.tolist(), table.form.text(), table.group.text(), table.kind.tolist(), table.choice.tolist(),
               table.asked.tolist(), table.failed.tolist(), strict=True)
    for row, (name, form, group, kind, choice, asked, failed) in enumerate(rows):
        item = Asked(name, form, choices[kind], gold[kind], group,
                     {tag: column[row] for tag, column in zip(names, columns, strict=True) if column[row]})
        scores = None
        if table.scores is not None and not np.isnan(table.scores[row]).all():
            scores = table.scores[row, : len(choices[kind])].tolist()
        yield item, asked, scores, table.labels[choice] if choice >= 0 else None, "failed" if failed else None


def _kinds(kinds: KindsSeen, labels: Vocabulary) -> Kinds:
    width = max((len(choices) for choices, _ in kinds), default=1)
    codes = np.full((max(1, len(kinds)), width), -1, dtype=np.int32)
    right = np.zeros(codes.shape, dtype=bool)
    for row, (choices, gold) in enumerate(kinds):
        codes[row, : len(choices)] = [labels[label] for label in choices]
        right[row, : len(choices)] = [label in gold for label in choices]
    return Kinds(codes, right)


def _objects(ids: list[str]) -> np.ndarray[Any, np.dtype[np.object_]]:
    found = np.empty(len(ids), dtype=object)
    found[:] = ids
    return found

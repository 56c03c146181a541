"""A run folder, for reading. Cheap to open; items and answers are streamed from the log.

Readers never write: a finished run can be read from a read-only disk, and a run that is going on is
not held up.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gnomon.errors import DataError
from gnomon.forms import is_right
from gnomon.naming import model_name, plain
from gnomon.records import Answer, Item
from gnomon.runs.database import COLUMNS, as_of_today, connect, item_of_format_1
from gnomon.runs.manifest import LOG, Counts, Manifest, read_manifest
from gnomon.runs.notes import Notes, read_notes
from gnomon.runs.usage import Usage, usage_of
from gnomon.tabular import frame_of, html_table

ANSWER = ", ".join(COLUMNS)
_ALL = f"SELECT record, {ANSWER} FROM items LEFT JOIN answers USING (n)"  # noqa: S608
_EVERY_ITEM = f"{_ALL} WHERE coalesce(sample, 0) = 0 ORDER BY n"
_ONE_ITEM = f"{_ALL} WHERE id = ? AND coalesce(sample, 0) = 0"
_EVERY_ANSWER = f"{_ALL} WHERE sample IS NOT NULL ORDER BY n, sample"
_decode_item = msgspec.json.Decoder(Item).decode
_decode_scores = msgspec.json.Decoder(tuple[float | None, ...]).decode
_decode_files = msgspec.json.Decoder(tuple[str, ...]).decode


class AskedRow(NamedTuple):
    """An item that was asked and its first answer, as the log has them: JSON, not decoded."""

    n: int
    id: str
    record: str
    scores: str | None
    choice: str | None
    error: str | None


class Run:
    """A run folder, for reading.

    >>> Run.open("nowhere")
    Traceback (most recent call last):
        ...
    gnomon.errors.RunError: nowhere is not a run: there is no such folder.
    `gnomon runs list` shows the runs there are.
    """

    def __init__(
        self, path: Path, manifest: Manifest, db: sqlite3.Connection | None = None
    ) -> None:
        self.path = path
        self.manifest = manifest
        self._db = db

    def __repr__(self) -> str:
        counts = self.manifest.counts
        asked = f"{counts.asked:,} of {counts.items:,} asked"
        return f"<Run of {self.model} on {self.benchmark}: {asked}, in {self.path}>"

    def _repr_html_(self) -> str:
        manifest = self.manifest
        asked = f"{manifest.counts.asked:,} of {manifest.counts.items:,}"
        finished = "no"
        if manifest.finished is not None:
            finished = f"{manifest.finished:%Y-%m-%d %H:%M}"
        about = {
            "model": self.model,
            "benchmark": self.benchmark,
            "asked": asked,
            "answered": f"{manifest.counts.answered:,}",
            "finished": finished,
            "folder": str(self.path),
        }
        return html_table(("run", ""), list(about.items()))

    def to_frame(self, library: str = "") -> Any:
        """A DataFrame of pandas or polars: a row for each item with its first answer.

        The tags of items are columns of their own (`tag_NAME`). An item that was not asked yet has
        no `right`; an answer that failed or could not be read is not right.
        """
        return frame_of(answer_columns(self.rows()), library)

    @classmethod
    def open(cls, path: str | Path) -> Run:
        """Open a folder that holds a run."""
        path = Path(path)
        return cls(path, read_manifest(path))

    @property
    def benchmark(self) -> str:
        """NAME@SOURCE."""
        return self.manifest.benchmark

    @property
    def model(self) -> str:
        """Its spec, as the user gave it."""
        return self.manifest.model

    @property
    def notes(self) -> Notes:
        """What people noted about it, read anew each time."""
        return read_notes(self.path)

    @property
    def name(self) -> str:
        """What to call the model: the user's own name for it, or else its spec, shortened."""
        if self.manifest.name:
            return plain(self.manifest.name)
        return model_name(self.manifest.model)

    def counts(self) -> Counts:
        """Counted from the log itself, so true while a run is going on."""
        if self.manifest.finished:  # many are listed at once
            with suppress(DataError), self._reading(only_count=True) as db:
                return count(db)
        with self._reading() as db:
            return count(db)

    def usage(self) -> Usage:
        """What the answers took, summed from the log itself."""
        with self._reading() as db:
            return usage_of(db, self.manifest.model_options)

    def items(self) -> Iterator[Item]:
        """All items in their order."""
        for _, record in self.records():
            yield self.item(record)

    def rows(self) -> Iterator[tuple[Item, Answer | None]]:
        """Every item with its first answer, or none if it has not been asked yet."""
        for record, *columns in self._select(_EVERY_ITEM):
            item = self.item(record)
            yield item, self.answer(item.id, columns)

    def answers(self) -> Iterator[tuple[Item, Answer]]:
        """Every answer with its item: one or several samples of each item that was asked."""
        for record, *columns in self._select(_EVERY_ANSWER):
            item = self.item(record)
            answer = self.answer(item.id, columns)
            if answer is not None:
                yield item, answer

    def numbered_answers(self) -> Iterator[tuple[int, Answer]]:
        """Every answer with its item's number in the log; the items are not read."""
        sql = (
            f"SELECT n, id, {ANSWER} FROM answers JOIN items USING (n) "  # noqa: S608
            "ORDER BY n, sample"
        )
        for number, item, *columns in self._select(sql):
            answer = self.answer(item, columns)
            if answer is not None:
                yield number, answer

    def row(self, item_id: str) -> tuple[Item, Answer | None] | None:
        """The item of that id with its first answer; none if there is no such item."""
        for record, *columns in self._select(_ONE_ITEM, (item_id,)):
            item = self.item(record)
            return item, self.answer(item.id, columns)
        return None

    def asked(self, after: int = -1) -> Iterator[AskedRow]:
        """The items that were asked, in order, each with its first answer, not decoded.

        Only those with a number above `after`.
        """
        sql = (
            "SELECT n, id, record, scores, choice, error FROM items JOIN answers USING (n) "
            "WHERE n > ? AND sample = 0 ORDER BY n"
        )
        return map(AskedRow._make, self._select(sql, (after,)))

    def further_samples(self) -> Iterator[tuple[str, str | None]]:
        """What was chosen beyond the first answer, by the item's id; usually nothing."""
        sql = (
            "SELECT id, choice FROM answers JOIN items USING (n) WHERE sample > 0 "
            "ORDER BY n, sample"
        )
        [(most,)] = self._select("SELECT max(sample) FROM answers")
        return self._select(sql) if most else iter(())

    def records(self) -> Iterator[tuple[int, str]]:
        """All items in order, each with its number, not decoded."""
        return self._select("SELECT n, record FROM items ORDER BY n")

    def replies(self, longest: int) -> Iterator[tuple[int, str | None, str | None]]:
        """What models that talk said, cut to a length, and why items failed; by item number."""
        sql = (
            "SELECT n, substr(reply, 1, ?), error FROM answers "
            "WHERE sample = 0 AND (reply IS NOT NULL OR error IS NOT NULL) ORDER BY n"
        )
        return self._select(sql, (longest,))

    def rules(self) -> Iterator[tuple[int, str]]:
        """By which rule each reply was read; by item number."""
        sql = "SELECT n, rule FROM answers WHERE sample = 0 AND rule IS NOT NULL ORDER BY n"
        return self._select(sql)

    def costs(self) -> Iterator[tuple[int, int | None, float | None]]:
        """How many tokens and seconds answers took, where that is known; by item number."""
        sql = (
            "SELECT n, tokens, seconds FROM answers "
            "WHERE sample = 0 AND (tokens IS NOT NULL OR seconds IS NOT NULL) ORDER BY n"
        )
        return self._select(sql)

    def damaged(self, reason: object) -> DataError:
        """The error for a log whose contents make no sense."""
        return damaged_log(self.path, reason)

    def item(self, record: str) -> Item:
        """The item of a record in the log."""
        try:
            if self.manifest.format == 1:
                return item_of_format_1(record)
            return _decode_item(record)
        except (msgspec.MsgspecError, TypeError, RecursionError) as error:
            raise self.damaged(error) from None

    def answer(self, item: str, columns: Sequence[Any]) -> Answer | None:
        """The answer to an item by its columns in the log; none if there is none."""
        fields = dict(zip(COLUMNS, columns, strict=True))
        if fields["sample"] is None:
            return None
        try:
            fields["scores"] = decode_scores(fields["scores"])
            fields["files"] = _decode_files(fields["files"]) if fields["files"] else ()
            return Answer(item=item, **fields)
        except (msgspec.MsgspecError, TypeError) as problem:
            raise self.damaged(problem) from None

    def _select(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[Any]:
        with self._reading() as db:
            yield from db.execute(sql, parameters)

    @contextmanager
    def _reading(self, *, only_count: bool = False) -> Iterator[sqlite3.Connection]:
        file = self.path / LOG
        try:
            if self._db is not None:
                yield self._db
                return
            with closing(connect(file, _address(file, only_count))) as db:
                if self.manifest.format == 1 or not only_count:
                    as_of_today(db, self.manifest.format)
                yield db
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if not file.exists():
                raise DataError(
                    "the log is missing.",
                    "Restore it from a copy, or start the run over with --restart.",
                    file=file,
                ) from None
            if isinstance(error, sqlite3.OperationalError) and "unable to open" in str(error):
                raise DataError(
                    f"the log cannot be read: {error}.",
                    "Check its permissions, or copy the run to a folder that can be written.",
                    file=file,
                ) from None
            raise self.damaged(error) from None


def damaged_log(folder: Path, reason: object) -> DataError:
    """The error for a log whose contents make no sense, with what to do about it."""
    return DataError(
        f"the log is damaged: {reason}.",
        f"Save what can be read with `gnomon runs recover {folder} -o FOLDER`, restore the file "
        "from a copy, or start the run over with --restart.",
        file=folder / LOG,
    )


def _address(file: Path, unchanging: bool) -> str:
    """The log as SQLite is to open it, for reading only.

    SQLite wants to write beside a log in WAL mode, even to read it. A log without unwritten pages
    needs none of that where nothing may be written, or where nobody writes, in a third of the time:
    it is opened as one that does not change.
    """
    address = f"{file.absolute().as_uri()}?mode=ro"
    wal = f"{file}-wal"
    unwritten = os.path.exists(wal) and os.path.getsize(wal) > 0
    if not unwritten and (unchanging or not os.access(file.parent, os.W_OK)):
        return f"{address}&immutable=1"
    return address


def encode_scores(scores: tuple[float, ...] | None) -> str | None:
    """Scores as JSON text; a value that is no number becomes null."""
    if scores is None:
        return None
    return msgspec.json.encode(scores).decode()


def decode_scores(text: str | None) -> tuple[float, ...] | None:
    """The inverse of `encode_scores`; null becomes NaN.

    >>> decode_scores(encode_scores((0.5, float("nan"))))
    (0.5, nan)
    """
    if text is None:
        return None
    return tuple(float("nan") if value is None else value for value in _decode_scores(text))


def count(db: sqlite3.Connection) -> Counts:
    """How far a run has come, by its log. Only first samples count: they are what is measured."""
    items, asked, answered, errors = db.execute(
        "SELECT (SELECT count(*) FROM items), "
        "count(*), count(choice), count(CASE WHEN choice IS NULL THEN error END) "
        "FROM answers WHERE sample = 0"
    ).fetchone()
    return Counts(items=items, answered=answered, unread=asked - answered - errors, errors=errors)


def answer_columns(rows: Iterator[tuple[Item, Answer | None]]) -> dict[str, list[Any]]:
    """Items and answers as columns, for a frame."""
    asked = list(rows)
    tags: dict[str, None] = {}
    for item, _ in asked:
        tags |= dict.fromkeys(item.tags)
    found: dict[str, list[Any]] = {}
    for name in ("id", "form", "context", "text", "group"):
        found[name] = [getattr(item, name) for item, _ in asked]
    for name in ("choices", "gold"):
        found[name] = [list(getattr(item, name)) for item, _ in asked]
    found["answer"] = [answer and answer.choice for _, answer in asked]
    found["right"] = [answer and is_right(item, answer.choice) for item, answer in asked]
    found["scores"] = [_as_list(answer) for _, answer in asked]
    for name in ("reply", "error", "seconds", "tokens"):
        found[name] = [getattr(answer, name, None) for _, answer in asked]
    for tag in tags:
        found[f"tag_{tag}"] = [item.tags.get(tag) for item, _ in asked]
    return found


def _as_list(answer: Answer | None) -> list[float] | None:
    if answer is None or answer.scores is None:
        return None
    return list(answer.scores)

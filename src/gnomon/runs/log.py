"""The log of one run, for writing: one process at a time, each batch durable before the next.

SQLite in WAL mode with synchronous=FULL keeps every committed batch through kill -9 and power loss,
and lets readers look on while a run is going.
"""

from __future__ import annotations

import errno
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import msgspec

from gnomon.errors import DataError, GnomonError, RunError
from gnomon.records import Answer, Item
from gnomon.runs.database import COLUMNS, add_counts, connect, counts_apart
from gnomon.runs.manifest import (
    LOCK,
    LOG,
    MANIFEST,
    PICTURES,
    Counts,
    Manifest,
    write_manifest,
)
from gnomon.runs.reading import Run, count, damaged_log, encode_scores
from gnomon.runs.usage import Usage, usage_of

WAIT = 0.2  # seconds: a viewer that looks whether a run is going on holds the lock for an instant
_SCHEMA = """
CREATE TABLE IF NOT EXISTS items (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, record TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS answers (
  n INTEGER NOT NULL, sample INTEGER NOT NULL DEFAULT 0,
  scores TEXT, choice TEXT, reply TEXT, rule TEXT, files TEXT, seconds REAL, tokens INTEGER,
  error TEXT, tokens_read INTEGER, tokens_written INTEGER, PRIMARY KEY (n, sample)
) WITHOUT ROWID;
"""
_encode = msgspec.json.Encoder().encode
_decode_item = msgspec.json.Decoder(Item).decode


class RunLog:
    """The log of one run, for writing. Hold it in `with`, or close it."""

    def __init__(self, path: Path) -> None:
        from filelock import FileLock, Timeout

        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(path / LOCK)
            self._lock.acquire(timeout=WAIT, poll_interval=WAIT / 10)
        except Timeout:
            raise RunError(
                f"Another process is at work on {path}.",
                "Wait for it, or give this run another folder with --runs.",
            ) from None
        except OSError as error:
            raise _not_writable(path, error) from None
        self.path = path
        self.is_new = not (path / MANIFEST).exists()
        # written just before what is added next becomes durable, if it is sound
        self.announced: Manifest | None = None

    def __enter__(self) -> RunLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def _db(self) -> sqlite3.Connection:
        """Opened when first needed: a damaged log can still be replaced."""
        try:
            db = connect(self.path / LOG)
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=FULL")
            db.executescript(_SCHEMA)
            if not counts_apart(db):
                add_counts(db)
        except sqlite3.Error as error:
            raise _log_error(self.path, error) from None
        except UnicodeDecodeError as error:  # in the text of a damaged schema
            raise damaged_log(self.path, error) from None
        return db

    def begin_anew(self, manifest: Manifest) -> None:
        """Forget all items, answers and pictures.

        The manifest without a digest of items is written first: from then on, a process that finds
        the folder knows that what the log holds is not to be used.
        """
        if not self.is_new:
            write_manifest(self.path, manifest)
        self._disconnect()
        for file in (f"{LOG}-wal", f"{LOG}-shm", LOG):
            (self.path / file).unlink(missing_ok=True)
        shutil.rmtree(self.path / PICTURES, ignore_errors=True)

    def _disconnect(self) -> None:
        opened = self.__dict__.pop("_db", None)
        if opened is not None:
            opened.close()

    def add_items(self, start: int, items: Sequence[Item]) -> None:
        """Add items with the numbers start, start + 1 ..."""
        self.add_numbered(enumerate(items, start))

    def add_numbered(self, items: Iterable[tuple[int, Item]]) -> None:
        """Add items with these numbers."""
        rows = [(number, item.id, _encode(item).decode()) for number, item in items]
        try:
            self._write("INSERT INTO items VALUES (?, ?, ?)", rows)
        except sqlite3.IntegrityError:
            raise self._twice(rows) from None

    def grow(self, items: Iterable[Item], *, forgetting: bool = False) -> None:
        """Hold these items in this order, all that were held before among them.

        Answers stay with their items, unless they are to be forgotten.
        """
        rows = ((number, item.id, _encode(item).decode()) for number, item in enumerate(items))
        try:
            with self._transaction():
                self._collect_grown(rows)
                self._replace_items(forgetting=forgetting)
            self._db.execute("DROP TABLE grown")
        except sqlite3.Error as error:
            raise _log_error(self.path, error) from None

    def _collect_grown(self, rows: Iterable[tuple[int, str, str]]) -> None:
        """The items to be, beside those that are held; refused if they cannot take their place."""
        db = self._db
        db.execute("CREATE TEMP TABLE grown (n INTEGER PRIMARY KEY, id TEXT, record TEXT)")
        db.executemany("INSERT INTO grown VALUES (?, ?, ?)", rows)
        db.execute("CREATE INDEX temp.grown_ids ON grown (id)")
        twice = db.execute(
            "SELECT id, min(n), max(n) FROM grown GROUP BY id HAVING count(*) > 1 LIMIT 1"
        ).fetchone()
        if twice:
            raise _same_id(*twice)
        lost = db.execute(
            "SELECT items.id FROM items LEFT JOIN grown USING (id) "
            "WHERE grown.record IS NOT items.record LIMIT 1"
        ).fetchone()
        if lost:
            raise RunError(
                f"The item '{lost[0]}' is not what it was when {self.path} was started: data "
                "files or the version changed.",
                "Start over with --restart, or give another folder with --runs.",
            )

    def _replace_items(self, *, forgetting: bool) -> None:
        db = self._db
        if forgetting:
            db.execute("DELETE FROM answers")
        # A new number may be another answer's old one: all step aside first.
        db.execute(
            "UPDATE answers SET n = -1 - (SELECT grown.n FROM items JOIN grown USING (id) "
            "WHERE items.n = answers.n)"
        )
        db.execute("UPDATE answers SET n = -1 - n")
        db.execute("DELETE FROM items")
        db.execute("INSERT INTO items SELECT n, id, record FROM grown")

    def ids(self) -> dict[str, int]:
        """The number of each item, by its id."""
        return dict(self._read("SELECT id, n FROM items"))

    def numbers_of(self, items: Iterable[Item]) -> frozenset[int]:
        """The numbers of these items."""
        numbers = self.ids()
        return frozenset(numbers[item.id] for item in items)

    def _twice(self, rows: Sequence[tuple[int, str, str]]) -> DataError:
        """Which id occurs twice, among the rows or in the log."""
        seen: dict[str, int] = {}
        for number, name, _ in rows:
            found = self._db.execute("SELECT n FROM items WHERE id = ?", (name,)).fetchone()
            first = found[0] if found else seen.setdefault(name, number)
            if first != number:
                return _same_id(name, first, number)
        return DataError("the log refuses the items.", "Start over with --restart.")

    def add_answers(
        self,
        numbered: Iterable[tuple[int, Answer]],
        *,
        replacing: bool = False,
        durable: bool = True,
    ) -> None:
        """Log a batch of answers.

        One that is there already is kept, unless it was a failure, or a person has another mind.
        """
        rows = [_row(n, answer) for n, answer in numbered]
        if not rows:
            return
        used = []
        filled = []
        for name, column in zip(("n", *COLUMNS), zip(*rows, strict=True), strict=True):
            if column.count(None) < len(rows):
                used.append(name)
                filled.append(column)
        adding = _adding_answers(tuple(used), replacing=replacing)
        self._write(adding, list(zip(*filled, strict=True)), durable=durable)

    def pending(
        self, after: int, most: int, *, retry_errors: bool = False
    ) -> list[tuple[int, Item]]:
        """The next items, at most so many, numbered above `after`, that still lack an answer."""
        found = self._read(
            "SELECT items.n, record FROM items "
            "LEFT JOIN answers ON answers.n = items.n AND sample = 0 "
            "WHERE items.n > ? AND (sample IS NULL OR (? AND error IS NOT NULL)) "
            "ORDER BY items.n LIMIT ?",
            (after, retry_errors, most),
        )
        try:
            return [(n, _decode_item(record)) for n, record in found]
        except (msgspec.MsgspecError, TypeError) as error:
            raise damaged_log(self.path, error) from None

    def right(self) -> int:
        """Items whose choice is one of the right labels."""
        found = self._read(
            "SELECT count(*) FROM answers JOIN items USING (n) "
            "WHERE sample = 0 AND choice IS NOT NULL AND EXISTS "
            "(SELECT 1 FROM json_each(record, '$.gold') WHERE value = choice)"
        )
        return int(found[0][0])

    def judged(self, *, retry_errors: bool = False) -> int:
        """Answers to items that name a right answer; without failures if those are asked again."""
        found = self._read(
            "SELECT count(*) FROM answers JOIN items USING (n) "
            "WHERE sample = 0 AND json_array_length(record, '$.gold') > 0 "
            "AND NOT (? AND error IS NOT NULL)",
            (retry_errors,),
        )
        return int(found[0][0])

    def counts(self) -> Counts:
        """Counted from the log."""
        with self._reading() as db:
            return count(db)

    def usage(self, model_options: Mapping[str, Any]) -> Usage:
        """What all answers took, summed from the log."""
        with self._reading() as db:
            return usage_of(db, model_options)

    def run(self, manifest: Manifest) -> Run:
        """The run as it was written so far, durable or not."""
        return Run(self.path, manifest, self._db)

    def write_manifest(self, manifest: Manifest) -> None:
        """Replace run.json in one step, so that it is never half written."""
        try:
            write_manifest(self.path, manifest)
        except OSError as error:
            raise _not_writable(self.path, error) from None
        self.is_new = False

    def close(self) -> None:
        """Fold the write-ahead log into the file and let others in."""
        self._disconnect()
        self._lock.release()

    def discard(self) -> None:
        """Remove a folder that never became a run."""
        self.close()
        if self.is_new:
            shutil.rmtree(self.path, ignore_errors=True)

    def _read(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._reading() as db:
            return db.execute(sql, parameters).fetchall()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            yield self._db
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise damaged_log(self.path, error) from None

    def commit(self) -> None:
        """Make durable what was added."""
        if not self._db.in_transaction:
            return
        try:
            self._commit()
        except sqlite3.Error as error:
            raise _log_error(self.path, error) from None

    def _write(self, sql: str, rows: Sequence[tuple[Any, ...]], *, durable: bool = True) -> None:
        try:
            with self._transaction(durable=durable):
                self._db.executemany(sql, rows)
        except sqlite3.IntegrityError:
            raise
        except sqlite3.Error as error:
            raise _log_error(self.path, error) from None

    @contextmanager
    def _transaction(self, *, durable: bool = True) -> Iterator[None]:
        """What is written becomes durable as a whole, with what waits to be, or not at all."""
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:  # a full disk has rolled back already
                self._db.execute("ROLLBACK")
            self.announced = None
            raise
        if durable:
            self._commit()

    def _commit(self) -> None:
        if self.announced is not None:
            self.write_manifest(self.announced)
            self.announced = None
        self._db.execute("COMMIT")


@lru_cache
def _adding_answers(columns: tuple[str, ...], *, replacing: bool = False) -> str:
    """How answers are added that have only these columns; the others stay empty.

    Python's sqlite3 takes longer to bind None than anything else, and most columns of most runs are
    empty.
    """
    names = ", ".join(columns)
    places = ", ".join("?" * len(columns))
    replaced = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS[1:])
    adding = f"INSERT INTO answers ({names}) VALUES ({places})"  # noqa: S608 - our own words
    upsert = f"{adding} ON CONFLICT (n, sample) DO UPDATE SET {replaced}"
    return upsert if replacing else f"{upsert} WHERE error IS NOT NULL"


def _row(n: int, answer: Answer) -> tuple[Any, ...]:
    """The number and the fields of an answer, those of several values as JSON."""
    _, sample, scores, choice, reply, rule, files, *others = msgspec.structs.astuple(answer)
    names = _encode(files).decode() if files else None
    return (n, sample, encode_scores(scores), choice, reply, rule, names, *others)


def _same_id(name: str, first: int, second: int) -> DataError:
    return DataError(
        f"two items have the id '{name}' (items {first + 1} and {second + 1}).",
        "Ids must be unique in a benchmark.",
    )


def _log_error(path: Path, error: sqlite3.Error) -> GnomonError:
    text = str(error)
    if "full" in text or "disk I/O error" in text:
        return _full(path)
    if not isinstance(error, sqlite3.OperationalError):  # the file, not the disk, is at fault
        return damaged_log(path, text)
    return RunError(
        f"The log in {path} cannot be written: {text}.",
        "Check the folder's permissions, or give another with --runs.",
    )


def _not_writable(path: Path, error: OSError) -> RunError:
    if error.errno == errno.ENOSPC:
        return _full(path)
    return RunError(
        f"{path} cannot be written: {error.strerror or error}.",
        "Check the folder's permissions, or give another with --runs.",
    )


def _full(path: Path) -> RunError:
    return RunError(
        f"The disk that holds {path} is full or cannot be written.",
        "Free some space and give the same command again: what was logged is kept.",
    )

"""A run is a folder: run.json (the manifest) and answers.sqlite (items and an append-only,
crash-safe log of answers).

The engine writes it; measures and report only read it. SQLite in WAL mode with synchronous=FULL
keeps every committed batch through kill -9 and power loss, and lets readers look on while a run is
going.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from gnomon.errors import DataError, RunError
from gnomon.records import Answer, Item

FORMAT = 1  # of the folder; a newer one is refused rather than misread
MANIFEST, LOG, LOCK = "run.json", "answers.sqlite", "run.lock"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS items (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, record TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS answers (n INTEGER PRIMARY KEY, scores TEXT, choice TEXT, reply TEXT, error TEXT);
"""
_encode = msgspec.json.Encoder().encode
_decode_item = msgspec.json.Decoder(Item).decode
_decode_scores = msgspec.json.Decoder(tuple[float | None, ...]).decode


class Counts(msgspec.Struct, kw_only=True):
    """How far a run has come."""

    items: int = 0
    answered: int = 0  # with a choice
    unread: int = 0  # the model replied, but no label could be read
    errors: int = 0

    @property
    def asked(self) -> int:
        """Items that have an answer of any kind."""
        return self.answered + self.unread + self.errors


class Manifest(msgspec.Struct, kw_only=True):
    """What was asked of whom, and how: enough to repeat the run."""

    format: int = FORMAT
    id: str
    benchmark: str  # NAME@SOURCE
    options: dict[str, Any] = {}  # of the benchmark
    limit: int | None = None
    items_sha256: str = ""  # of all items, in order; empty until they are all in the log
    model: str  # as the user named it
    model_options: dict[str, Any] = {}
    model_files: dict[str, str] | None = (
        None  # files that the model or its options name, and hashes; none in old runs
    )
    model_description: dict[
        str, Any
    ] = {}  # what determines the answers: revision, dtype, prompt ...
    scale: str = "none"  # what the scores are: log-probability, probability or none
    versions: dict[str, str] = {}
    command: str = ""
    started: datetime
    finished: datetime | None = None
    counts: Counts = msgspec.field(default_factory=Counts)

    @property
    def seed(self) -> Any:
        """The benchmark's seed, if its source takes one."""
        return self.options.get("seed")


class Run:
    """A run folder, for reading. Cheap to open; items and answers are streamed from the log.

    >>> Run.open("no/such/folder")
    Traceback (most recent call last):
        ...
    gnomon.errors.RunError: no/such/folder is not a run: it has no run.json.
    `gnomon list runs` shows the runs there are.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest

    def __repr__(self) -> str:
        counts = self.manifest.counts
        return f"<Run of {self.model} on {self.benchmark}: {counts.asked:,} of {counts.items:,} asked, in {self.path}>"

    @classmethod
    def open(cls, path: str | Path) -> Run:
        """Open a folder that holds a run."""
        path = Path(path)
        file = path / MANIFEST
        if not file.is_file():
            raise RunError(
                f"{path} is not a run: it has no {MANIFEST}.",
                "`gnomon list runs` shows the runs there are.",
            )
        try:
            raw = msgspec.json.decode(file.read_bytes())
            if (
                isinstance(raw, dict)
                and isinstance(raw.get("format"), int)
                and raw["format"] > FORMAT
            ):
                raise RunError(
                    f"{path} was written by a newer Gnomon (run format {raw['format']}, this one reads "
                    f"up to {FORMAT}).",
                    "Upgrade Gnomon to read it.",
                )
            manifest = msgspec.convert(raw, Manifest)
        except msgspec.MsgspecError as error:
            raise DataError(
                f"not a manifest: {error}.",
                "Restore it, or start the run over with --fresh.",
                file=file,
            ) from None
        except OSError as error:
            raise RunError(f"{file} cannot be read: {error.strerror}.") from None
        return cls(path, manifest)

    @property
    def benchmark(self) -> str:
        """NAME@SOURCE."""
        return self.manifest.benchmark

    @property
    def model(self) -> str:
        """As the user named it."""
        return self.manifest.model

    def items(self) -> Iterator[Item]:
        """All items in their order."""
        for (record,) in self.query("SELECT record FROM items ORDER BY n"):
            yield _decode_item(record)

    def rows(self) -> Iterator[tuple[Item, Answer | None]]:
        """Every item with its answer, or none if it has not been asked yet."""
        sql = (
            "SELECT record, answers.n IS NOT NULL, scores, choice, reply, error "
            "FROM items LEFT JOIN answers USING (n) ORDER BY n"
        )
        for record, asked, scores, choice, reply, error in self.query(sql):
            item = _decode_item(record)
            yield (
                item,
                Answer(
                    item=item.id,
                    scores=decode_scores(scores),
                    choice=choice,
                    reply=reply,
                    error=error,
                )
                if asked
                else None,
            )

    def counts(self) -> Counts:
        """Counted from the log itself, so true while a run is going on."""
        with self._reading() as db:
            return _counted(db)

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Rows of a read-only query on the log (tables `items` and `answers`, see
        docs/formats.md)."""
        with self._reading() as db:
            yield from db.execute(sql, parameters)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        file = self.path / LOG
        try:
            with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as db:
                yield db
        except sqlite3.Error as error:
            reason = f"the log cannot be read: {error}." if file.exists() else "the log is missing."
            raise DataError(
                reason, "Restore it, or start the run over with --fresh.", file=file
            ) from None


class RunLog:
    """The log of one run, for writing: one process at a time, each batch durable before the next
    begins."""

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        from filelock import FileLock, Timeout

        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._lock = FileLock(path / LOCK)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise RunError(
                f"Another process is at work on {path}.",
                "Wait for it, or give this run another folder with --runs.",
            ) from None
        if fresh:
            for file in (MANIFEST, LOG, f"{LOG}-wal", f"{LOG}-shm"):
                (path / file).unlink(missing_ok=True)
        try:
            self._db = sqlite3.connect(path / LOG, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.executescript(_SCHEMA)
        except sqlite3.Error as error:
            self._lock.release()
            raise _log_error(path, error) from None

    def add_items(self, start: int, items: Sequence[Item]) -> None:
        """Add items with the numbers start, start + 1 ...; those already there are left as they
        are."""
        rows = [(start + i, item.id, _encode(item).decode()) for i, item in enumerate(items)]
        try:
            self._write("INSERT INTO items VALUES (?, ?, ?) ON CONFLICT (n) DO NOTHING", rows)
        except sqlite3.IntegrityError:
            seen: dict[str, int] = {}
            for n, name, _ in rows:
                first = seen.setdefault(name, n)
                there = self._db.execute(
                    "SELECT n FROM items WHERE id = ? AND n <> ?", (name, n)
                ).fetchone()
                if first != n or there:
                    raise DataError(
                        f"two items have the id '{name}' (items {(there[0] if there else first) + 1} and {n + 1}).",
                        "Ids must be unique in a benchmark.",
                    ) from None
            raise

    def add_answers(self, numbered: Iterable[tuple[int, Answer]]) -> None:
        """Log a batch of answers. An answer that is there already is kept, unless it was a
        failure."""
        rows = [(n, encode_scores(a.scores), a.choice, a.reply, a.error) for n, a in numbered]
        self._write(
            "INSERT INTO answers VALUES (?, ?, ?, ?, ?) ON CONFLICT (n) DO UPDATE SET scores = excluded.scores, "
            "choice = excluded.choice, reply = excluded.reply, error = excluded.error "
            "WHERE answers.error IS NOT NULL",
            rows,
        )

    def pending(
        self, after: int, most: int, *, retry_errors: bool = False
    ) -> list[tuple[int, Item]]:
        """The next items, at most so many, with a number greater than `after`, that still lack an
        answer."""
        found = self._db.execute(
            "SELECT items.n, record FROM items LEFT JOIN answers USING (n) "
            "WHERE items.n > ? AND (answers.n IS NULL OR (? AND answers.error IS NOT NULL)) ORDER BY items.n LIMIT ?",
            (after, retry_errors, most),
        )
        return [(n, _decode_item(record)) for n, record in found]

    def keep_items(self, number: int) -> None:
        """Drop items beyond the first `number`, left behind by a start that was cut off before the
        source shrank."""
        self._write("DELETE FROM items WHERE n >= ?", [(number,)])

    def asked(self) -> int:
        """Items that have an answer of any kind."""
        return int(self._db.execute("SELECT count(*) FROM answers").fetchone()[0])

    def right(self) -> int:
        """Items whose choice is one of the right labels."""
        sql = (
            "SELECT count(*) FROM answers JOIN items USING (n) WHERE choice IS NOT NULL AND EXISTS "
            "(SELECT 1 FROM json_each(record, '$.gold') WHERE value = choice)"
        )
        return int(self._db.execute(sql).fetchone()[0])

    def write_manifest(self, manifest: Manifest) -> None:
        """Replace run.json in one step, so that it is never half written."""
        file = self.path / MANIFEST
        part = file.with_suffix(".part")
        with part.open("wb") as out:
            out.write(msgspec.json.format(_encode(manifest), indent=2) + b"\n")
            out.flush()
            os.fsync(out.fileno())
        part.replace(file)

    def counts(self) -> Counts:
        """Counted from the log."""
        return _counted(self._db)

    def close(self) -> None:
        """Fold the write-ahead log into the file and let others in."""
        self._db.close()
        self._lock.release()

    def _write(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.executemany(sql, rows)
            except BaseException:
                if self._db.in_transaction:  # a full disk has rolled back already
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        except sqlite3.IntegrityError:
            raise
        except sqlite3.Error as error:
            raise _log_error(self.path, error) from None


def run_folders(folder: str | Path) -> list[Path]:
    """The folders in a folder that hold a run, sound or damaged, by name."""
    return sorted(path.parent for path in Path(folder).glob(f"*/{MANIFEST}"))


def runs_in(folder: str | Path) -> list[Run]:
    """The runs in a folder, oldest first. Folders that are no runs are passed over."""
    found = [Run.open(path) for path in run_folders(folder)]
    return sorted(found, key=lambda run: (run.manifest.started, run.path.name))


def open_runs(paths: Iterable[str | Path]) -> list[Run]:
    """The runs that the paths name; a folder that is no run itself stands for the runs in it. None
    is taken twice."""
    found: dict[Path, Run] = {}
    for path in map(Path, paths):
        members = (
            runs_in(path) if path.is_dir() and not (path / MANIFEST).is_file() else [Run.open(path)]
        )
        if not members:
            raise RunError(
                f"{path} is not a run and holds none.",
                "`gnomon list runs` shows the runs there are.",
            )
        for run in members:
            found.setdefault(run.path.resolve(), run)
    return list(found.values())


def encode_scores(scores: tuple[float, ...] | None) -> str | None:
    """Scores as JSON text; a value that is no number becomes null."""
    return None if scores is None else _encode(scores).decode()


def decode_scores(text: str | None) -> tuple[float, ...] | None:
    """The inverse of `encode_scores`; null becomes NaN.

    >>> decode_scores(encode_scores((0.5, float("nan"))))
    (0.5, nan)
    """
    if text is None:
        return None
    return tuple(float("nan") if value is None else value for value in _decode_scores(text))


def _counted(db: sqlite3.Connection) -> Counts:
    items = db.execute("SELECT count(*) FROM items").fetchone()[0]
    answered, unread, errors = db.execute(
        "SELECT count(choice), count(*) - count(choice) - count(CASE WHEN choice IS NULL THEN error END), "
        "count(CASE WHEN choice IS NULL THEN error END) FROM answers"
    ).fetchone()
    return Counts(items=items, answered=answered, unread=unread, errors=errors)


def _log_error(path: Path, error: sqlite3.Error) -> RunError:
    text = str(error)
    if "full" in text:
        return RunError(
            f"The disk that holds {path} is full.",
            "Free some space and give the same command again: what was logged is kept.",
        )
    return RunError(
        f"The log in {path} cannot be written: {text}.",
        "Check the folder's permissions, or give another with --runs.",
    )

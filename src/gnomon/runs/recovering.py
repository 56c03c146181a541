"""What can still be read of a damaged log, copied into a new run.

SQLite fails for every row on a damaged page. Rows are therefore asked for in ranges, and a range
that fails is halved until the rows that cannot be read stand alone.
"""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import msgspec

from gnomon.errors import DataError, GnomonError, RunError
from gnomon.records import Answer, Fingerprint, Item
from gnomon.runs.database import as_of_today, connect
from gnomon.runs.log import RunLog
from gnomon.runs.manifest import FORMAT, LOG, Counts, check_not_in_use
from gnomon.runs.reading import ANSWER, Run

STEP = 1024  # items at a time
SMALLEST_ROW = 16  # bytes of an item in the log, at the very least

# A damaged schema can make SQLite's own message unreadable, which Python then fails to decode.
UNREADABLE = (sqlite3.Error, UnicodeDecodeError)


class Recovered(NamedTuple):
    """The new run, how much of the old one it holds, and how much there had been."""

    run: Run
    items: int
    answers: int
    lost_items: int
    lost_answers: int


def recover(damaged: Run, output: Path) -> Recovered:
    """Copy every item and answer that can be read into a new run folder.

    The damaged log is copied first and never written to. If all items are there, the new run can
    be gone on with; answers that were lost are then asked for again.
    """
    check_not_in_use(damaged.path)
    if output.exists():
        raise RunError(f"{output} is there already.", "Give a folder that does not exist yet.")
    if damaged.path.resolve() in output.resolve().parents:
        raise RunError(f"{output} is in the damaged run itself.", "Give a folder elsewhere.")
    with TemporaryDirectory(prefix="gnomon-recover-") as folder:
        copy = _copy_of_log(damaged, Path(folder))
        log = RunLog(output)
        try:
            with closing(connect(copy)) as db:
                found = _recover(db, damaged, log)
            if not found.items:
                raise _nothing_left(damaged)
        except BaseException as error:
            log.close()
            shutil.rmtree(output, ignore_errors=True)
            if isinstance(error, UNREADABLE):
                raise _nothing_left(damaged) from None
            raise
        log.close()
    return found._replace(run=Run.open(output))


def _nothing_left(damaged: Run) -> DataError:
    return DataError(
        "no item can be read.", "Restore the file from a copy.", file=damaged.path / LOG
    )


def _copy_of_log(damaged: Run, folder: Path) -> Path:
    """A copy with the pages that were not yet folded in, so that SQLite may do so."""
    source = damaged.path / LOG
    if not source.is_file():
        raise DataError("the log is missing.", "Restore it from a copy.", file=source)
    for name in (LOG, f"{LOG}-wal"):
        if (damaged.path / name).is_file():
            shutil.copyfile(damaged.path / name, folder / name)
    return folder / LOG


def _recover(db: sqlite3.Connection, damaged: Run, log: RunLog) -> Recovered:
    manifest = damaged.manifest
    with suppress(*UNREADABLE):  # then no answer can be read
        as_of_today(db, manifest.format)
    ids: dict[int, str] = {}
    seen: set[str] = set()
    digest = Fingerprint()
    answers = 0
    for start in range(0, _bound(db, damaged), STEP):
        end = start + STEP
        items = list(_items(db, damaged, start, end, seen))
        log.add_numbered(items)
        for number, item in items:
            ids[number] = item.id
            digest.add(item)
        rows = list(_answers(db, damaged, start, end, ids))
        log.add_answers(rows)
        answers += len(rows)

    counts = log.counts()
    lost = Counts(
        items=max(manifest.counts.items - counts.items, 0),
        answered=max(manifest.counts.asked - counts.asked, 0),
    )
    new = msgspec.structs.replace(
        manifest,
        format=FORMAT,
        items_sha256=digest.hexdigest(),
        counts=counts,
        usage=log.usage(manifest.model_options),
    )
    if counts.asked < counts.items or lost.items:
        new.finished = None
    log.write_manifest(new)
    return Recovered(damaged, counts.items, answers, lost.items, lost.answered)


def _bound(db: sqlite3.Connection, damaged: Run) -> int:
    """A number above that of every item. A damaged log may claim any: its size sets a limit."""
    known = [damaged.manifest.counts.items]
    for last in ("SELECT max(n) FROM items", "SELECT max(n) FROM answers"):
        with suppress(*UNREADABLE, TypeError, ValueError):
            known.append(int(db.execute(last).fetchone()[0]) + 1)
    limit = (damaged.path / LOG).stat().st_size // SMALLEST_ROW + 1
    most = max(known)
    return min(most, limit) if most > 0 else limit


def _items(
    db: sqlite3.Connection, damaged: Run, start: int, end: int, seen: set[str]
) -> Iterator[tuple[int, Item]]:
    sql = "SELECT n, id, record FROM items WHERE n >= ? AND n < ? ORDER BY n"
    for number, name, record in _readable(db, sql, start, end):
        with suppress(GnomonError, ValueError):  # a record that is no item
            item = damaged.item(record)
            if item.id == name and name not in seen:
                seen.add(name)
                yield number, item


def _answers(
    db: sqlite3.Connection, damaged: Run, start: int, end: int, ids: dict[int, str]
) -> Iterator[tuple[int, Answer]]:
    sql = (
        f"SELECT n, {ANSWER} FROM answers "  # noqa: S608 - names of our own columns
        "WHERE n >= ? AND n < ? ORDER BY n, sample"
    )
    for number, *columns in _readable(db, sql, start, end):
        if number not in ids:
            continue
        with suppress(GnomonError, ValueError):
            answer = damaged.answer(ids[number], columns)
            if answer is not None:
                yield number, answer


def _readable(db: sqlite3.Connection, sql: str, low: int, high: int) -> Iterator[tuple[Any, ...]]:
    """The rows from `low` to below `high`; where they cannot be read, those of each half."""
    try:
        yield from db.execute(sql, (low, high)).fetchall()
    except UNREADABLE:
        if high - low == 1:
            return  # this one is lost
        middle = (low + high) // 2
        yield from _readable(db, sql, low, middle)
        yield from _readable(db, sql, middle, high)

"""The log's file, opened as data and nothing else, and as today's format whoever wrote it.

Runs come from strangers, too. What a log calls a table may be a query without end or a column that
fills the memory, and what looks like a file may be a pipe that keeps whoever opens it waiting.
"""

import sqlite3
from pathlib import Path
from typing import Any

import msgspec

from gnomon.records import Answer, Item

LONGEST = 64 * 2**20  # bytes of one row: an item or an answer with its reply
TABLES = ("items", "answers")
COLUMNS = Answer.__struct_fields__[1:]  # of an answer, beside the number of its item


def connect(file: Path, address: str = "") -> sqlite3.Connection:
    """A connection to a log, by its path or by an address that says how to open it.

    Raises sqlite3.DatabaseError if the log is not one that Gnomon could have written.
    """
    if not file.is_file() and file.exists():
        raise sqlite3.DatabaseError("it is a folder, a pipe or a device, not a file")
    db = sqlite3.connect(address or file, isolation_level=None, uri=bool(address))
    try:
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
        db.execute("PRAGMA trusted_schema=OFF")
        db.execute("PRAGMA cell_size_check=ON")
        _check_is_data(db)
    except BaseException:
        db.close()
        raise
    return db


def _check_is_data(db: sqlite3.Connection) -> None:
    """Refuse views, virtual tables and computed columns, which run when they are read."""
    sql = "SELECT name, type, rootpage, sql FROM sqlite_master WHERE lower(name) IN (?, ?)"
    for name, kind, page, definition in db.execute(sql, TABLES).fetchall():
        if kind != "table" or not page:
            raise sqlite3.DatabaseError(f"{name.lower()} is not a plain table")
        # Without this word no column is computed; a definition may also come as bytes.
        if not isinstance(definition, str) or "as" in definition.lower():
            _check_columns(db, name.lower())


def _check_columns(db: sqlite3.Connection, table: str) -> None:
    for *_, computed in db.execute(f"PRAGMA table_xinfo({table})"):
        if computed:
            raise sqlite3.DatabaseError(f"{table} has a computed column")


VIEW_OF_FORMAT_1 = """
CREATE TEMP VIEW answers AS SELECT n, 0 AS sample, scores, choice, reply, NULL AS rule,
  NULL AS files, NULL AS seconds, NULL AS tokens, error,
  NULL AS tokens_read, NULL AS tokens_written FROM main.answers
"""
# Logs of format 2 had at first one count of tokens.
VIEW_OF_ONE_COUNT = """
CREATE TEMP VIEW answers AS SELECT n, sample, scores, choice, reply, rule, files, seconds, tokens,
  error, NULL AS tokens_read, NULL AS tokens_written FROM main.answers
"""
_decode_fields = msgspec.json.Decoder(dict[str, Any]).decode


def as_of_today(db: sqlite3.Connection, format: int) -> None:
    """Let a log look as today's do."""
    if format == 1:
        db.execute(VIEW_OF_FORMAT_1)
    elif not counts_apart(db):
        db.execute(VIEW_OF_ONE_COUNT)


def counts_apart(db: sqlite3.Connection) -> bool:
    """Whether a log counts the tokens that were read and those that were written."""
    columns = db.execute("SELECT name FROM pragma_table_info('answers')").fetchall()
    return ("tokens_read",) in columns


def add_counts(db: sqlite3.Connection) -> None:
    """Give a log its columns for tokens that were read and written: both, or none if stopped."""
    db.execute("BEGIN IMMEDIATE")
    for column in ("tokens_read", "tokens_written"):
        db.execute(f"ALTER TABLE answers ADD COLUMN {column} INTEGER")
    db.execute("COMMIT")


def item_of_format_1(record: str) -> Item:
    """The item of a record in a log of format 1, which had pictures as bare paths."""
    fields = _decode_fields(record)
    paths = msgspec.convert(fields.get("images", ()), tuple[str, ...])
    images = [{"path": path} for path in paths]
    return msgspec.convert({**fields, "images": images}, Item)

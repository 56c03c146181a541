"""A log opened by SQLite as data and nothing else.

Runs come from strangers, too. What a log calls a table may be a query without end or a column that
fills the memory, and what looks like a file may be a pipe that keeps whoever opens it waiting.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

LONGEST = 64 * 2**20  # bytes of one row: an item or an answer with its reply
TABLES = ("items", "answers")


def connect(file: Path, address: str = "") -> sqlite3.Connection:
    """A connection to a log, by its path or by an address that says how to open it.

    Raises sqlite3.DatabaseError if the log is not one that Gnomon could have written.
    """
    if file.exists() and not file.is_file():
        raise sqlite3.DatabaseError("it is a folder, a pipe or a device, not a file")
    db = sqlite3.connect(address or file, isolation_level=None, uri=bool(address))
    try:
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
        db.execute("PRAGMA trusted_schema=OFF")
        db.execute("PRAGMA cell_size_check=ON")
        for table in TABLES:
            _check_is_data(db, table)
    except BaseException:
        db.close()
        raise
    return db


def _check_is_data(db: sqlite3.Connection, table: str) -> None:
    """Refuse views, virtual tables and computed columns, which run when they are read."""
    sql = "SELECT type, rootpage FROM sqlite_master WHERE lower(name) = ?"
    for kind, page in db.execute(sql, (table,)):
        if kind != "table" or not page:
            raise sqlite3.DatabaseError(f"{table} is not a plain table")
    for *_, computed in db.execute(f"PRAGMA table_xinfo({table})"):
        if computed:
            raise sqlite3.DatabaseError(f"{table} has a computed column")

"""What stages have found, kept by what it was made from: the same question is answered once.

One SQLite file in the working folder. A key is the digest of everything that a result depends on
(records, options, model), so a run that was killed goes on where it was, and one with another
option or another picture never gets a stale result.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from gnomon.errors import DataError, RunError

VERSION = 1  # of what is kept; older results are made again
FAST = 1  # compression of zlib that costs less time than it saves


def key_of(*parts: Any) -> bytes:
    """A digest of anything that can be written as MessagePack, in order.

    >>> key_of("names", 1) == key_of("names", 1), key_of("names", 1) == key_of("names", 2)
    (True, False)
    """
    return blake2b(msgspec.msgpack.encode((VERSION, *parts)), digest_size=16).digest()


class Store:
    """The kept results of one output folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = folder / "stages.db"
        self._one_at_a_time = Lock()  # threads share the connection
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                self._file, timeout=60, isolation_level=None, check_same_thread=False
            )
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, value BLOB)")
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from None

    def find(self, key: bytes) -> bytes | None:
        """What was kept under a key, or none."""
        try:
            with self._one_at_a_time:
                found = self._db.execute("SELECT value FROM kept WHERE key = ?", (key,))
                row = found.fetchone()
            return zlib.decompress(row[0]) if row else None
        except (sqlite3.Error, zlib.error, TypeError) as error:
            raise self._unusable(error) from None

    def keep(self, key: bytes, value: bytes) -> None:
        """Remember a result."""
        try:
            row = (key, zlib.compress(value, FAST))
            with self._one_at_a_time:
                self._db.execute("INSERT OR REPLACE INTO kept VALUES (?, ?)", row)
        except sqlite3.Error as error:
            raise self._unusable(error) from None

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _unusable(self, error: Exception) -> DataError:
        return DataError(
            f"the kept results cannot be used: {error}.",
            f"Remove {self.folder} and give the same command again.",
            file=self._file,
        )


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep a second process out of the folder while this one writes there."""
    from filelock import FileLock, Timeout

    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise RunError(
            f"Another process is writing to {folder.parent}.",
            "Wait for it to end, or give another folder with -o.",
        ) from None
    try:
        yield
    finally:
        lock.release()

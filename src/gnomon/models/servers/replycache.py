"""Replies that were paid for, kept on disk for the run that they were given to.

A run that is stopped within a batch continues without paying for it again. Another run, or one that
starts over, asks anew: the server may have other weights by then.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any

import msgspec

from gnomon.errors import ModelError
from gnomon.models.servers.protocol import Completion

LONGEST_KEPT = 30 * 24 * 3600.0  # seconds after which no run is expected to continue


class Replies:
    """A table from requests (address and body) of a run to what is kept of the reply.

    Several processes may use it at once.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     replies = Replies(Path(folder) / "replies.sqlite")
    ...     replies.keep("http://localhost/v1", {"model": "a"}, Completion("yes", (9, 1)))
    ...     found = [replies.find("http://localhost/v1", {"model": name}) for name in "ab"]
    ...     replies.close()
    >>> found[0].text, found[1]
    ('yes', None)
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._opened = time.time()
        self.run = token_hex(8)  # whose replies these are: of nobody else, unless that is said
        self.used: Counter[str] = Counter()  # kept before this was opened, by day
        with self._usable():
            file.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                file, timeout=60, isolation_level=None, check_same_thread=False
            )
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("DROP TABLE IF EXISTS replies")  # of an earlier version, for all runs
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS kept (run TEXT, request BLOB, reply BLOB, at REAL, "
                "PRIMARY KEY (run, request)) WITHOUT ROWID"
            )
            self._db.execute("DELETE FROM kept WHERE at < ?", (self._opened - LONGEST_KEPT,))

    def find(self, address: str, body: dict[str, Any]) -> Completion | None:
        """What was kept of the reply to this request, if this run was ever given one."""
        asked = (self.run, _key(address, body))
        with self._usable():
            row = self._db.execute(
                "SELECT reply, at FROM kept WHERE run = ? AND request = ?", asked
            ).fetchone()
        if row is None:
            return None
        reply, at = row
        try:
            completion = msgspec.json.decode(reply, type=Completion)
            day = f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"
        except (msgspec.DecodeError, TypeError, ValueError, OverflowError, OSError):
            return None  # as another version kept it: ask again
        if at < self._opened:
            self.used[day] += 1
        return completion

    def keep(self, address: str, body: dict[str, Any], completion: Completion) -> None:
        """Remember a reply."""
        row = (self.run, _key(address, body), msgspec.json.encode(completion), time.time())
        with self._usable():
            self._db.execute("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)", row)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """While inside, what is wrong with the file is an error for people."""
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise ModelError(
                f"The cache of replies {self._file} cannot be used: {error}.",
                "Remove the file, or ask without it: --set cache=no (in Python cache=False)",
            ) from None


def _key(address: str, body: dict[str, Any]) -> bytes:
    return sha256(msgspec.json.encode([address, body], order="sorted")).digest()

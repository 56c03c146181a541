"""Replies that were paid for, kept on disk: the same request to the same server is sent once."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from gnomon.errors import ModelError
from gnomon.models.servers.completions import Completion


class Replies:
    """A table from requests (address and body) to what is kept of the reply.

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
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                file, timeout=60, isolation_level=None, check_same_thread=False
            )
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS replies (request BLOB PRIMARY KEY, reply BLOB) "
                "WITHOUT ROWID"
            )
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from None

    def find(self, address: str, body: dict[str, Any]) -> Completion | None:
        """What was kept of the reply to this request, if it was ever given."""
        try:
            row = self._db.execute(
                "SELECT reply FROM replies WHERE request = ?", (_key(address, body),)
            ).fetchone()
        except sqlite3.Error as error:
            raise self._unusable(error) from None
        if row is None:
            return None
        try:
            return msgspec.json.decode(row[0], type=Completion)
        except (msgspec.DecodeError, TypeError):  # as an earlier version kept it: ask again
            return None

    def keep(self, address: str, body: dict[str, Any], completion: Completion) -> None:
        """Remember a reply."""
        row = (_key(address, body), msgspec.json.encode(completion))
        try:
            self._db.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", row)
        except sqlite3.Error as error:
            raise self._unusable(error) from None

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _unusable(self, error: Exception) -> ModelError:
        return ModelError(
            f"The cache of replies {self._file} cannot be used: {error}.",
            "Remove the file, or ask without it: --model-set cache=no",
        )


def _key(address: str, body: dict[str, Any]) -> bytes:
    return sha256(msgspec.json.encode([address, body], order="sorted")).digest()

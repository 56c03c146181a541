"""Replies that were paid for, kept on disk by request: the same request to the same server is never
sent twice."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from gnomon.errors import ModelError


class Replies:
    """A table from requests (address and body) to the server's reply. Several processes may use it
    at once.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     replies = Replies(Path(folder) / "replies.sqlite")
    ...     replies.keep("http://localhost/v1/chat", {"model": "a"}, {"choices": []})
    ...     found = [replies.find("http://localhost/v1/chat", {"model": name}) for name in ("a", "b")]
    ...     replies.close()
    >>> found
    [{'choices': []}, None]
    """

    def __init__(self, file: Path) -> None:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                file, timeout=60, isolation_level=None, check_same_thread=False
            )
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS replies (request BLOB PRIMARY KEY, reply BLOB) WITHOUT ROWID"
            )
        except (OSError, sqlite3.Error) as error:
            raise ModelError(
                f"The cache of replies {file} cannot be used: {error}.",
                "Remove the file, or ask without it: --model-set cache=no",
            ) from None

    def find(self, address: str, body: dict[str, Any]) -> Any:
        """The reply to this request, if it was ever given; else none."""
        row = self._db.execute(
            "SELECT reply FROM replies WHERE request = ?", (_key(address, body),)
        ).fetchone()
        return msgspec.json.decode(row[0]) if row else None

    def keep(self, address: str, body: dict[str, Any], reply: Any) -> None:
        """Remember a reply."""
        row = (_key(address, body), msgspec.json.encode(reply))
        self._db.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", row)

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def _key(address: str, body: dict[str, Any]) -> bytes:
    return sha256(msgspec.json.encode([address, body], order="sorted")).digest()

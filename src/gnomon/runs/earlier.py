"""Logs that an earlier Gnomon wrote: readers speak of tables in today's format.

A view makes an old log look like one of today; a log that is continued gets its columns.
"""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec

from gnomon.records import Item

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

"""What the answers of a run took: tokens, seconds, and money where prices are known."""

import sqlite3
from collections.abc import Mapping
from typing import Any

import msgspec


class Usage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Sums over all answers; none where no answer says so.

    The seconds of a batch are shared out over its items, so their sum is the time that asking took.
    The cost is that of these tokens at the prices given, whoever paid for them, and when.
    """

    tokens_read: int | None = None
    tokens_written: int | None = None
    seconds: float | None = None
    cost: float | None = None

    def in_words(self) -> str:
        """For people; empty if nothing is known but the time.

        >>> Usage(tokens_read=12_000, tokens_written=64, seconds=75.0, cost=0.0021).in_words()
        '12,000 tokens read, 64 written, 1 min 15 s, cost 0.0021'
        """
        parts = []
        if self.tokens_read is not None:
            parts.append(f"{self.tokens_read:,} tokens read")
        if self.tokens_written:
            parts.append(f"{self.tokens_written:,} written")
        if not parts:
            return ""
        if self.seconds is not None:
            parts.append(_time(self.seconds))
        if self.cost is not None:
            parts.append(f"cost {self.cost:.4f}")
        return ", ".join(parts)


def usage_of(db: sqlite3.Connection, options: Mapping[str, Any]) -> Usage:
    """What the answers in a log took; `options` are those of the model, which may hold prices."""
    read, written, seconds = db.execute(
        "SELECT sum(tokens_read), sum(tokens_written), sum(seconds) FROM answers"
    ).fetchone()
    cost = cost_of(read, written, options)
    return Usage(
        tokens_read=read,
        tokens_written=written,
        seconds=None if seconds is None else round(seconds, 3),
        cost=None if cost is None else round(cost, 6),
    )


def cost_of(read: int | None, written: int | None, options: Mapping[str, Any]) -> float | None:
    """At prices for a million tokens, which the options of a model may hold."""
    reading, writing = options.get("price_input"), options.get("price_output")
    if read is None or reading is None or writing is None:
        return None
    return (read * float(reading) + (written or 0) * float(writing)) / 1e6


def _time(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:,} min {rest} s"

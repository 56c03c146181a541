"""What a check finds: one figure with its interval, one sentence, and the items behind it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import msgspec

LISTED = 50  # ids that a finding names
SHOWN = 4  # examples that a finding shows
LONGEST = 300  # characters of a text in an example


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """An item behind a finding, or several that belong together, as people read them."""

    ids: tuple[str, ...]
    text: str


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of one check, about one part of the set."""

    check: str
    part: str = ""  # what of the set: a field, a label, a kind of fault
    value: float | None = None  # a share, unless the sentence says what else
    low: float | None = None  # a 95 % interval, where items are a sample of what could be asked
    high: float | None = None
    chance: float | None = None  # what the value would be if nothing were wrong
    alarm: bool = False  # whether somebody should look at it
    says: str = ""
    explained: str = ""  # why it is no alarm although it would be one
    n: int = 0  # items that were looked at
    behind: int = 0  # items that the finding is about
    items: tuple[str, ...] = ()  # their ids, the first few
    examples: tuple[Example, ...] = ()


def first_ids(ids: Iterable[str]) -> tuple[str, ...]:
    """As many ids as a finding names."""
    return tuple(islice(ids, LISTED))


def shortened(text: str) -> str:
    """A text that is short enough for an example."""
    line = " ".join(text.split())
    if len(line) <= LONGEST:
        return line
    return line[:LONGEST] + "…"


def share(part: int, whole: int) -> float:
    """A part of a whole; 0 of nothing is 0."""
    return part / max(whole, 1)


def percent(value: float) -> str:
    """A share as a sentence has it.

    >>> percent(0.7611)
    '76.1 %'
    """
    return f"{100 * value + 1e-9:.1f} %"


def so_many(part: int, whole: int, noun: str = "items") -> str:
    """How many of how many, at the beginning of a sentence.

    >>> so_many(0, 1200), so_many(3, 1200)
    ('None of 1,200 items', '3 of 1,200 items')
    """
    if not part:
        return f"None of {whole:,} {noun}"
    return f"{part:,} of {whole:,} {noun}"

"""A run or a file in shards: which items belong to shard I of N, by a rule that never changes.

Of T items, shard I holds those from place (I - 1) * T // N to below I * T // N, counted from 0.
One after the other the shards are the whole, and their sizes differ by one item at most. Where
groups are asked as a whole, a group belongs to the shard in which its first item falls.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from typing import NamedTuple, TypeVar

from gnomon.errors import UsageError

T = TypeVar("T")


class Shard(NamedTuple):
    """One of several parts of equal size.

    >>> str(Shard(3, 8)), Shard(3, 8).stretch(20)
    ('3/8', range(5, 7))
    """

    number: int  # from 1
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def stretch(self, total: int) -> range:
        """The places of its items among so many, from 0."""
        start = (self.number - 1) * total // self.of
        return range(start, self.number * total // self.of)


def parse_shard(text: str) -> Shard:
    """The shard that is written as I/N.

    >>> parse_shard("3/8")
    Shard(number=3, of=8)
    """
    match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
    if match is None:
        raise UsageError(
            f"'{text}' is not a shard.", "Write I/N: --shard 3/8 is the third of eight."
        )
    shard = Shard(int(match[1]), int(match[2]))
    if not 1 <= shard.number <= shard.of:
        last = max(shard.of, 1)
        raise UsageError(
            f"There is no shard {shard}.",
            f"Shards are counted from 1: --shard 1/{last} is the first, {last}/{last} the last.",
        )
    return shard


def in_stretch(items: Iterable[T], stretch: range) -> Iterator[T]:
    """The items at these places; those behind them are never made.

    >>> list(in_stretch("abcdef", range(2, 4)))
    ['c', 'd']
    """
    return islice(items, stretch.start, stretch.stop)


def whole_groups_in(
    items: Iterable[T], stretch: range, group_of: Callable[[T], str]
) -> Iterator[T]:
    """The items of all groups whose first item is at one of these places.

    >>> list(whole_groups_in(["a1", "a2", "b1", "b2"], range(1, 3), lambda item: item[0]))
    ['b1', 'b2']
    """
    place = 0
    for _, members in groupby(items, group_of):
        if place >= stretch.stop:
            return
        belongs = place in stretch
        for item in members:
            place += 1
            if belongs:
                yield item

"""Parts of a set: the items that a limit takes, spread evenly, and the shards of a run."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby, islice
from typing import NamedTuple, TypeVar

from gnomon.errors import UsageError

# Which items a limit takes: a part that is spread evenly over the whole, and grows with the
# limit.
#
# What a limit takes is contained in what any larger limit takes, so that a run can grow.


_MASK = 2**64 - 1


def spread(total: int, most: int) -> list[int]:
    """At most `most` indices below `total`, in order; those of a larger `most` contain them.

    The whole is halved again and again, and each half gets its share, rounded by a draw that is
    always the same for this half. Evenly spaced indices could fall in step with the order of the
    items; these cannot.

    >>> spread(3, 10), set(spread(1000, 4)) < set(spread(1000, 5))
    ([0, 1, 2], True)
    """
    chosen: list[int] = []
    if total > 0 and most > 0:
        _choose(0, total, min(most, total), total, chosen)
    return chosen


def is_larger(one: int | None, other: int | None) -> bool:
    """Whether a limit is larger than another; none is larger than any.

    >>> is_larger(3, 2), is_larger(None, 2), is_larger(None, None)
    (True, True, False)
    """
    if other is None:
        return False
    return one is None or one > other


def _choose(low: int, high: int, wanted: int, total: int, chosen: list[int]) -> None:
    """Add so many of the indices from `low` to `high`, in order."""
    size = high - low
    if wanted == size:
        chosen.extend(range(low, high))
        return
    middle = (low + high) // 2
    # Below `size`, so that the left half gets one more at the most when one more is wanted.
    rounding = _drawn(total, low, high) % size
    left = (wanted * (middle - low) + rounding) // size
    if left:
        _choose(low, middle, left, total, chosen)
    if wanted > left:
        _choose(middle, high, wanted - left, total, chosen)


@lru_cache(maxsize=2**15)  # a larger limit draws again what a smaller one drew
def _drawn(*numbers: int) -> int:
    """A number that looks drawn by lot, always the same for the same numbers (SplitMix64)."""
    state = 0
    for number in numbers:
        state = (state + number + 0x9E3779B97F4A7C15) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        state ^= state >> 31
    return state


def groups_within(sizes: Sequence[int], most: int) -> list[int]:
    """Which groups to take, by their sizes: as many of the spread ones as hold `most` items.

    >>> groups_within([4, 4, 4, 4], 9) == spread(4, 2)
    True
    """
    fewest = min(most // max(sizes, default=1), len(sizes))
    beyond = min(most // min(sizes, default=1), len(sizes)) + 1
    while beyond - fewest > 1:
        count = (fewest + beyond) // 2
        held = sum(sizes[number] for number in spread(len(sizes), count))
        if held <= most:
            fewest = count
        else:
            beyond = count
    return spread(len(sizes), fewest)


def middles(total: int, most: int) -> list[int]:
    """The middles of as many equal stretches, or all there are.

    >>> middles(100, 4), middles(2, 4)
    ([12, 37, 62, 87], [0, 1])
    """
    if total <= most:
        return spread(total, most)
    return [(2 * number + 1) * total // (2 * most) for number in range(most)]


# A run or a file in shards: which items belong to shard I of N, by a rule that never changes.
#
# Of T items, shard I holds those from place (I - 1) * T // N to below I * T // N, counted from 0.
# One after the other the shards are the whole, and their sizes differ by one item at most. Where
# groups are asked as a whole, a group belongs to the shard in which its first item falls.


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

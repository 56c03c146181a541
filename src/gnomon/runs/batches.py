"""Batches by token budget.

Items with the same pictures stand together, then those of like length, so that padding is small,
with shared beginnings adjacent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from gnomon.records import Item

Numbered = tuple[int, Item]


def default_size(item: Item) -> int:
    """Tokens in an item, roughly: a quarter of its characters."""
    return 1 + (len(item.context) + len(item.text)) // 4


def in_batches(
    items: Sequence[Numbered], size: Callable[[Item], int], budget: int, most: int
) -> Iterator[list[Numbered]]:
    """Split items into batches of at most `most` items and `budget` tokens."""
    sizes = [size(item) for _, item in items]
    return in_sized_batches(items, sizes, budget, most)


def in_sized_batches(
    items: Sequence[Numbered], sizes: Sequence[int], budget: int, most: int
) -> Iterator[list[Numbered]]:
    """The same for items whose sizes are known.

    Each item counts as long as the longest of its batch.

    Within a window the items are sorted by their pictures, so that each is looked at once, then by
    length, in steps of a quarter, then by their beginnings. An item that is larger than the budget
    comes alone.
    """
    sized = [
        (_pictures(item), _step(tokens), item.context, item.text, tokens, n, item)
        for (n, item), tokens in zip(items, sizes, strict=True)
    ]
    sized.sort(key=lambda row: row[:4])
    batch: list[Numbered] = []
    longest = 0
    for *_, tokens, n, item in sized:
        longest = max(longest, tokens)
        if batch and (len(batch) == most or longest * (len(batch) + 1) > budget):
            yield batch
            batch, longest = [], tokens
        batch.append((n, item))
    if batch:
        yield batch


def _pictures(item: Item) -> tuple[str, ...]:
    """Which pictures an item shows."""
    if not item.images:
        return ()
    return tuple(image.identity for image in item.images)


def halves(batch: Sequence[Numbered]) -> list[Sequence[Numbered]]:
    """A batch in two parts, of sizes that differ by at most one."""
    cuts = [0, (len(batch) + 1) // 2, len(batch)]
    return [batch[a:b] for a, b in pairwise(cuts)]


def _step(tokens: int) -> int:
    """The step that a length falls into: 1, 2, 3, 4, 5, 6-7, 8-9, 10-12 ...

    Lengths of one step differ by less than a quarter.
    """
    return tokens if tokens < 4 else 4 * tokens.bit_length() + (tokens >> (tokens.bit_length() - 3))

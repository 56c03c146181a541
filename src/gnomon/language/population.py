"""How many problems a pattern has, and which is the r-th: counting without building.

Whether fillers are valid depends only on which sets each is in and which fillers are the same
(`conditions`). So entities that are alike in all deciding sets form a block, valid combinations of
blocks are found once, and each stands for the product of its blocks' sizes (falling factorials
where fillers must differ). The cost grows with the number of blocks, not with the number of
entities.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from gnomon.errors import DataError
from gnomon.language.blocks import (
    Identity,
    Ints,
    Pool,
    check_work,
    holds,
    narrowed,
    parts_of,
    pools_of,
)
from gnomon.language.conditions import Condition, Equal, deciding_sets, places_of
from gnomon.language.patterns import Pattern

COMBINATION_LIMIT = 4_000_000  # combinations of blocks held at once
SIZE_LIMIT = 2**62  # problems of one pattern
WORK_LIMIT = 2_000_000_000  # blocks looked up in sets, for all conditions of a pattern


class Population:
    """All valid fillings of a pattern, numbered from 0.

    >>> from gnomon.language.patternfile import parse_bank
    >>> bank = parse_bank('''
    ... world: {classes: {box: }, entities: {box: [crate, chest, tin]}}
    ... patterns: [{id: p, label: neutral, class: non-projective, expressions: near, premises: "{X} is near {Y}",
    ...             hypothesis: "{X} is far from {Y}", slots: {X: box, Y: box}}]''')
    >>> population = Population(bank.patterns[0])
    >>> len(population), population.unrank(3), population.rank((0, 2))
    (6, (0, 2), 3)
    """

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        domains, conditions = narrowed(pattern)
        compared = any(
            isinstance(part, Equal) for condition in conditions for part in parts_of(condition)
        )
        self._pools = pools_of(pattern, domains, conditions, apart=pattern.distinct or compared)
        self._pool_of = [
            next(pool for pool in self._pools if place in pool.places)
            for place in range(len(domains))
        ]
        single = tuple(range(len(domains)))
        identities = (
            _identities(self._pools, len(domains))
            if compared and not pattern.distinct
            else [single]
        )
        self._groups: list[_Group] = []
        self._work = 0
        total = 0
        for identity in identities:
            group = self._group(identity, conditions, total)
            if group is not None:
                self._groups.append(group)
                total = int(group.ends[-1])
        self._total = total

    def __len__(self) -> int:
        return self._total

    def unrank(self, rank: int) -> tuple[int, ...]:
        """The filling with that number: one filler per slot."""
        if not 0 <= rank < self._total:
            raise IndexError(f"no filling has the number {rank}: there are {self._total}")
        return tuple(self.unrank_all(np.array([rank], dtype=np.int64))[0].tolist())

    def unrank_all(self, ranks: Ints) -> Ints:
        """The fillings with those numbers, one row each."""
        fillings = np.empty((len(ranks), len(self._pool_of)), dtype=np.int64)
        for group in self._groups:
            here = (ranks >= group.start) & (ranks < group.ends[-1])
            if here.any():
                fillings[here] = self._unrank_in(group, ranks[here])
        return fillings

    def rank(self, fillers: Sequence[int]) -> int:
        """The number of a valid filling; ValueError for any other."""
        if len(fillers) != len(self._pool_of):
            raise ValueError("one filler is needed for each slot")
        identity = self._identity(fillers)
        for group in self._groups:
            if group.identity == identity:
                found = self._rank_in(group, fillers)
                if found is not None:
                    return found
        raise ValueError("the fillers do not satisfy the restrictions")

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return map(self.unrank, range(self._total))

    def _unrank_in(self, group: _Group, ranks: Ints) -> Ints:
        at = np.searchsorted(group.ends, ranks, side="right")
        blocks = group.blocks[at]
        rest = ranks - np.where(at > 0, group.ends[at - 1], group.start)
        positions: Ints = np.empty(blocks.shape, dtype=np.int64)
        fillers: Ints = np.empty(blocks.shape, dtype=np.int64)
        for place, pool in enumerate(self._pool_of):
            if group.identity[place] != place:
                fillers[:, place] = fillers[:, group.identity[place]]
                positions[:, place] = positions[:, group.identity[place]]
                continue
            taken = self._earlier(group, place)
            shared = blocks[:, taken] == blocks[:, [place]]
            choice = rest % (size := pool.sizes[blocks[:, place]] - shared.sum(axis=1))
            rest //= size
            ahead = np.sort(np.where(shared, positions[:, taken], np.iinfo(np.int64).max), axis=1)
            for column in range(
                ahead.shape[1]
            ):  # count on past members that stand in earlier places
                choice += choice >= ahead[:, column]
            positions[:, place] = choice
            fillers[:, place] = pool.members[pool.starts[blocks[:, place]] + choice]
        return fillers

    def _rank_in(self, group: _Group, fillers: Sequence[int]) -> int | None:
        if any(
            filler not in pool.where for filler, pool in zip(fillers, self._pool_of, strict=True)
        ):
            return None
        spots = [pool.where[filler] for filler, pool in zip(fillers, self._pool_of, strict=True)]
        at = group.index.get(tuple(block for block, _ in spots))
        if at is None:
            return None
        rank, radix = int(group.ends[at - 1]) if at else group.start, 1
        for place, (block, position) in enumerate(spots):
            if group.identity[place] == place:
                taken = [
                    spots[other][1]
                    for other in self._earlier(group, place)
                    if spots[other][0] == block
                ]
                rank += radix * (position - sum(position > other for other in taken))
                radix *= int(self._pool_of[place].sizes[block]) - len(taken)
        return rank

    def _earlier(self, group: _Group, place: int) -> list[int]:
        """The earlier places whose fillers this place must differ from."""
        return [
            other
            for other in range(place)
            if group.identity[other] == other and self._pool_of[other] is self._pool_of[place]
        ]

    def _identity(self, fillers: Sequence[int]) -> Identity:
        pools = self._pool_of
        return tuple(
            next(
                other
                for other in range(place + 1)
                if other == place
                or (pools[other] is pools[place] and fillers[other] == fillers[place])
            )
            for place in range(len(fillers))
        )

    def _group(
        self, identity: Identity, conditions: Sequence[Condition], start: int
    ) -> _Group | None:
        """Join the blocks of one place after the other, dropping what breaks a condition as soon as
        it can be asked."""
        blocks: Ints = np.zeros((1, 0), dtype=np.int64)
        waiting = list(conditions)
        for place, pool in enumerate(self._pool_of):
            if identity[place] != place:
                column = blocks[:, [identity[place]]]
                blocks = np.hstack([blocks, column])[pool.allowed[place][column[:, 0]]]
            else:
                choices = np.flatnonzero(pool.allowed[place])
                if len(blocks) * len(choices) > COMBINATION_LIMIT:
                    raise DataError(
                        f"the pattern '{self.pattern.id}' distinguishes too many kinds of fillers to be counted.",
                        "Use fewer slots, or relations with fewer rows.",
                        file=self.pattern.file,
                        line=self.pattern.line,
                    )
                blocks = np.hstack(
                    [
                        np.repeat(blocks, len(choices), axis=0),
                        np.tile(choices, len(blocks))[:, None],
                    ]
                )
            ready = [
                condition for condition in waiting if max(places_of(condition), default=0) <= place
            ]
            waiting = [condition for condition in waiting if condition not in ready]
            for condition in ready:
                self._work += len(blocks) * sum(1 for _ in deciding_sets(condition))
                check_work(self.pattern, self._work, WORK_LIMIT)
                blocks = blocks[holds(condition, blocks, identity, self._pool_of)]
        return self._sized(identity, blocks, start)

    def _sized(self, identity: Identity, blocks: Ints, start: int) -> _Group | None:
        empty = _Group(identity, start, blocks, np.zeros(0, dtype=np.int64))
        sizes, bound = np.ones(len(blocks), dtype=np.int64), 1
        for place, pool in enumerate(self._pool_of):
            if identity[place] == place:
                bound *= len(pool.members)
                taken = self._earlier(empty, place)
                sizes *= np.maximum(
                    pool.sizes[blocks[:, place]]
                    - (blocks[:, taken] == blocks[:, [place]]).sum(axis=1),
                    0,
                )
        if bound >= SIZE_LIMIT:
            raise DataError(
                f"the pattern '{self.pattern.id}' has too many problems to be numbered.",
                "Narrow its slots.",
                file=self.pattern.file,
                line=self.pattern.line,
            )
        some = sizes > 0
        if not some.any():
            return None
        return _Group(identity, start, blocks[some], start + np.cumsum(sizes[some]))


@dataclass
class _Group:
    """The combinations of blocks for one identity of places; `ends` runs on from the groups
    before."""

    identity: Identity
    start: int
    blocks: Ints
    ends: Ints

    @cached_property
    def index(self) -> dict[tuple[int, ...], int]:
        return {tuple(row): i for i, row in enumerate(self.blocks.tolist())}


def _identities(pools: Sequence[Pool], count: int) -> list[Identity]:
    """Every way in which places of the same pool can share fillers."""
    pool_of = {place: pool for pool in pools for place in pool.places}
    choices = [
        [other for other in range(place + 1) if pool_of[other] is pool_of[place]]
        for place in range(count)
    ]
    return [
        identity
        for identity in product(*choices)
        if all(identity[first] == first for first in identity)
    ]

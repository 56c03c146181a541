"""How many problems a pattern has, and which is the r-th: counting without building.

Whether fillers are valid depends only on which sets each is in and which fillers are the same (`conditions`). So
entities that are alike in all deciding sets form a block, valid combinations of blocks are found once, and each
stands for the product of its blocks' sizes (falling factorials where fillers must differ). The cost grows with the
number of blocks, not with the number of entities.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.errors import DataError
from gnomon.language.conditions import (
    Condition,
    Either,
    Equal,
    Every,
    Never,
    Stands,
    Within,
    deciding_sets,
    places_of,
    satisfied,
)
from gnomon.language.patterns import Pattern
from gnomon.language.world import Members, Relation

COMBINATION_LIMIT = 4_000_000  # combinations of blocks held at once
SIZE_LIMIT = 2**62  # problems of one pattern

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Identity = tuple[int, ...]  # for each place, the first place with the same filler: (0, 1, 0) means first = third


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
        domains, conditions = _narrowed(pattern)
        compared = any(isinstance(part, Equal) for condition in conditions for part in _parts(condition))
        self._pools = _pools(pattern, domains, conditions, apart=pattern.distinct or compared)
        self._pool_of = [next(pool for pool in self._pools if place in pool.places) for place in range(len(domains))]
        single = tuple(range(len(domains)))
        identities = _identities(self._pools, len(domains)) if compared and not pattern.distinct else [single]
        self._groups: list[_Group] = []
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
            for column in range(ahead.shape[1]):  # count on past members that stand in earlier places
                choice += choice >= ahead[:, column]
            positions[:, place] = choice
            fillers[:, place] = pool.members[pool.starts[blocks[:, place]] + choice]
        return fillers

    def _rank_in(self, group: _Group, fillers: Sequence[int]) -> int | None:
        if any(filler not in pool.where for filler, pool in zip(fillers, self._pool_of, strict=True)):
            return None
        spots = [pool.where[filler] for filler, pool in zip(fillers, self._pool_of, strict=True)]
        at = group.index.get(tuple(block for block, _ in spots))
        if at is None:
            return None
        rank, radix = int(group.ends[at - 1]) if at else group.start, 1
        for place, (block, position) in enumerate(spots):
            if group.identity[place] == place:
                taken = [spots[other][1] for other in self._earlier(group, place) if spots[other][0] == block]
                rank += radix * (position - sum(position > other for other in taken))
                radix *= int(self._pool_of[place].sizes[block]) - len(taken)
        return rank

    def _earlier(self, group: _Group, place: int) -> list[int]:
        """The earlier places whose fillers this place must differ from."""
        return [other for other in range(place)
                if group.identity[other] == other and self._pool_of[other] is self._pool_of[place]]

    def _identity(self, fillers: Sequence[int]) -> Identity:
        pools = self._pool_of
        return tuple(next(other for other in range(place + 1)
                          if other == place or (pools[other] is pools[place] and fillers[other] == fillers[place]))
                     for place in range(len(fillers)))

    def _group(self, identity: Identity, conditions: Sequence[Condition], start: int) -> _Group | None:
        """Join the blocks of one place after the other, dropping what breaks a condition as soon as it can be asked."""
        blocks: Ints = np.zeros((1, 0), dtype=np.int64)
        waiting = list(conditions)
        for place, pool in enumerate(self._pool_of):
            if identity[place] != place:
                column = blocks[:, [identity[place]]]
                blocks = np.hstack([blocks, column])[pool.allowed[place][column[:, 0]]]
            else:
                choices = np.flatnonzero(pool.allowed[place])
                if len(blocks) * len(choices) > COMBINATION_LIMIT:
                    raise DataError(f"the pattern '{self.pattern.id}' distinguishes too many kinds of fillers to be counted.",
                                    "Use fewer slots, or relations with fewer rows.", file=self.pattern.file, line=self.pattern.line)
                blocks = np.hstack([np.repeat(blocks, len(choices), axis=0), np.tile(choices, len(blocks))[:, None]])
            ready = [condition for condition in waiting if max(places_of(condition), default=0) <= place]
            waiting = [condition for condition in waiting if condition not in ready]
            for condition in ready:
                blocks = blocks[_holds(condition, blocks, identity, self._pool_of)]
        return self._sized(identity, blocks, start)

    def _sized(self, identity: Identity, blocks: Ints, start: int) -> _Group | None:
        empty = _Group(identity, start, blocks, np.zeros(0, dtype=np.int64))
        sizes, bound = np.ones(len(blocks), dtype=np.int64), 1
        for place, pool in enumerate(self._pool_of):
            if identity[place] == place:
                bound *= len(pool.members)
                taken = self._earlier(empty, place)
                sizes *= np.maximum(pool.sizes[blocks[:, place]] - (blocks[:, taken] == blocks[:, [place]]).sum(axis=1), 0)
        if bound >= SIZE_LIMIT:
            raise DataError(f"the pattern '{self.pattern.id}' has too many problems to be numbered.", "Narrow its slots.",
                            file=self.pattern.file, line=self.pattern.line)
        some = sizes > 0
        if not some.any():
            return None
        return _Group(identity, start, blocks[some], start + np.cumsum(sizes[some]))


@dataclass(eq=False)
class _Pool:
    """Places whose fillers come from one stock, and that stock cut into blocks of entities that are alike."""

    places: tuple[int, ...]
    members: Ints  # block after block
    starts: Ints
    sizes: Ints
    allowed: dict[int, Bools]  # for each place, which blocks may fill it
    where: dict[int, tuple[int, int]]  # entity -> block and position in it
    _tables: dict[Members, Bools]

    def table(self, members: Members) -> Bools:
        """For each block, whether its entities are members (all are, or none)."""
        found = self._tables.get(members)
        if found is None:
            firsts = self.members[self.starts].tolist()
            found = self._tables[members] = np.array([first in members for first in firsts], dtype=np.bool_)
        return found


@dataclass
class _Group:
    """The combinations of blocks for one identity of places; `ends` runs on from the groups before."""

    identity: Identity
    start: int
    blocks: Ints
    ends: Ints

    @cached_property
    def index(self) -> dict[tuple[int, ...], int]:
        return {tuple(row): i for i, row in enumerate(self.blocks.tolist())}


def _parts(condition: Condition) -> Iterator[Condition]:
    yield condition
    if isinstance(condition, Never):
        yield from _parts(condition.part)
    elif isinstance(condition, (Every, Either)):
        for part in condition.parts:
            yield from _parts(part)


def _narrowed(pattern: Pattern) -> tuple[list[Members], list[Condition]]:
    """Domains that already respect conditions on one place and the reach of relations, and the conditions left."""
    domains = [slot.domain for slot in pattern.slots]
    left: list[Condition] = []
    for condition in pattern.conditions:
        left += condition.parts if isinstance(condition, Every) else [condition]
    for condition in list(left):
        places = places_of(condition)
        if len(places) == 1 and not any(isinstance(part, Equal) for part in _parts(condition)):
            place = next(iter(places))
            fillers = [0] * len(domains)
            kept = []
            for filler in domains[place]:
                fillers[place] = filler
                if satisfied(condition, fillers):
                    kept.append(filler)
            domains[place] = frozenset(kept)
            left.remove(condition)
        elif isinstance(condition, Stands):
            for position, place in enumerate(condition.places):
                domains[place] &= condition.relation.projection(position)
    return domains, left


def _pools(pattern: Pattern, domains: Sequence[Members], conditions: Sequence[Condition], *, apart: bool) -> list[_Pool]:
    """One pool for the places that may compete for an entity (where fillers are kept apart), one for each other place."""
    stocks: list[tuple[list[int], Members]] = []
    for place, (slot, domain) in enumerate(zip(pattern.slots, domains, strict=True)):
        places, stock = [place], domain
        if apart and not slot.words:
            for other in [s for s in stocks if not pattern.slots[s[0][0]].words and s[1] & domain]:
                stocks.remove(other)
                places, stock = other[0] + places, other[1] | stock
        stocks.append((places, stock))
    deciding = list(dict.fromkeys(pair for condition in conditions for pair in deciding_sets(condition)))
    return [_pool(tuple(sorted(places)), sorted(stock), domains,
                  [members for place, members in deciding if place in places]) for places, stock in stocks]


def _pool(places: tuple[int, ...], stock: list[int], domains: Sequence[Members], deciding: Sequence[Members]) -> _Pool:
    asked = list(dict.fromkeys([*(domains[place] for place in places), *deciding]))
    alike: dict[tuple[bool, ...], list[int]] = {}
    for entity in stock:
        alike.setdefault(tuple([entity in members for members in asked]), []).append(entity)
    blocks = list(alike.values())
    sizes = np.array([len(block) for block in blocks], dtype=np.int64)
    firsts = [block[0] for block in blocks]
    allowed = {place: np.array([first in domains[place] for first in firsts], dtype=np.bool_) for place in places}
    where = {entity: (i, j) for i, block in enumerate(blocks) for j, entity in enumerate(block)}
    return _Pool(places, np.array([e for block in blocks for e in block], dtype=np.int64), np.cumsum(sizes) - sizes, sizes,
                 allowed, where, {})


def _identities(pools: Sequence[_Pool], count: int) -> list[Identity]:
    """Every way in which places of the same pool can share fillers."""
    pool_of = {place: pool for pool in pools for place in pool.places}
    choices = [[other for other in range(place + 1) if pool_of[other] is pool_of[place]] for place in range(count)]
    return [identity for identity in product(*choices)
            if all(identity[first] == first for first in identity)]


def _holds(condition: Condition, blocks: Ints, identity: Identity, pools: Sequence[_Pool]) -> Bools:
    """For each combination of blocks, whether a condition holds."""
    match condition:
        case Within(place, members):
            return pools[place].table(members)[blocks[:, place]]
        case Equal(left, right):
            return np.full(len(blocks), identity[left] == identity[right])
        case Stands(relation, places):
            return _stands(relation, places, blocks, pools)
        case Never(part):
            return ~_holds(part, blocks, identity, pools)
        case Every(parts):
            return _joined(np.logical_and, True, parts, blocks, identity, pools)
        case Either(parts):
            return _joined(np.logical_or, False, parts, blocks, identity, pools)


def _joined(join: Any, start: bool, parts: Sequence[Condition], blocks: Ints, identity: Identity,
            pools: Sequence[_Pool]) -> Bools:
    found: Bools = np.full(len(blocks), start)
    for part in parts:
        found = join(found, _holds(part, blocks, identity, pools))
    return found


def _stands(relation: Relation, places: Sequence[int], blocks: Ints, pools: Sequence[_Pool]) -> Bools:
    found: Bools = np.zeros(len(blocks), dtype=np.bool_)
    for row in relation.rows:
        if row.relation is not None:
            here = _stands(row.relation, places[::-1] if row.inverse else places, blocks, pools)
        else:
            here = np.ones(len(blocks), dtype=np.bool_)
            for place, members in zip(places, row.sets, strict=True):
                here &= pools[place].table(members)[blocks[:, place]]
        found = found | here if row.adds else found & ~here
    return found

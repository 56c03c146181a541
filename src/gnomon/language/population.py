"""How many problems a pattern has, and which is the r-th: counting without building.

Whether fillers are valid depends only on which sets each is in and which fillers are the same
(`conditions`). So entities that are alike in all deciding sets form a block, valid combinations of
blocks are found once, and each stands for the product of its blocks' sizes (falling factorials
where fillers must differ). The cost grows with the number of blocks, not with the number of
entities.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product

import numpy as np

from gnomon.errors import DataError
from gnomon.grouped import grouped
from gnomon.language.blocks import (
    BlockPool,
    Bools,
    Identity,
    Ints,
    check_work,
    compares,
    holds,
    narrowed,
    number_of_sets,
    pools_of,
)
from gnomon.language.conditions import (
    Condition,
    EitherCondition,
    Equal,
    Every,
    Never,
    Stands,
    Within,
    places_of,
)
from gnomon.language.patterns import Pattern, PatternSlot
from gnomon.language.world import Members

COMBINATION_LIMIT = 4_000_000  # combinations of blocks held at once
SIZE_LIMIT = 2**62  # problems of one pattern
WORK_LIMIT = 2_000_000_000  # blocks looked up in sets, for all conditions of a pattern


class Population:
    """All valid fillings of a pattern, numbered from 0.

    >>> from gnomon.language.patternfile import parse_bank
    >>> bank = parse_bank('''
    ... world: {classes: {box: }, entities: {box: [crate, chest, tin]}}
    ... patterns:
    ... - {id: p, label: neutral, class: non-projective, expressions: near,
    ...    premises: "{X} is near {Y}", hypothesis: "{X} is far from {Y}", slots: {X: box, Y: box}}
    ... ''')
    >>> population = Population(bank.patterns[0])
    >>> len(population), population.unrank(3), population.rank((0, 2))
    (6, (0, 2), 3)
    """

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        domains, conditions = narrowed(pattern)
        compared = any(map(compares, conditions))
        pools = pools_of(pattern, domains, conditions, apart=pattern.distinct or compared)
        pool_at = {}
        for pool in pools:
            pool_at.update(dict.fromkeys(pool.places, pool))
        self._pool_of = [pool_at[place] for place in range(len(domains))]
        identities = [tuple(range(len(domains)))]
        if compared and not pattern.distinct:
            identities = _identities(self._pool_of)
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
            taken = self._earlier(group.identity, place)
            shared = blocks[:, taken] == blocks[:, [place]]
            size = pool.sizes[blocks[:, place]] - shared.sum(axis=1)
            choice = rest % size
            rest //= size
            ahead = np.sort(np.where(shared, positions[:, taken], np.iinfo(np.int64).max), axis=1)
            for column in ahead.T:  # count on past members that stand in earlier places
                choice += choice >= column
            positions[:, place] = choice
            fillers[:, place] = pool.members[pool.starts[blocks[:, place]] + choice]
        return fillers

    def _rank_in(self, group: _Group, fillers: Sequence[int]) -> int | None:
        spots = []
        for filler, pool in zip(fillers, self._pool_of, strict=True):
            if filler not in pool.where:
                return None
            spots.append(pool.where[filler])
        at = group.index.get(tuple(block for block, _ in spots))
        if at is None:
            return None
        rank = int(group.ends[at - 1]) if at else group.start
        radix = 1
        for place, (block, position) in enumerate(spots):
            if group.identity[place] != place:
                continue
            before = [spots[other] for other in self._earlier(group.identity, place)]
            taken = [at_position for its_block, at_position in before if its_block == block]
            rank += radix * (position - sum(position > other for other in taken))
            radix *= int(self._pool_of[place].sizes[block]) - len(taken)
        return rank

    def _earlier(self, identity: Identity, place: int) -> list[int]:
        """The earlier places whose fillers this place must differ from."""
        found = []
        for other in range(place):
            if identity[other] == other and self._pool_of[other] is self._pool_of[place]:
                found.append(other)
        return found

    def _identity(self, fillers: Sequence[int]) -> Identity:
        """For each place, the first place of its pool that has the same filler."""
        first: dict[tuple[int, int], int] = {}
        for place, filler in enumerate(fillers):
            first.setdefault((id(self._pool_of[place]), filler), place)
        return tuple(
            first[id(self._pool_of[place]), filler] for place, filler in enumerate(fillers)
        )

    def _group(
        self, identity: Identity, conditions: Sequence[Condition], start: int
    ) -> _Group | None:
        """Join the blocks of one place after the other.

        What breaks a condition is dropped as soon as the condition can be asked.
        """
        last_place = grouped(conditions, lambda each: max(places_of(each), default=0))
        blocks: Ints = np.zeros((1, 0), dtype=np.int64)
        for place in range(len(self._pool_of)):
            blocks = self._joined(blocks, identity, place)
            for condition in last_place.get(place, ()):
                self._work += len(blocks) * number_of_sets(condition)
                check_work(self.pattern, self._work, WORK_LIMIT)
                blocks = blocks[self._holds(condition, blocks, identity)]
        return self._sized(identity, blocks, start)

    def _holds(self, condition: Condition, blocks: Ints, identity: Identity) -> Bools:
        """For each combination of blocks, whether a condition holds."""

        def within(place: int, members: Members) -> Bools:
            return self._pool_of[place].table(members)[blocks[:, place]]

        def equal(left: int, right: int) -> Bools:
            return np.asarray(identity[left] == identity[right])

        return np.broadcast_to(holds(condition, within, equal), len(blocks))

    def _joined(self, blocks: Ints, identity: Identity, place: int) -> Ints:
        """Combinations of blocks with those of one more place."""
        allowed = self._pool_of[place].allowed[place]
        if identity[place] != place:
            column = blocks[:, [identity[place]]]
            return np.hstack([blocks, column])[allowed[column[:, 0]]]
        choices = np.flatnonzero(allowed)
        if len(blocks) * len(choices) > COMBINATION_LIMIT:
            raise self._too_large(
                "distinguishes too many kinds of fillers to be counted",
                "Use fewer slots, or relations with fewer rows.",
            )
        repeated = np.repeat(blocks, len(choices), axis=0)
        return np.hstack([repeated, np.tile(choices, len(blocks))[:, None]])

    def _too_large(self, problem: str, hint: str) -> DataError:
        return DataError(
            f"the pattern '{self.pattern.id}' {problem}.",
            hint,
            file=self.pattern.file,
            line=self.pattern.line,
        )

    def _sized(self, identity: Identity, blocks: Ints, start: int) -> _Group | None:
        sizes = np.ones(len(blocks), dtype=np.int64)
        bound = 1
        for place, pool in enumerate(self._pool_of):
            if identity[place] != place:
                continue
            bound *= len(pool.members)
            taken = blocks[:, self._earlier(identity, place)] == blocks[:, [place]]
            free = pool.sizes[blocks[:, place]] - taken.sum(axis=1)
            sizes *= np.maximum(free, 0)
        if bound >= SIZE_LIMIT:
            raise self._too_large("has too many problems to be numbered", "Narrow its slots.")
        some = sizes > 0
        if not some.any():
            return None
        return _Group(identity, start, blocks[some], start + np.cumsum(sizes[some]))


@dataclass
class _Group:
    """The combinations of blocks for one identity of places.

    `ends` runs on from the groups before.
    """

    identity: Identity
    start: int
    blocks: Ints
    ends: Ints

    @cached_property
    def index(self) -> dict[tuple[int, ...], int]:
        return {tuple(row): i for i, row in enumerate(self.blocks.tolist())}


def _identities(pool_of: Sequence[BlockPool]) -> list[Identity]:
    """Every way in which places of the same pool can share fillers."""
    choices = []
    for place, pool in enumerate(pool_of):
        same_pool = [other for other in range(place + 1) if pool_of[other] is pool]
        choices.append(same_pool)
    found = []
    for identity in product(*choices):
        if all(identity[first] == first for first in identity):
            found.append(identity)
    return found


# Which problems two patterns share: the population of a pattern with the restrictions of both.


def shared_problems(patterns: Sequence[Pattern]) -> Iterator[tuple[Pattern, Pattern, int]]:
    """Pairs of patterns that share problems, and how many.

    They have the same sentences, whatever their slots are called.
    """
    for group in grouped(patterns, _skeleton).values():
        for first, second in combinations(group, 2):
            count = len(Population(_both(first, second)))
            if count:
                yield first, second, count


def _slot_order(pattern: Pattern) -> list[str]:
    """The slots in the order of their first appearance."""
    order: dict[str, None] = {}
    for sentence in pattern.sentences:
        order.update(dict.fromkeys(sentence.slots))
    return list(order)


def _skeleton(pattern: Pattern) -> tuple[object, ...]:
    """The sentences with slots numbered by their first appearance."""
    order = _slot_order(pattern)
    words = {slot.name: slot.words for slot in pattern.slots}
    skeleton: list[object] = [tuple(words[name] for name in order)]
    for sentence in pattern.sentences:
        markers = tuple((order.index(slot), form) for slot, form in sentence.markers)
        skeleton.append((sentence.format, markers))
    return tuple(skeleton)


def _both(first: Pattern, second: Pattern) -> Pattern:
    """A pattern whose problems are those of both."""
    names = dict(zip(_slot_order(second), _slot_order(first), strict=True))
    places = {slot.name: place for place, slot in enumerate(first.slots)}
    at = [places[names[slot.name]] for slot in second.slots]
    slots = list(first.slots)
    for place, slot in zip(at, second.slots, strict=True):
        mine = slots[place]
        slots[place] = PatternSlot(mine.name, mine.domain & slot.domain, mine.words)
    moved = tuple(_moved(condition, at) for condition in second.conditions)
    return replace(
        first,
        slots=tuple(slots),
        conditions=first.conditions + moved,
        distinct=first.distinct or second.distinct,
    )


def _moved(condition: Condition, at: Sequence[int]) -> Condition:
    match condition:
        case Within(place, members):
            return Within(at[place], members)
        case Equal(left, right):
            return Equal(at[left], at[right])
        case Stands(relation, places):
            return Stands(relation, tuple(at[place] for place in places))
        case Never(part):
            return Never(_moved(part, at))
        case Every(parts):
            return Every(_all_moved(parts, at))
        case EitherCondition(parts):
            return EitherCondition(_all_moved(parts, at))


def _all_moved(parts: Sequence[Condition], at: Sequence[int]) -> tuple[Condition, ...]:
    return tuple(_moved(part, at) for part in parts)

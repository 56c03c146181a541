"""Entities that are alike in every set that a pattern's conditions ask about form a block: the
units of counting.

Places whose fillers must differ share a pool of blocks, so that it can be told which fillers
compete.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
WORK_LIMIT = 50_000_000  # steps of plain Python that one pattern may take

Identity = tuple[
    int, ...
]  # for each place, the first place with the same filler: (0, 1, 0) means first = third


@dataclass(eq=False)
class Pool:
    """Places whose fillers come from one stock, and that stock cut into blocks of entities that are
    alike."""

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
            found = self._tables[members] = np.array(
                [first in members for first in firsts], dtype=np.bool_
            )
        return found


def parts_of(condition: Condition) -> Iterator[Condition]:
    """A condition and all conditions inside it."""
    yield condition
    if isinstance(condition, Never):
        yield from parts_of(condition.part)
    elif isinstance(condition, (Every, Either)):
        for part in condition.parts:
            yield from parts_of(part)


def check_work(pattern: Pattern, work: int, limit: int) -> None:
    """Refuse a pattern whose restrictions would take too long to go through."""
    if work > limit:
        raise DataError(
            f"the restrictions of the pattern '{pattern.id}' are too many to go through.",
            "Use fewer conditions, smaller slots, or relations with fewer rows.",
            file=pattern.file,
            line=pattern.line,
        )


def narrowed(pattern: Pattern) -> tuple[list[Members], list[Condition]]:
    """Domains that already respect conditions on one place and the reach of relations, and the
    conditions left."""
    domains = [slot.domain for slot in pattern.slots]
    left: list[Condition] = []
    for condition in pattern.conditions:
        left += condition.parts if isinstance(condition, Every) else [condition]
    for condition in list(left):
        places = places_of(condition)
        if len(places) == 1 and not any(isinstance(part, Equal) for part in parts_of(condition)):
            place = next(iter(places))
            check_work(
                pattern, len(domains[place]) * sum(1 for _ in deciding_sets(condition)), WORK_LIMIT
            )
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


def pools_of(
    pattern: Pattern, domains: Sequence[Members], conditions: Sequence[Condition], *, apart: bool
) -> list[Pool]:
    """One pool for places that may compete for an entity (where fillers are kept apart), one for
    each other place."""
    stocks: list[tuple[list[int], Members]] = []
    for place, (slot, domain) in enumerate(zip(pattern.slots, domains, strict=True)):
        places, stock = [place], domain
        if apart and not slot.words:
            for other in [s for s in stocks if not pattern.slots[s[0][0]].words and s[1] & domain]:
                stocks.remove(other)
                places, stock = other[0] + places, other[1] | stock
        stocks.append((places, stock))
    deciding = list(
        dict.fromkeys(pair for condition in conditions for pair in deciding_sets(condition))
    )
    check_work(pattern, sum(len(stock) for _, stock in stocks) * len(deciding), WORK_LIMIT)
    return [
        _pool(
            tuple(sorted(places)),
            sorted(stock),
            domains,
            [members for place, members in deciding if place in places],
        )
        for places, stock in stocks
    ]


def _pool(
    places: tuple[int, ...],
    stock: list[int],
    domains: Sequence[Members],
    deciding: Sequence[Members],
) -> Pool:
    asked = list(dict.fromkeys([*(domains[place] for place in places), *deciding]))
    alike: dict[tuple[bool, ...], list[int]] = {}
    for entity in stock:
        alike.setdefault(tuple([entity in members for members in asked]), []).append(entity)
    blocks = list(alike.values())
    sizes = np.array([len(block) for block in blocks], dtype=np.int64)
    firsts = [block[0] for block in blocks]
    allowed = {
        place: np.array([first in domains[place] for first in firsts], dtype=np.bool_)
        for place in places
    }
    where = {entity: (i, j) for i, block in enumerate(blocks) for j, entity in enumerate(block)}
    return Pool(
        places,
        np.array([e for block in blocks for e in block], dtype=np.int64),
        np.cumsum(sizes) - sizes,
        sizes,
        allowed,
        where,
        {},
    )


def holds(condition: Condition, blocks: Ints, identity: Identity, pools: Sequence[Pool]) -> Bools:
    """For each combination of blocks, whether a condition holds."""
    match condition:
        case Within(place, members):
            return pools[place].table(members)[blocks[:, place]]
        case Equal(left, right):
            return np.full(len(blocks), identity[left] == identity[right])
        case Stands(relation, places):
            return _stands(relation, places, blocks, pools)
        case Never(part):
            return ~holds(part, blocks, identity, pools)
        case Every(parts):
            return _joined(np.logical_and, True, parts, blocks, identity, pools)
        case Either(parts):
            return _joined(np.logical_or, False, parts, blocks, identity, pools)


def _joined(
    join: Any,
    start: bool,
    parts: Sequence[Condition],
    blocks: Ints,
    identity: Identity,
    pools: Sequence[Pool],
) -> Bools:
    found: Bools = np.full(len(blocks), start)
    for part in parts:
        found = join(found, holds(part, blocks, identity, pools))
    return found


def _stands(
    relation: Relation, places: Sequence[int], blocks: Ints, pools: Sequence[Pool]
) -> Bools:
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

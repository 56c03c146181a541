"""Blocks: entities that are alike in every set that a pattern's conditions ask about.

They are the units of counting.

Places whose fillers must differ share a pool of blocks, so that it can be told which fillers
compete.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from gnomon.errors import DataError
from gnomon.language.conditions import (
    Condition,
    EitherCondition,
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
from gnomon.language.world import Members, WorldRelation

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
WORK_LIMIT = 50_000_000  # steps of plain Python that one pattern may take

# For each place, the first place with the same filler: (0, 1, 0) means first = third.
Identity = tuple[int, ...]


@dataclass(eq=False)
class BlockPool:
    """Places whose fillers come from one stock, and that stock cut into blocks."""

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
            found = np.array([first in members for first in firsts], dtype=np.bool_)
            self._tables[members] = found
        return found


def parts_of(condition: Condition) -> Iterator[Condition]:
    """A condition and all conditions inside it."""
    yield condition
    if isinstance(condition, Never):
        yield from parts_of(condition.part)
    elif isinstance(condition, (Every, EitherCondition)):
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
    """Domains narrowed by conditions on one place and the reach of relations.

    Also the conditions that are left.
    """
    domains = [slot.domain for slot in pattern.slots]
    left: list[Condition] = []
    for condition in _flat(pattern.conditions):
        places = places_of(condition)
        if len(places) == 1 and not compares(condition):
            (place,) = places
            work = len(domains[place]) * number_of_sets(condition)
            check_work(pattern, work, WORK_LIMIT)
            domains[place] = _satisfying(condition, place, domains)
            continue
        left.append(condition)
        if isinstance(condition, Stands):
            for position, place in enumerate(condition.places):
                domains[place] &= condition.relation.projection(position)
    return domains, left


def _flat(conditions: Sequence[Condition]) -> Iterator[Condition]:
    """Conditions that must all hold, each by itself."""
    for condition in conditions:
        if isinstance(condition, Every):
            yield from condition.parts
        else:
            yield condition


def _satisfying(condition: Condition, place: int, domains: Sequence[Members]) -> Members:
    """The fillers of a place that satisfy a condition on that place alone."""
    fillers = [0] * len(domains)
    kept = []
    for filler in domains[place]:
        fillers[place] = filler
        if satisfied(condition, fillers):
            kept.append(filler)
    return frozenset(kept)


def compares(condition: Condition) -> bool:
    """Whether a condition asks if two fillers are the same."""
    return any(isinstance(part, Equal) for part in parts_of(condition))


def number_of_sets(condition: Condition) -> int:
    """How many sets a condition looks into."""
    return sum(1 for _ in deciding_sets(condition))


def pools_of(
    pattern: Pattern, domains: Sequence[Members], conditions: Sequence[Condition], *, apart: bool
) -> list[BlockPool]:
    """One pool for the places that may compete for an entity, and one for each other place.

    Places compete where fillers are kept `apart`.
    """
    stocks = _stocks(pattern, domains, apart=apart)
    deciding: dict[tuple[int, Members], None] = {}
    for condition in conditions:
        deciding.update(dict.fromkeys(deciding_sets(condition)))
    work = sum(len(stock) for _, stock in stocks) * len(deciding)
    check_work(pattern, work, WORK_LIMIT)
    pools = []
    for places, stock in stocks:
        asked = [members for place, members in deciding if place in places]
        pools.append(_pool(tuple(sorted(places)), sorted(stock), domains, asked))
    return pools


def _stocks(
    pattern: Pattern, domains: Sequence[Members], *, apart: bool
) -> list[tuple[list[int], Members]]:
    """Places with what may fill them; places that compete for an entity together."""
    stocks: list[tuple[list[int], Members]] = []
    for place, (slot, domain) in enumerate(zip(pattern.slots, domains, strict=True)):
        places, stock = [place], domain
        others = []
        for other in stocks:
            of_entities = not slot.words and not pattern.slots[other[0][0]].words
            if apart and of_entities and other[1] & domain:
                places = other[0] + places
                stock = other[1] | stock
            else:
                others.append(other)
        stocks = [*others, (places, stock)]
    return stocks


def _pool(
    places: tuple[int, ...],
    stock: list[int],
    domains: Sequence[Members],
    deciding: Sequence[Members],
) -> BlockPool:
    own = [domains[place] for place in places]
    asked = list(dict.fromkeys([*own, *deciding]))
    alike: dict[tuple[bool, ...], list[int]] = {}
    for entity in stock:
        alike.setdefault(tuple([entity in members for members in asked]), []).append(entity)
    blocks = list(alike.values())
    where = {}
    for i, block in enumerate(blocks):
        for j, entity in enumerate(block):
            where[entity] = (i, j)
    sizes = np.array([len(block) for block in blocks], dtype=np.int64)
    pool = BlockPool(
        places,
        np.array(list(chain(*blocks)), dtype=np.int64),
        np.cumsum(sizes) - sizes,
        sizes,
        {},
        where,
        {},
    )
    for place, domain in zip(places, own, strict=True):
        pool.allowed[place] = pool.table(domain)
    return pool


def holds(
    condition: Condition,
    within: Callable[[int, Members], Bools],
    equal: Callable[[int, int], Bools],
) -> Bools:
    """Where a condition holds, of many fillings at once.

    `within` says of which of them the filler of a place is a member, `equal` of which two places
    have the same one; what comes of them may have to be broadcast.
    """
    match condition:
        case Within(place, members):
            return within(place, members)
        case Equal(left, right):
            return equal(left, right)
        case Stands(relation, places):
            return _stands(relation, places, within)
        case Never(part):
            return ~holds(part, within, equal)
        case Every(parts):
            found = np.asarray(True)
            for part in parts:
                found = found & holds(part, within, equal)
            return found
        case EitherCondition(parts):
            found = np.asarray(False)
            for part in parts:
                found = found | holds(part, within, equal)
            return found


def _stands(
    relation: WorldRelation, places: Sequence[int], within: Callable[[int, Members], Bools]
) -> Bools:
    found = np.asarray(False)
    for row in relation.rows:
        if row.relation is not None:
            here = _stands(row.relation, places[::-1] if row.inverse else places, within)
        else:
            here = np.asarray(True)
            for place, members in zip(places, row.sets, strict=True):
                here = here & within(place, members)
        found = found | here if row.adds else found & ~here
    return found

"""Planning a run: the items and units of a benchmark, what they can show, what would be needed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from gnomon.contracts import Benchmark
from gnomon.measures.power import PowerPlan, plan
from gnomon.measures.sharing import KindOfUnit, Sharing
from gnomon.records import Item


class PlannedSet(NamedTuple):
    """A set of items with its plan."""

    nouns: tuple[str, ...]  # what the units of each kind are called
    plan: PowerPlan
    difference: float

    @property
    def is_enough(self) -> bool:
        """Whether the items can show the difference asked for."""
        return self.plan.detectable <= self.difference

    @property
    def items_for_difference(self) -> int | None:
        """How many items a set has that can show it: with more units where the same do not do."""
        if self.plan.items_needed is not None:
            return self.plan.items_needed
        known = []
        for needed, there in zip(self.plan.units_needed, self.plan.units_per_kind, strict=True):
            if needed is not None and there:
                known.append(needed / there)
        return round(self.plan.items * max(known)) if known else None


def plan_set(
    items: Sequence[Item], benchmark: Benchmark, *, difference: float, accuracy: float
) -> PlannedSet:
    """What the items of a benchmark can show of two models of about this accuracy."""
    kinds = kinds_of(items, benchmark)
    units = [units_of(item, kinds) for item in items]
    nouns = tuple(kind.noun for kind in kinds)
    return PlannedSet(nouns, plan(units, difference=difference, accuracy=accuracy), difference)


def kinds_of(items: Sequence[Item], benchmark: Benchmark) -> tuple[KindOfUnit, ...]:
    """The kinds of unit that the benchmark names and these items have; else their groups."""
    sharing = Sharing.of(benchmark)
    known = {"group"}
    for item in items:
        known.update(item.tags)
    groups = sharing.groups
    if not any(item.group for item in items):
        groups = groups._replace(noun="items")
    there = [kind for kind in sharing.kinds if known.issuperset(kind.tags)]
    return tuple(groups if kind == sharing.groups else kind for kind in there) or (groups,)


def units_of(item: Item, kinds: Sequence[KindOfUnit]) -> tuple[tuple[Hashable, ...], ...]:
    """The units of an item, kind by kind; where a tag is missing the item is a unit of its own.

    >>> pair = Item(id="1", form="choice", text="?", tags={"a": "ant", "b": "cow"})
    >>> units_of(pair, [Kind(("a", "b"), "objects"), Kind(("group",), "groups")])
    (('ant', 'cow'), (('item', '1'),))
    """
    found = []
    for kind in kinds:
        units: list[Hashable] = []
        for tag in kind.tags:
            name = item.group if tag == "group" else item.tags.get(tag, "")
            units.append(name or ("item", item.id))
        found.append(tuple(units))
    return tuple(found)

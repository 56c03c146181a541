"""Folds whose objects do not overlap, for choosing on some items what is scored on others.

Objects are divided, not items. An item that names two objects may then fall between two folds, so
a rule is needed. Ours: an item belongs to a fold if all its objects do, and a fold chooses by the
items that belong to it; what was chosen is scored on every item that has no object of that fold.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from random import Random
from typing import NamedTuple

from gnomon.errors import UsageError
from gnomon.records import Item

Objects = tuple[str, ...]  # of one item


class Division(NamedTuple):
    """Objects divided into folds, and the objects of each item."""

    fold_of: dict[str, int]
    objects: Sequence[Objects]  # of each item, in the order of the items
    folds: int

    def home(self, item: int) -> int | None:
        """The fold that an item belongs to; none if its objects lie in several."""
        folds = self._folds(item)
        return min(folds) if len(folds) == 1 else None

    def choosing(self, fold: int) -> list[int]:
        """The items that a fold chooses by: those that belong to it."""
        return [item for item in range(len(self.objects)) if self.home(item) == fold]

    def scoring(self, fold: int) -> list[int]:
        """The items on which its choice is scored: those without any object of the fold."""
        return [item for item in range(len(self.objects)) if fold not in self._folds(item)]

    def objects_in(self, fold: int) -> list[str]:
        """The objects of a fold."""
        return [name for name, home in self.fold_of.items() if home == fold]

    def _folds(self, item: int) -> set[int]:
        return {self.fold_of[name] for name in self.objects[item]}


class Losses(NamedTuple):
    """What each rule for items between two folds costs."""

    items: int
    # the fold of the first object: nothing is lost, but this share of the scored items names an
    # object that the choosing items name as well
    shared_by_first: float
    lost_within: int  # choose and score on items that belong to a fold
    lost_apart: float  # ours: items that neither choose nor are scored, on average over the folds


def divide(objects: Sequence[Objects], count: int, seed: int = 0) -> Division:
    """Folds of as many objects each as can be; the same for the same items, count and seed.

    The folds take turns. Each takes the object that is named most often with those it has, or the
    next by the seed if there is none, so that few items fall between two folds.

    >>> divide([("ant", "cow"), ("cow", "ant"), ("pea", "mug")], 2).fold_of
    {'ant': 0, 'cow': 0, 'mug': 1, 'pea': 1}
    """
    partners = _partners(objects)
    if count < 2:
        raise UsageError(
            f"There must be two folds or more, not {count}.",
            "One chooses and the others score: the paper has five.",
        )
    if len(partners) < count:
        raise UsageError(
            f"{len(partners)} objects cannot be divided into {count} folds.",
            "Take more items, or fewer folds with --folds.",
        )
    order = sorted(partners)
    Random(f"folds/{seed}").shuffle(order)
    left = {name: place for place, name in enumerate(order)}  # by the seed
    drawn: list[Counter[str]] = [Counter() for _ in range(count)]  # who is named with a fold's own
    fold_of: dict[str, int] = {}
    for turn in range(len(partners)):
        fold = turn % count
        name = _next(left, drawn[fold])
        del left[name]
        fold_of[name] = fold
        drawn[fold].update(partners[name])
        for others in drawn:
            others.pop(name, None)
    found = Division(dict(sorted(fold_of.items())), objects, count)
    _check_choosing(found)
    return found


def _next(left: dict[str, int], drawn: Counter[str]) -> str:
    """Who joins a fold: whoever is named with its members most often, else the first that is left.

    Of several the one that comes first by the seed.
    """
    waiting = [name for name in drawn if name in left]
    if not waiting:
        return next(iter(left))
    return min(waiting, key=lambda name: (-drawn[name], left[name]))


def objects_of(item: Item, kinds: Sequence[Sequence[str]]) -> Objects:
    """What an item names: by the first list of tags that it has in full, or else its group.

    >>> item = Item(id="1", form="cloze", text="", group="g", tags={"obj_a": "ant", "obj_b": "cow"})
    >>> objects_of(item, [("object",), ("obj_a", "obj_b")]), objects_of(item, [])
    (('ant', 'cow'), ('g',))
    """
    for tags in kinds:
        found = tuple(item.tags.get(tag, "") for tag in tags)
        if found and all(found):
            return tuple(dict.fromkeys(found))
    return (item.group or item.id,)


def losses(division: Division) -> Losses:
    """How many items each rule loses, and what the rule that loses none lets through."""
    total = len(division.objects)
    belonging = sum(division.home(item) is not None for item in range(total))
    lost = 0
    for fold in range(division.folds):
        lost += total - len(division.choosing(fold)) - len(division.scoring(fold))
    return Losses(
        items=total,
        shared_by_first=_shared_by_first(division),
        lost_within=total - belonging,
        lost_apart=lost / division.folds,
    )


def _shared_by_first(division: Division) -> float:
    first = [division.fold_of[names[0]] for names in division.objects]
    scored = shared = 0
    for fold in range(division.folds):
        seen: set[str] = set()
        for home, names in zip(first, division.objects, strict=True):
            if home == fold:
                seen.update(names)
        for home, names in zip(first, division.objects, strict=True):
            if home != fold:
                scored += 1
                shared += not seen.isdisjoint(names)
    return shared / scored if scored else 0.0


def _partners(objects: Sequence[Objects]) -> dict[str, Counter[str]]:
    """For each object how often it is named with which others."""
    found: dict[str, Counter[str]] = {}
    for names in objects:
        for name in names:
            found.setdefault(name, Counter())
        for one, two in combinations(names, 2):
            found[one][two] += 1
            found[two][one] += 1
    return found


def _check_choosing(division: Division) -> None:
    """Each fold must have something to choose by and something to score."""
    for fold in range(division.folds):
        if not division.choosing(fold):
            raise UsageError(
                f"No item belongs to fold {fold + 1} with all its objects: there is nothing to "
                "choose by.",
                "Take more items, or fewer folds with --folds.",
            )
        if not division.scoring(fold):
            raise UsageError(
                f"Every item names an object of fold {fold + 1}: there is nothing to score on.",
                "Take more items, or more folds with --folds.",
            )

"""Batches on their way: what is asked again when a worker died, and which item is to blame."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gnomon.engine.batches import Numbered, halves
from gnomon.engine.workers import Done
from gnomon.records import Answer

BATCH_DEATHS = 2  # a batch may lose so many workers, by chance, before it is halved
ITEM_DEATHS = 3  # an item alone may lose so many before it is listed as failed
ANY = 2**31  # items that a batch may hold, as far as deaths say


@dataclass
class Family:
    """The parts of a batch that was halved."""

    waiting: int = 1
    largest: int = 1  # part that was answered


@dataclass
class Parcel:
    """A batch, how many workers died of it, and of what it is a part."""

    batch: Sequence[Numbered]
    deaths: int = 0
    family: Family | None = None


@dataclass
class Parcels:
    """Batches that wait to be asked again, the first one first."""

    _waiting: deque[Parcel] = field(default_factory=deque)

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def next(self) -> Parcel | None:
        """The next one that waits; none if none does."""
        return self._waiting.popleft() if self._waiting else None

    def give_back(self, parcels: Iterable[Parcel]) -> None:
        """These were not asked, through no fault of theirs."""
        self._waiting.extend(parcels)

    def blame(self, parcel: Parcel, reason: str) -> list[Done]:
        """A worker died while it was asked this one. Answers, if the item is given up."""
        parcel.deaths += 1
        if len(parcel.batch) == 1:
            return self._blame_item(parcel, reason)
        if parcel.deaths < BATCH_DEATHS:
            self._waiting.appendleft(parcel)
            return []
        family = parcel.family or Family()
        family.waiting += 1
        for half in reversed(halves(parcel.batch)):
            self._waiting.appendleft(Parcel(half, BATCH_DEATHS - 1, family))
        return []

    def _blame_item(self, parcel: Parcel, reason: str) -> list[Done]:
        if parcel.deaths < ITEM_DEATHS:
            self._waiting.appendleft(parcel)
            return []
        number, item = parcel.batch[0]
        error = f"{parcel.deaths} workers died while they were asked this: {reason}"
        return [Done(parcel.batch, [(number, Answer(item=item.id, error=error[:500]))], 0.0)]

    def answered(self, parcel: Parcel) -> int:
        """How many items a batch should hold from now on, now that this one was answered.

        If a batch had to be halved and all its parts were answered, then no item was to blame: its
        size was.
        """
        family = parcel.family
        if family is None:
            return ANY
        family.waiting -= 1
        family.largest = max(family.largest, len(parcel.batch))
        return ANY if family.waiting else family.largest

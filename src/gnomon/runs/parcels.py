"""Batches on their way: what is asked again when a worker died, and which item is to blame."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gnomon.records import Answer
from gnomon.runs.batches import Numbered, halves
from gnomon.runs.workers import Done

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

    @property
    def suspect(self) -> bool:
        """Whether a worker died while it was asked this, or that of which it is a part."""
        return self.deaths > 0 or self.family is not None


@dataclass
class Parcels:
    """Batches that wait to be asked: fresh ones, and those of which a worker died."""

    _fresh: deque[Parcel] = field(default_factory=deque)
    _suspects: deque[Parcel] = field(default_factory=deque)

    def __bool__(self) -> bool:
        return bool(self._fresh or self._suspects)

    @property
    def has_fresh(self) -> bool:
        """Whether one waits that nobody died of."""
        return bool(self._fresh)

    def next(self, *, fresh_first: bool) -> Parcel | None:
        """The next one that waits; none if none does."""
        order = [self._suspects, self._fresh]
        if fresh_first:
            order.reverse()
        for waiting in order:
            if waiting:
                return waiting.popleft()
        return None

    def give_back(self, parcels: Iterable[Parcel]) -> None:
        """These were not asked, through no fault of theirs."""
        for parcel in parcels:
            waiting = self._suspects if parcel.suspect else self._fresh
            waiting.append(parcel)

    def blame(self, parcel: Parcel, reason: str) -> list[Done]:
        """A worker died while it was asked this one. Answers, if the item is given up."""
        parcel.deaths += 1
        if len(parcel.batch) == 1:
            return self._blame_item(parcel, reason)
        if parcel.deaths < BATCH_DEATHS:
            self._suspects.appendleft(parcel)
            return []
        family = parcel.family or Family()
        family.waiting += 1
        for half in reversed(halves(parcel.batch)):
            alone = len(half) == 1
            deaths = 0 if alone else BATCH_DEATHS - 1
            self._suspects.appendleft(Parcel(half, deaths, family))
        return []

    def _blame_item(self, parcel: Parcel, reason: str) -> list[Done]:
        if parcel.deaths < ITEM_DEATHS:
            self._suspects.appendleft(parcel)
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

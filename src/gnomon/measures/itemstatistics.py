"""What runs show about items: difficulty, discrimination, and the places that are picked."""

from collections.abc import Sequence
from math import isnan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.measures.accuracy import accuracy
from gnomon.measures.columns import Floats
from gnomon.measures.intervals import interval
from gnomon.measures.statistics import mean_of
from gnomon.measures.table import Table

FEWEST_MODELS = 3  # models below which a correlation is always 1, -1 or undefined


class ItemStatistics(NamedTuple):
    """One row for each item, NaN where something is undefined."""

    difficulty: Floats  # share of models that are right: 1 is easy
    discrimination: Floats  # from -1 to 1; undefined where all models agree


def item_statistics(right: NDArray[np.bool_]) -> ItemStatistics:
    """The statistics of items from a matrix [models, items] of who is right on what.

    All models were asked all items. Two models or fewer give no discrimination.

    >>> right = np.array([[1, 1, 0], [1, 0, 1], [0, 0, 1]], dtype=bool)
    >>> found = item_statistics(right)
    >>> [round(value, 2) for value in found.difficulty.tolist()]
    [0.67, 0.33, 0.67]
    >>> [round(value, 2) for value in found.discrimination.tolist()]
    [nan, -0.5, -0.87]
    """
    models, items = right.shape
    marks = right.astype(float)
    difficulty = marks.mean(axis=0) if models else np.full(items, np.nan)
    if models < FEWEST_MODELS or items < 2:
        return ItemStatistics(difficulty, np.full(items, np.nan))

    rest = marks.sum(axis=1, keepdims=True) - marks  # right answers to the other items
    own = marks - difficulty
    others = rest - rest.mean(axis=0)
    spread = np.sqrt((own**2).sum(axis=0) * (others**2).sum(axis=0))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (own * others).sum(axis=0) / np.where(spread > 0, spread, np.nan)
    return ItemStatistics(difficulty, np.asarray(found))


# Bias by place: how often each place in the list of choices is picked, and how often it is right.
#
# It can be told apart from a bias for a label only where the choices were permuted.


class PlacePicks(NamedTuple):
    """One place in the list of choices, counted from 1."""

    place: int
    n: int  # items that have a choice there
    right: float  # share of them whose right answer stands there
    chosen: float  # share of them on which it was picked
    low: float  # interval of that share
    high: float
    golds: int  # items whose right answer stands there
    accuracy: float  # on those; NaN if there are none
    accuracy_low: float
    accuracy_high: float

    @property
    def excess(self) -> float:
        """How much more often it is picked than it is right."""
        return self.chosen - self.right

    @property
    def is_biased(self) -> bool:
        """Whether it is picked more or less often than it is right, beyond the interval."""
        if isnan(self.low):
            return False
        return not self.low <= self.right <= self.high


def by_place(table: Table, *, level: float = 0.95) -> list[PlacePicks]:
    """A row for each place; items with an answer count for what is chosen, all for accuracy.

    >>> from gnomon.records import Answer, Item
    >>> rows = []
    >>> for n, order in enumerate([("yes", "no"), ("no", "yes")]):
    ...     item = Item(id=str(n), form="choice", text="?", choices=order, gold=("yes",))
    ...     rows.append((item, Answer(item=item.id, choice=order[0])))
    >>> [(place.right, place.chosen, place.accuracy) for place in by_place(Table.of(rows))]
    [(0.5, 1.0, 1.0), (0.5, 0.0, 0.0)]
    """
    table = table.judged
    offered = (table.choices >= 0).sum(axis=1)
    found = []
    for place in range(int(offered.max(initial=0))):
        here = table.where(table.answered & (offered > place))
        if len(here):
            found.append(_place(table, here, place, level))
    return found


def accuracy_spread(places: Sequence[PlacePicks]) -> float:
    """The difference between the places at which right answers are found most and least often."""
    known = [place.accuracy for place in places if not isnan(place.accuracy)]
    return max(known) - min(known) if known else float("nan")


def _place(table: Table, here: Table, place: int, level: float) -> PlacePicks:
    chosen = interval(mean_of(here.picked == place, here.clusters), level=level)
    golds = table.where(table.gold_at[:, place])
    right = interval(accuracy(golds), level=level)
    return PlacePicks(
        place=place + 1,
        n=len(here),
        right=float(here.gold_at[:, place].mean()),
        chosen=chosen.value,
        low=chosen.low,
        high=chosen.high,
        golds=len(golds),
        accuracy=right.value,
        accuracy_low=right.low,
        accuracy_high=right.high,
    )

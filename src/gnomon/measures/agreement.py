"""How two runs agree on the items that both were asked: two models, or a model and people."""

from __future__ import annotations

from gnomon.contracts import PairMeasure
from gnomon.measures.statistics import Statistics, mean_of
from gnomon.measures.table import Table


def agreement(first: Table, second: Table) -> Statistics:
    """The share of items that both answer alike; a missing answer agrees with nothing."""
    same = (first.picked == second.picked) & (first.picked >= 0)
    return mean_of(same, first.clusters)


def both_right(first: Table, second: Table) -> Statistics:
    """The share of items that both get right."""
    return mean_of(first.right & second.right, first.clusters)


AGREEMENT = PairMeasure(name="agreement", statistics=agreement)
BOTH_RIGHT = PairMeasure(name="both_right", statistics=both_right)

"""Accuracy: on all items, on those that were answered, and with guesses for those that were not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gnomon.contracts import Measure
from gnomon.measures.statistics import Statistics, mean_of
from gnomon.measures.table import Table


def accuracy(table: Table) -> Statistics:
    """The share of items answered with a right label; a failed or unread answer counts as wrong."""
    return mean_of(table.right, table.clusters)


def recognised_accuracy(table: Table) -> Statistics:
    """Accuracy among the items that have a readable answer.

    That is a label in the reply, or the objects found in the picture.
    """
    return accuracy(table.where(table.answered))


def recognised_share(table: Table) -> Statistics:
    """The share of items that have a readable answer."""
    return mean_of(table.answered, table.clusters)


def guessed_accuracy(table: Table) -> Statistics:
    """Accuracy if every item without an answer were guessed: the expected value.

    Spatial commonsense, section 4: figures on the full data complete unrecognised items with random
    guesses.
    """
    from gnomon.measures.chance import share_of_right

    return mean_of(np.where(table.answered, table.right, share_of_right(table)), table.clusters)


def guessed(table: Table, seed: int = 0) -> Table:
    """The table with a seeded guess where there is no answer: one draw, for any measure."""
    choices = (table.choices >= 0).sum(axis=1)
    drawn_share = np.random.default_rng(seed).random(len(table))
    place = (drawn_share * choices).astype(np.int64)
    drawn = table.choices[np.arange(len(table)), place]
    return replace(
        table,
        choice=np.where(table.answered, table.choice, drawn),
        picked=np.where(table.answered, table.picked, place),
        failed=np.zeros(len(table), dtype=bool),
    )


ACCURACY = Measure(
    name="accuracy",
    statistics=accuracy,
    guessable=True,
)
RECOGNISED_ACCURACY = Measure(
    name="recognised_accuracy",
    statistics=recognised_accuracy,
)
RECOGNISED_SHARE = Measure(
    name="recognised_share",
    statistics=recognised_share,
)
GUESSED_ACCURACY = Measure(
    name="guessed_accuracy",
    statistics=guessed_accuracy,
)

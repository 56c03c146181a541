"""Small tables for the tests of measures."""

import numpy as np
import pytest

from gnomon.measures import Table
from gnomon.records import Answer, Item


def make(golds, answers, *, choices=None, groups=None, scores=None, tags=None, forms=None, **about):
    """A table from parallel lists; a gold may be a label or several, an answer none."""
    golds = [(gold,) if isinstance(gold, str) else tuple(gold) for gold in golds]
    labels = choices or tuple(
        dict.fromkeys(
            [label for gold in golds for label in gold]
            + [answer for answer in answers if answer is not None]
        )
    )
    labels = labels if len(labels) > 1 else (*labels, "other")
    rows = []
    for i, (gold, answer) in enumerate(zip(golds, answers, strict=True)):
        item = Item(
            id=f"i{i}",
            form=forms[i] if forms else "choice",
            text="?",
            choices=labels,
            gold=gold,
            group=str(groups[i]) if groups is not None else "",
            tags=tags[i] if tags else {},
        )
        row = scores[i] if scores is not None else None
        rows.append(
            (
                item,
                Answer(
                    item=item.id,
                    choice=answer,
                    scores=None if row is None else tuple(map(float, row)),
                ),
            )
        )
    return Table.of(rows, **({"scale": "probability", "model": "m", "benchmark": "b"} | about))


@pytest.fixture
def table():
    """The maker of tables."""
    return make


@pytest.fixture
def rng():
    return np.random.default_rng(7)

"""Items and readers that the tests of answer files share."""

import pytest

from gnomon.items.answers.joining import read_predictions
from gnomon.records import Item


def item(name, choices=("yes", "no")):
    return Item(id=name, form="choice", text="Is it so?", choices=choices, gold=(choices[0],))


ITEMS = (item("a"), item("b"), item("c"))


@pytest.fixture
def joined():
    """What a file says about the items a, b and c: the answers by id, and the notes."""

    def join(file, items=ITEMS, **options):
        found = read_predictions(file, items, **options)
        return {item.id: answer for item, answer in found.rows}, found.notes

    return join


@pytest.fixture
def choices(joined):
    """The choices alone, in the order of the items."""

    def read(file, items=ITEMS, **options):
        return [answer.choice for answer in joined(file, items, **options)[0].values()]

    return read

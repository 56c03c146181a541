"""Batches keep every item once, stay within budget, and put like beside like."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gnomon.records import Image, Item
from gnomon.runs.batches import default_size, halves, in_batches


def item(i: int, text: str) -> tuple[int, Item]:
    return i, Item(id=str(i), form="choice", text=text, choices=("a", "b"), gold=("a",))


texts = st.lists(st.text(alphabet="ab ", max_size=400), max_size=60)


@given(texts, st.integers(1, 300), st.integers(1, 20))
def test_batches_hold_every_item_once_within_budget_and_count(texts, budget, most):
    items = [item(i, text) for i, text in enumerate(texts)]
    batches = list(in_batches(items, default_size, budget, most))
    assert sorted(n for batch in batches for n, _ in batch) == list(range(len(texts)))
    for batch in batches:
        assert len(batch) <= most
        assert len(batch) == 1 or max(default_size(i) for _, i in batch) * len(batch) <= budget


@given(texts)
def test_padding_within_a_batch_is_small(texts):
    items = [item(i, text) for i, text in enumerate(texts)]
    batches = list(in_batches(items, default_size, 10**9, 8))
    lengths = [[default_size(i) for _, i in batch] for batch in batches]
    for before, after in pairwise(lengths):
        assert min(before) <= max(after)  # shorter batches come first


def test_shared_beginnings_meet():
    texts = [
        "The cat is in the box.",
        "A dog is on the mat.",
        "The cat is in the bag.",
        "A dog is on the map.",
    ]
    (batch,) = in_batches([item(i, text) for i, text in enumerate(texts)], default_size, 10**6, 64)
    assert [n for n, _ in batch] in ([3, 1, 2, 0], [1, 3, 0, 2], [1, 3, 2, 0], [3, 1, 0, 2])


def test_halves_cover_the_batch():
    assert halves([1, 2, 3]) == [[1, 2], [3]]


def test_items_with_the_same_picture_meet_whatever_their_length():
    def showing(i: int, picture: str, text: str) -> tuple[int, Item]:
        image = Image(path=f"{i}/{picture}.png", sha256=picture)
        return i, replace(item(i, text)[1], images=(image,))

    items = [
        showing(0, "kitchen", "The cup is on the table."),
        showing(1, "street", "The car is left of the bus."),
        showing(2, "kitchen", "The cup is on the table, next to the plate and the fork. " * 9),
        showing(3, "street", "The bus is right of the car."),
    ]
    batches = list(in_batches(items, default_size, 10**6, 2))
    assert [sorted(n for n, _ in batch) for batch in batches] == [[0, 2], [1, 3]]

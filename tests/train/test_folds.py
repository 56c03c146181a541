"""Folds share no object, whatever the items are; what was chosen on one is scored apart from it."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gnomon.errors import UsageError
from gnomon.items.source import load
from gnomon.train.folds import divide, losses, objects_of

NAMES = st.sampled_from([f"thing {number}" for number in range(14)])
PAIRS = st.lists(st.lists(NAMES, min_size=1, max_size=3, unique=True).map(tuple), min_size=12)


def divided(objects, folds, seed):
    """A division, or no example where a fold would stay empty."""
    try:
        return divide(objects, folds, seed)
    except UsageError:
        assume(False)


@given(PAIRS, st.integers(2, 4), st.integers(0, 3))
def test_folds_share_no_object_and_hold_each_item_at_most_once(objects, folds, seed):
    found = divided(objects, folds, seed)
    named = []
    kept = []
    for fold in range(folds):
        members = found.choosing(fold)
        kept += members
        named.append(set(itertools.chain(*(objects[item] for item in members))))
    assert len(kept) == len(set(kept)), "an item is in one fold"
    for one, two in itertools.combinations(named, 2):
        assert not one & two
    between = [item for item in range(len(objects)) if found.home(item) is None]
    assert sorted(kept + between) == list(range(len(objects)))


@given(PAIRS, st.integers(2, 4), st.integers(0, 3))
def test_what_chooses_and_what_is_scored_share_no_object(objects, folds, seed):
    found = divided(objects, folds, seed)
    for fold in range(folds):
        chosen_by = set(itertools.chain(*(objects[item] for item in found.choosing(fold))))
        scored = set(itertools.chain(*(objects[item] for item in found.scoring(fold))))
        assert chosen_by
        assert scored
        assert not chosen_by & scored


@given(PAIRS, st.integers(2, 4))
def test_folds_have_as_many_objects_each_as_can_be(objects, folds):
    found = divided(objects, folds, 0)
    sizes = [len(found.objects_in(fold)) for fold in range(folds)]
    assert max(sizes) - min(sizes) <= 1
    assert sum(sizes) == len(set(itertools.chain(*objects)))


def test_the_same_seed_gives_the_same_folds_and_another_one_others():
    objects = [(f"a{number}", f"b{number}") for number in range(40)]
    assert divide(objects, 5, 1).fold_of == divide(objects, 5, 1).fold_of
    assert divide(objects, 5, 1).fold_of != divide(objects, 5, 2).fold_of


def test_all_pairs_across_five_levels_give_folds_with_one_object_of_each():
    """The published sets: 25 objects, 500 ordered pairs, of which 20 fit into each fold."""
    levels = [[f"{level}{number}" for number in "abcde"] for level in "12345"]
    objects = []
    for low, high in itertools.permutations(levels, 2):
        objects += itertools.product(low, high)
    found = divide(objects, 5)
    for fold in range(5):
        assert sorted(name[0] for name in found.objects_in(fold)) == list("12345")
        assert len(found.choosing(fold)) == 20
        assert len(found.scoring(fold)) == 320
    cost = losses(found)
    assert (cost.items, cost.lost_within, cost.lost_apart) == (500, 400, 160)
    assert cost.shared_by_first == 1.0, "by the first object, every scored item shares the second"


def test_few_fresh_pairs_fall_between_two_folds():
    source = load("scales", form="cloze")
    objects = [objects_of(item, source.benchmark.units) for item in source.items()]
    cost = losses(divide(objects, 5))
    assert cost.lost_within < 0.2 * cost.items, "an arbitrary division would lose four in five"


@pytest.mark.parametrize(
    ("objects", "folds", "said"),
    [
        ([("a", "b")] * 4, 1, "two folds or more"),
        ([("a", "b")] * 4, 3, "2 objects cannot be divided"),
        ([("a", "b"), ("b", "c"), ("c", "a")], 3, "nothing to choose by"),
    ],
)
def test_what_cannot_be_divided_is_refused_with_a_remedy(objects, folds, said):
    with pytest.raises(UsageError, match=said) as error:
        divide(objects, folds)
    assert error.value.hint

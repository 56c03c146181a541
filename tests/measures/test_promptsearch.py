"""A prompt that was chosen on one fold never saw the items that it is scored on."""

from __future__ import annotations

from random import Random
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.errors import UsageError
from gnomon.measures.prompts import SearchFold, choose, search
from gnomon.measures.table import Table
from gnomon.records import Answer, Item
from gnomon.registry import measure

ACCURACY = measure("accuracy")
ITEMS = [
    Item(id=str(number), form="choice", text="?", choices=("no", "yes"), gold=("yes",))
    for number in range(20)
]
IDS = [item.id for item in ITEMS]
PARTS = [
    SearchFold(frozenset(IDS[:8]), frozenset(IDS[8:])),
    SearchFold(frozenset(IDS[12:]), frozenset(IDS[:12])),
]


def table(right):
    rows = []
    for item, is_right in zip(ITEMS, right, strict=True):
        rows.append((item, Answer(item=item.id, choice="yes" if is_right else "no")))
    return Table.of(rows, benchmark="b", model="m")


ANSWERS = st.lists(st.booleans(), min_size=20, max_size=20)


@given(st.lists(ANSWERS, min_size=2, max_size=5), ANSWERS, st.data())
def test_no_answer_to_a_scored_item_changes_what_is_chosen(prompts, other, data):
    changed = data.draw(st.integers(0, len(prompts) - 1))
    found = search([table(right) for right in prompts], PARTS, [ACCURACY])
    for fold, part in zip(found.folds, PARTS, strict=True):
        answers = [list(right) for right in prompts]
        for place, name in enumerate(IDS):
            if name in part.scoring:
                answers[changed][place] = other[place]
        again = search([table(right) for right in answers], [part], [ACCURACY]).folds[0]
        assert (again.chosen, again.chosen_by) == (fold.chosen, fold.chosen_by)


def test_a_choice_among_guesses_does_better_where_it_was_made_and_nowhere_else():
    """Under the null hypothesis of equal prompts the scored items show no gain from choosing."""
    draw = Random(0)
    where_chosen, elsewhere = [], []
    for _ in range(150):
        prompts = [table([draw.random() < 0.5 for _ in ITEMS]) for _ in range(12)]
        for fold in search(prompts, PARTS, [ACCURACY]).folds:
            where_chosen.append(fold.chosen_by)
            elsewhere.append(fold.values["accuracy"])
    elsewhere = [fmean(both) for both in zip(elsewhere[::2], elsewhere[1::2], strict=True)]
    error = stdev(elsewhere) / len(elsewhere) ** 0.5
    assert abs(fmean(elsewhere) - 0.5) < 3 * error
    assert fmean(where_chosen) > 0.7


def test_the_best_is_chosen_and_the_first_of_equals():
    worse, good, same = table([False] * 20), table([True] * 20), table([True] * 20)
    assert choose([worse, good, same], ACCURACY) == 1
    found = search([worse, good], PARTS, [ACCURACY])
    assert [fold.chosen for fold in found.folds] == [1, 1]
    assert (found.mean("accuracy"), found.first("accuracy")) == (1.0, 0.0)
    assert [(fold.choosing, fold.n) for fold in found.folds] == [(8, 12), (8, 12)]


def test_mean_and_deviation_are_over_folds():
    right = table([True] * 8 + [False] * 6 + [True] * 6)
    found = search([right], PARTS, [ACCURACY])
    values = [fold.values["accuracy"] for fold in found.folds]
    assert values == [6 / 12, 8 / 12]
    assert found.mean("accuracy") == pytest.approx(fmean(values))
    assert found.deviation("accuracy") == pytest.approx(stdev(values))


def test_a_measure_that_is_undefined_cannot_choose():
    with pytest.raises(UsageError, match="undefined"):
        choose([table([True] * 20)], measure("symmetry"))

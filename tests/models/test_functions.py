"""Models that know nothing: their answers follow from a rule alone."""

from __future__ import annotations

from collections import Counter

import pytest

from gnomon.contracts import Benchmark
from gnomon.errors import UsageError
from gnomon.models.functions import constant, majority, random
from gnomon.records import Item
from gnomon.registry import role

BENCHMARK = Benchmark(name="mine", summary="items of our own", sources={})


def item(n, gold="yes", choices=("yes", "no")):
    return Item(id=str(n), form="choice", text="?", choices=choices, gold=(gold,))


def picks(model, items):
    if model.prepare:
        model.prepare(iter(items), BENCHMARK)
    return [answer.choice for answer in model.answer(items)]


def test_a_guess_depends_on_the_item_and_the_seed_alone():
    items = [item(n) for n in range(300)]
    guesses = picks(random(""), items)
    assert picks(random(""), items[::-1]) == guesses[::-1]
    assert picks(random("", model_seed=1), items) != guesses
    assert all(count > 110 for count in Counter(guesses).values())
    assert len(set(guesses)) == 2


def test_majority_is_counted_for_each_set_of_choices_and_the_earlier_choice_wins_a_tie():
    sizes = ("larger", "smaller")
    items = [item(1, "no"), item(2, "no"), item(3, "yes")]
    items += [item(4, "smaller", sizes), item(5, "larger", sizes)]
    assert picks(majority(""), items) == ["no", "no", "no", "larger", "larger"]


def test_a_constant_answers_only_where_it_is_offered():
    items = [item(1), item(2, "larger", ("larger", "smaller"))]
    assert picks(constant("no"), items) == ["no", None]
    with pytest.raises(UsageError, match="No item offers the label 'maybe'") as caught:
        picks(constant("maybe"), items)
    assert caught.value.hint == "Choose one of: yes, no, larger, smaller."


@pytest.mark.parametrize("make", [random, majority])
def test_a_scene_without_choices_gets_no_answer(make):
    scene = Item(id="1", form="scene", text="a cat on a mat")
    assert picks(make(""), [scene]) == [None]


def test_what_is_misnamed_is_said_so():
    for make in (random, majority):
        with pytest.raises(UsageError, match="takes no name"):
            make("large")
    with pytest.raises(UsageError, match="needs a label"):
        constant("")


def test_pictures_are_shown_to_them_in_vain_and_the_registry_knows_them_as_guesses():
    for model in (random(""), majority(""), constant("yes")):
        assert "image" in model.takes
        assert role(model.spec) == "guess"

"""Thresholds: fitted on a development split, or on what an item shares nothing with."""

import random

import pytest

from gnomon.contracts import Benchmark
from gnomon.models.thresholds import ENOUGH, FittedThresholds, ScoredExample, best_threshold, fit
from gnomon.records import Item

pytest.importorskip("numpy")
BENCHMARK = Benchmark(name="b", summary="", sources={}, hold_out=(("object",),))


def example(score, truth, *, relation="on", unit="a", dev=False):
    return ScoredExample(relation, score, truth, (unit,), dev)


def item(unit="a", relation="on", **tags):
    tags |= {"object": unit, "relation": relation}
    return Item(id="1", form="caption", text="?", choices=("false", "true"), tags=tags)


def balanced(examples, threshold):
    """Balanced accuracy, computed the plain way."""
    right = {True: 0, False: 0}
    for each in examples:
        right[each.truth] += (each.score > threshold) == each.truth
    count = {truth: sum(each.truth == truth for each in examples) for truth in right}
    return sum(right[truth] / max(1, count[truth]) for truth in right)


def test_no_other_threshold_separates_better():
    draw = random.Random(5)
    for _ in range(50):
        examples = [example(draw.randint(0, 9) / 3, draw.random() < 0.6) for _ in range(12)]
        found = balanced(examples, best_threshold(examples))
        tried = [balanced(examples, score / 6 - 1.1) for score in range(40)]
        assert found >= max(tried) - 1e-9


def test_the_share_of_true_examples_has_no_say():
    few = [example(1.0, False), example(2.0, True)]
    many = few + [example(2.0, True)] * 100
    assert best_threshold(few) == best_threshold(many)


def test_a_relation_has_its_own_threshold_once_there_are_enough():
    pairs = [(0.0, False), (1.0, True)] * (ENOUGH // 2)
    on = [example(score, truth, relation="on") for score, truth in pairs]
    under = [example(score + 10, truth, relation="under") for score, truth in pairs[:-2]]
    cut = fit(on + under)
    assert cut.by_relation == {"on": 0.5}
    assert cut.at("under") == cut.general


def test_a_development_split_is_used_where_there_is_one():
    dev = [example(0.0, False, dev=True), example(1.0, True, dev=True)]
    rest = [example(50.0, False, unit="b"), example(70.0, True, unit="c")]
    fitted = FittedThresholds(dev + rest, BENCHMARK)
    assert fitted.at(item("never seen")) == 0.5
    assert fitted.describe() == {
        "on": "the development split",
        "items": 2,
        "thresholds": [0.5],
        "by_relation": {},
    }


@pytest.mark.parametrize("dev", [False, True])
def test_without_other_items_than_the_development_split_the_items_are_held_out(dev):
    examples = []
    for number in range(10):
        low = 100.0 * number
        unit = f"thing {number}"
        examples += [example(low, False, unit=unit, dev=dev), example(low + 1, True, unit=unit)]
    if dev:
        examples = [each._replace(dev=True) for each in examples]
    fitted = FittedThresholds(examples, BENCHMARK)
    for number in range(10):
        threshold = fitted.at(item(f"thing {number}"))
        assert not 100 * number < threshold < 100 * number + 1
    assert fitted.describe()["on"] == "items held out, in 5 folds"


def test_an_item_that_shares_something_with_everything_has_no_threshold():
    fitted = FittedThresholds([example(0.0, False), example(1.0, True)], BENCHMARK)
    assert fitted.at(item("a")) is None
    assert fitted.at(item("other")) is None

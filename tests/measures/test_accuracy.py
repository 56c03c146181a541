"""Accuracy, what is recognised, and guesses where there is no answer."""

import numpy as np
import pytest

from gnomon.measures import scores
from gnomon.measures.accuracy import (
    ACCURACY,
    GUESSED_ACCURACY,
    RECOGNISED_ACCURACY,
    RECOGNISED_SHARE,
    guessed,
    guessed_accuracy,
)


def values(table, *measures):
    return [score.value for score in scores(table, measures)]


def test_a_missing_answer_counts_as_wrong_in_the_headline_but_not_among_the_recognised(table):
    some = table(["a", "b", "a", "b"], ["a", "a", None, None])
    assert values(some, ACCURACY, RECOGNISED_ACCURACY, RECOGNISED_SHARE) == [0.25, 0.5, 0.5]


def test_guessing_what_is_not_recognised_gives_the_papers_full_figure(table):
    # Spatial commonsense, table 2: 81.6 % of the 15 % recognised and a coin for the rest is 54.7 %.
    golds = ["a"] * 500 + ["b"] * 500
    answers = ["a"] * 122 + ["b"] * 28 + [None] * 850
    found = guessed_accuracy(table(golds[:500] + golds[500:], answers, choices=("a", "b")))
    assert found.value == pytest.approx((122 + 850 / 2) / 1000)


def test_a_guess_is_right_with_the_chance_of_its_right_labels(table):
    some = table([("a", "b"), "c"] * 3000, [None] * 6000, choices=("a", "b", "c"))
    assert GUESSED_ACCURACY.statistics(some).value == pytest.approx(0.5)
    drawn = guessed(some, seed=3)
    assert drawn.answered.all()
    assert drawn.right[::2].mean() == pytest.approx(2 / 3, abs=0.03)
    assert drawn.right[1::2].mean() == pytest.approx(1 / 3, abs=0.03)
    assert (guessed(some, seed=3).choice == drawn.choice).all()
    assert (guessed(some, seed=4).choice != drawn.choice).any()


def test_a_guess_leaves_real_answers_alone(table):
    some = table(["a", "b"], ["a", "a"])
    assert guessed(some).right.tolist() == [True, False]


def test_an_empty_table_has_no_score(table):
    whole = table(["a", "b"], ["a", "b"])
    [score] = scores(whole.where(np.zeros(2, dtype=bool)), [ACCURACY])
    assert (score.value, score.low, score.high, score.n, score.clusters) == (None, None, None, 0, 0)


def test_one_cluster_has_a_value_but_no_interval(table):
    [score] = scores(table(["a", "b"], ["a", "a"], groups=["g", "g"]), [ACCURACY])
    assert (score.value, score.low, score.high, score.n, score.clusters) == (0.5, None, None, 2, 1)


def test_slices_say_by_and_key_and_small_ones_can_be_left_out(table):
    some = table(
        ["a", "b", "a"], ["a", "a", "a"], tags=[{"category": "motion"}, {"category": "motion"}, {}]
    )
    found = scores(some, [ACCURACY], "category")
    assert [(s.by, s.key, s.value, s.n) for s in found] == [
        ("category", "motion", 0.5, 2),
        ("category", "", 1.0, 1),
    ]
    assert [s.key for s in scores(some, [ACCURACY], "category", minimum=2)] == ["motion"]


def test_a_tag_that_lists_values_is_sliced_by_its_singular(table):
    some = table(
        ["a", "b", "a"],
        ["a", "a", "a"],
        tags=[{"expressions": "in, out of"}, {"expressions": "in"}, {}],
    )
    found = scores(some, [ACCURACY], "expression")
    assert [(s.key, s.value, s.n) for s in found] == [
        ("in", 0.5, 2),
        ("out of", 1.0, 1),
        ("", 1.0, 1),
    ]

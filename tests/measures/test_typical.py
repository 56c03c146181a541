"""Typical labels by the paper's rule and by the code's, relaxed accuracy and true confidence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.errors import UsageError
from gnomon.measures.classes import relaxed_accuracy, true_confidence
from gnomon.vision.knowledge import typical_sets


def sets(*shares, rule):
    return [
        [i for i, flag in enumerate(row) if flag]
        for row in typical_sets(np.array(shares), rule).tolist()
    ]


def test_the_code_stops_when_nothing_is_below_a_tenth_whatever_is_left():
    assert sets([0.6, 0.25, 0.15], [0.8, 0.2, 0.0], [0.5, 0.3, 0.2], rule="code") == [
        [0, 1, 2],
        [0],
        [0, 1, 2],
    ]


def test_the_paper_filters_by_the_number_of_labels_left():
    assert sets([0.6, 0.25, 0.15], [0.8, 0.2, 0.0], [0.5, 0.35, 0.15], rule="paper") == [
        [0],
        [0],
        [0, 1],
    ]


def test_a_tenth_is_kept_by_the_code_and_dropped_by_the_paper():
    shares = [0.4, 0.3, 0.2, np.float32(0.1)]
    assert sets(shares, rule="code") == [[0, 1, 2, 3]]
    assert 3 not in sets(shares, rule="paper")[0]


def test_shares_are_renormalised_between_steps():
    # .09 is dropped; then .24/.91 = .264 stays above .2 of three labels, and is dropped as one
    # of... three: all stay.
    assert sets([0.4, 0.27, 0.24, 0.09], rule="code") == [[0, 1, 2]]
    assert sets([0.61, 0.25, 0.09, 0.05], rule="code") == [[0]]  # .25/.86 = .29 is below .3 of two


def test_if_none_would_be_left_the_set_stays():
    assert sets([0.09] * 11, rule="code") == [list(range(11))]


def test_labels_that_a_row_does_not_have_do_not_count():
    shares = np.array([[0.75, 0.25, 0.0]])
    assert typical_sets(shares, "code").tolist() == [[True, False, False]]
    assert typical_sets(shares, "code", real=shares > 0).tolist() == [[True, True, False]]


@given(st.lists(st.integers(1, 50), min_size=2, max_size=11), st.sampled_from(["code", "paper"]))
def test_the_most_probable_label_is_always_typical(counts, rule):
    shares = np.array([counts]) / sum(counts)
    kept = typical_sets(shares, rule)[0]
    assert kept[np.argmax(counts)]


def test_an_unknown_rule_is_refused():
    with pytest.raises(UsageError, match="no rule for typical labels named 'guess'"):
        typical_sets(np.ones((1, 2)) / 2, "guess")


def test_relaxed_accuracy_takes_the_most_probable_choice_and_the_first_of_a_tie(table):
    some = table(
        [("white", "gray"), ("black",), ("gray",)],
        ["black"] * 3,
        choices=("white", "gray", "black"),
        scores=[[0.5, 0.3, 0.2], [0.4, 0.2, 0.4], [0.2, 0.5, 0.3]],
    )
    assert relaxed_accuracy(some).value == pytest.approx(2 / 3)


def test_a_top_word_that_is_no_choice_is_wrong_however_the_choices_are_scored(table):
    some = table([("a",), ("a",)], ["a", None], choices=("a", "b"), scores=[[0.6, 0.1], [0.3, 0.1]])
    assert relaxed_accuracy(some).value == 0.5


def test_relaxed_accuracy_without_scores_is_accuracy(table):
    assert relaxed_accuracy(table(["a", "b"], ["a", "a"])).value == 0.5


def test_a_top_word_that_is_no_choice_has_no_true_confidence(table):
    some = table([("a",), ("a",)], ["a", None], choices=("a", "b"), scores=[[0.6, 0.2], [0.3, 0.1]])
    assert true_confidence(some).value == pytest.approx(0.75 / 2)


def test_true_confidence_is_the_probability_of_the_right_labels(table):
    some = table(
        [("a", "b"), ("c",), ("a",)],
        ["a", "c", None],
        choices=("a", "b", "c"),
        scores=[[0.5, 0.25, 0.25], [0.5, 0.1, 0.4], None],
    )
    assert true_confidence(some).value == pytest.approx((0.75 + 0.4 + 0) / 3)
    assert np.isnan(true_confidence(table(["a", "b"], ["a", "b"])).value)

"""Macro-F1 against scikit-learn, one label and several."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.measures.accuracy import guessed
from gnomon.measures.classes import (
    guessed_macro_f1,
    macro_f1,
    recognised_macro_f1,
    typical_f1,
)
from gnomon.vision.knowledge import typical_sets

from .conftest import make

sklearn = pytest.importorskip("sklearn.metrics")
LABELS = ("a", "b", "c", "d")


@given(
    st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=40)
)
def test_macro_f1_is_that_of_scikit_learn(pairs):
    gold, said = zip(*pairs, strict=True)
    expected = sklearn.f1_score(gold, said, average="macro", zero_division=0)
    assert macro_f1(make(gold, said, choices=LABELS)).value == pytest.approx(expected)


def test_a_stray_answer_adds_a_class_of_its_own(table):
    gold, said = ["yes", "no", "yes"], ["yes", "no", "2"]
    expected = sklearn.f1_score(gold, said, average="macro", zero_division=0)
    assert macro_f1(table(gold, said, choices=("yes", "no"))).value == pytest.approx(expected)


def test_a_missing_answer_lowers_recall_but_is_no_class(table):
    gold, said = ["a", "a", "b", "b"], ["a", None, "b", "a"]
    expected = sklearn.f1_score(
        gold, [s or "-" for s in said], labels=["a", "b"], average="macro", zero_division=0
    )
    assert macro_f1(table(gold, said)).value == pytest.approx(expected)


def test_recognised_macro_f1_is_that_of_the_items_with_an_answer(table):
    gold, said = ["a", "a", "b", "b", "b"], ["a", None, "b", "a", None]
    expected = sklearn.f1_score(["a", "b", "b"], ["a", "b", "a"], average="macro")
    assert recognised_macro_f1(table(gold, said)).value == pytest.approx(expected)


def test_guessed_macro_f1_is_the_mean_of_many_draws(table, rng):
    gold = rng.choice(LABELS, 400).tolist()
    said = [g if rng.random() < 0.6 else None for g in gold]
    whole = table(gold, said, choices=LABELS)
    drawn = [macro_f1(guessed(whole, seed)).value for seed in range(200)]
    assert guessed_macro_f1(whole).value == pytest.approx(np.mean(drawn), abs=0.003)
    answered = table(gold, gold, choices=LABELS)
    assert guessed_macro_f1(answered).value == macro_f1(answered).value == 1


def test_gold_of_a_single_class_is_defined(table):
    assert macro_f1(table(["a"] * 4, ["a"] * 4, choices=("a", "b"))).value == 1
    assert macro_f1(
        table(["a"] * 4, ["a", "a", "a", "b"], choices=("a", "b"))
    ).value == pytest.approx(6 / 7 / 2)


def test_where_several_labels_are_right_the_typical_ones_are_compared_with_them(table, rng):
    golds = [LABELS[:2], LABELS[1:2], LABELS[2:], LABELS[:1]] * 25
    shares = rng.dirichlet([0.6] * 4, 100)
    answers = [LABELS[i] for i in shares.argmax(axis=1)]
    some = table(golds, answers, choices=LABELS, scores=shares)
    truth = np.array([[label in gold for label in LABELS] for gold in golds])
    for rule in ("code", "paper"):
        expected = sklearn.f1_score(
            truth, typical_sets(shares, rule), average="macro", zero_division=0
        )
        assert typical_f1(rule).statistics(some).value == pytest.approx(expected)
    # one label a row, and so not the F1 of the sets: the answer if it is right, else the first
    one = [said if said in gold else gold[0] for gold, said in zip(golds, answers, strict=True)]
    expected = sklearn.f1_score(one, answers, average="macro", zero_division=0)
    assert macro_f1(some).value == pytest.approx(expected)


def test_an_item_that_was_not_answered_has_no_typical_labels_even_if_it_has_scores(table):
    golds = [("a", "b"), ("c", "d")]
    shares = [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]]
    both = table(golds, ["a", "c"], choices=LABELS, scores=shares)
    one = table(golds, ["a", None], choices=LABELS, scores=shares)
    assert typical_f1("code").statistics(both).value == 1.0
    assert typical_f1("code").statistics(one).value == 0.5


def test_sets_of_labels_need_scores(table):
    assert np.isnan(typical_f1("code").statistics(table(["a", "b"], ["a", "b"])).value)

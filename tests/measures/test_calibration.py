"""Calibration error, Brier score, reliability and coverage."""

import numpy as np
import pytest

from gnomon.measures.calibration import BINS, brier, coverage, ece, reliability
from gnomon.measures.intervals import interval


def test_a_model_that_is_right_as_often_as_it_is_sure_has_no_calibration_error(table):
    golds = ["a"] * 7 + ["b"] * 3
    some = table(golds, ["a"] * 10, choices=("a", "b"), scores=[[0.7, 0.3]] * 10)
    assert ece(some).value == 0
    assert interval(ece(some)).low == 0
    many = table(["a"] * 700, ["a"] * 700, choices=("a", "b"), scores=[[0.7, 0.3]] * 700)
    assert ece(many).value == pytest.approx(0.3, abs=0.001), "noise hardly adds to a large gap"


def test_calibration_error_is_the_weighted_gap_of_the_bins(table, rng):
    shares = rng.dirichlet([1, 1, 1], 500)
    golds = [("a", "b", "c")[i] for i in rng.integers(0, 3, 500)]
    answers = ["abc"[i] for i in shares.argmax(axis=1)]
    some = table(golds, answers, choices=("a", "b", "c"), scores=shares)
    sure, hit = (
        shares.max(axis=1),
        np.array([g == "abc"[i] for g, i in zip(golds, shares.argmax(axis=1), strict=True)]),
    )
    gap = 0.0
    for low in np.arange(BINS) / BINS:
        mine = (sure > low) & (sure <= low + 1 / BINS)
        if mine.any():
            gap += mine.mean() * abs(sure[mine].mean() - hit[mine].mean())
    assert gap > 0.15
    assert ece(some).value == pytest.approx(gap, abs=0.01), "little noise beside so large a gap"
    assert ece(some).value < gap
    bins = reliability(some)
    assert sum(each.n for each in bins) == 500
    assert sum(
        each.n / 500 * abs(each.confidence - each.accuracy) for each in bins if each.n
    ) == pytest.approx(gap)


@pytest.mark.parametrize("count", [100, 400])
def test_intervals_of_a_calibrated_model_hold_zero(table, rng, count):
    """A short version of `bench/measures.py coverage`: 97 of 100 would be the most, 93 the least."""
    held = 0
    values = []
    for _ in range(60):
        sure = rng.uniform(0.5, 1, count)
        golds = np.where(rng.random(count) < sure, "a", "b").tolist()
        scores = np.stack([sure, 1 - sure], axis=1)
        found = interval(ece(table(golds, ["a"] * count, choices=("a", "b"), scores=scores)))
        held += found.low == 0
        values.append(found.value)
    assert 52 <= held <= 60
    assert np.mean(values) < 0.2 / np.sqrt(count)


def test_the_noise_of_items_that_share_a_unit_is_larger(table, rng):
    """Twenty copies of twenty answers are as noisy as twenty."""
    sure = rng.uniform(0.5, 1, 20)
    golds = np.where(rng.random(20) < sure, "a", "b")
    scores = np.stack([sure, 1 - sure], axis=1)
    groups = [str(unit) for unit in range(20)] * 20
    options = {"choices": ("a", "b"), "scores": np.tile(scores, (20, 1))}
    shared = table(golds.tolist() * 20, ["a"] * 400, groups=groups, **options)
    apart = table(golds.tolist() * 20, ["a"] * 400, **options)
    assert interval(ece(shared)).low < interval(ece(apart)).low


def test_brier_is_that_of_scikit_learn(table, rng):
    metrics = pytest.importorskip("sklearn.metrics")
    shares = rng.dirichlet([1, 1], 200)
    golds = [("a", "b")[i] for i in rng.integers(0, 2, 200)]
    answers = ["ab"[i] for i in shares.argmax(axis=1)]
    some = table(golds, answers, choices=("a", "b"), scores=shares)
    expected = metrics.brier_score_loss([g == "b" for g in golds], shares[:, 1])
    assert brier(some).value == pytest.approx(2 * expected)


def test_items_without_usable_scores_are_left_out_and_counted(table):
    nan = float("nan")
    some = table(
        ["a", "a", "a"], ["a", "a", None], choices=("a", "b"), scores=[[0.9, 0.1], [nan, nan], None]
    )
    assert (ece(some).n, brier(some).n) == (1, 1)
    assert np.isnan(ece(table(["a", "b"], ["a", "b"])).value)


def test_an_item_that_was_not_answered_is_left_out_even_if_it_has_scores(table):
    shares = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]
    some = table(["a", "a", "a"], ["a", "b", None], choices=("a", "b"), scores=shares)
    answered = some.where(np.array([0, 1]))
    for measure in (ece, brier):
        assert (measure(some).value, measure(some).n) == (measure(answered).value, 2)
    assert sum(each.n for each in reliability(some)) == 2


def test_coverage_starts_with_the_surest_and_ends_with_all(table):
    shares = [[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.6, 0.4]]
    some = table(["a", "a", "a", "b"], ["a"] * 4, choices=("a", "b"), scores=shares)
    assert [(c.coverage, c.confidence, c.accuracy) for c in coverage(some)] == [
        (0.25, 0.9, 1.0),
        (0.5, 0.8, 1.0),
        (1.0, 0.6, 0.75),
    ]

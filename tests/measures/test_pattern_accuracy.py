"""Pattern accuracy, its curve, and the data map."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.errors import UsageError
from gnomon.measures.accuracy import (
    accuracy,
    curve,
    curve_at,
    data_map,
    pattern_accuracy,
    pattern_accuracy_auc,
)
from gnomon.registry import measure

from .conftest import make


def patterns(flags):
    """A table with a pattern for each list of right and wrong."""
    answers = ["a" if flag else "b" for row in flags for flag in row]
    groups = [i for i, row in enumerate(flags) for _ in row]
    return make(["a"] * len(answers), answers, choices=("a", "b"), groups=groups)


matrices = st.integers(1, 6).flatmap(
    lambda width: st.lists(
        st.lists(st.booleans(), min_size=width, max_size=width), min_size=1, max_size=8
    )
)


@given(matrices)
def test_the_area_under_the_curve_is_accuracy_where_patterns_have_the_same_size(flags):
    table = patterns(flags)
    assert curve(table).area == pytest.approx(accuracy(table).value)
    assert pattern_accuracy_auc(table).value == pytest.approx(accuracy(table).value)


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=5), min_size=1, max_size=8))
def test_the_area_is_the_mean_accuracy_of_patterns_whatever_their_size(flags):
    table = patterns(flags)
    mean = np.mean([np.mean(row) for row in flags])
    assert curve(table).area == pytest.approx(mean)
    assert pattern_accuracy_auc(table).value == pytest.approx(mean)


@given(matrices, st.lists(st.floats(0, 1), min_size=2, max_size=6))
def test_pattern_accuracy_falls_with_the_threshold_and_agrees_with_the_curve(flags, thresholds):
    table = patterns(flags)
    values = curve_at(table, np.sort(thresholds))
    assert (np.diff(values) <= 0).all()
    for threshold, value in zip(np.sort(thresholds), values, strict=True):
        assert pattern_accuracy(str(threshold)).statistics(table).value == pytest.approx(value)


def test_a_pattern_reaches_a_threshold_that_it_equals():
    table = patterns([[True] * 19 + [False], [True] * 18 + [False] * 2])
    assert measure("pattern_accuracy@0.95").statistics(table).value == 0.5
    assert measure("pattern_accuracy@0.9").statistics(table).value == 1.0
    assert measure("pattern_accuracy@1.0").statistics(table).value == 0.0
    assert measure("pattern_accuracy@0").statistics(table).value == 1.0


@pytest.mark.parametrize("threshold", ["1.5", "-0.1", "half", "nan"])
def test_a_threshold_is_a_number_between_0_and_1(threshold):
    with pytest.raises(UsageError, match="between 0 and 1"):
        measure(f"pattern_accuracy@{threshold}")


def test_the_data_map_is_mean_and_deviation_of_the_right_labels_probability(table):
    some = table(
        ["a", "a", "b", "b"],
        ["a", "b", "b", None],
        groups=["p", "p", "q", "q"],
        choices=("a", "b"),
        scores=[[0.9, 0.1], [0.3, 0.7], [0.4, 0.6], None],
    )
    p, q = data_map(some)
    assert p == ("p", pytest.approx(0.6), pytest.approx(0.3), 0.5, 2)
    assert (q.confidence, q.variability, q.correctness) == (pytest.approx(0.6), 0.0, 0.5)


def test_an_item_without_a_group_is_a_pattern_of_its_own(table):
    some = table(["a", "a"], ["a", "b"])
    assert pattern_accuracy("1").statistics(some).value == 0.5
    assert [point.pattern for point in data_map(some)] == ["i0", "i1"]

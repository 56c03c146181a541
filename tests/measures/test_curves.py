"""Intervals over draws."""

from __future__ import annotations

import pytest
from scipy import stats

from gnomon.measures.seeds import over_draws


def test_the_interval_is_student_s_for_the_mean_over_draws():
    values = [0.52, 0.61, 0.55]
    (point,) = over_draws({5: values})
    low, high = stats.t.interval(0.95, 2, loc=point.mean, scale=stats.sem(values))
    assert (point.low, point.high) == (pytest.approx(low), pytest.approx(high))
    assert point.draws == 3


def test_points_come_in_the_order_of_their_amounts_and_shares_stay_shares():
    points = over_draws({20: [0.99, 1.0], 1: [0.01, 0.2]})
    assert [point.amount for point in points] == [1, 20]
    assert points[0].low == 0.0
    assert points[1].high == 1.0


def test_draws_that_all_agree_are_not_certain():
    (point,) = over_draws({10: [1.0, 1.0, 1.0]}, items=90)
    assert 0.9 < point.low < point.high == 1.0
    (unknown,) = over_draws({10: [1.0, 1.0, 1.0]})
    assert unknown.low == 1.0


def test_one_draw_has_no_interval():
    (point,) = over_draws({1: [0.5]})
    assert (point.low, point.high, point.deviation) == (None, None, None)


def test_a_difference_of_shares_may_be_negative():
    (point,) = over_draws({1: [-0.2, -0.1, -0.15]}, bounds=(-1.0, 1.0))
    assert -1 < point.low < point.mean < point.high < 0
    (agreed,) = over_draws({1: [-0.2, -0.2]}, bounds=(-1.0, 1.0), items=50)
    assert -1 < agreed.low < -0.2 < agreed.high

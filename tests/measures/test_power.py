"""Planning: what a set of items can show, and what it would take to show more."""

from itertools import combinations

import numpy as np
import pytest

from gnomon.errors import UsageError
from gnomon.measures.comparison import detectable_difference, difference
from gnomon.measures.intervals import interval
from gnomon.measures.power import items_for_half_width, plan
from gnomon.measures.statistics import mean_of, uncertainty


def pairs(objects):
    return [((one, two),) for one, two in combinations(range(objects), 2)]


def test_single_items_need_as_many_as_the_textbook_says():
    stats = pytest.importorskip("scipy.stats")
    found = plan([((i,),) for i in range(1000)], unit_sd=0.0)
    error = np.sqrt(2 * 0.21 * 0.5 / 1000)
    beyond = stats.t.ppf(0.975, 999) + stats.t.ppf(0.8, 999)
    assert found.detectable == pytest.approx(beyond * error)
    assert found.items_needed == pytest.approx(0.21 * (beyond / 0.03) ** 2, rel=0.01)


def test_more_items_of_the_same_objects_do_not_help_and_more_objects_do():
    few, many = plan(pairs(20)), plan(pairs(20) * 50)
    assert many.items == 50 * few.items
    assert many.detectable > 0.8 * few.detectable
    assert many.items_needed is None
    assert plan(pairs(200)).detectable < 0.4 * few.detectable


def test_so_many_units_as_are_needed_show_the_difference():
    [needed] = plan(pairs(30), difference=0.05).units_needed
    assert plan(pairs(30), difference=0.05).detectable > 0.05
    assert 0.04 < plan(pairs(needed), difference=0.05).detectable <= 0.05


def test_the_plan_is_what_a_comparison_of_such_models_then_finds():
    """Simulated pairs of models whose difference varies by family with a deviation of 0.7 logits."""
    rng = np.random.default_rng(6)
    families = np.repeat(np.arange(80), 25)
    planned = plan([((each,),) for each in families], unit_sd=0.7, item_correlation=0.0)
    found = []
    for _ in range(30):
        own = rng.normal(0, 0.7 / np.sqrt(2), (2, 80))
        one, two = (rng.random(2000) < 1 / (1 + np.exp(-0.87 - each[families])) for each in own)
        gap = difference(mean_of(one, families), mean_of(two, families))
        found.append(detectable_difference(uncertainty(gap)))
    assert np.mean(found) == pytest.approx(planned.detectable, rel=0.1)


def test_nothing_can_be_planned_with_one_unit_or_with_shares_above_one():
    assert np.isnan(plan([((0,),)] * 10).detectable)
    assert plan([]).units_per_kind == ()
    with pytest.raises(UsageError, match="difference must lie between 0 and 1"):
        plan(pairs(5), difference=3)
    with pytest.raises(UsageError, match="correlation"):
        plan(pairs(5), item_correlation=2)


@pytest.mark.parametrize(("number", "effect"), [(25, 0.0), (60, 0.2), (120, 0.5)])
def test_four_in_five_runs_of_the_fixed_number_are_as_narrow_as_was_said(number, effect):
    units = [((item % number,),) for item in range(3000)]
    items = items_for_half_width(units, 0.04, unit_sd=effect)
    owner = np.arange(items) % number
    rng = np.random.default_rng(3)
    narrow = []
    for _ in range(300):
        logits = rng.normal(0, effect, number)[owner]
        right = rng.random(items) < 1 / (1 + np.exp(-logits))
        found = interval(mean_of(right, owner))
        narrow.append(found.high - found.low <= 0.08)
    assert 0.7 < np.mean(narrow) < 0.97


def test_a_fixed_number_is_larger_where_few_units_tell_how_they_vary():
    many = items_for_half_width([((item,),) for item in range(3000)], 0.04, unit_sd=0)
    few = items_for_half_width([((item % 20,),) for item in range(3000)], 0.04, unit_sd=0)
    assert 600 < many < 1.08 * 600
    assert 1.2 * many < few
    assert items_for_half_width([((0,),)] * 3000, 0.04) is None

"""Intervals: the distributions behind them, what they cover, and where they are undefined."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.measures.intervals import bootstrap, interval, t_cdf, t_quantile
from gnomon.measures.statistics import Statistics, mean_of, ratio, standard_error, uncertainty
from gnomon.measures.units import BLOCKS


def simulated(rng, clusters=25, size=15, accuracy=0.6, spread=0.25):
    concentration = accuracy * (1 - accuracy) / spread**2 - 1
    own = rng.beta(accuracy * concentration, (1 - accuracy) * concentration, clusters)
    codes = np.repeat(np.arange(clusters), size)
    return rng.random(len(codes)) < own[codes], codes


@pytest.mark.parametrize("df", [0.4, 1, 1.7, 2, 3, 7, 24, 159, 5000])
def test_students_t_is_that_of_scipy(df):
    stats = pytest.importorskip("scipy.stats")
    for p in (0.001, 0.025, 0.3, 0.5, 0.8, 0.975, 0.9995):
        assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-9, abs=1e-9)
    for x in (-40.0, -2.1, 0.0, 0.4, 3.3, 12.0):
        assert t_cdf(x, df) == pytest.approx(stats.t.cdf(x, df), rel=1e-9, abs=1e-14)


def test_with_endless_degrees_of_freedom_t_is_normal():
    assert t_quantile(0.975, float("inf")) == pytest.approx(1.959964, abs=1e-6)
    with pytest.raises(ValueError, match="between 0 and 1"):
        t_quantile(1.0, 5)


def test_the_error_of_a_mean_of_single_items_is_the_textbook_one():
    values = np.array([1, 0, 1, 1, 0, 1, 1, 0.5])
    assert standard_error(mean_of(values, np.arange(8))) == pytest.approx(
        values.std(ddof=1) / np.sqrt(8)
    )


def test_with_equal_clusters_the_error_is_tukeys_jackknife(rng):
    right, codes = simulated(rng, size=4)
    without = np.array([right[codes != code].mean() for code in np.unique(codes)])
    tukey = (len(without) - 1) * without.var()
    assert standard_error(mean_of(right, codes)) == pytest.approx(np.sqrt(tukey))


UNEQUAL = np.repeat(np.arange(10), np.arange(1, 11) ** 2)


@pytest.mark.parametrize("effect", [0.0, 1.0])
def test_unequal_clusters_neither_widen_nor_narrow_the_error(rng, effect):
    share = np.bincount(UNEQUAL) / len(UNEQUAL)
    truth = 1 / len(UNEQUAL) + effect**2 * (share**2).sum()
    found = []
    for _ in range(2000):
        values = rng.normal(0, 1, len(UNEQUAL)) + effect * rng.normal(0, 1, 10)[UNEQUAL]
        found.append(standard_error(mean_of(values, UNEQUAL)) ** 2)
    assert np.mean(found) == pytest.approx(truth, rel=0.06)


def test_large_clusters_count_for_more_only_where_clusters_differ(rng):
    """Without effects of their own, clusters vary by their items: more of them count."""
    codes = np.repeat(np.arange(60), np.arange(1, 61) ** 2 // 40 + 1)
    share = np.bincount(codes) / len(codes)
    by_items = 1 / (share**2).sum() - 1
    by_effects = (share**2).sum() ** 2 / (share**4).sum() - 1
    assert by_items > 1.4 * by_effects
    without, with_effects = [], []
    for _ in range(200):
        noise = rng.normal(0, 1, len(codes))
        without.append(uncertainty(mean_of(noise, codes)).plain_freedom)
        own = 3 * rng.normal(0, 1, 60)[codes]
        with_effects.append(uncertainty(mean_of(noise + own, codes)).plain_freedom)
    assert np.median(without) == pytest.approx(by_items, rel=0.15)
    assert np.median(with_effects) == pytest.approx(by_effects, rel=0.15)


def test_intervals_of_clustered_items_cover_and_naive_ones_do_not():
    """A quick seeded simulation; bench/measures.py does 2,000 runs of seven settings."""
    rng = np.random.default_rng(11)
    covered = {"analytic": 0, "bootstrap": 0, "naive": 0}
    runs = 300
    for _ in range(runs):
        right, codes = simulated(rng)
        found = {
            "analytic": interval(mean_of(right, codes)),
            "bootstrap": interval(mean_of(right, codes), draws=200),
            "naive": interval(mean_of(right, np.arange(len(right)))),
        }
        for kind, each in found.items():
            covered[kind] += each.low <= 0.6 <= each.high
    assert 0.92 <= covered["analytic"] / runs <= 0.98
    assert 0.91 <= covered["bootstrap"] / runs <= 0.98
    assert covered["naive"] / runs < 0.8


def test_analytic_and_bootstrap_intervals_agree_where_there_are_many_clusters(rng):
    right, codes = simulated(rng, clusters=400)
    found = mean_of(right, codes)
    analytic, drawn = interval(found), interval(found, draws=2000)
    assert drawn.low == pytest.approx(analytic.low, abs=0.006)
    assert drawn.high == pytest.approx(analytic.high, abs=0.006)


@given(st.lists(st.booleans(), min_size=2, max_size=30), st.integers(0, 1))
def test_an_interval_holds_its_value_and_stays_within_bounds(flags, draws):
    found = interval(mean_of(flags, np.arange(len(flags))), draws=200 * draws)
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1


def test_all_right_is_not_certainty():
    found = interval(mean_of(np.ones(20), np.arange(20)))
    assert (found.value, found.high) == (1.0, 1.0)
    assert 0.75 < found.low < 0.9
    assert interval(mean_of(np.ones(20), np.arange(20)), draws=500) == found


def test_a_few_equal_clusters_are_not_certainty_inside_the_bounds_either():
    right = np.array([1, 0, 0, 0, 0, 0, 0, 0] * 2)
    two = interval(mean_of(right, np.repeat([0, 1], 8)))
    assert two.value == 0.125
    assert two.low < 0.01
    assert two.high > 0.9, "two clusters say next to nothing"
    assert interval(mean_of(right, np.repeat([0, 1], 8)), draws=200) == two
    half = np.tile([1, 0], 40)
    many = interval(mean_of(half, np.repeat(np.arange(40), 2)))
    assert 0.4 < many.low < 0.5 < many.high < 0.6, "forty clusters say something"


@given(st.integers(2, 60), st.integers(0, 8))
def test_clusters_that_agree_have_an_interval_around_their_value(clusters, right):
    values = np.tile(np.arange(8) < right, clusters)
    found = interval(mean_of(values, np.repeat(np.arange(clusters), 8)))
    assert found.low <= found.value <= found.high
    assert found.high - found.low > 0.05


def test_fewer_than_two_clusters_have_no_interval():
    assert isnan(interval(mean_of([1, 0], np.array([3, 3]))).low)
    assert isnan(interval(mean_of([], np.array([], dtype=int))).value)


def test_the_bootstrap_is_the_same_for_the_same_seed_and_another_for_another(rng):
    found = mean_of(*simulated(rng))
    assert (bootstrap(found, 50, seed=1) == bootstrap(found, 50, seed=1)).all()
    assert (bootstrap(found, 50, seed=1) != bootstrap(found, 50, seed=2)).any()


def test_more_clusters_than_blocks_are_added_up_in_blocks_with_the_same_value_and_nearly_the_same_error(
    rng,
):
    right = rng.random(3 * BLOCKS) < 0.7
    found = mean_of(right, np.full(len(right), -1))
    assert (found.clusters, found.sums.shape) == (3 * BLOCKS, (BLOCKS, 2))
    assert found.value == pytest.approx(right.mean())
    assert standard_error(found) == pytest.approx(right.std() / np.sqrt(len(right)), rel=0.03)


def test_few_clusters_make_the_bootstrap_interval_as_wide_as_students_t(rng):
    values = rng.normal(0, 1, 6)
    found = mean_of(values, np.arange(6), bounds=(-np.inf, np.inf))
    analytic, drawn = interval(found), interval(found, draws=20_000)
    assert drawn.high - drawn.low == pytest.approx(analytic.high - analytic.low, rel=0.15)


def test_units_in_several_clusters_widen_the_error_as_a_u_statistic_does(rng):
    """The mean over pairs of objects of a product of object effects: its spread over samples
    against the estimate."""

    def sample(count=40):
        effect = rng.random(count)
        one, two = np.triu_indices(count, 1)
        value = (effect[one] + effect[two]) / 2 > rng.random(len(one))
        sums = np.zeros((count, 2))
        for ends in (one, two):
            sums[:, 0] += np.bincount(ends, weights=value, minlength=count) / 2
            sums[:, 1] += np.bincount(ends, minlength=count) / 2
        return Statistics(sums, ratio, len(one), count, error_times=2)

    found = [sample() for _ in range(200)]
    spread = np.std([each.value for each in found])
    assert np.mean([standard_error(each) for each in found]) == pytest.approx(spread, rel=0.25)

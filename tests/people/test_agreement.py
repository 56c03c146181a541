"""Agreement over units, against the libraries that compute the plain figures."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gnomon.measures.agreement import (
    fleiss,
    mean_cohen,
    mean_cohen_kappa,
    nominal_alpha,
    ordinal_alpha,
    pairwise_agreement,
    vote_counts,
)
from gnomon.measures.units import Units
from gnomon.people.agreement import agreement_figures, figure, pairs_of
from tests.people.voting import votes_of

SIZES = st.tuples(st.integers(2, 25), st.integers(2, 5))
TABLES = SIZES.flatmap(lambda size: arrays(np.int64, size, elements=st.integers(-1, 3)))
COMPLETE = SIZES.flatmap(lambda size: arrays(np.int64, size, elements=st.integers(0, 3)))


def units_of(matrix):
    return votes_of(matrix).table.clusters


def same(mine, theirs):
    """Equal, or both undefined."""
    if np.isnan(mine) or theirs is None or np.isnan(theirs):
        return np.isnan(mine) and (theirs is None or np.isnan(theirs))
    return mine == pytest.approx(theirs, abs=1e-9)


def by_krippendorff(matrix, level):
    library = pytest.importorskip("krippendorff")
    data = np.where(matrix < 0, np.nan, matrix.astype(float)).T
    try:
        return library.alpha(data, level_of_measurement=level, value_domain=[0.0, 1.0, 2.0, 3.0])
    except (ValueError, AssertionError):  # nothing can be paired, or all say the same
        return None


def by_statsmodels():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("statsmodels.stats.inter_rater")


@settings(max_examples=60)
@given(TABLES)
def test_alpha_is_krippendorffs_whatever_is_missing(matrix):
    units = units_of(matrix)
    nominal = nominal_alpha(vote_counts(matrix, 4), units).value
    ordinal = ordinal_alpha(matrix, units, 4).value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert same(nominal, by_krippendorff(matrix, "nominal"))
        assert same(ordinal, by_krippendorff(matrix, "ordinal"))


@settings(max_examples=40)
@given(COMPLETE)
def test_fleiss_kappa_is_that_of_statsmodels(matrix):
    rates = by_statsmodels()
    table, _ = rates.aggregate_raters(matrix, n_cat=4)
    with np.errstate(all="ignore"):
        theirs = rates.fleiss_kappa(table)
    assert same(fleiss(vote_counts(matrix, 4), units_of(matrix)).value, theirs)


@settings(max_examples=40)
@given(TABLES)
def test_cohens_kappa_of_each_pair_is_that_of_statsmodels_on_what_both_judged(matrix):
    rates = by_statsmodels()
    for pair in pairs_of(votes_of(matrix)):
        one, two = int(pair.first[1:]), int(pair.second[1:])
        both = (matrix[:, one] >= 0) & (matrix[:, two] >= 0)
        table = np.zeros((4, 4))
        np.add.at(table, (matrix[both, one], matrix[both, two]), 1)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            theirs = rates.cohens_kappa(table).kappa
        mine = np.nan if pair.kappa.value is None else pair.kappa.value
        assert pair.n == both.sum()
        assert same(mine, theirs)


@settings(max_examples=40)
@given(COMPLETE)
def test_the_mean_over_pairs_is_the_plain_mean_where_all_judge_all(matrix):
    defined = [pair.kappa.value is not None for pair in pairs_of(votes_of(matrix))]
    if all(defined):
        mine = mean_cohen(matrix, units_of(matrix)).value
        assert same(mine, mean_cohen_kappa(matrix))


def test_with_gaps_the_printed_mean_weighs_pairs_by_shared_items_and_the_cuts_of_a_scale_do_not():
    """Two means of Cohen's kappa: docs/people.md says which is which."""
    ann = np.array([0, 0, 1, 1, 0, 1, 0, 1])
    ben = np.array([0, 0, 1, 1, 0, 1, 1, 0])  # 8 items with ann, kappa 0.5
    cas = np.array([0, 1, 1, 0, -1, -1, -1, -1])  # 4 items with each, kappa 0
    matrix = np.stack([ann, ben, cas], axis=1)
    assert [pair.n for pair in pairs_of(votes_of(matrix))] == [8, 4, 4]
    weighted = (8 * 0.5 + 4 * 0.0 + 4 * 0.0) / 16
    assert mean_cohen(matrix, units_of(matrix)).value == pytest.approx(weighted)
    assert mean_cohen_kappa(matrix) == pytest.approx(0.5 / 3)


def test_fleiss_kappa_with_gaps_takes_chance_from_the_shares_of_each_item():
    # Items of three, two and one vote: only the first two can agree, all three say what is usual.
    matrix = np.array([[0, 0, 1], [1, 1, -1], [1, -1, -1]])
    observed = (1 / 3 + 1) / 2
    usual = (1 / 3 + 2 / 3 + 1 + 1) / 3
    shares = np.array([(2 / 3) / 3, (1 / 3 + 1 + 1) / 3])
    assert usual == pytest.approx(1.0)
    chance = float((shares**2).sum())
    expected = (observed - chance) / (1 - chance)
    assert fleiss(vote_counts(matrix, 2), units_of(matrix)).value == pytest.approx(expected)


def noisy(rng, items=200, people=4, wrong=0.25):
    truth = rng.integers(0, 3, items)
    found = np.repeat(truth[:, None], people, axis=1)
    lost = rng.random(found.shape) < wrong
    found[lost] = rng.integers(0, 3, lost.sum())
    return found


def test_every_figure_has_an_interval_around_it(rng):
    figures = agreement_figures(votes_of(noisy(rng)))
    assert [figure.name for figure in figures] == ["agreement", "cohen", "fleiss", "alpha"]
    for each in figures:
        assert each.low < each.value < each.high
        assert each.n == 200


def test_bootstrap_and_analytic_intervals_are_about_as_wide(rng):
    matrix = noisy(rng)
    votes = votes_of(matrix)
    analytic = agreement_figures(votes)
    drawn = agreement_figures(votes, draws=800)
    for one, two in zip(analytic, drawn, strict=True):
        assert one.value == two.value
        assert (one.high - one.low) == pytest.approx(two.high - two.low, rel=0.25)


def test_items_asked_twice_of_the_same_unit_tell_no_more_than_once(rng):
    matrix = noisy(rng, items=60)
    twice = np.concatenate([matrix, matrix])
    units = np.tile(np.arange(60), 2)
    once = figure("alpha", nominal_alpha(vote_counts(matrix, 3), units_of(matrix)))
    grouped = Units(units[:, None], (1,), ("groups",))
    found = figure("alpha", nominal_alpha(vote_counts(twice, 3), grouped))
    assert found.high - found.low == pytest.approx(once.high - once.low, rel=0.02)
    alone = figure("alpha", nominal_alpha(vote_counts(twice, 3), units_of(twice)))
    assert alone.high - alone.low < 0.8 * (found.high - found.low)


def test_the_interval_of_a_mean_kappa_covers_what_it_should(rng):
    # The true kappa is known by simulation with very many items; 9 intervals in 10 must hold it.
    truth = mean_cohen_kappa(noisy(rng, items=40_000))
    inside = 0
    for _ in range(100):
        matrix = noisy(rng, items=80)
        found = figure("cohen", mean_cohen(matrix, units_of(matrix)))
        inside += found.low <= truth <= found.high
    assert inside >= 88


def test_a_table_without_two_votes_on_anything_has_no_figures():
    figures = agreement_figures(votes_of([[0, -1], [-1, 1]]))
    assert [each.value for each in figures] == [None] * 4


def test_pairwise_agreement_is_the_share_of_pairs_that_say_the_same():
    matrix = np.array([[0, 0, 1], [1, 1, 1], [0, -1, -1]])
    found = pairwise_agreement(vote_counts(matrix, 2), units_of(matrix))
    assert found.value == pytest.approx((1 / 3 + 1) / 2)
    assert found.n == 2

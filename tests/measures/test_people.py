"""Agreement of people, against the libraries that compute it."""

import warnings

import numpy as np
import pytest

from gnomon.measures.people import (
    best_mapping,
    coded,
    cohen_kappa,
    disagreement,
    fleiss_kappa,
    human_ceiling,
    krippendorff_alpha,
    landis_koch,
    majority,
    mean_cohen_kappa,
)


@pytest.fixture
def judged(rng):
    truth = rng.integers(0, 4, 60)
    return np.stack(
        [np.where(rng.random(60) < 0.7, truth, rng.integers(0, 4, 60)) for _ in range(3)], axis=1
    )


def test_cohens_kappa_is_that_of_scikit_learn(judged):
    metrics = pytest.importorskip("sklearn.metrics")
    expected = [
        metrics.cohen_kappa_score(judged[:, i], judged[:, j]) for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    assert cohen_kappa(judged[:, 0], judged[:, 1]) == pytest.approx(expected[0])
    assert mean_cohen_kappa(judged) == pytest.approx(np.mean(expected))


def test_fleiss_kappa_is_that_of_statsmodels(judged):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rates = pytest.importorskip("statsmodels.stats.inter_rater")
    table, _ = rates.aggregate_raters(judged)
    assert fleiss_kappa(judged) == pytest.approx(rates.fleiss_kappa(table))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_krippendorffs_alpha_is_that_of_its_library_with_gaps_too(judged, level, rng):
    library = pytest.importorskip("krippendorff")
    gaps = np.where(rng.random(judged.shape) < 0.2, -1, judged)
    for matrix in (judged, gaps):
        expected = library.alpha(
            reliability_data=np.where(matrix < 0, np.nan, matrix).T,
            level_of_measurement=level,
            value_domain=[0, 1, 2, 3],
        )
        assert krippendorff_alpha(matrix, level) == pytest.approx(expected)


def test_what_chance_alone_explains_has_no_kappa():
    same = [[1, 1], [1, 1]]
    assert np.isnan(cohen_kappa([1, 1], [1, 1]))
    assert np.isnan(fleiss_kappa(same))
    assert np.isnan(krippendorff_alpha(same))
    assert np.isnan(krippendorff_alpha([[1, -1], [-1, 0]]))
    assert np.isnan(cohen_kappa([-1, 0], [0, -1]))


def test_a_majority_needs_more_than_the_threshold_and_no_tie():
    votes = [[0, 0, 1], [0, 1, -1], [1, 1, 1], [-1, -1, -1], [0, 1, 2]]
    assert majority(votes).tolist() == [0, -1, 1, -1, -1]
    assert majority(votes, 2 / 3).tolist() == [-1, -1, 1, -1, -1]
    assert majority(votes, 2 / 3, strict=False).tolist() == [0, -1, 1, -1, -1]


def test_the_human_ceiling_is_the_mean_accuracy_of_people():
    assert human_ceiling([[1, 0], [0, -1], [1, 1]], [1, 0, 0]) == pytest.approx((2 / 3 + 0) / 2)


def test_the_best_mapping_undoes_how_boldly_people_use_a_scale():
    # The first says "likely" where the second says "surely": mapped to three values they agree
    # throughout.
    judgements = [[0, 1], [1, 1], [2, 2], [3, 3], [4, 3], [2, 2], [0, 1]]
    found = best_mapping(judgements)
    assert found.kappa == pytest.approx(1.0)
    assert all(
        list(reading) == sorted(reading) and set(reading) == {0, 1, 2} for reading in found.mappings
    )


def test_the_best_mapping_is_the_best_of_all_and_found_step_by_step_for_many_people(rng):
    truth = rng.integers(0, 5, 80)
    people = np.stack([np.clip(truth + rng.integers(-1, 2, 80), 0, 4) for _ in range(3)], axis=1)
    found = best_mapping(people)
    naive = np.array([0, 0, 1, 2, 2])[people]
    assert found.kappa >= mean_cohen_kappa(naive)
    many = np.concatenate([people, people, people], axis=1)
    assert best_mapping(many).kappa >= mean_cohen_kappa(np.array([0, 0, 1, 2, 2])[many])


def test_disagreement_is_the_share_that_too_few_agree_with():
    rows = disagreement(
        ["near", "near", "in", "in", "up"], agree=[2, 1, 3, 2, 0], total=[3, 3, 3, 2, 0]
    )
    assert [(r.key, r.n, r.excluded) for r in rows] == [
        ("up", 1, 1.0),
        ("near", 2, 0.5),
        ("in", 2, 0.0),
    ]
    assert [r.disputed for r in rows] == [0.0, 1.0, 0.0]
    assert [r.key for r in disagreement(["a", "b", "b"], [1, 1, 1], [1, 1, 1], more_than=1)] == [
        "b"
    ]


def test_words_become_codes_and_strength_a_word():
    matrix, words = coded([["yes", "no"], ["no", None]])
    assert (matrix.tolist(), words) == ([[0, 1], [1, -1]], ("yes", "no"))
    assert landis_koch(-0.1) == "poor"

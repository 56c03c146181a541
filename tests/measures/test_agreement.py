"""Agreement of people, against the libraries that compute it."""

import numpy as np
import pytest

from gnomon.measures.agreement import (
    best_mapping,
    cohen_kappa,
    disagreement,
    fleiss,
    landis_koch,
    majority,
    mean_cohen_kappa,
    nominal_alpha,
    vote_counts,
)
from gnomon.measures.units import Units


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


def test_what_chance_alone_explains_has_no_kappa():
    same, units = np.array([[1, 1], [1, 1]]), Units(np.arange(2)[:, None])
    assert np.isnan(cohen_kappa([1, 1], [1, 1]))
    assert np.isnan(fleiss(vote_counts(same), units).value)
    assert np.isnan(nominal_alpha(vote_counts(same), units).value)
    assert np.isnan(nominal_alpha(vote_counts(np.array([[1, -1], [-1, 0]])), units).value)
    assert np.isnan(cohen_kappa([-1, 0], [0, -1]))


def test_a_majority_needs_more_than_the_threshold_and_no_tie():
    votes = [[0, 0, 1], [0, 1, -1], [1, 1, 1], [-1, -1, -1], [0, 1, 2]]
    assert majority(votes).tolist() == [0, -1, 1, -1, -1]
    assert majority(votes, 2 / 3).tolist() == [-1, -1, 1, -1, -1]
    assert majority(votes, 2 / 3, strict=False).tolist() == [0, -1, 1, -1, -1]


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


def test_strength_has_a_word():
    assert landis_koch(-0.1) == "poor"

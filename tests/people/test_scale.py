"""Five points as three labels: judges whose own way to use the scale is known."""

import numpy as np
import pytest

from gnomon.people.agreement import in_words, mapped
from gnomon.people.validation import validated
from tests.people.voting import votes_of

LABELS = ("entailment", "neutral", "contradiction")
LOW_TO_HIGH = {"contradiction": 0, "neutral": 1, "entailment": 2}
# How three judges use the scale: the bold one needs little to be sure, the careful one much.
OWN = {"p0": (0, 0, 1, 2, 2), "p1": (0, 1, 1, 1, 2), "p2": (0, 0, 0, 1, 2)}


def judged(rng, items=240, slips=0.0):
    """The truth of each item, from 0 (contradiction) to 2, and a point of each judge."""
    truth = rng.integers(0, 3, items)
    points = np.empty((items, len(OWN)), dtype=np.int64)
    for person, reading in enumerate(OWN.values()):
        for row, label in enumerate(truth):
            if rng.random() < slips:
                label = rng.integers(0, 3)
            fitting = [point for point, read in enumerate(reading) if read == label]
            points[row, person] = rng.choice(fitting)
    return truth, points


def votes_with(points):
    """As the page logs them: the label by one reading for all, and the point."""
    plain = np.array([2, 2, 1, 0, 0])  # codes into LABELS
    return votes_of(plain[points], LABELS, points=points)


def test_each_judges_own_reading_is_found_and_all_agree_by_it(rng):
    truth, points = judged(rng)
    votes, readings = mapped(votes_with(points))
    assert readings.kappa == pytest.approx(1.0)
    assert readings.people == {name: in_words(reading) for name, reading in OWN.items()}
    labels = [LOW_TO_HIGH[LABELS[code]] for code in votes.said[:, 0]]
    assert labels == truth.tolist()


def test_the_majority_by_the_best_reading_is_the_truth_where_judges_slip(rng):
    truth, points = judged(rng, items=600, slips=0.1)
    votes, readings = mapped(votes_with(points))
    assert readings.people == {name: in_words(reading) for name, reading in OWN.items()}
    assert 0.75 < readings.kappa < 0.95
    kept = validated(votes, "majority")
    labels = np.array([LOW_TO_HIGH[label] for label in LABELS])[kept.label]
    assert (labels == truth)[kept.kept].mean() > 0.97
    assert kept.kept.mean() > 0.95


def test_every_cut_that_all_share_is_tried_and_none_is_better_than_each_ones_own(rng):
    _, points = judged(rng, slips=0.1)
    _, readings = mapped(votes_with(points))
    assert len(readings.shared) == 6
    assert len({cut.words for cut in readings.shared}) == 6
    best = max(cut.kappa for cut in readings.shared)
    assert readings.shared[0].kappa == best
    assert readings.kappa > best


def test_a_judgement_that_was_not_made_stays_out(rng):
    _, points = judged(rng)
    points[0, 0] = -1
    votes, readings = mapped(votes_of(np.full(points.shape, -1), LABELS, points=points))
    assert votes.said[0, votes.people.index("p0")] == -1
    assert readings.kappa == pytest.approx(1.0)


def test_votes_without_points_are_left_alone():
    votes = votes_of([[0, 1]], LABELS)
    assert mapped(votes) == (votes, None)


@pytest.mark.parametrize("judges", [1, 2, 3])
def test_of_cuts_that_are_equally_good_the_even_one_is_taken(rng, judges):
    truth = rng.integers(0, 3, 60)
    points = np.repeat(2 * truth[:, None], judges, axis=1)  # each says 1, 3 or 5, and all alike
    votes, readings = mapped(votes_with(points))
    assert set(readings.people.values()) == {"1 2 | 3 | 4 5"}
    assert [LOW_TO_HIGH[LABELS[code]] for code in votes.said[:, 0]] == truth.tolist()


def test_a_single_judge_has_no_kappa():
    _, readings = mapped(votes_with(np.array([[0], [2], [4]])))
    assert readings.kappa is None
    assert {cut.kappa for cut in readings.shared} == {None}
    assert readings.shared[0].words == "1 2 | 3 | 4 5"


def test_a_kappa_of_nought_is_listed_before_none_at_all():
    said = [[3, 3], [3, 4], [4, 3], [4, 4]]  # as alike as by chance, at one end of the scale
    _, readings = mapped(votes_with(np.array(said)))
    assert [cut.kappa for cut in readings.shared] == [0.0, 0.0, 0.0, None, None, None]

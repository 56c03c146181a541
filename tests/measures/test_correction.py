"""Scores corrected for the mistakes of the judge that gave them."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.measures.correction import Corrected, Trial, corrected, recognised_alike, trial_in


def trial(sensitivity, specificity, size=1000):
    said, other = round(size * sensitivity), size - round(size * specificity)
    return Trial(size, said, size, other, size)


def test_a_perfect_judge_corrects_nothing():
    found = corrected(0.3, 10_000, trial(1.0, 1.0, 10_000))
    assert found.value == pytest.approx(0.3)
    assert 0.285 < found.low < 0.3 < found.high < 0.315


@given(st.floats(0, 1), st.floats(0.5, 1), st.floats(0.7, 1))
def test_the_correction_undoes_what_the_judge_does(right, sensitivity, specificity):
    known = trial(sensitivity, specificity)
    said = right * known.sensitivity + (1 - right) * (1 - known.specificity)
    found = corrected(said, 500, known)
    assert found.value == pytest.approx(right, abs=1e-9)
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_a_judge_that_says_so_whatever_is_shown_tells_nothing():
    nothing = corrected(0.5, 100, trial(0.5, 0.5))
    assert isnan(nothing.value)
    assert (nothing.low, nothing.high) == (0, 1)
    assert isnan(corrected(0.5, 100, Trial(0, 0, 0, 0, 0)).value)
    assert isnan(corrected(0.5, 0, trial(0.9, 0.9)).value)


def test_a_small_trial_and_shared_objects_widen_the_interval():
    def width(found: Corrected) -> float:
        return found.high - found.low

    plain = corrected(0.5, 400, trial(0.8, 0.9, 400))
    assert width(corrected(0.5, 400, trial(0.8, 0.9, 40))) > width(plain)
    assert width(corrected(0.5, 400, trial(0.8, 0.9, 400), error=0.05)) > width(plain)


@pytest.mark.parametrize("right", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize(
    ("sensitivity", "specificity"), [(0.05, 0.975), (0.22, 0.97), (0.6, 0.9), (0.9, 0.95)]
)
@pytest.mark.parametrize(("pictures", "tried"), [(150, 60), (480, 120)])
def test_the_interval_holds_the_truth_in_at_least_93_of_100_studies(
    right, sensitivity, specificity, pictures, tried
):
    draw = np.random.default_rng(11)
    seen = right * sensitivity + (1 - right) * (1 - specificity)
    held = 0
    for _ in range(500):
        said_shown = int(draw.binomial(tried, sensitivity))
        said_other = int(draw.binomial(tried, 1 - specificity))
        known = Trial(tried, said_shown, tried, said_other, tried)
        found = corrected(draw.binomial(pictures, seen) / pictures, pictures, known)
        held += found.low <= right <= found.high
    assert held / 500 >= 0.93


def test_coverage_counts_what_was_not_abstained_from():
    assert Trial(10, 4, 10, 1, 9).coverage == 0.45
    assert Trial(10, 4, 10, 1, 9).sensitivity == 0.4
    assert Trial(10, 4, 10, 1, 9).specificity == 0.9


def test_a_trial_is_found_in_the_description_of_a_model_and_nothing_is_made_of_another():
    known = Trial(20, 10, 20, 1, 25)
    assert trial_in({"judge": {}, "trial": known._asdict()}) == known
    assert trial_in({"trial": {"shown": "many"}}) is None
    assert trial_in({"trial": 3}) is None
    assert trial_in({}) is None


def test_a_trial_that_does_not_fit_the_pictures_gives_no_figure():
    """It says so of 7 in 20 at most, but has said so of 63 in 100."""
    found = corrected(0.63, 65, Trial(20, 7, 20, 0, 7))
    assert not found.fits
    assert all(map(isnan, found[:3]))
    assert corrected(0.4, 65, Trial(20, 7, 20, 0, 7)).fits


def test_a_judge_that_decides_far_more_often_than_in_its_trial_does_not_fit():
    harder = Trial(20, 7, 20, 0, 10, 8)  # decided 8 of 20 that show it, 2 of 20 that do not
    assert not recognised_alike(0.9, 100, harder)
    assert recognised_alike(0.3, 100, harder)  # between the two
    assert recognised_alike(0.45, 100, harder)  # not far beyond
    assert not recognised_alike(0.0, 400, Trial(20, 18, 20, 1, 38, 19))
    assert recognised_alike(0.9, 100, harder._replace(recognised_shown=None))  # not counted

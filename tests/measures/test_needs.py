"""What measures say of themselves: what they need, which way is better, twins and least groups."""

import pytest

from gnomon.measures.chance import unmet
from gnomon.measures.scoring import score
from gnomon.registry import MEASURES, measure

from .conftest import make

ARGUMENTS = {
    "pattern_accuracy": "@0.9",
    "within": "@0.25",
    "typical_f1": "@code",
    "same_choice": "@colour",
    "way_agreement": "@converse",
    "way_agreement_and_right": "@converse",
}
EVERY = [measure(name + ARGUMENTS.get(name, "")) for name in MEASURES]
BARE = make(["a", "b"] * 10, ["a", "b"] * 10, tags=[{"colour": "red"}] * 20)


def test_every_measure_is_looked_at():
    assert len(EVERY) == len(MEASURES) > 20


@pytest.mark.parametrize("each", [m for m in EVERY if m.needs], ids=lambda each: each.name)
def test_a_figure_without_what_it_needs_is_undefined_rather_than_zero(each):
    assert unmet(each, BARE) in each.needs
    found = score(BARE, each)
    assert (found.value, found.low, found.high, found.n) == (None, None, None, 0)


@pytest.mark.parametrize("each", [m for m in EVERY if not m.needs], ids=lambda each: each.name)
def test_a_measure_that_needs_nothing_is_defined_on_any_answers(each):
    assert unmet(each, BARE) is None
    assert score(BARE, each).value is not None


def test_scores_and_groups_meet_the_needs_of_measures_of_them():
    some = make(["a", "b"], ["a", "b"], groups=["g", "g"], scores=[[0.9, 0.1], [0.2, 0.8]])
    assert unmet(measure("ece"), some) is None
    assert unmet(measure("group_agreement"), some) is None
    assert unmet(measure("symmetry"), some) == "laws"


def test_a_measure_is_summed_up_in_one_place():
    plain = [each for each in EVERY if "@" not in each.name]
    assert {each.name: each.summary for each in plain} == {
        name: entry.summary for name, entry in MEASURES.items() if name not in ARGUMENTS
    }
    assert all(each.summary for each in EVERY)


def test_only_errors_are_better_if_lower():
    errors = {"ece", "brier", "absolute_error", "log_error", "point_distance", "cue_gap"}
    assert {each.name for each in EVERY if each.better == "lower"} == errors


def test_a_twin_is_a_measure_and_has_none_itself():
    twins = [each.twin for each in EVERY if each.twin]
    assert len(twins) == 8
    assert not any(measure(name).twin for name in twins)


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("pattern_accuracy@0.5", 10),
        ("pattern_accuracy@0.9", 10),
        ("pattern_accuracy@0.95", 20),
        ("pattern_accuracy@0.99", 100),
        ("pattern_accuracy@1", 10),
        ("without_partial_credit", 10),
        ("accuracy", 0),
        ("pattern_accuracy_auc", 0),
    ],
)
def test_measures_of_whole_groups_say_how_many_items_a_group_needs(name, least):
    assert measure(name).least_group == least

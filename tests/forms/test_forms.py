"""How good written answers are: marks against formulas written out anew, and what a guess gets."""

from __future__ import annotations

from itertools import chain, combinations, permutations
from math import isclose, log10
from random import Random

import numpy as np
import pytest

from gnomon.forms import ANSWER_FORMS, Asked, credit, gold_in_words, is_right, is_written
from gnomon.forms.regions import region_of, write_mask
from gnomon.measures.scoring import score_table
from gnomon.measures.table import Table
from gnomon.records import Answer, Item, problem


def item(form, gold, choices=(), **fields):
    return Item(id="1", form=form, text="?", gold=gold, choices=choices, **fields)


def marks(form, gold, said, choices=()):
    return ANSWER_FORMS[form].marks(choices, gold, said)


def published_accuracy(said: float, gold: float) -> float:
    """VSI-Bench's formula as the paper prints it, in whole hundredths."""
    met = 0
    for hundredths in range(50, 100, 5):
        met += abs(said - gold) / gold < 1 - hundredths / 100
    return met / 10


def test_mean_relative_accuracy_is_the_published_formula_on_ten_thousand_pairs():
    draw = Random(0)
    rows = []
    expected = []
    for number in range(10_000):
        gold = draw.choice([draw.uniform(0.01, 10), draw.uniform(1, 1000), draw.randint(1, 20)])
        said = gold * draw.choice([1.0, draw.uniform(0.4, 1.6), draw.uniform(0, 3)])
        said = float(f"{said:.10g}")
        gold = float(f"{gold:.10g}")
        asked = Item(id=str(number), form="number", text="?", gold=(f"{gold:.10g} m",))
        rows.append((asked, Answer(item=str(number), choice=f"{said:.10g} m")))
        expected.append(published_accuracy(said, gold))
    table = Table.of(rows)
    assert table.marks.value["relative_accuracy"] == pytest.approx(expected, abs=1e-12)
    (score,) = score_table(table, ["mean_relative_accuracy"])
    assert score.value == pytest.approx(float(np.mean(expected)))
    assert score.low < score.value < score.high


def test_a_number_is_right_within_its_range_or_near_a_single_value():
    height = item("number", ("190 to 220 cm",))
    assert is_right(height, "2 m")
    assert is_right(height, "190 cm")
    assert not is_right(height, "189 cm")
    assert is_right(item("number", ("2 m",)), "2.2 m")
    assert not is_right(item("number", ("2 m",)), "2.21 m")
    assert not is_right(item("number", ("3",)), "3.1"), "a count is exact"
    assert is_right(item("number", ("3", "5")), "5"), "several are right"
    assert not is_right(height, "2 kg")
    assert not is_right(height, None)


def test_errors_of_numbers_are_absolute_and_in_powers_of_ten():
    found = marks("number", ("2 m",), "20 m")
    assert found["absolute_error"] == 18
    assert found["log_error"] == pytest.approx(1)
    below = marks("number", ("190 to 220 cm",), "95 cm")
    assert below["log_error"] == pytest.approx(log10(2)), "from the nearer end"
    assert np.isnan(marks("number", ("2 m",), None)["log_error"])


def test_sets_have_jaccard_and_f1():
    found = marks("set", ("a", "b"), "a | c", ("a", "b", "c"))
    assert found == {"right": 0.0, "jaccard": 1 / 3, "set_f1": 0.5}
    assert marks("set", ("a", "b"), "a | b", ("a", "b", "c"))["right"] == 1


@pytest.mark.parametrize("right", [1, 2, 4])
def test_what_a_random_set_gets_is_the_mean_over_all_sets(right):
    choices = ("a", "b", "c", "d")
    gold = choices[:right]
    subsets = list(chain.from_iterable(combinations(choices, size) for size in range(1, 5)))
    (guess,) = ANSWER_FORMS["set"].guesses([Asked(choices, gold)])
    for name, value in guess.items():
        each = [marks("set", gold, " | ".join(subset), choices)[name] for subset in subsets]
        assert isclose(value, np.mean(each))


def test_orders_have_kendall():
    gold = ("a", "b", "c")
    assert marks("order", gold, "a | b | c", gold)["kendall"] == 1
    assert marks("order", gold, "c | b | a", gold)["kendall"] == -1
    assert marks("order", gold, "a | c | b", gold)["kendall"] == pytest.approx(1 / 3)
    every = [marks("order", gold, " | ".join(each), gold) for each in permutations(gold)]
    (guess,) = ANSWER_FORMS["order"].guesses([Asked(gold, gold)])
    assert guess["right"] == pytest.approx(np.mean([each["right"] for each in every]))
    assert guess["kendall"] == pytest.approx(np.mean([each["kendall"] for each in every]), abs=1e-9)


def test_points_are_inside_a_box_a_polygon_a_mask_or_near_a_point():
    assert credit(item("point", ("box 10 20 30 40 in 100x100",)), "(15, 25)") == 1
    assert credit(item("point", ("box 10 20 30 40 in 100x100",)), "(15, 25) (50, 50)") == 0.5
    triangle = ("polygon 0 0 100 0 0 100 in 100x100",)
    assert credit(item("point", triangle), "(20, 20)") == 1
    assert credit(item("point", triangle), "(80, 80)") == 0
    assert credit(item("point", ("point 50 50 in 100x100",)), "(53, 53)") == 1
    away = marks("point", ("box 0 0 10 100 in 100x100",), "(40, 50)")["point_distance"]
    assert away == pytest.approx(30 / 100 / 2**0.5)


def test_a_mask_is_its_runs_and_comes_back():
    mask = np.random.default_rng(0).random((7, 11)) > 0.5
    region = region_of(write_mask(mask))
    assert (region.mask == mask).all()
    assert region.share == pytest.approx(mask.mean())
    x, y = region.middle
    assert region.holds(x, y)
    outside = np.argwhere(~mask)[0]
    assert region.distance(outside[1] + 0.5, outside[0] + 0.5) > 0


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (item("number", ("tall",)), "not a number"),
        (item("number", ("2 m", "3 kg")), "several kinds"),
        (item("set", ("x",), ("a", "b")), "one or more of the choices"),
        (item("set", ("a",), ("a", "b | c")), "bar"),
        (item("order", ("a",), ("a", "b")), "all choices"),
        (item("point", ("box 1 2 in 10x10",)), "box, polygon, point or mask"),
        (item("point", (), ("a", "b")), "no choices"),
    ],
)
def test_an_item_that_cannot_be_judged_is_refused(asked, told):
    assert told in problem(asked)


def test_numbers_with_choices_can_be_scored_and_others_are_written():
    assert is_written(item("number", ("2 m",)))
    assert not is_written(item("number", ("2 m",), ("1 m", "2 m")))
    assert is_written(item("set", ("a",), ("a", "b")))
    assert not is_written(item("choice", ("a",), ("a", "b")))


def test_people_read_the_right_answer_in_words():
    assert gold_in_words(item("order", ("b", "a"), ("a", "b"))) == "b > a"
    assert gold_in_words(item("set", ("a", "b"), ("a", "b"))) == "a and b"
    assert "50.0 % of the picture" in gold_in_words(item("point", ("mask 2x1 1 1",)))


def test_a_table_of_all_forms_has_the_measures_of_each_with_chance():
    rows = [
        (item("number", ("2 m",)), "2 m"),
        (item("set", ("a",), ("a", "b")), "a | b"),
        (item("order", ("a", "b"), ("a", "b")), "a | b"),
        (item("point", ("box 0 0 50 100 in 100x100",)), "(10, 10)"),
        (item("choice", ("a",), ("a", "b")), "a"),
    ]
    table = Table.of([(asked, Answer(item="1", choice=said)) for asked, said in rows])
    assert table.right.tolist() == [True, False, True, True, True]
    names = ["accuracy", "jaccard", "kendall", "point_distance", "within@0.1"]
    found = {score.measure: score for score in score_table(table, names)}
    assert found["accuracy"].value == pytest.approx(0.8)
    assert found["jaccard"].chance == pytest.approx((1 + 0.5 + 0) / 3)
    assert found["point_distance"].value == 0
    assert found["within@0.1"].value == 1


def test_further_samples_of_a_written_answer_count_by_their_share():
    asked = item("number", ("2 m",))
    rows = [(asked, Answer(item="1", sample=number, choice=f"{number} m")) for number in range(4)]
    assert Table.of(rows).credit.tolist() == [0.25]

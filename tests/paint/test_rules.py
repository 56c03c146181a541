"""Rules on two boxes: each against its published definition, and the laws that they must follow."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.errors import GnomonError
from gnomon.paint.judges.boxes import RULES, in_pixels, rule_of
from gnomon.vision.detection import Box

CONVERSE = {"left": "right", "right": "left", "above": "below", "below": "above"}


@st.composite
def boxes(draw):
    left, top = draw(st.integers(0, 400)), draw(st.integers(0, 400))
    width, height = draw(st.integers(1, 112)), draw(st.integers(1, 112))
    return Box(left, top, left + width, top + height)


def centre(box):
    return (box.left + box.right) / 2, (box.top + box.bottom) / 2


def holding(rule, a, b):
    return {relation for relation, size in RULES[rule].relations(a, b).items() if size > 0}


def test_above_is_the_smaller_y_and_the_released_code_has_it_the_other_way_round():
    lamp, table = Box(90, 10, 110, 40), Box(50, 100, 150, 160)
    assert holding("paper", lamp, table) == {"above"}
    assert holding("released", lamp, table) == {"below"}
    assert holding("released", table, lamp) == {"above"}


def test_inside_is_within_the_box_and_comes_before_every_direction():
    bag, thing = Box(0, 0, 100, 100), Box(10, 5, 20, 15)
    assert holding("paper", thing, bag) == {"inside"}
    assert holding("paper", bag, bag) == {"inside"}
    assert holding("paper", bag, thing) != {"inside"}


def test_the_paper_cannot_tell_boxes_with_one_middle():
    tall, wide = Box(40, 0, 60, 100), Box(0, 40, 100, 60)
    assert RULES["paper"].relations(tall, wide) == {}


@given(boxes(), boxes())
def test_the_released_rule_is_the_papers_upside_down(a, b):
    released = {
        CONVERSE.get(r, r) if r in ("above", "below") else r for r in holding("released", a, b)
    }
    assert released == holding("paper", a, b)


@given(boxes(), boxes())
def test_visor_takes_the_signs(a, b):
    (ax, ay), (bx, by) = centre(a), centre(b)
    expected = set()
    if ax != bx:
        expected |= {"left" if ax < bx else "right", "beside"}
    if ay != by:
        expected.add("above" if ay < by else "below")
    assert holding("visor", a, b) == expected


@given(boxes(), boxes())
def test_geneval_is_its_published_formula(a, b):
    (ax, ay), (bx, by) = centre(a), centre(b)
    offset = [ax - bx, ay - by]
    sizes = [a.width + b.width, a.height + b.height]
    revised = [
        max(abs(o) - 0.1 * s, 0) * math.copysign(1, o) if o else 0.0
        for o, s in zip(offset, sizes, strict=True)
    ]
    expected = set()
    if max(abs(r) for r in revised) >= 1e-3:
        dx, dy = (r / math.hypot(*offset) for r in revised)
        if dx < -0.5:
            expected.add("left")
        if dx > 0.5:
            expected.add("right")
        if dy < -0.5:
            expected.add("above")
        if dy > 0.5:
            expected.add("below")
    assert holding("geneval", a, b) - {"beside"} == expected


@given(boxes(), boxes())
def test_compbench_is_its_published_formula(a, b):
    (ax, ay), (bx, by) = centre(a), centre(b)
    x, y = bx - ax, by - ay
    across = max(0, min(a.right, b.right) - max(a.left, b.left))
    up = max(0, min(a.bottom, b.bottom) - max(a.top, b.top))
    iou = across * up / (a.area + b.area - across * up)
    soft = 1 if iou < 0.1 else 0.1 / iou
    expected = {}
    if abs(x) > abs(y):
        expected["right" if x < 0 else "left"] = soft
    if abs(y) > abs(x):
        expected["below" if y < 0 else "above"] = soft
    near = 1 if abs(x) < 150 or abs(y) < 150 else 150 / max(abs(x), abs(y))
    found = RULES["compbench"].relations(a, b)
    assert found == pytest.approx({**expected, "beside": near})


@given(boxes(), boxes())
def test_heim_compares_the_top_left_corners(a, b):
    x, y = a.left - b.left, a.top - b.top
    if abs(x) > abs(y):
        expected = "left" if x < 0 else "right"
    else:
        expected = "above" if y < 0 else "below"
    assert expected in RULES["heim"].relations(a, b)
    assert RULES["heim"].single


@pytest.mark.parametrize("rule", ["paper", "released", "visor", "geneval", "compbench"])
@given(a=boxes(), b=boxes())
def test_what_holds_of_a_to_b_holds_the_other_way_round_of_b_to_a(rule, a, b):
    forth, back = holding(rule, a, b), holding(rule, b, a)
    if "inside" in forth | back:
        return  # one may be inside, and the other beside or above
    assert {CONVERSE.get(relation, relation) for relation in forth} == back


@pytest.mark.parametrize("rule", ["paper", "released", "visor", "geneval", "compbench"])
@given(a=boxes(), b=boxes())
def test_a_mirror_swaps_left_and_right_and_nothing_else(rule, a, b):
    def mirrored(box):
        return Box(1000 - box.right, box.top, 1000 - box.left, box.bottom)

    swap = {"left": "right", "right": "left"}
    expected = {swap.get(relation, relation) for relation in holding(rule, a, b)}
    assert holding(rule, mirrored(a), mirrored(b)) == expected


def test_shares_of_a_wide_picture_are_judged_by_its_pixels():
    a, b = Box(0.1, 0.1, 0.2, 0.2), Box(0.5, 0.6, 0.6, 0.7)
    square = [in_pixels(box, 500, 500) for box in (a, b)]
    wide = [in_pixels(box, 1000, 500) for box in (a, b)]
    assert holding("paper", *square) == {"above"}
    assert holding("paper", *wide) == {"beside", "left"}


def test_an_unknown_rule_is_refused_with_the_nearest_name():
    with pytest.raises(GnomonError, match="geneval"):
        rule_of("genevl")

"""Rules on boxes and distances say what geometry says, and no more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.benchmarks.vsr.quads import make_quads, wanted_by
from gnomon.lexicon.relations import lexicon
from gnomon.scenes.pictures import survey
from gnomon.vision.detection import RULES, Box, PlacedBox, distance_of, margin

BOXES = {
    word: relation.box
    for relation in lexicon().relations.values()
    for word in relation.words
    if relation.box
}


@st.composite
def places(draw) -> PlacedBox:
    left, top = draw(st.floats(0, 0.9)), draw(st.floats(0, 0.9))
    width, height = draw(st.floats(0.02, 1 - left)), draw(st.floats(0.02, 1 - top))
    distance = draw(st.none() | st.floats(0.1, 50))
    return PlacedBox(Box(left, top, left + width, top + height), distance)


def flipped(place: PlacedBox) -> PlacedBox:
    box = place.box
    return PlacedBox(Box(1 - box.right, box.top, 1 - box.left, box.bottom), place.distance)


@given(places(), places())
def test_converse_relations_agree(a, b):
    for one, other in [
        ("left of", "right of"),
        ("above", "below"),
        ("in front of", "behind"),
        ("inside", "contains"),
    ]:
        assert margin(one, a, b) == margin(other, b, a)


@given(places(), places())
def test_symmetric_and_opposite_relations_agree(a, b):
    for relation in ("near", "touching", "next to"):
        assert margin(relation, a, b) == pytest.approx(margin(relation, b, a))
    assert margin("far from", a, b) == -margin("near", a, b)
    assert margin("outside", a, b) == -margin("inside", a, b)
    assert margin("left of", a, b) == pytest.approx(-margin("left of", b, a))


@given(places(), places())
def test_in_a_mirror_left_and_right_change_places_and_nothing_else_does(a, b):
    for relation in BOXES:
        expected = margin(relation, a, b)
        if "left" in relation or "right" in relation:
            expected = -expected
        assert margin(relation, flipped(a), flipped(b)) == pytest.approx(expected, abs=1e-9)


def test_every_relation_names_a_rule_and_every_rule_is_used():
    used = {stated.split()[-1] for stated in BOXES.values()}
    assert used == set(RULES)
    assert margin("facing", PlacedBox(Box(0, 0, 1, 1)), PlacedBox(Box(0, 0, 1, 1))) is None


def test_without_distances_what_stands_lower_is_nearer():
    low, high = PlacedBox(Box(0.1, 0.5, 0.2, 0.9)), PlacedBox(Box(0.5, 0.2, 0.6, 0.6))
    assert margin("in front of", low, high) > 0 > margin("behind", low, high)


def test_with_true_boxes_and_distances_the_rules_tell_what_is_true_of_scenes():
    """What the rules get where detector and depth make no mistake: a bound for the eyes."""
    right = asked = 0
    relations = "left of,right of,above,below,in front of,behind,far from,near,on,inside,outside"
    for quad in make_quads(_wanted(relations)):
        for picture, scene in enumerate(quad.scenes):
            seen = survey(scene, 96)
            subject, ground = (_place(seen, ids[0]) for ids in quad.roles)
            for caption, relation in enumerate(quad.relations):
                found = margin(relation, subject, ground)
                if found is not None:
                    asked += 1
                    right += (found > 0) == quad.is_true(caption, picture)
    assert asked >= 30
    assert right / asked >= 0.85


def _wanted(relations: str):
    return wanted_by(
        seed=11,
        quads=10,
        frames="clear",
        relations=relations,
        grades="ab",
        distractors=0,
        visible=0.6,
        least=0.4,
        distance=1.0,
    )


def _place(seen, id: str) -> PlacedBox:
    side = seen.depth.shape[0]
    box = Box(*(edge / side for edge in seen.boxes[id]))
    return PlacedBox(box, distance_of(box, seen.depth))

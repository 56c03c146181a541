"""Contrasts: opposed relations, the things that can show them, and scenes that do."""

import random
from collections import Counter

import pytest

from gnomon.lexicon.relations import OpposedPair, lexicon, thing_words
from gnomon.scenes.bodies import Body, BodyPair, angle, minus
from gnomon.scenes.contrasts import NEEDS, contrasted, pairs_for, stages_for, truth_in
from gnomon.scenes.layouts import ContrastOptions
from gnomon.scenes.pictures import survey
from gnomon.scenes.relations import relations
from gnomon.scenes.things import things

CONTRASTS = lexicon().contrasts
SMALL = ContrastOptions(distractors=1, least=0.001)
ASKED = {name for contrast in CONTRASTS for name in (contrast.first, contrast.second)}


def named(first, second):
    return next(c for c in CONTRASTS if (c.first, c.second) == (first, second))


def made(first, second, subject, ground, seed=0, dials=None):
    """Two scenes; a seed that finds none is followed by others."""
    for attempt in range(20):
        rng = random.Random(f"{seed}/{attempt}")
        found = contrasted(rng, named(first, second), subject, ground, dials or ContrastOptions())
        if found is not None:
            return found
    raise AssertionError("no scenes were found")


def test_the_file_names_relations_needs_and_things_that_exist():
    file = thing_words()
    for contrast in (*lexicon().contrasts, *lexicon().probes):
        assert {contrast.first, contrast.second} <= set(relations())
        assert set(contrast.needs) <= set(NEEDS)
    assert {*file.fronts, *file.faces, *file.plurals} <= set(things())
    assert all(things()[name].front for name in file.fronts | file.faces)


def test_nearly_sixty_relations_are_asked_those_of_good_grades_about_as_often_as_in_vsr():
    good = [name for name in ASKED if relations()[name].grade in "ab"]
    assert (len(ASKED), len(good)) == (59, 44)
    shares = Counter()
    for contrast in CONTRASTS:
        if contrast.grade in "ab":
            shares.update({contrast.first: contrast.share, contrast.second: contrast.share})
    of_all = shares.total()
    assert 0.07 <= shares["touching"] / of_all <= 0.12  # 12.1 % in VSR
    assert (shares["far from"] + shares["far away from"]) / of_all <= 0.055  # 3.4 % in VSR


@pytest.mark.parametrize("contrast", CONTRASTS, ids=lambda c: f"{c.first}-{c.second}")
def test_every_contrast_has_many_pairs_of_things(contrast):
    pairs = pairs_for(contrast)
    assert len(pairs) >= 30
    assert len({name for pair in pairs for name in pair}) >= 8
    for subject, ground in pairs:
        places = {things()[subject].place, things()[ground].place}
        assert places != {"indoors", "outdoors"}


def test_a_stage_has_room_for_either_thing_on_it_and_beneath_it():
    assert "dining table" in stages_for("cat", "teddy bear")
    assert stages_for("cat", "elephant") == []


def test_what_is_near_is_not_on_the_other_thing():
    """People say that a pizza on a chair is on it, not close to it."""
    for seed in range(3):
        found = made("close to", "far away from", "pizza", "chair", seed, SMALL)
        for scene in found.scenes:
            pair = BodyPair(Body(scene.placed("pizza")), Body(scene.placed("chair")), scene)
            assert not pair.rests


def test_who_faces_something_is_not_seen_from_behind():
    for seed in range(3):
        for scene in made("facing", "facing away from", "dog", "tree", seed).scenes:
            sight = minus(scene.viewer.at[:2], scene.viewer.eye[:2])
            assert angle(Body(scene.placed("dog")).front, sight) >= 35


def test_what_is_asked_about_is_seen():
    dials = ContrastOptions(distractors=2, visible=0.8, least=0.01)
    for scene in made("left of", "right of", "dog", "box", dials=dials).scenes:
        seen = survey(scene, 96)
        assert 3 <= len(scene.things) <= 4
        for number, placed in enumerate(scene.things, start=1):
            if placed.id in ("dog", "box"):
                assert seen.visible[placed.id] >= 0.8
                assert (seen.mask == number).mean() >= 0.01


def test_a_farther_viewer_makes_things_smaller():
    shares = []
    for distance in (1.0, 2.0):
        dials = ContrastOptions(distractors=0, distance=distance, least=0.0)
        scene = made("on", "under", "cat", "dining table", dials=dials).scenes[0]
        shares.append((survey(scene, 96).mask > 0).mean())
    assert shares[1] < shares[0] / 2


def test_a_relation_of_one_frame_is_clear_only_if_the_other_frame_says_the_same():
    found = made("ahead of", "at the back of", "person", "dog")
    for scene, word in zip(found.scenes, ("in front of", "behind"), strict=True):
        assert truth_in(scene, found.roles, word) is True


def test_groups_are_around_or_far_as_a_whole():
    found = made("around", "far from", "chair", "dining table", dials=SMALL)
    assert len(found.roles.subjects) == 4
    near, far = found.scenes
    assert truth_in(near, found.roles, "around") is True
    assert truth_in(far, found.roles, "far from") is True
    assert truth_in(far, found.roles, "around") is False


def test_an_impossible_contrast_is_given_up():
    huge = ContrastOptions(least=0.5)
    rng = random.Random(0)
    assert contrasted(rng, OpposedPair("left of", "right of"), "dog", "box", huge) is None

"""Random scenes are plausible, and what is asked for is what is placed."""

from functools import cache

import msgspec
import pytest

from gnomon.errors import UsageError
from gnomon.scenes.pictures import survey
from gnomon.scenes.placing import SceneOptions, Statement, arrange, impossibilities, random_scene
from gnomon.scenes.relations import decide
from gnomon.scenes.scenes import Placed, Scene, Viewer, check_scene
from gnomon.scenes.things import things

VIEWER = Viewer(eye=(0, -4, 1.5), at=(0, 0, 0.4))
SEEDS = range(12)


@cache
def scene_by_seed(seed):
    return random_scene(seed)


def world(*placed):
    return Scene(things=placed, viewer=VIEWER)


@pytest.mark.parametrize("seed", SEEDS)
def test_in_a_random_scene_nothing_floats_or_runs_through_another_thing(seed):
    scene = scene_by_seed(seed)
    check_scene(scene)
    assert len(scene.things) == 4
    assert impossibilities(scene) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_laws_hold_between_all_things_of_a_random_scene(broken_laws, seed):
    scene = scene_by_seed(seed)
    for number, first in enumerate(scene.things):
        for second in scene.things[:number]:
            assert broken_laws(scene, first.id, second.id) == []


def test_the_same_seed_gives_the_same_scene_and_another_seed_another():
    assert random_scene(1) == scene_by_seed(1)
    assert len({scene_by_seed(seed).digest() for seed in SEEDS}) == len(SEEDS)


def test_no_street_furniture_stands_on_a_roof():
    for thing in things().values():
        if thing.top is not None:
            assert not {"street", "building", "vehicle"} & set(thing.top.holds)


def test_the_dials_turn():
    assert len(random_scene(1, SceneOptions(things=7)).things) == 7
    near, far = (
        random_scene(5, SceneOptions(things=2)),
        random_scene(5, SceneOptions(things=2, distance=3)),
    )
    assert (survey(far, 96).mask > 0).sum() < (survey(near, 96).mask > 0).sum()
    clear = random_scene(1, SceneOptions(hidden=0.05))
    assert min(survey(clear, 96).visible.values()) >= 0.95


@pytest.mark.parametrize(
    "dials",
    [
        SceneOptions(things=0),
        SceneOptions(things=500),
        SceneOptions(distance=float("nan")),
        SceneOptions(hidden=-1),
    ],
)
def test_a_dial_out_of_range_is_said(dials):
    with pytest.raises(UsageError):
        random_scene(0, dials)


@pytest.mark.parametrize(
    ("relation", "subject", "ground"),
    [
        ("on", "cup", "dining table"),
        ("in", "apple", "bowl"),
        ("under", "cat", "dining table"),
        ("left of", "dog", "bench"),
        ("behind", "dog", "car"),
        ("facing", "person", "dog"),
        ("facing away from", "cat", "couch"),
        ("far from", "dog", "fire hydrant"),
        ("at the edge of", "cup", "dining table"),
        ("perpendicular to", "car", "bus"),
        ("against", "box", "cabinet"),
    ],
)
def test_what_is_asked_for_is_true_and_can_be(relation, subject, ground):
    scene = arrange({"a": subject, "b": ground}, [Statement("a", relation, "b")])
    assert decide(scene, "a", relation, "b", frame="viewer").truth is True
    assert impossibilities(scene) == []
    assert min(survey(scene, 96).visible.values()) > 0.15


def test_what_cannot_be_is_said():
    with pytest.raises(UsageError, match="No scene was found"):
        arrange({"a": "bus", "b": "cup"}, [Statement("a", "in", "b")])


def test_statements_in_a_circle_are_said():
    circle = [Statement("a", "near", "b"), Statement("b", "near", "a")]
    with pytest.raises(UsageError, match="circle"):
        arrange({"a": "cup", "b": "bowl"}, circle)


def test_what_floats_and_what_runs_through_is_said():
    table = Placed(id="table", thing="dining table", at=(0, 0, 0))
    high = Placed(id="cup", thing="cup", at=(0, 0, 2))
    through = Placed(id="person", thing="person", at=(0, 0, 0))
    assert impossibilities(world(table, high)) == ["cup floats."]
    assert impossibilities(world(table, through)) == ["person and table run through one another."]
    rests = msgspec.structs.replace(high, at=(0, 0, 0.76))
    beneath = Placed(id="cat", thing="cat", at=(0, 0, 0))
    assert impossibilities(world(table, rests, beneath)) == []

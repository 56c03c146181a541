"""A scene is plain data: JSON in and out, a digest, and bounds that are said in one sentence."""

import json

import msgspec
import pytest

from gnomon.errors import DataError, GnomonError
from gnomon.scenes.scenes import Placed, Scene, Viewer, check_scene, from_json, read_scene, to_json

VIEWER = Viewer(eye=(0, -3, 1.5), at=(0, 0, 0.4))
CUP = Placed(id="cup", thing="cup", at=(0, 0, 0.76), turn=30, colour="blue", lacks=("handle",))
TABLE = Placed(id="table", thing="dining table", at=(0, 0, 0))
SCENE = Scene(things=(CUP, TABLE), viewer=VIEWER, links=(("cup", "table"),), look=4)


def with_cup(**change):
    return msgspec.structs.replace(SCENE, things=(msgspec.structs.replace(CUP, **change), TABLE))


def test_json_brings_a_scene_back_as_it_was(tmp_path):
    file = tmp_path / "scene.json"
    file.write_text(to_json(SCENE))
    assert read_scene(file) == from_json(to_json(SCENE)) == SCENE


def test_every_field_counts_for_the_digest():
    others = [with_cup(turn=31), with_cup(colour=""), msgspec.structs.replace(SCENE, look=5)]
    assert len({SCENE.digest(), *(other.digest() for other in others)}) == 4
    assert from_json(to_json(SCENE)).digest() == SCENE.digest()


@pytest.mark.parametrize(
    ("scene", "said"),
    [
        (with_cup(at=(float("nan"), 0, 0)), r"things\[0\].at"),
        (with_cup(at=(0, float("inf"), 0)), r"things\[0\].at"),
        (with_cup(turn=float("nan")), r"things\[0\].turn"),
        (with_cup(scale=0.0), r"things\[0\].scale"),
        (with_cup(scale=float("nan")), r"things\[0\].scale"),
        (with_cup(colour="blurple"), "blurple"),
        (with_cup(lacks=("lid",)), "a cup has no part named 'lid'"),
        (with_cup(id="table"), "used twice"),
        (with_cup(id="a.b"), "full stop"),
        (msgspec.structs.replace(SCENE, things=()), "'things' is empty"),
        (msgspec.structs.replace(SCENE, links=(("cup", "mug"),)), "mug"),
        (msgspec.structs.replace(SCENE, links=(("cup", "cup"),)), "itself"),
        (msgspec.structs.replace(SCENE, viewer=Viewer(eye=(0, 0, 3), at=(0, 0, 0))), "straight"),
        (msgspec.structs.replace(SCENE, viewer=Viewer(eye=(0, -3, -1), at=(0, 0, 0))), "ground"),
        (
            msgspec.structs.replace(SCENE, viewer=Viewer(eye=(0, -3, 1), at=(0, 0, 0), angle=179)),
            "angle",
        ),
    ],
)
def test_a_scene_that_cannot_be_is_one_sentence(scene, said):
    with pytest.raises(DataError, match=said) as caught:
        check_scene(scene)
    assert "\n" not in caught.value.message


def test_an_unknown_thing_is_named_with_the_nearest():
    with pytest.raises(GnomonError, match="Did you mean cup"):
        check_scene(with_cup(thing="cupp"))


def test_ten_thousand_things_are_refused(tmp_path):
    things = [{"id": str(n), "thing": "cup", "at": [n, 0, 0]} for n in range(10_000)]
    file = tmp_path / "many.json"
    file.write_text(json.dumps({"things": things, "viewer": {"eye": [0, -3, 1], "at": [0, 0, 0]}}))
    with pytest.raises(DataError, match=r"many\.json: 'things' has 10,000 entries"):
        read_scene(file)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"things": []}', '{"things": 3, "viewer": 4}', "[" * 100_000, "NaN"]
)
def test_what_is_no_scene_is_said(text):
    with pytest.raises(DataError, match="not a scene"):
        from_json(text)


def test_a_thing_that_is_not_in_the_scene_is_said():
    with pytest.raises(GnomonError, match="no thing in the scene named 'mug'"):
        SCENE.placed("mug")

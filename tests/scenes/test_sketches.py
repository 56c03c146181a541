"""Line drawings agree with the pictures, are sound XML, and carry what their script needs."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.cli import main
from gnomon.scenes.descriptions import scene_of
from gnomon.scenes.pictures import survey
from gnomon.scenes.scenes import Placed, Scene, Viewer
from gnomon.scenes.sketches import SIDE, hull, plan, turnable, turnable_file

SVG = "{http://www.w3.org/2000/svg}"


def polygons(drawn: str) -> list[list[tuple[float, float]]]:
    found = []
    for polygon in ET.fromstring(drawn).iter(f"{SVG}polygon"):
        corners = [corner.split(",") for corner in polygon.get("points", "").split()]
        found.append([(float(x), float(y)) for x, y in corners])
    return found


def one(thing: str, *at: float, id: str = "it", turn: float = 0.0) -> Placed:
    return Placed(id=id, thing=thing, at=(at[0], at[1], at[2]), turn=turn)


VIEWER = Viewer(eye=(0, -3, 1.5), at=(0, 0, 0.3))


def test_the_view_fills_the_same_part_of_the_picture_as_the_ray_caster():
    scene = scene_of("a suitcase left of a dining table", 2)
    left, top, right, bottom = SIDE, SIDE, 0.0, 0.0
    for outline in polygons(turnable(scene)):
        left, right = min(left, *(x for x, _ in outline)), max(right, *(x for x, _ in outline))
        top, bottom = min(top, *(y for _, y in outline)), max(bottom, *(y for _, y in outline))
    rows, columns = np.nonzero(survey(scene, int(SIDE)).mask)
    seen = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    assert np.allclose((left, top, right, bottom), seen, atol=3)


def test_a_plan_shows_left_on_the_left_and_behind_above():
    things = (
        one("cup", 0, 0, 0, id="here"),
        one("cup", -1, 0, 0, id="left"),
        one("cup", 0, 1, 0, id="behind"),
    )
    drawn = plan(Scene(things=things, viewer=VIEWER))
    places = {}
    for name in ET.fromstring(drawn).iter(f"{SVG}text"):
        places[name.text] = (float(name.get("x", "")), float(name.get("y", "")))
    assert places["left"][0] < places["here"][0] - 20
    assert places["behind"][1] < places["here"][1] - 20
    assert abs(places["behind"][0] - places["here"][0]) < 1


@pytest.mark.parametrize("turn", [0.0, 45.0, 180.0])
def test_the_front_of_a_thing_is_the_side_that_is_marked(turn):
    scene = Scene(things=(one("chair", 0, 0, 0, turn=turn),), viewer=VIEWER)
    (outline,) = polygons(plan(scene))
    middle = np.mean(outline, axis=0)
    lines = list(ET.fromstring(plan(scene)).iter(f"{SVG}line"))
    ends = [
        [float(lines[0].get(name, "")) for name in pair] for pair in (("x1", "y1"), ("x2", "y2"))
    ]
    off = np.mean(ends, axis=0) - middle
    looks = np.array((np.sin(np.radians(turn)), np.cos(np.radians(turn))))  # downwards on paper
    assert off @ looks / np.linalg.norm(off) > 0.99


def test_names_that_would_lie_on_each_other_stand_below_each_other():
    things = (one("dining table", 0, 0, 0, id="table"), one("cup", 0, 0, 0.76, id="cup"))
    drawn = plan(Scene(things=things, viewer=VIEWER))
    heights = [float(name.get("y", "")) for name in ET.fromstring(drawn).iter(f"{SVG}text")]
    assert heights[1] - heights[0] >= 12


def test_a_name_of_a_stranger_is_text():
    named = one("cup", 0, 0, 0, id='<script>"&\x07')
    for drawn in (plan, turnable, turnable_file):
        root = ET.fromstring(drawn(Scene(things=(named,), viewer=VIEWER)))
        described = root.find(f"{SVG}desc")
        assert described is not None
        assert described.text == '<script>"&'


def test_the_script_gets_the_points_of_every_part():
    scene = scene_of("a cup on a table", 0)
    root = ET.fromstring(turnable_file(scene))
    about = json.loads(root.get("data-turn", ""))
    assert about["eye"] == pytest.approx(scene.viewer.eye, abs=1e-4)
    assert len(about["shapes"]) == len(polygons(turnable(scene))) > 5
    script = root.find(f"{SVG}script")
    assert script is not None
    assert "data-turn" in str(script.text)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=30))
def test_a_hull_has_all_points_on_one_side(points):
    found = hull(points)
    if len(found) < 3:
        return
    for (ax, ay), (bx, by) in zip(found, found[1:] + found[:1], strict=True):
        assert all((bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0 for x, y in points)


def test_the_command_writes_both_and_says_what_it_cannot_write(capsys, tmp_path):
    say = ["scene", "--say", "a cup on a table"]
    assert main([*say, "-o", str(tmp_path / "view.svg")]) == 0
    assert main([*say, "--plan", "-o", str(tmp_path / "plan.svg")]) == 0
    assert "data-turn" in (tmp_path / "view.svg").read_text()
    assert "1 m" in (tmp_path / "plan.svg").read_text()
    assert main([*say, "--plan", "-o", str(tmp_path / "x.png")]) == 2
    assert main([*say, "-o", str(tmp_path / "x.gif")]) == 2
    assert "Change its ending" in capsys.readouterr().err

"""A scene in words says enough to decide its relations, in other words than theirs."""

import random
import re
from math import cos, radians, sin

import pytest

from gnomon.lexicon.relations import lexicon
from gnomon.scenes.contrasts import contrasted, truth_in
from gnomon.scenes.descriptions import WORDINGS, describe_scene
from gnomon.scenes.layouts import ContrastOptions
from gnomon.scenes.scenes import Placed, Scene, Viewer
from gnomon.scenes.things import thing_named

NORTH = Viewer(eye=(0.0, -10.0, 3.0), at=(0.0, 0.0, 0.0))
NUMBER = r"(-?[\d.]+)"
ASKED = [
    ("left of", "right of", "dog", "suitcase"),
    ("in front of", "behind", "box", "suitcase"),
    ("on", "under", "cat", "dining table"),
    ("in", "next to", "apple", "bowl"),
    ("facing", "facing away from", "dog", "fire hydrant"),
    ("near", "far from", "box", "basket"),
    ("parallel to", "perpendicular to", "fork", "knife"),
    ("above", "below", "cat", "teddy bear"),
]


def read_back(text, wording):
    """The scene that a description describes: names and numbers are all that is taken from it."""
    placed = []
    for line in text.splitlines()[1:]:
        facts = re.search(rf"(front|length) to bearing {NUMBER}", line)
        if facts is None:
            continue
        name, x, y = _place(line, wording)
        low = float(re.search(rf"starts at height {NUMBER}", line)[1]) / 100
        thing = thing_named(re.sub(r" \d+$", "", name))
        turn = 180 - float(facts[2])  # a front to the south has no turn
        if facts[1] == "length":
            turn = 90 - float(facts[2])
            if thing.size[0] < thing.size[1]:
                turn -= 90
        placed.append(Placed(id=name, thing=thing.name, at=(x, y, low), turn=turn % 360))
    return Scene(things=tuple(placed), viewer=NORTH)


def _place(line, wording):
    if wording == 0:
        found = re.match(rf"- (.+?): middle east {NUMBER}, north {NUMBER}", line)
        return found[1], float(found[2]) / 100, float(found[3]) / 100
    if wording == 1:
        found = re.match(
            rf"To reach the middle of the (.+?), go {NUMBER} cm (\w+) and then {NUMBER} cm (\w+)",
            line,
        )
        north = float(found[2]) / 100 * (1 if found[3] == "north" else -1)
        east = float(found[4]) / 100 * (1 if found[5] == "east" else -1)
        return found[1], east, north
    first = re.match(r"The (.+?) comes first", line)
    if first:
        return first[1], 0.0, 0.0
    found = re.match(
        rf"The middle of the (.+?) has a bearing of {NUMBER} .*?, {NUMBER} cm away", line
    )
    way, far = radians(float(found[2])), float(found[3]) / 100
    return found[1], far * sin(way), far * cos(way)


@pytest.mark.parametrize("wording", range(len(WORDINGS)))
@pytest.mark.parametrize(("first", "second", "subject", "ground"), ASKED)
def test_the_words_decide_both_captions(first, second, subject, ground, wording):
    for contrast in lexicon().contrasts:
        if (contrast.first, contrast.second) == (first, second):
            break
    attempts = (random.Random(seed) for seed in range(20))
    tried = (contrasted(rng, contrast, subject, ground, ContrastOptions()) for rng in attempts)
    found = next(made for made in tried if made is not None)
    for scene, true, false in zip(found.scenes, (first, second), (second, first), strict=True):
        text = describe_scene(scene, wording)
        again = read_back(text, wording)
        assert {p.id for p in again.things} == {p.id for p in scene.things}
        assert truth_in(again, found.roles, true) is True
        assert truth_in(again, found.roles, false) is False
        for word in (true, false):
            assert f" {word} the {ground}" not in text


def test_ropes_and_flush_sides_are_said():
    box = Placed(id="box", thing="box", at=(0, 0, 0))
    case = Placed(id="suitcase", thing="suitcase", at=(0.543, 0, 0))
    text = describe_scene(Scene(things=(box, case), viewer=NORTH, links=(("box", "suitcase"),)))
    assert "A rope runs from the box to the suitcase." in text
    assert "The sides of the box and the suitcase meet without a gap." in text


def test_wordings_differ():
    cup = Placed(id="cup", thing="cup", at=(0, 0, 0))
    scene = Scene(things=(cup,), viewer=NORTH)
    assert len({describe_scene(scene, wording) for wording in range(3)}) == 3
    assert describe_scene(scene, 3) == describe_scene(scene, 0)

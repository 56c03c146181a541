"""Things are data: what ships is sound, and what a file gets wrong is said with its field."""

import numpy as np
import pytest

from gnomon.errors import DataError, UsageError
from gnomon.scenes.things import Kind, bounds, palette, read_things, thing_named, things

PLAIN = """
stool:
  size: [0.4, 0.4, 0.5]
  kind: furniture
  place: indoors
  parts:
    - {shape: box, size: [0.4, 0.4, 0.5], at: [0, 0, 0.25], colour: wood}
"""


def written(tmp_path, text):
    file = tmp_path / "own.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_at_least_eighty_things_ship():
    assert len(things()) >= 80


def test_the_concepts_of_coco_are_there():
    wanted = (
        "person bicycle car bus cat dog horse zebra cup bowl banana laptop couch bed toilet vase"
    )
    assert set(wanted.split()) <= set(things())


@pytest.mark.parametrize("name", sorted(things()))
def test_a_thing_stands_centred_on_the_ground(name):
    thing = things()[name]
    for parts in (thing.parts, *(thing.parts_of_look(number) for number in range(3))):
        lower, upper = bounds(parts)
        assert abs(lower[2]) < 1e-9
        assert np.abs(lower + upper)[:2].max() < 2e-3
        assert np.allclose(upper - lower, thing.size, atol=0.002)


def test_a_thing_has_several_looks_with_the_same_named_parts():
    tree, cup = things()["tree"], things()["cup"]
    assert tree.parts_of_look(0) != tree.parts_of_look(1)
    assert tree.parts_of_look(0) == tree.parts_of_look(2)
    for number in range(3):
        assert {part.name for part in cup.parts_of_look(number)} == {"", "handle"}


@pytest.mark.parametrize("name", sorted(things()))
def test_what_a_thing_holds_exists(name):
    known = set(things()) | set(Kind.__args__)
    for room in (things()[name].top, things()[name].cavity):
        assert room is None or set(room.holds) <= known


@pytest.mark.parametrize("name", sorted(things()))
def test_the_room_of_a_thing_lies_within_it(name):
    thing = things()[name]
    for room in (thing.top, thing.cavity):
        if room is not None:
            for side in (0, 1):
                reach = abs(room.at[side]) + room.size[side] / 2
                assert reach <= thing.size[side] / 2 + 0.002


def test_a_mirrored_part_stands_on_both_sides():
    legs = [part for part in things()["dining table"].parts if part.colour == "dark wood"][:4]
    assert sorted((part.centre[0] > 0, part.centre[1] > 0) for part in legs) == [
        (False, False),
        (False, True),
        (True, False),
        (True, True),
    ]


def test_an_own_file_of_things_is_read(tmp_path):
    stool = read_things(written(tmp_path, PLAIN))["stool"]
    assert stool.size == (0.4, 0.4, 0.5)
    assert stool.part_names() == ()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("kind: furniture", "kind: gadget", "kind"),
        ("size: [0.4, 0.4, 0.5]\n", "size: [0.4, 0.4, 0.6]\n", "do not fill 'size'"),
        ("colour: wood", "colour: blurple", "unknown colour 'blurple'"),
        ("shape: box", "shape: blob", "parts[0].shape"),
        ("size: [0.4, 0.4, 0.5], at", "size: [0.4, 0, 0.5], at", "parts[0].size"),
        ("at: [0, 0, 0.25]", "at: [.nan, 0, 0.25]", "parts[0].at"),
        ("colour: wood}", "colour: wood, ring: 1000}", "parts[0].ring"),
        ("place: indoors", "place: indoors\n  long: x", "'long'"),
        ("place: indoors", "place: indoors\n  height: 3", "height"),
        ("place: indoors", "place: indoors\n  beneath: 2", "'beneath'"),
        ("place: indoors", "place: indoors\n  top: {height: 9, size: [1, 1]}", "'top.height'"),
        ("place: indoors", "place: indoors\n  colours: [mauve]", "'mauve'"),
        ("stool:", "- stool:", "own.yaml"),
    ],
)
def test_a_wrong_field_is_named_with_its_file(tmp_path, old, new, said):
    assert old in PLAIN
    file = written(tmp_path, PLAIN.replace(old, new))
    with pytest.raises(DataError) as caught:
        read_things(file)
    assert said in str(caught.value)
    assert "own.yaml" in str(caught.value)


def test_an_unknown_thing_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match="Did you mean giraffe"):
        thing_named("girafe")


def test_colours_are_shares_of_light():
    for colour in palette().values():
        assert all(0 <= share <= 1 for share in colour)

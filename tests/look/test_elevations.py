"""Elevations: heights where a floor is seen, else rows of things that are about as far away."""

from gnomon.look.records import Sighting, mode_named
from gnomon.look.relations import elevation_relations

RIGHT = mode_named("right")


def rows(name, top, bottom, distance=None, **fields):
    """A thing of which no height is known, only where it is in the picture."""
    return Sighting(
        region=name,
        picture="1",
        object=name,
        top=top,
        middle=(top + bottom) / 2,
        bottom=bottom,
        distance=distance,
        **fields,
    )


def high(name, foot, crown, least_foot=None):
    """A thing at a height, in rows of the picture that go with it."""
    least = foot if least_foot is None else least_foot
    heights = {"foot": foot, "crown": crown, "least_foot": least}
    return rows(name, 0.9 - crown / 5, 0.9 - foot / 5, **heights)


def labels(things, mode=RIGHT):
    found = {}
    for one, other, label in elevation_relations(things, mode):
        found[things[one].object, things[other].object] = label
    return found


def test_a_thing_is_above_if_its_lowest_point_is_above_the_others_centre():
    lamp, table, cup = high("lamp", 1.5, 2.0), high("table", 0, 0.7), high("cup", 0.7, 0.8)
    assert labels([lamp, table, cup]) == {
        ("lamp", "table"): ">",
        ("lamp", "cup"): ">",
        ("table", "cup"): "<",
    }


def test_things_on_one_floor_are_level():
    assert labels([high("chair", 0, 0.9), high("table", 0, 0.7)]) == {("chair", "table"): "="}


def test_where_a_hidden_foot_decides_nothing_is_said():
    behind = high("suitcase", 0.4, 0.9, least_foot=0.0)
    assert labels([behind, high("cat", 0, 0.3)]) == {}
    assert labels([behind, high("lamp", 2, 3)]) == {("suitcase", "lamp"): "<"}


def test_heights_that_the_picture_contradicts_say_nothing():
    up, down = high("lamp", 1.5, 2.0), high("mat", 0, 0.1)
    fallen = rows("lamp", 0.9, 0.95, foot=1.5, crown=2.0, least_foot=1.5)
    assert labels([up, down]) == {("lamp", "mat"): ">"}
    assert labels([fallen, down]) == {}


def test_without_a_floor_rows_are_compared_among_things_that_are_about_as_far():
    near, far = rows("cup", 0.6, 0.8, distance=1), rows("clock", 0.1, 0.2, distance=9)
    beside = rows("vase", 0.3, 0.5, distance=1.1)
    assert labels([near, beside, far]) == {("cup", "vase"): "<"}


def test_what_follows_is_added_across_parts_that_overlap():
    low = rows("mat", 0.9, 1.0, distance=1)
    middle = rows("shelf", 0.5, 0.6, distance=5)
    top = rows("clock", 0.1, 0.2, distance=9)
    assert labels([low, middle, top])["mat", "clock"] == "<"
    assert ("mat", "clock") not in labels([low, middle, top], mode_named("right+no_transitive"))


def test_where_chains_lead_both_ways_nothing_follows():
    things = [rows(name, 0.4, 0.6, distance=1) for name in "abc"]
    assert set(labels(things).values()) == {"="}


def test_without_any_depth_nothing_is_said():
    things = [rows("a", 0, 0.1), rows("b", 0.8, 0.9)]
    for mode in ("right", "paper", "code"):
        assert labels(things, mode_named(mode)) == {}


def test_the_code_compares_the_wrong_point():
    """The top of the lower thing against the centre of the upper one."""
    tall, flag = rows("tree", 0.1, 0.9, 1, nearness=0.1), rows("kite", 0.55, 0.6, 1, nearness=0.1)
    assert labels([tall, flag]) == {("tree", "kite"): "="}
    assert labels([tall, flag], mode_named("code")) == {("tree", "kite"): ">"}


def test_the_code_never_compares_across_its_two_bins_except_in_a_bathroom():
    def pair(scene):
        near = rows("sink", 0.6, 0.7, nearness=0.9, scene=scene)
        return [near, rows("lamp", 0.1, 0.2, nearness=0.2, scene=scene)]

    assert labels(pair("kitchen"), mode_named("code")) == {}
    assert labels(pair("bathroom"), mode_named("code")) == {("sink", "lamp"): "<"}


def test_the_nearest_point_is_in_no_bin_of_the_code():
    things = [rows("a", 0.1, 0.2, nearness=1.0), rows("b", 0.6, 0.7, nearness=0.9)]
    assert labels(things, mode_named("code")) == {}

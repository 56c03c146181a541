"""From sightings to findings: votes, thresholds, intervals, typical labels."""

import pytest

from gnomon.look.findings import Least, colour_findings, elevation_findings, size_findings, wilson
from gnomon.look.records import Sighting, mode_named

RIGHT, PAPER, CODE = mode_named("right"), mode_named("paper"), mode_named("code")
ONE = Least(colour=1, pair=1, relation=1)


def seen(picture, object, number=0, **fields):
    return Sighting(
        region=f"{picture}/{object}{number}", picture=str(picture), object=object, **fields
    )


def pictures(*each):
    return lambda: each


def sizes(found, mode=RIGHT, least=ONE):
    return {each.what: each for each in size_findings(found, mode, least)}


def test_a_pair_is_counted_once_a_picture_in_alphabetical_order():
    one = [seen(1, "dog", size=1.0), seen(1, "cat", size=0.1), seen(1, "cat", 1, size=0.2)]
    two = [seen(2, "cat", size=9.0), seen(2, "dog", size=1.0)]
    (pair,) = sizes(pictures(one, two)).values()
    assert pair.objects == ("cat", "dog")
    assert pair.counts == {">": 1, "<": 1}
    assert pair.pictures == 2
    assert pair.typical == ()


def test_a_crowd_in_one_picture_outvotes_others_only_in_the_papers_way():
    crowd = [seen(1, "bus", size=1.0), *(seen(1, "man", n, size=5.0) for n in range(8))]
    others = [[seen(n, "bus", size=9.0), seen(n, "man", size=1.0)] for n in (2, 3, 4)]
    right = sizes(pictures(crowd, *others))["bus|man"]
    paper = sizes(pictures(crowd, *others), PAPER)["bus|man"]
    assert (right.counts, right.typical) == ({">": 3, "<": 1}, (">",))
    assert paper.counts == {">": 3, "<": 8}
    assert paper.typical == ("<",)


def test_seven_tenths_of_the_counts_are_typical():
    def picture(number, larger):
        a, b = (9.0, 1.0) if larger else (1.0, 9.0)
        return [seen(number, "a", size=a), seen(number, "b", size=b)]

    seven = pictures(*(picture(n, n < 7) for n in range(10)))
    six = pictures(*(picture(n, n < 6) for n in range(10)))
    assert sizes(seven)["a|b"].typical == (">",)
    assert sizes(six)["a|b"].typical == ()


def test_pairs_that_are_rare_are_no_findings():
    one = [seen(1, "a", size=1.0), seen(1, "b", size=9.0)]
    assert sizes(pictures(one), least=ONE._replace(pair=2)) == {}


def test_a_finding_names_the_regions_behind_each_label():
    one = [seen(1, "a", size=1.0), seen(1, "b", size=9.0)]
    two = [seen(2, "b", size=1.0), seen(2, "a", size=9.0)]
    found = sizes(pictures(one, two))["a|b"]
    assert found.examples == {"<": ("1/a0", "1/b0"), ">": ("2/a0", "2/b0")}
    assert set(found.regions) == {"1/a0", "1/b0", "2/a0", "2/b0"}


def test_intervals_shrink_with_the_number_of_pictures():
    few = pictures(*([seen(n, "a", size=1.0), seen(n, "b", size=9.0)] for n in range(3)))
    many = pictures(*([seen(n, "a", size=1.0), seen(n, "b", size=9.0)] for n in range(300)))
    assert sizes(few)["a|b"].intervals["<"] == pytest.approx((0.438503, 1.0), abs=1e-6)
    assert sizes(many)["a|b"].intervals["<"][0] > 0.98


def test_wilson_agrees_with_scipy():
    stats = pytest.importorskip("scipy.stats")
    for count, of in ((0, 5), (3, 7), (20, 20), (31, 100)):
        expected = stats.binomtest(count, of).proportion_ci(method="wilson")
        assert wilson(count / of, of) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_a_subtype_counts_for_itself_and_for_its_object():
    one = [seen(1, "chair", subtype="office chair", size=1.0), seen(1, "cup", size=0.01)]
    assert set(sizes(pictures(one))) == {"chair|cup", "cup|office chair"}
    assert set(sizes(pictures(one), mode_named("right+subtypes_dropped"))) == {"chair|cup"}


def floors(scene, number, *things):
    found = []
    for object, foot, crown in things:
        heights = {"foot": foot, "least_foot": foot, "crown": crown}
        rows = {"top": 1 - crown, "middle": 1 - (foot + crown) / 2, "bottom": 1 - foot}
        found.append(seen(number, object, scene=scene, **heights, **rows))
    return found


def test_elevations_are_found_scene_by_scene():
    kitchen = [floors("kitchen", n, ("cup", 0.9, 1.0), ("mat", 0, 0.1)) for n in range(3)]
    bedroom = [floors("bedroom", 9, ("cup", 0.0, 0.1), ("mat", 0, 0.1))]
    found = list(elevation_findings(pictures(*kitchen, *bedroom), RIGHT, ONE))
    assert [(each.scene, each.typical) for each in found] == [
        ("bedroom", ("=",)),
        ("kitchen", (">",)),
    ]
    assert found[1].counts == {">": 3, "=": 0, "<": 0}


def test_in_the_code_a_later_scene_overwrites_an_earlier_one():
    kitchen = [floors("kitchen", n, ("cup", 0.9, 1.0), ("mat", 0, 0.1)) for n in range(3)]
    bedroom = [floors("bedroom", 9, ("cup", 0.0, 0.1), ("mat", 0, 0.1))]
    mode = mode_named("right+scenes_overwritten")
    (found,) = elevation_findings(pictures(*kitchen, *bedroom), mode, ONE)
    assert (found.scene, sum(found.counts.values())) == ("kitchen", 3), "one bedroom is lost"


def test_all_three_elevations_are_typical_of_nothing_in_the_code():
    each = [
        floors("kitchen", 1, ("cup", 0.9, 1.0), ("mat", 0, 0.1)),
        floors("kitchen", 2, ("cup", 0, 0.1), ("mat", 0, 0.1)),
        floors("kitchen", 3, ("cup", 0, 0.1), ("mat", 0.9, 1.0)),
    ]
    (found,) = elevation_findings(pictures(*each), mode_named("right+early_stop"), ONE)
    assert found.typical == ()
    (found,) = elevation_findings(pictures(*each), RIGHT, ONE)
    assert found.typical == (">", "=", "<")


def colours(found, mode=RIGHT, least=ONE):
    return {each.what: each for each in colour_findings(found, mode, least)}


def test_each_picture_has_one_vote_on_a_colour():
    flock = [seen(1, "sheep", n, colours=("white",)) for n in range(9)]
    black = [seen(2, "sheep", colours=("black",))]
    found = colours(pictures(flock, black))["sheep"]
    assert found.counts == {"white": 9, "black": 1}
    assert found.distribution == {"white": 0.5, "black": 0.5}
    assert set(found.typical) == {"white", "black"}
    assert colours(pictures(flock, black), PAPER)["sheep"].typical == ("white",)


def test_a_thing_of_two_colours_gives_half_a_vote_to_each():
    found = colours(pictures([seen(1, "cow", colours=("black", "white"))]))["cow"]
    assert found.distribution == {"white": 0.5, "black": 0.5}


def test_the_code_takes_the_plain_mean_over_subtypes():
    many = [[seen(n, "car", subtype="taxi", colours=("yellow",))] for n in range(9)]
    one = [[seen(9, "car", colours=("red",))]]
    pooled = colours(pictures(*many, *one))
    mean = colours(pictures(*many, *one), CODE)
    assert pooled["car"].distribution["yellow"] == pytest.approx(0.9)
    assert mean["car"].distribution["yellow"] == pytest.approx(0.5)
    assert pooled["taxi"].distribution == {"yellow": 1.0}


def test_things_without_a_colour_are_not_counted():
    assert colours(pictures([seen(1, "glass")])) == {}


def test_thresholds_follow_the_number_of_pictures_and_the_users_wish():
    assert Least.usual(108_077) == (10, 100, 10)
    assert Least.usual(128) == (3, 3, 1)
    assert Least.usual(50_000) == (10, 50, 5)
    assert Least.usual(128, pair=1) == (1, 1, 1)

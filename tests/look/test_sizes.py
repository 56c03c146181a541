"""Sizes: area and distance together, natural groups, and what the released code makes of them."""

import numpy as np
import pytest

from gnomon.look.depths import DepthMap
from gnomon.look.records import AnnotatedPicture, Picture, Region, Sighting, mode_named
from gnomon.look.relations import size_of, size_relations
from gnomon.look.sightings import measure
from gnomon.vision.detection import Box

RIGHT = mode_named("right")
SIDE = 160
SLOPE = np.tan(np.radians(25))  # of the outermost rays of a camera that sees 50 degrees


def seen(size, name="thing", **fields):
    return Sighting(region=name, picture="1", object=name, size=size, **fields)


def pairs(sightings, mode=RIGHT):
    found = set()
    for one, other, label in size_relations(sightings, mode):
        assert label == ">"
        found.add((sightings[one].object, sightings[other].object))
    return found


def test_area_counts_with_the_square_of_the_distance():
    assert size_of(0.1, 2.0, RIGHT) == pytest.approx(0.4)
    assert size_of(0.1, 2.0, mode_named("paper")) == pytest.approx(0.2)
    assert size_of(0.1, 0.25, mode_named("code")) == pytest.approx(0.075)
    assert size_of(0.1, None, RIGHT) is None


def test_things_of_one_group_are_not_compared():
    found = pairs(
        [seen(1.0, "a"), seen(1.01, "b"), seen(5, "c"), seen(9, "d"), seen(20, "e"), seen(60, "f")]
    )
    assert ("f", "a") in found
    assert ("b", "a") not in found


def test_close_sizes_say_nothing_unless_the_paper_is_followed():
    close = [seen(1.0, "a"), seen(1.3, "b")]
    assert pairs(close) == set()
    assert pairs(close, mode_named("paper")) == {("b", "a")}


def test_a_thing_of_which_only_a_part_is_seen_is_never_the_smaller_one():
    cut = [seen(1.0, "bus", cut=True), seen(9.0, "house"), seen(0.1, "dog")]
    assert pairs(cut) == {("bus", "dog"), ("house", "dog")}
    assert ("house", "bus") in pairs(cut, mode_named("right+cut_things"))


def test_sizes_that_are_not_known_are_left_out():
    assert pairs([seen(None, "a"), seen(0.0, "b"), seen(2.0, "c")]) == set()


def test_the_released_code_says_nothing_about_pictures_with_few_things():
    five = [seen(4.0**power, str(power)) for power in range(5)]
    assert pairs(five, mode_named("code")) == set()
    assert len(pairs(five)) == 10


def crowd(rng):
    """Square things in the view of a camera, near ones in front of far ones, and their sides."""
    figures = np.full((SIDE, SIDE), 15.0, dtype=np.float32)
    things = []
    for _ in range(10):
        side, far = float(rng.lognormal(-0.5, 0.8)), float(rng.uniform(2, 12))
        middle = rng.uniform(0.2, 0.8, 2)
        half = side / (2 * far * SLOPE) / 2
        things.append((far, side, Box(*(middle - half), *(middle + half))))
    regions, sides = [], []
    for number, (far, side, box) in enumerate(sorted(things, reverse=True)):
        if min(box) < 0.01 or max(box) > 0.99 or box.area < 0.0005:
            continue
        corners = (np.array(box) * SIDE).round().astype(int)
        figures[corners[1] : corners[3] + 1, corners[0] : corners[2] + 1] = far
        regions.append(Region(id=str(number), picture="1", box=box, name=str(number)))
        sides.append(side)
    picture = Picture(id="1", width=SIDE, height=SIDE)
    return AnnotatedPicture(picture=picture, regions=tuple(regions)), DepthMap(figures, True), sides


def order_of(mode):
    """The share of pairs in true order, and the share in the order of plain areas."""
    rng = np.random.default_rng(7)
    judged, plain = [], []
    for _ in range(60):
        scene, depth, sides = crowd(rng)
        found = measure(scene, depth, mode).sightings
        for one, other, _ in size_relations(found, mode):
            plain.append(found[one].area >= found[other].area)
            ratio = sides[one] / sides[other]
            if not 1 / 1.3 < ratio < 1.3:
                judged.append(ratio > 1)
    assert len(judged) > 500
    return float(np.mean(judged)), float(np.mean(plain))


def test_the_depth_correction_of_the_code_does_nothing_and_the_right_one_does():
    right, _ = order_of(RIGHT)
    paper, _ = order_of(mode_named("paper"))
    code, plain = order_of(mode_named("code"))
    assert plain == 1.0, "the order of the code is that of plain areas"
    assert code < 0.9
    assert code < paper < right
    assert right > 0.97, "the rest is hidden behind others"

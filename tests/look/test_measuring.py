"""From regions to sightings; nothing is lost."""

import numpy as np
import pytest

from gnomon.look.depths import DepthMap
from gnomon.look.records import AnnotatedPicture, Picture, Region, mode_named
from gnomon.look.sightings import measure
from gnomon.vision.detection import Box

RIGHT = mode_named("right")


def scene(*regions, width=100, height=80):
    return AnnotatedPicture(picture=Picture(id="p", width=width, height=height), regions=regions)


def region(id, box, **fields):
    return Region(id=id, picture="p", name=fields.pop("name", id), box=Box(*box), **fields)


def depth(figures, far_is_large=True):
    return DepthMap(np.asarray(figures, dtype=np.float32), far_is_large)


def test_without_depth_places_and_areas_are_known():
    (seen,), troubles = measure(scene(region("cup", (0.2, 0.5, 0.4, 0.75))), None, RIGHT)
    assert (seen.area, seen.top, seen.middle, seen.bottom) == (
        pytest.approx(0.05),
        0.5,
        0.625,
        0.75,
    )
    assert (seen.distance, seen.size, seen.foot) == (None, None, None)
    assert troubles == []


def test_regions_without_a_name_are_no_sightings():
    found = measure(scene(region("a", (0, 0, 1, 1), name="")), None, RIGHT)
    assert found.sightings == []


def test_an_outline_says_more_than_a_box_except_to_the_paper():
    triangle = region("sail", (0, 0, 1, 1), outline=((0, 0, 1, 0, 0, 1),))
    (fine,), _ = measure(scene(triangle), None, RIGHT)
    (coarse,), _ = measure(scene(triangle), None, mode_named("paper"))
    assert fine.area == pytest.approx(0.5, abs=0.02)
    assert fine.middle == pytest.approx(1 / 3, abs=0.02)
    assert coarse.area == 1.0


def test_the_distance_of_a_box_is_that_of_its_middle():
    figures = np.full((80, 100), 9.0)
    figures[30:50, 40:60] = 2.0
    (seen,), _ = measure(scene(region("cup", (0.35, 0.3, 0.65, 0.7))), depth(figures), RIGHT)
    assert seen.distance == 2.0
    assert seen.size == pytest.approx(seen.area * 4)


def test_disparity_is_turned_into_distance():
    figures = np.full((80, 100), 0.1)
    figures[30:50, 40:60] = 0.5
    cup = scene(region("cup", (0.4, 0.4, 0.6, 0.6)))
    (seen,), _ = measure(cup, depth(figures, far_is_large=False), RIGHT)
    assert seen.distance == pytest.approx(2.0)


def test_depth_that_is_no_number_is_named_and_the_thing_is_kept():
    figures = np.full((80, 100), np.nan)
    figures[:, :50] = 3.0
    things = scene(region("cup", (0.6, 0.2, 0.9, 0.6)), region("jug", (0.1, 0.2, 0.4, 0.6)))
    found = measure(things, depth(figures), RIGHT)
    cup, jug = found.sightings
    assert (cup.distance, cup.size) == (None, None)
    assert jug.distance == 3.0
    assert [(each.region, each.what) for each in found.troubles] == [
        ("cup", "no depth is known inside the region.")
    ]


def test_a_map_without_any_number_loses_nothing_in_any_mode():
    figures = np.full((8, 10), np.nan)
    things = scene(region("cup", (0.6, 0.2, 0.9, 0.6)), region("jug", (0.1, 0.2, 0.4, 0.6)))
    for mode in ("right", "paper", "code"):
        found = measure(things, depth(figures), mode_named(mode))
        assert [seen.object for seen in found.sightings] == ["cup", "jug"]
        assert len(found.troubles) == 2


def test_a_mask_that_cannot_be_used_gives_way_to_the_box_and_is_named(tmp_path):
    missing = region("cup", (0, 0, 0.5, 0.5), mask=str(tmp_path / "none.png"))
    empty = region("jug", (0, 0, 0.5, 0.5), runs=(8000,))
    found = measure(scene(missing, empty), None, RIGHT)
    assert [seen.area for seen in found.sightings] == [0.25, 0.25]
    assert [trouble.region for trouble in found.troubles] == ["cup", "jug"]


def test_a_thing_at_the_edge_of_the_picture_is_cut_off():
    found = measure(
        scene(region("bus", (0, 0.2, 0.5, 0.6)), region("dog", (0.6, 0.6, 0.7, 0.7))), None, RIGHT
    )
    assert [seen.cut for seen in found.sightings] == [True, False]


def test_a_thing_that_something_nearer_hides_is_cut_off():
    figures = np.full((80, 100), 9.0)
    figures[20:70, 20:50] = 5.0
    figures[30:70, 40:60] = 2.0
    far = region("far", (0.2, 0.25, 0.5, 0.875), runs=_runs(figures == 5.0))
    near = region("near", (0.4, 0.375, 0.6, 0.875), runs=_runs(figures == 2.0))
    found = measure(scene(far, near), depth(figures), RIGHT)
    assert [(seen.object, seen.cut) for seen in found.sightings] == [("far", True), ("near", False)]


def test_the_sky_is_no_surface_that_anything_stands_on(recwarn):
    figures = np.repeat((1.6 / np.linspace(-0.3, 0.9, 80))[:, None], 100, axis=1)
    figures[figures <= 0] = np.inf
    figures[10:14, 40:60] = 30.0
    kite = region("kite", (0.4, 0.125, 0.6, 0.175), runs=_runs(figures == 30.0))
    (seen,), troubles = measure(scene(kite), depth(figures), RIGHT)
    assert seen.foot > 1, "above the camera"
    assert seen.least_foot == seen.foot
    assert troubles == []
    assert not recwarn.list


def _runs(flags):
    """Lengths of runs down the columns, the first outside."""
    flat = flags.T.ravel()
    edges = np.flatnonzero(np.diff(flat.astype(int))) + 1
    places = np.concatenate(([0], edges, [len(flat)]))
    lengths = np.diff(places).tolist()
    return tuple(lengths if not flat[0] else [0, *lengths])


def test_the_code_looks_where_the_axes_are_swapped():
    figures = np.full((100, 100), 4.0)
    figures[10:20, 60:90] = 1.0  # a thing at the top right
    thing = scene(region("kite", (0.6, 0.1, 0.9, 0.2)), width=100, height=100)
    (right,), _ = measure(thing, depth(figures), RIGHT)
    (swapped,), _ = measure(thing, depth(figures), mode_named("right+swapped_axes"))
    assert right.size == pytest.approx(right.area * 1)
    assert swapped.size == pytest.approx(right.area * 16)


def test_the_mean_over_the_whole_picture_is_about_nothing_for_a_small_thing():
    figures = np.full((100, 100), 4.0)
    figures[10:20, 10:20] = 1.0
    thing = scene(region("kite", (0.1, 0.1, 0.2, 0.2)), width=100, height=100)
    (seen,), _ = measure(thing, depth(figures), mode_named("code"))
    assert seen.size == pytest.approx(0.01 * (1 - 0.01))

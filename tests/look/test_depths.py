"""Depth maps: which way they go, what they lack, and the floor in them."""

import numpy as np
import pytest

from gnomon.errors import DataError
from gnomon.look.depths import DepthMap, floor_of, true_map
from gnomon.look.records import Picture


def test_distances_grow_with_distance_whichever_way_the_figures_go():
    depth = DepthMap(np.array([[1, 2, 4]], dtype=np.float32), far_is_large=True)
    disparity = DepthMap(np.array([[4, 2, 1]], dtype=np.float32), far_is_large=False)
    for each in (depth, disparity):
        distances = each.distances()[0]
        assert distances[2] / distances[0] == 4
        assert each.nearness()[0].tolist() == [1, 0.5, 0.25]


def test_what_is_no_distance_is_not_a_number():
    figures = np.array([[np.nan, -1, 0, 2]], dtype=np.float32)
    assert np.isnan(DepthMap(figures, far_is_large=True).distances()[0, :3]).all()
    inverse = DepthMap(figures, far_is_large=False).distances()[0]
    assert np.isnan(inverse[:2]).all()
    assert np.isinf(inverse[2]), "no disparity: as far as the sky"


def test_a_map_without_any_depth_has_no_nearness():
    empty = DepthMap(np.full((2, 2), np.nan, dtype=np.float32), far_is_large=True)
    assert np.isnan(empty.nearness()).all()


def camera_over_floor(pitch: float, wall: float = 9.0, height: float = 1.6, side: int = 120):
    """The distances that a camera of 50 degrees sees: a floor, and a wall behind it."""
    rows = (np.arange(side) + 0.5) / side
    up = (0.5 - rows) * 2 * np.tan(np.radians(25))  # of the ray, per metre along the line of sight
    sink = np.sin(np.radians(pitch)) - up * np.cos(np.radians(pitch))
    ahead = np.cos(np.radians(pitch)) + up * np.sin(np.radians(pitch))
    with np.errstate(divide="ignore"):
        floor = np.where(sink > 0, height / sink, np.inf)
    distances = np.minimum(floor, wall / ahead)
    return np.repeat(distances[:, None], side, axis=1), height


@pytest.mark.parametrize("pitch", [3.0, 12.0, 30.0])
def test_heights_above_the_floor_are_right_however_the_camera_is_pitched(pitch):
    distances, height = camera_over_floor(pitch)
    floor = floor_of(distances, np.ones(distances.shape, dtype=bool))
    assert floor is not None
    # a point 0.5 m above the floor, 4 m ahead
    tilt = np.radians(pitch)
    along = 4 * np.cos(tilt) + (height - 0.5) * np.sin(tilt)
    up = -(height - 0.5) * np.cos(tilt) + 4 * np.sin(tilt)
    row = 0.5 - up / along / (2 * np.tan(np.radians(25)))
    assert floor.height(row, along) * height == pytest.approx(0.5, abs=0.02)


def test_a_wall_alone_is_no_floor():
    flat = np.full((100, 100), 3.0)
    assert floor_of(flat, np.ones(flat.shape, dtype=bool)) is None


def test_where_things_cover_everything_no_floor_is_seen():
    distances, _ = camera_over_floor(20)
    assert floor_of(distances, np.zeros(distances.shape, dtype=bool)) is None


def test_true_distances_are_read_and_what_is_none_is_refused(tmp_path):
    file = tmp_path / "d.npy"
    np.save(file, np.ones((3, 4), dtype=np.float64))
    assert true_map(Picture(id="1", depth=str(file))).figures.shape == (3, 4)
    np.save(file, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match=r"d\.npy"):
        true_map(Picture(id="1", depth=str(file)))
    file.write_bytes(b"no array")
    with pytest.raises(DataError, match=r"d\.npy"):
        true_map(Picture(id="1", depth=str(file)))

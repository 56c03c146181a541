"""Crops: enlarged, inside the picture, never empty."""

import pytest

from gnomon.look.masks import corners_of, write_crop
from gnomon.vision.detection import Box

PIL = pytest.importorskip("PIL.Image")


def test_a_small_box_is_enlarged_around_its_centre():
    assert corners_of(Box(0.5, 0.5, 0.5, 0.5), 1000, 1000) == (388, 388, 612, 612)


def test_a_large_box_stays_as_it_is():
    assert corners_of(Box(0.1, 0.2, 0.9, 0.8), 1000, 1000) == (100, 200, 900, 800)


@pytest.mark.parametrize(
    "box",
    [
        Box(1.2, 1.2, 1.4, 1.4),
        Box(-0.5, -0.5, -0.1, -0.1),
        Box(0.3, 0.3, 0.3, 0.3),
        Box(0, 0, 1, 1),
        Box(0.999, 0, 1, 0.001),
    ],
)
@pytest.mark.parametrize("size", [(1, 1), (30, 20), (640, 480)])
def test_no_crop_is_empty_or_outside(box, size, tmp_path):
    width, height = size
    for least in (1, 224):
        left, top, right, bottom = corners_of(box, width, height, least)
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= height
    image = write_crop(PIL.new("RGB", size), box, tmp_path / "c.png")
    assert (image.width, image.height) == (right - left, bottom - top)

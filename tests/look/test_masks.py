"""What a region covers."""

import numpy as np
import pytest

from gnomon.errors import DataError
from gnomon.look.masks import mask_of
from gnomon.look.records import Region
from gnomon.vision.detection import Box

PIL = pytest.importorskip("PIL.Image")
WHOLE = Box(0, 0, 1, 1)


def region(**fields):
    return Region(id="1", picture="1", **{"box": WHOLE, **fields})


def test_a_box_covers_its_pixels():
    covered = mask_of(region(box=Box(0.25, 0.5, 0.75, 1)), 8, 4)
    assert covered.sum() == 8
    assert covered[2:, 2:6].all()


def test_an_outline_covers_the_pixels_whose_middles_are_inside():
    triangle = (0.0, 0.0, 1.0, 0.0, 0.0, 1.0)
    covered = mask_of(region(outline=(triangle,)), 100, 100)
    assert abs(covered.mean() - 0.5) < 0.01
    assert covered[2, 2]
    assert not covered[97, 97]


def test_an_outline_agrees_with_a_drawing_of_it():
    from PIL import ImageDraw

    rng = np.random.default_rng(1)
    angles = np.sort(rng.uniform(0, 2 * np.pi, 9))
    radius = rng.uniform(0.2, 0.48, 9)
    points = np.column_stack((0.5 + radius * np.cos(angles), 0.5 + radius * np.sin(angles)))
    drawing = PIL.new("1", (200, 150))
    ImageDraw.Draw(drawing).polygon([(x * 200, y * 150) for x, y in points], fill=1)
    covered = mask_of(region(outline=(tuple(points.ravel()),)), 200, 150)
    assert (covered != np.asarray(drawing)).mean() < 0.01, "edges apart"


def test_two_polygons_are_one_region():
    left, right = (0, 0, 0.2, 0, 0.2, 1, 0, 1), (0.8, 0, 1, 0, 1, 1, 0.8, 1)
    assert mask_of(region(outline=(left, right)), 10, 10).sum() == 40


def test_runs_go_down_the_columns():
    covered = mask_of(region(runs=(1, 2, 3)), 2, 3)
    assert covered.astype(int).tolist() == [[0, 0], [1, 0], [1, 0]]


def test_runs_of_another_picture_are_refused():
    with pytest.raises(DataError, match="7 pixels"):
        mask_of(region(runs=(1, 6)), 2, 3)


def test_a_mask_file_marks_its_pixels_and_is_fitted_to_the_picture(tmp_path):
    marks = np.zeros((4, 4), dtype=np.uint8)
    marks[:2] = 7
    PIL.fromarray(marks).save(tmp_path / "m.png")
    covered = mask_of(region(mask=str(tmp_path / "m.png"), mark=7), 8, 8)
    assert covered[:4].all()
    assert not covered[4:].any()


def test_a_mask_that_is_no_picture_is_named(tmp_path):
    file = tmp_path / "m.png"
    file.write_bytes(b"\x89PNG\r\n\x1a\n nothing")
    with pytest.raises(DataError, match=r"m\.png"):
        mask_of(region(mask=str(file)), 8, 8)


def test_a_picture_that_is_said_to_be_huge_has_no_mask():
    triangle = (0.0, 0.0, 1.0, 0.0, 0.0, 1.0)
    with pytest.raises(DataError, match="60,000 x 60,000 pixels"):
        mask_of(region(outline=(triangle,)), 60_000, 60_000)

"""Written numbers and points as data, each read in the unit or picture that was asked for."""

from __future__ import annotations

from math import isclose
from pathlib import Path

import pytest
import yaml

from gnomon.models.reading.numbers import read_number
from gnomon.models.reading.points import read_points

FOLDER = Path(__file__).parent
QUESTION = "How many chairs are there?"


def numbers():
    for unit, replies in yaml.safe_load((FOLDER / "numbers.yaml").read_text("utf-8")).items():
        for reply, value in replies:
            yield pytest.param(unit, reply, value, id=f"{unit}:{reply[:40]}")


@pytest.mark.parametrize(("unit", "reply", "value"), list(numbers()))
def test_written_numbers_are_read_in_the_unit_that_was_asked_for(unit, reply, value):
    found = read_number(reply, unit, QUESTION).value
    if value is None:
        assert found is None
    else:
        assert found is not None
        assert isclose(found, value, rel_tol=1e-6, abs_tol=1e-9)


def points():
    for reply, spots, *setting in yaml.safe_load((FOLDER / "points.yaml").read_text("utf-8")):
        yield pytest.param(reply, spots, *(setting or [""]), id=reply[:50])


@pytest.mark.parametrize(("reply", "spots", "setting"), list(points()))
def test_written_points_are_read_in_pixels(reply, spots, setting):
    found = read_points(reply, (640, 480), setting).points
    flat = [number for point in spots or () for number in point]
    assert [number for point in found for number in point] == pytest.approx(flat)

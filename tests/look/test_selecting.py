"""Subtypes: the scene rules out, the region decides."""

import numpy as np
import pytest

from gnomon.look.records import AnnotatedPicture, Picture, Region, mode_named
from gnomon.look.sightings import measure
from gnomon.look.subtypes import fitting, select_subtypes
from gnomon.vision.detection import Box

PIL = pytest.importorskip("PIL.Image")
RIGHT, CODE = mode_named("right"), mode_named("code")
CANDIDATES = {"chair": ("chair", "office chair", "beach chair", "toy chair"), "cup": ("cup",)}


class Table:
    """An encoder with a table of similarities: of the whole picture, and of crops."""

    def __init__(self, whole, crop):
        self.whole, self.crop, self.asked = whole, crop, []

    def similarities(self, images, texts):
        names = [text.removeprefix("a photo of a ") for text in texts]
        self.asked.append((images[0].width, names))
        table = self.whole if images[0].width == 400 else self.crop
        return [[table[name] for name in names]]


@pytest.fixture
def scene(tmp_path):
    PIL.fromarray(np.zeros((300, 400, 3), dtype=np.uint8)).save(tmp_path / "p.png")
    return AnnotatedPicture(
        picture=Picture(id="p", file=str(tmp_path / "p.png"), width=400, height=300),
        regions=(
            Region(id="1", picture="p", name="chair", box=Box(0.1, 0.1, 0.8, 0.9)),
            Region(id="2", picture="p", name="cup", box=Box(0.5, 0.5, 0.6, 0.6)),
        ),
    )


WHOLE = {"chair": 20.0, "office chair": 22.0, "beach chair": 15.0, "toy chair": 21.0}
CROP = {"chair": 20.0, "office chair": 24.0, "beach chair": 30.0, "toy chair": 19.0}


def chosen(scene, encoder, mode=RIGHT):
    found = select_subtypes(scene, measure(scene, None, mode).sightings, CANDIDATES, encoder, mode)
    return [seen.subtype for seen in found.sightings], found.troubles


def test_what_does_not_fit_the_scene_is_not_chosen_however_like_the_crop(scene):
    encoder = Table(WHOLE, CROP)
    assert chosen(scene, encoder) == (["office chair", ""], [])
    assert encoder.asked[1] == (280, ["chair", "office chair", "toy chair"])


def test_the_plain_name_stays_where_it_is_most_like_the_crop(scene):
    assert chosen(scene, Table(WHOLE, {**CROP, "chair": 99.0}))[0] == ["", ""]


def test_where_no_subtype_fits_the_scene_no_crop_is_looked_at(scene):
    encoder = Table({**WHOLE, "chair": 99.0}, CROP)
    assert chosen(scene, encoder)[0] == ["", ""]
    assert len(encoder.asked) == 1


def test_in_the_code_all_pass_where_the_plain_name_scores_next_to_nothing():
    names = ["chair", "office chair", "beach chair"]
    scores = [1.0, 20.0, 0.9]  # softmax of the plain name: far below 0.0001
    assert fitting(names, scores, CODE) == names
    assert fitting(names, scores, RIGHT) == ["chair", "office chair"]


def test_a_picture_that_is_missing_is_named_and_its_sightings_stay(scene, tmp_path):
    (tmp_path / "p.png").unlink()
    subtypes, (trouble,) = chosen(scene, Table(WHOLE, CROP))
    assert subtypes == ["", ""]
    assert trouble.what.startswith("no subtypes: ")

"""Colours: what a model is asked, and how its answers are read."""

import numpy as np
import pytest

from gnomon.look.colours import ask_colours, colour_of_pixels, colours_by_pixels, colours_in
from gnomon.look.records import AnnotatedPicture, Picture, Region, mode_named
from gnomon.look.sightings import measure
from gnomon.records import Answer
from gnomon.vision.detection import Box
from gnomon.vision.knowledge import COLOURS

PIL = pytest.importorskip("PIL.Image")
RIGHT = mode_named("right")


class Seer:
    """A model that answers with what it is told to, and remembers what it was shown."""

    def __init__(self, **answer):
        self.answer_with, self.items, self.shown = answer, [], []

    def answer(self, items):
        found = []
        for item in items:
            self.items.append(item)
            with PIL.open(item.images[0].path) as crop:
                self.shown.append((crop.size, crop.convert("RGB").getpixel((0, 0))))
            found.append(Answer(item=item.id, **self.answer_with))
        return found


@pytest.fixture
def scene(tmp_path):
    """A red picture with a blue half."""
    pixels = np.zeros((300, 600, 3), dtype=np.uint8)
    pixels[:, :300] = (200, 20, 20)
    pixels[:, 300:] = (20, 40, 200)
    PIL.fromarray(pixels).save(tmp_path / "p.png")
    return AnnotatedPicture(
        picture=Picture(id="p", file=str(tmp_path / "p.png"), width=600, height=300),
        regions=(
            Region(id="1", picture="p", name="flag", box=Box(0.0, 0.1, 0.4, 0.9)),
            Region(id="2", picture="p", name="kite", box=Box(0.9, 0.0, 0.95, 0.1)),
        ),
    )


def sightings(scene):
    return measure(scene, None, RIGHT).sightings


def test_a_model_is_asked_about_crops_with_the_basic_colours_as_choices(scene):
    seer = Seer(choice="red", scores=(0.0,) * 11)
    found = ask_colours(scene, sightings(scene), seer, RIGHT)
    assert [seen.colours for seen in found.sightings] == [("red",), ("red",)]
    assert [item.text for item in seer.items] == [
        "What color is the flag?",
        "What color is the kite?",
    ]
    assert seer.items[0].choices == COLOURS
    assert seer.shown[0] == ((240, 240), (200, 20, 20))
    (width, height), corner = seer.shown[1]
    assert (width, height) == (157, 127), "enlarged around its centre, but not past the edge"
    assert corner == (20, 40, 200)


def test_a_reply_may_name_several_colours(scene):
    found = ask_colours(scene, sightings(scene), Seer(reply="Black and white."), RIGHT)
    assert found.sightings[0].colours == ("black", "white")


def test_a_reply_without_a_basic_colour_is_named(scene):
    found = ask_colours(scene, sightings(scene), Seer(reply="It is transparent."), RIGHT)
    assert [seen.colours for seen in found.sightings] == [(), ()]
    assert [trouble.region for trouble in found.troubles] == ["1", "2"]
    assert "transparent" in found.troubles[0].what


def test_a_model_that_fails_loses_no_sighting(scene):
    found = ask_colours(scene, sightings(scene), Seer(error="out of memory"), RIGHT)
    assert len(found.sightings) == len(found.troubles) == 2


def test_a_picture_that_is_missing_is_named_and_its_sightings_stay(scene, tmp_path):
    (tmp_path / "p.png").unlink()
    for found in (
        ask_colours(scene, sightings(scene), Seer(choice="red"), RIGHT),
        colours_by_pixels(scene, sightings(scene)),
    ):
        assert len(found.sightings) == 2
        (trouble,) = found.troubles
        assert trouble.picture == "p"


def test_words_are_read_whole_and_the_code_reads_pieces_of_them():
    code = mode_named("code")
    assert colours_in("Multi-colored", RIGHT) == ()
    assert colours_in("Multi-colored", code) == ("red",)
    assert colours_in("a beige one", RIGHT) == ("yellow", "brown")
    assert colours_in("teal", RIGHT) == ("blue", "green")
    assert colours_in("standing", RIGHT) == ()
    assert colours_in("standing", code) == ("brown",), "s-tan-ding"


def test_pixels_tell_the_colour_of_what_a_region_covers(scene):
    found = colours_by_pixels(scene, sightings(scene)).sightings
    assert [seen.colours for seen in found] == [("red",), ("blue",)]


@pytest.mark.parametrize(
    ("colour", "value"),
    [
        ("red", (190, 25, 30)),
        ("orange", (240, 125, 25)),
        ("yellow", (235, 205, 50)),
        ("brown", (110, 65, 35)),
        ("green", (50, 130, 55)),
        ("blue", (45, 85, 190)),
        ("purple", (110, 45, 135)),
        ("pink", (240, 140, 165)),
        ("white", (240, 240, 238)),
        ("gray", (128, 128, 130)),
        ("black", (18, 18, 20)),
    ],
)
def test_every_basic_colour_is_known_by_sight_and_in_half_shade(colour, value):
    lit = np.array([value] * 6, dtype=np.float64)
    lit[4:] *= 0.72  # a third of its light is missing there
    assert colour_of_pixels(lit.astype(np.uint8)) == colour

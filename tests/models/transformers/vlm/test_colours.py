"""Colours: a real model that sees is asked about crops as about any item."""

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
PIL = pytest.importorskip("PIL.Image")

from gnomon.look.colours import ask_colours
from gnomon.look.records import AnnotatedPicture, Picture, Region, mode_named
from gnomon.look.sightings import measure
from gnomon.records import Item
from gnomon.vision.detection import Box
from gnomon.vision.images import describe
from gnomon.vision.knowledge import COLOURS

RIGHT = mode_named("right")


@pytest.mark.parametrize("make", ["llava", "idefics3"])
def test_the_colour_is_the_likeliest_choice_for_the_crop(make, asked, tmp_path):
    pixels = np.random.default_rng(3).integers(0, 255, (300, 500, 3), dtype=np.uint8)
    PIL.fromarray(pixels).save(tmp_path / "p.png")
    boxes = (Box(0, 0, 0.5, 1), Box(0.5, 0, 1, 1))
    regions = []
    for number, box in enumerate(boxes):
        regions.append(Region(id=str(number), picture="p", name="lamp", box=box))
    picture = Picture(id="p", file=str(tmp_path / "p.png"), width=500, height=300)
    scene = AnnotatedPicture(picture=picture, regions=tuple(regions))

    model = asked(make)
    found = ask_colours(scene, measure(scene, None, RIGHT).sightings, model, RIGHT)
    assert found.troubles == []
    for seen, start in zip(found.sightings, (0, 250), strict=True):
        file = tmp_path / f"{start}.png"
        PIL.fromarray(pixels[:, start : start + 250]).save(file)
        item = Item(
            id="1",
            form="choice",
            text="What color is the lamp?",
            choices=COLOURS,
            images=(describe(file),),
        )
        (answer,) = model.answer([item])
        assert seen.colours == (answer.choice,)

"""The renderer: what it draws is what it was told, right or wrong, and what it knows is true."""

from collections import Counter
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

import gnomon
from gnomon.errors import UsageError
from gnomon.paint.factory import open_judge
from gnomon.paint.painters.render import Renderer, picture_of, render
from gnomon.paint.painters.stages import block, drawn_as
from gnomon.paint.records import Painted, PaintedPicture, PaintTrouble, seed_of
from gnomon.scenes.things import thing_named

from .conftest import request, scene

ORACLE = {"detector": "true", "depth": "true"}


def verdict(item, made, **how):
    judge = open_judge("boxes", {**ORACLE, **how})
    painted = Painted(item=item.id, number=0, prompt=item.text, seed=0, truth=made.truth)
    found = judge.look(item, painted, Image.open(BytesIO(made.content)))
    return None if found.choice is None else item.choices[found.choice]


@pytest.mark.parametrize("name", ["scales", "posrel"])
def test_every_choice_can_be_shown_not_only_the_right_one(name):
    shown = Counter()
    for item in gnomon.load(name, form="scene").limited(16).items():
        for choice in item.choices:
            made = picture_of(item, choice, seed_of(item.id, 0), 48)
            assert isinstance(made, PaintedPicture), made
            assert verdict(item, made) == choice, (item.id, choice)
            shown[choice in item.gold] += 1
    assert min(shown[True], shown[False]) >= 16


@pytest.mark.parametrize(
    "things",
    [
        ("mountain", "skyscraper"),
        ("grain of sand", "mountain"),
        ("snark", "boojum"),
        ("ant", "airplane"),
    ],
)
def test_sizes_without_measure_are_drawn_all_the_same(things):
    item = scene(things=things)
    for choice in item.choices:
        made = picture_of(item, choice, 1, 96)
        assert verdict(item, made) == choice


def test_boxes_are_where_the_colours_are():
    made = picture_of(scene(things=("orange", "refrigerator")), "smaller", 3, 128)
    pixels = np.asarray(Image.open(BytesIO(made.content))).astype(int)
    box = made.truth.first.box
    left, top, right, bottom = (round(edge * 128) for edge in box)
    inner = pixels[(top + bottom) // 2, (left + right) // 2]
    assert inner[0] > inner[2] + 60  # an orange is orange
    assert made.truth.first.visible == 1.0
    assert made.truth.first.size < made.truth.second.size


def test_things_are_drawn_to_scale():
    made = picture_of(scene(things=("cat", "elephant")), "smaller", 1, 64)
    assert made.truth.first.height == pytest.approx(thing_named("cat").size[2])
    assert made.truth.second.height == pytest.approx(thing_named("elephant").size[2])


def test_a_thing_without_a_shape_is_a_block_of_its_true_size():
    assert drawn_as("volleyball").is_block
    assert 0.19 < max(drawn_as("volleyball").size) < 0.24
    assert drawn_as("canvas awning").size == drawn_as("awning").size
    assert drawn_as("boy").size[2] == pytest.approx(0.75 * thing_named("person").size[2])
    assert not drawn_as("jabberwock").known
    assert thing_named(block((0.5, 0.3, 0.2))).size == (0.5, 0.3, 0.2)
    hollow = thing_named(block((2.0, 1.0, 2.0), hollow=True))
    assert len(hollow.parts) == 5


@pytest.mark.parametrize("size", [(1e-9, 1, 1), (1, 1, 1e9), (0.0, 0.0, 0.0)])
def test_blocks_of_any_size_can_be_drawn(size):
    assert min(thing_named(block(size)).size) > 0


def test_the_same_request_gives_the_same_bytes():
    item = scene(things=("cat", "dog"))
    one, other = (next(iter(Renderer(48).paint([request(item)])))[1] for _ in range(2))
    assert one == other


def test_what_cannot_be_drawn_is_a_trouble():
    several = next(
        item
        for item in gnomon.load("vsr@fresh", form="scene", quads=20).items()
        if item.gold == ("among",)
    )
    ((_, made),) = Renderer(48).paint([request(several)])
    assert isinstance(made, PaintTrouble)
    assert "out of the renderer's reach" in made.reason
    assert isinstance(picture_of(scene(), "no such choice", 0), PaintTrouble)


def test_what_cannot_be_is_said():
    with pytest.raises(UsageError, match="takes no name"):
        render("name")
    with pytest.raises(UsageError, match="look"):
        render("", look="oil")


def test_only_distances_tell_the_size_of_some_pairs():
    """The smaller thing of some pairs is near and looks larger: without distances it is wrong."""
    right = {"true": 0, "none": 0}
    items = list(gnomon.load("scales", form="scene", seed=3).limited(24).items())
    for item in items:
        made = picture_of(item, item.gold[0], seed_of(item.id, 0, 0), 96)
        for depth in right:
            right[depth] += verdict(item, made, depth=depth) == item.gold[0]
    assert right["true"] == len(items)
    assert right["none"] <= len(items) - 3

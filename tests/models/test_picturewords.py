"""The baseline of pictures alone: it learns what colours give away, and from other pictures only."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gnomon.contracts import Benchmark
from gnomon.errors import ModelError
from gnomon.models.classifiers import colour_words, picture_only
from gnomon.records import Image, Item
from gnomon.registry import role
from gnomon.vision.images import describe

pillow = pytest.importorskip("PIL.Image")
pytest.importorskip("sklearn")
BENCHMARK = Benchmark(name="b", summary="", sources={})


def picture(folder, number, colour):
    file = folder / f"{number}.png"
    image = pillow.new("RGB", (20, 16), colour)
    image.putpixel((number % 20, number // 20), (255, 255, 255))  # no two are the same file
    image.save(file)
    return describe(file)


def caption(number, image, *, true, group=""):
    return Item(
        id=f"i{number}",
        form="caption",
        text="The cat is on the mat.",
        choices=("false", "true"),
        gold=("true" if true else "false",),
        group=group or f"g{number}",
        images=(image,) if image else (),
    )


def right(items):
    model = picture_only("")
    model.prepare(items, BENCHMARK)
    answers = model.answer(items)
    return sum(answer.choice in item.gold for item, answer in zip(items, answers, strict=True))


def test_colours_that_give_the_answer_away_are_learnt(tmp_path):
    items = []
    for number in range(40):
        true = number % 2 == 0
        image = picture(tmp_path, number, "red" if true else "blue")
        items.append(caption(number, image, true=true))
    assert right(items) == 40


def test_two_captions_of_each_picture_one_true_and_one_false_leave_nothing_to_learn(tmp_path):
    items = []
    for number in range(30):
        image = picture(tmp_path, number, (8 * number, 90, 255 - 8 * number))
        items += [caption(2 * number + i, image, true=bool(i)) for i in (0, 1)]
    assert 20 <= right(items) <= 40


def test_no_item_is_answered_by_what_was_trained_on_its_picture(tmp_path):
    """The pictures tell nothing but which they are: whoever had seen them would be right."""
    items = []
    for number in range(30):
        colour = (37 * number % 256, 91 * number % 256, 53 * number % 256)
        image = picture(tmp_path, number, colour)
        true = (number * 7919) % 64 < 32
        items += [caption(f"{number}-{i}", image, true=true) for i in range(4)]
    model = picture_only("")
    model.prepare(items, BENCHMARK)
    for start in range(0, len(items), 4):
        homes = [model._folds.home(model.units(item)) for item in items[start : start + 4]]
        assert frozenset.intersection(*homes)
    assert right(items) <= 90


def test_a_picture_and_its_mirror_image_count_as_one(tmp_path):
    items = []
    for number in range(6):
        item = caption(number, picture(tmp_path, number, "red"), true=number % 2 == 0)
        items.append(replace(item, tags={"image": f"{number // 2}.jpg"}))
    model = picture_only("")
    model.prepare(items, BENCHMARK)
    for one, two in zip(items[::2], items[1::2], strict=True):
        assert set(model.units(one)) & set(model.units(two))


def test_a_picture_that_cannot_be_seen_fails_its_item_alone(tmp_path):
    good = [caption(i, picture(tmp_path, i, "red"), true=i % 2 == 0) for i in range(6)]
    (tmp_path / "torn.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    torn = caption(6, Image(path=str(tmp_path / "torn.png")), true=True)
    away = caption(7, Image(path="http://images.example/1.jpg"), true=True)
    bare = caption(8, None, true=True)
    items = [*good, torn, away, bare]
    model = picture_only("")
    model.prepare(items, BENCHMARK)
    answers = model.answer(items)
    assert [answer.error is None for answer in answers] == [True] * 6 + [False] * 3
    assert "not on this machine" in answers[7].error
    assert [answer.item for answer in answers] == [item.id for item in items]


def test_without_any_picture_there_is_nothing_to_see():
    with pytest.raises(ModelError, match="none of these items"):
        picture_only("").prepare([caption(1, None, true=True)], BENCHMARK)


def test_words_say_where_a_colour_is():
    left = pillow.new("RGB", (40, 40), "black")
    left.paste("white", (0, 0, 10, 40))
    words = colour_words(left)
    assert {"0,0 r3", "0,3 b3", "3,0 r0", "main 000", "main 222"} <= set(words)
    mirrored = colour_words(left.transpose(pillow.Transpose.FLIP_LEFT_RIGHT))
    assert "3,0 r3" in mirrored


def test_it_is_a_shortcut_among_models():
    assert role("picture-only") == "shortcut"

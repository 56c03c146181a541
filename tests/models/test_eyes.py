"""The embedded eyes: real weights on pictures, and what they say where they do not see."""

import json

import pytest

from gnomon.errors import ModelError, UsageError
from gnomon.lexicon.statements import read_presence, read_statement
from gnomon.models.eyes import Eyes, View, eyes
from gnomon.records import Image, Item
from gnomon.registry import model
from gnomon.vision.detection import Box, Detection, class_of
from gnomon.vision.images import describe

PIL = pytest.importorskip("PIL.Image")
pytest.importorskip("cv2")


class Looker:
    """A detector that sees what it is told to."""

    labels = ("cat", "couch", "dog", "person")

    def __init__(self, *things: Detection) -> None:
        self.things, self.looked = list(things), 0

    def find(self, picture) -> list[Detection]:
        self.looked += 1
        return self.things


CAT = Detection("cat", 0.9, Box(0.1, 0.4, 0.3, 0.6))
COUCH = Detection("couch", 0.8, Box(0.5, 0.3, 0.9, 0.8))


def asked(tmp_path, text: str, *, images: int = 1) -> Item:
    file = tmp_path / "a.png"
    PIL.new("RGB", (8, 8), "white").save(file)
    return Item(
        id=text,
        form="caption",
        text=text,
        choices=("false", "true"),
        gold=("true",),
        images=(describe(file),) * images,
    )


def looking(*things: Detection, abstain: bool = False) -> Eyes:
    return Eyes(Looker(*things), None, least=0.1, presence=0.3, abstain=abstain)


def test_captions_are_read():
    assert read_statement("The cat is on top of the dining table.") == (
        "cat",
        "on top of",
        "dining table",
        False,
    )
    assert read_statement("The people are far away from the bus.") == (
        "people",
        "far away from",
        "bus",
        False,
    )
    assert read_statement("The box contains the cup.") == ("box", "contains", "cup", False)
    assert read_presence("There are scissors.").thing == "scissors"
    assert read_statement("The cat adores the dog.") is None


def test_nouns_are_seen_as_classes_of_the_detector():
    labels = ("person", "couch", "knife", "bus")
    assert [class_of(noun, labels) for noun in ("people", "sofas", "knives", "buses", "tree")] == [
        "person",
        "couch",
        "knife",
        "bus",
        None,
    ]


def test_a_caption_is_judged_by_boxes_and_the_reply_says_which(tmp_path):
    seeing = looking(CAT, COUCH)
    left, right = seeing.answer(
        [
            asked(tmp_path, "The cat is left of the couch."),
            asked(tmp_path, "The cat is right of the couch."),
        ]
    )
    assert (left.choice, right.choice) == ("true", "false")
    assert left.scores == right.scores[::-1]
    assert json.loads(left.reply)["cat"]["box"] == [0.1, 0.4, 0.3, 0.6]
    assert seeing.detector.looked == 1, "one picture is looked at once"


def test_where_a_thing_is_not_seen_true_and_false_are_equally_likely_or_there_is_no_answer(
    tmp_path,
):
    item = asked(tmp_path, "The dog is left of the couch.")
    (even,) = looking(COUCH).answer([item])
    assert even.scores[0] == even.scores[1]
    assert json.loads(even.reply) == {"unseen": "dog"}
    (none,) = looking(COUCH, abstain=True).answer([item])
    assert (none.choice, none.scores, none.error) == (None, None, None)


def test_one_box_is_not_two_things(tmp_path):
    again = CAT._replace(label="dog", confidence=0.2)
    (answer,) = looking(CAT, again).answer([asked(tmp_path, "The cat is near the dog.")])
    assert json.loads(answer.reply) == {"unseen": "dog"}


def test_presence_is_a_matter_of_confidence(tmp_path):
    item = asked(tmp_path, "There is a cat.")
    (sure,) = looking(CAT).answer([item])
    (unsure,) = looking(CAT._replace(confidence=0.15)).answer([item])
    (absent,) = looking(COUCH).answer([item])
    assert [each.choice for each in (sure, unsure, absent)] == ["true", "false", "false"]


def test_items_that_eyes_cannot_be_asked_say_why(tmp_path):
    two = asked(tmp_path, "The cat is near the dog.", images=2)
    damaged = Item(
        id="2",
        form="caption",
        text="There is a cat.",
        choices=("false", "true"),
        gold=("true",),
        images=(Image(path=str(tmp_path / "none.png")),),
    )
    first, second = looking(CAT).answer([two, damaged])
    assert first.error == "eyes look at one picture, the item has 2"
    assert "No such file" in second.error


def test_options_out_of_range_are_refused():
    with pytest.raises(UsageError, match="least must be between 0 and 1"):
        model("eyes", least=2.0).open()
    with pytest.raises(UsageError, match="takes no name"):
        eyes("large")


@pytest.fixture(scope="module")
def real():
    try:
        return eyes("")
    except ModelError as error:
        pytest.skip(f"the weights cannot be fetched: {error.message}")


def test_the_real_eyes_find_nothing_much_in_an_empty_picture(real):
    view = real.look(PIL.new("RGB", (320, 240), "grey"))
    assert isinstance(view, View)
    assert all(thing.confidence < 0.6 for thing in view.things)
    assert view.distances.shape == (224, 224)
    assert (view.distances > 0).mean() > 0.9


def test_the_real_eyes_find_most_large_things_in_photographs(real, shared):
    """Instances of COCO that fill a tenth of a photograph: found with a box that fits."""
    from gnomon.vision.images import pixels

    home = shared / "data" / "coco128"
    truth = json.loads((home / "instances.json").read_text())
    names = {each["id"]: each["name"] for each in truth["categories"]}
    photos = {each["id"]: each for each in truth["images"]}
    found = total = 0
    views: dict[int, View] = {}
    large = [
        each
        for each in truth["annotations"]
        if each["bbox"][2] * each["bbox"][3]
        > 0.1 * photos[each["image_id"]]["width"] * photos[each["image_id"]]["height"]
    ]
    for each in large[:60]:
        photo = photos[each["image_id"]]
        if photo["id"] not in views:
            views[photo["id"]] = real.look(pixels(describe(home / "photos" / photo["file_name"])))
        left, top, width, height = each["bbox"]
        box = Box(
            left / photo["width"],
            top / photo["height"],
            (left + width) / photo["width"],
            (top + height) / photo["height"],
        )
        total += 1
        found += any(
            thing.label == names[each["category_id"]] and thing.box.overlap(box) > 0.5
            for thing in views[photo["id"]].things
        )
    assert total == 60
    assert found / total > 0.7

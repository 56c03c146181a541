"""Captions and choices put to a model that compares: which texts, which scores, which threshold."""

import math
from typing import Any

import pytest
from msgspec.structs import replace

from gnomon.contracts import Benchmark
from gnomon.errors import ModelError, UsageError
from gnomon.models.comparison import ComparisonModel
from gnomon.records import Image, Item
from gnomon.vision.images import Prepared

BENCHMARK = Benchmark(name="b", summary="", sources={}, hold_out=(("object",),))


class Words:
    """Compares by a number that is written in the picture's path, and notes what it is asked."""

    pictures = 1
    asks = False
    usual_contrast = "opposite"
    batch = 4
    longest = 12

    def __init__(self, *, probable=True):
        self.probable = probable
        self.asked: list[str] = []

    def describe(self) -> dict[str, Any]:
        return {"by": "words"}

    def look(self, images):
        return {image.identity: Prepared(float(image.path)) for image in images}

    def lengths(self, texts):
        return [len(text.split()) for text in texts]

    def odds(self, pairs, seen):
        self.asked += [pair.text for pair in pairs]
        return [seen[pair.pictures[0]].made - pair.text.count("right") for pair in pairs]


def caption(number=0, *, score="0.0", gold="true", **tags):
    return Item(
        id=str(number),
        form="caption",
        text="The cat is left of the dog.",
        choices=("false", "true"),
        gold=(gold,),
        tags={"relation": "left of", **tags},
        images=(Image(path=score),),
    )


def comparing(contrast="", **how):
    return ComparisonModel("fake:words", Words(**how), contrast=contrast, about={"kind": "dual"})


@pytest.mark.parametrize(
    ("contrast", "texts"),
    [
        ("opposite", ["The cat is right of the dog.", "The cat is left of the dog."]),
        ("negation", ["The cat is not left of the dog.", "The cat is left of the dog."]),
        ("stem", ["The cat is left of", "The cat is left of the dog."]),
        ("none", ["The cat is left of the dog."]),
    ],
)
def test_a_contrast_says_which_texts_are_compared(contrast, texts):
    model = comparing(contrast)
    model.answer([caption()])
    assert model.comparer.asked == texts


def test_scores_are_logarithms_of_probabilities_in_the_order_of_the_choices():
    (answer,) = comparing("opposite").answer([caption()])
    assert answer.scores == pytest.approx((-1.0 - math.log(1 + math.exp(-1)), -0.3132617))
    assert answer.choice == "true"
    turned = replace(caption(), choices=("true", "false"))
    assert comparing("opposite").answer([turned])[0].scores == pytest.approx(answer.scores[::-1])


def test_a_probability_of_the_model_is_its_answer():
    (answer,) = comparing("none").answer([caption(score="-2.0")])
    assert math.exp(answer.scores[1]) == pytest.approx(1 / (1 + math.exp(2)))
    assert sum(map(math.exp, answer.scores)) == pytest.approx(1)
    assert answer.choice == "false"


def test_thresholds_are_fitted_before_the_run_and_stated():
    items = []
    for number in range(8):
        gold = ("false", "true")[number % 2]
        score = str(5.0 + number % 2 + number / 100)
        items.append(caption(number, score=score, gold=gold, split="dev", object=str(number)))
    items.append(caption(8, score="5.9", gold="true", split="test", object="8"))
    model = comparing("threshold")
    model.prepare(iter(items), BENCHMARK)
    answers = model.answer(items)
    assert [answer.choice for answer in answers] == [item.gold[0] for item in items]
    fitted = model.describe()["fitted"]
    assert fitted["on"] == "the development split"
    assert fitted["items"] == 8
    assert 5.06 < fitted["thresholds"][0] < 6.01


def test_a_threshold_needs_something_to_be_fitted_on():
    model = comparing("threshold")
    with pytest.raises(ModelError, match="no threshold for item 0"):
        model.answer([caption()])
    words = replace(caption(), form="choice")
    with pytest.raises(ModelError, match="no captions with pictures"):
        model.prepare(iter([words]), BENCHMARK)


def test_items_without_pictures_are_refused_before_the_run():
    with pytest.raises(ModelError, match="is shown none"):
        comparing().prepare(iter([replace(caption(), images=())]), BENCHMARK)


def test_a_caption_without_a_stem_and_one_too_long_are_told():
    asleep = replace(caption(), text="A cat sleeps.", tags={})
    long = replace(caption(), text="The cat is left of the " + "very " * 12 + "old dog.")
    stemless, longer, good = comparing("stem").answer([asleep, long, caption(1)])
    assert "no stem" in stemless.error
    assert longer.error == "the text has 20 tokens, the model takes 12"
    assert good.choice == "false"  # both texts are alike, and the earlier choice wins


def test_choices_are_statements():
    item = Item(
        id="1",
        form="choice",
        text="Where is it?",
        choices=("left", "right"),
        gold=("left",),
        images=(Image(path="0.0"),),
    )
    model = comparing()
    (answer,) = model.answer([item])
    assert model.comparer.asked == ["Where is it? left", "Where is it? right"]
    assert answer.choice == "left"


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(UsageError, match="There is no contrast named 'better'"):
        comparing("better")
    with pytest.raises(UsageError, match="not true or false"):
        comparing("none", probable=False)
    with pytest.raises(UsageError, match="forms caption, choice, cloze, not entailment"):
        comparing().answer([replace(caption(), form="entailment")])
    with pytest.raises(UsageError, match="has the choices a, b"):
        comparing().answer([replace(caption(), choices=("a", "b"), gold=("a",))])

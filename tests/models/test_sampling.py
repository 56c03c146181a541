"""Answers that are drawn by a model's scores."""

from math import log

import pytest

from gnomon.errors import ModelWarning, UsageError
from gnomon.models.sampling import check_sampling, sampled
from gnomon.records import Answer, Item


class Sure:
    spec, scale, batch = "sure", "log-probability", 7

    def describe(self):
        return {"kind": "sure"}

    def answer(self, items):
        return [Answer(item=item.id, scores=(log(0.8), log(0.2)), choice="a") for item in items]


def items(count):
    return [
        Item(id=str(number), form="choice", text="?", choices=("a", "b"), gold=("a",))
        for number in range(count)
    ]


def share_of_a(model, count=2000):
    said = [answer.choice for answer in model.answer(items(count))]
    return said.count("a") / len(said)


def test_choices_are_drawn_as_often_as_their_scores_say():
    assert share_of_a(sampled(Sure(), 2, 1.0)) == pytest.approx(0.8, abs=0.03)
    assert share_of_a(sampled(Sure(), 2, 0.5)) == pytest.approx(16 / 17, abs=0.03)
    assert share_of_a(sampled(Sure(), 2, 100.0)) == pytest.approx(0.5, abs=0.03)


def test_samples_are_numbered_and_do_not_depend_on_their_company():
    model = sampled(Sure(), 3, 1.0)
    whole = model.answer(items(20))
    assert [answer.sample for answer in whole[:6]] == [0, 1, 2, 0, 1, 2]
    assert model.answer(items(20)[10:]) == whole[30:]
    assert sampled(Sure(), 5, 1.0).answer(items(1))[:3] == whole[:3]
    assert model.describe() == {"kind": "sure", "samples": 3, "temperature": 1.0}
    assert model.batch == 7
    assert sampled(Sure(), 1, 1.0).describe() == {"kind": "sure"}


def test_a_temperature_of_no_effect_is_told():
    with pytest.warns(ModelWarning, match="no effect"):
        assert share_of_a(sampled(Sure(), 1, 0.7)) == 1


def test_a_failure_is_one_answer():
    class Failing(Sure):
        def answer(self, items):
            return [Answer(item=item.id, error="no") for item in items]

    assert sampled(Failing(), 3, 1.0).answer(items(1)) == [Answer(item="0", error="no")]


@pytest.mark.parametrize(
    ("options", "words"),
    [((0, 1.0), "1 to 1,000"), ((2, 0.0), "above 0"), ((2, 1.0, "generate"), "by its scores")],
)
def test_what_makes_no_sense_is_refused(options, words):
    with pytest.raises(UsageError, match=words):
        check_sampling(*options)

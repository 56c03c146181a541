"""People are asked for numbers, points, sets and orders, and what they say is read."""

from __future__ import annotations

import pytest

from gnomon.people.tasks import ResponseError, question_of, read_response, task_named
from gnomon.records import Image, Item

TASK = task_named("choose")
NUMBER = Item(id="1", form="number", text="How tall?", gold=("200 cm",))
SET = Item(id="1", form="set", text="Which?", choices=("ant", "bee"), gold=("ant",))
ORDER = Item(id="1", form="order", text="In turn?", choices=("ant", "bee"), gold=("bee", "ant"))
POINT = Item(
    id="1",
    form="point",
    text="Where?",
    gold=("box 0 0 10 10 in 200x100",),
    images=(Image(path="a.png", width=200, height=100),),
)


@pytest.mark.parametrize(
    ("item", "response", "said"),
    [
        (NUMBER, {"number": "2 m"}, "200 cm"),
        (NUMBER, {"number": "180"}, "180 cm"),
        (POINT, {"point": "25.0 %, 50 %"}, "(50, 50)"),
        (SET, {"label0": "yes", "label1": "no"}, "ant"),
        (SET, {"label0": "no", "label1": "no"}, None),
        (ORDER, {"place0": "bee", "place1": "ant"}, "bee | ant"),
    ],
)
def test_what_people_say_is_read(item, response, said):
    assert read_response(TASK, item, response).choice == said


@pytest.mark.parametrize(
    ("item", "response", "told"),
    [
        (NUMBER, {"number": "tall"}, "one number"),
        (NUMBER, {"number": "2 kg"}, "one number"),
        (NUMBER, {"number": "9" * 100}, "too long"),
        (NUMBER, {}, "Please answer"),
        (POINT, {"point": "left"}, "click on the picture"),
        (POINT, {"point": "120 %, 5 %"}, "click on the picture"),
        (ORDER, {"place0": "bee", "place1": "bee"}, "one place only"),
    ],
)
def test_what_is_no_answer_is_refused(item, response, told):
    with pytest.raises(ResponseError, match=told):
        read_response(TASK, item, response)


def test_a_number_is_asked_for_in_its_unit():
    (part,) = question_of(TASK, NUMBER).parts
    assert part.ask == "Your answer, as a number in centimetres"

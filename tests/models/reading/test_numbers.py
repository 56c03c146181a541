"""Written numbers and points as data, each read in the unit or picture that was asked for."""

from __future__ import annotations

from math import isclose
from pathlib import Path
from random import Random
from time import process_time

import pytest
import yaml

from gnomon.errors import UsageError
from gnomon.forms import credit
from gnomon.models.prompts.library import PromptChoice, load_prompt
from gnomon.models.reading.points import read_points
from gnomon.models.reading.replies import as_answer
from gnomon.models.reading.written import read_number
from gnomon.records import Item

FOLDER = Path(__file__).parent
QUESTION = "How many chairs are there?"


def numbers():
    for file in ("numbers.yaml", "numbers-written.yaml"):
        for unit, replies in yaml.safe_load((FOLDER / file).read_text("utf-8")).items():
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


LISTS = {  # reply -> the set and the order that it gives; none where it gives none
    "bed, sofa, lamp": ("bed | lamp | sofa", "bed | sofa | lamp"),
    "sofa > bed > lamp": ("bed | lamp | sofa", "sofa | bed | lamp"),
    "1. lamp\n2. bed\n3. sofa": ("bed | lamp | sofa", "lamp | bed | sofa"),
    "C, A, B": ("bed | lamp | sofa", "sofa | bed | lamp"),
    "(c), (a) and (b)": ("bed | lamp | sofa", "sofa | bed | lamp"),
    "CAB": ("bed | lamp | sofa", "sofa | bed | lamp"),
    "A and C": ("bed | sofa", None),
    "Answer: sofa, bed": ("bed | sofa", None),
    "The bed and the lamp, but not the sofa.": ("bed | lamp", "bed | lamp | sofa"),
    "all of them": ("bed | lamp | sofa", None),
    "lamp": ("lamp", None),
    '["bed", "lamp"]': ("bed | lamp", None),
    "I cannot tell.": (None, None),
    "": (None, None),
    "<think>bed, lamp, sofa</think>sofa, then lamp, then bed": (
        "bed | lamp | sofa",
        "sofa | lamp | bed",
    ),
}


@pytest.mark.parametrize("reply", LISTS)
def test_sets_and_orders_are_read(reply):
    choices = ("bed", "lamp", "sofa")
    prompt = load_prompt("multiple-choice")
    for form, expected in zip(("set", "order"), LISTS[reply], strict=True):
        item = Item(id="1", form=form, text="?", choices=choices, gold=choices)
        assert as_answer(item, reply, prompt).choice == expected


def test_no_reply_is_too_odd_to_be_read():
    draw = Random(0)
    prompt = load_prompt("chat")
    replies = [param.values[1] for param in numbers()]
    spots = [param.values[0] for param in points()]
    signs = "½²–’″°×→٣①\u202e\0()[]{}<>|,.;:'\"%-+/0123456789 xyab\n"
    asked = [
        Item(id="1", form="number", text="How far?", gold=("2 m",)),
        Item(id="1", form="point", text="?", gold=("box 1 2 3 4 in 640x480",)),
        Item(id="1", form="set", text="?", choices=("a", "b"), gold=("a",)),
        Item(id="1", form="order", text="?", choices=("a", "b"), gold=("a", "b")),
    ]
    for _ in range(4000):
        reply = list(draw.choice(replies) + draw.choice(spots))
        for _ in range(draw.randrange(1, 8)):
            reply.insert(draw.randrange(len(reply) + 1), draw.choice(signs))
        item = draw.choice(asked)
        answer = as_answer(item, "".join(reply), prompt)
        assert 0 <= credit(item, answer.choice) <= 1


def test_brackets_without_end_around_a_unit_are_read_past():
    assert read_number("2" + "(" * 3000 + " m", "m").value == 2
    assert read_number("2 (m)", "m").value == 2


@pytest.mark.parametrize("sign", [" ", "\n", " \n", "_", "(", "<|channel|>a"])
def test_signs_without_end_take_no_longer_than_others(sign):
    prompt = load_prompt("chat")
    choices = ("entailment", "neutral", "contradiction")
    asked = [
        Item(id="1", form="point", text="?", gold=("box 1 2 3 4 in 640x480",)),
        Item(id="1", form="number", text="How far?", gold=("2 m",)),
        Item(id="1", form="entailment", context="?", text="?", choices=choices, gold=choices[:1]),
    ]
    began = process_time()
    for item in asked:
        as_answer(item, f"I see 3{sign * 20_000}cups: it must be so.", prompt)
    assert process_time() - began < 3, "it was minutes"


def test_how_points_are_written_can_be_stated(tmp_path):
    item = Item(id="1", form="point", text="?", gold=("box 0 0 9 9 in 640x480",))
    stated = PromptChoice("chat", points="thousand-yx").load("chat")
    assert as_answer(item, "(250, 500)", stated).choice == "(320, 120)"
    assert as_answer(item, "(250, 400)", load_prompt("chat")).choice == "(250, 400)"
    assert stated.describe()["hash"] != load_prompt("chat").describe()["hash"]
    with pytest.raises(UsageError, match="no way to write points"):
        PromptChoice("chat", points="metres").load("chat")

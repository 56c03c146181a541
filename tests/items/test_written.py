"""Files whose right answers are numbers, sets, orders or regions become items without a map."""

from __future__ import annotations

import json

import pytest

import gnomon
from gnomon.forms import is_right
from gnomon.items.written import asked_unit
from gnomon.measures.scoring import score_run

PICTURE = (100, 50)


@pytest.fixture
def write(tmp_path):
    from PIL import Image

    Image.new("RGB", PICTURE, "white").save(tmp_path / "p.png")

    def make(*rows):
        file = tmp_path / "rows.jsonl"
        file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        return file

    return make


def items(file, **options):
    return list(gnomon.load(str(file), **options).items())


def test_the_unit_of_a_number_is_its_own_that_of_a_column_or_that_of_the_question(write):
    file = write(
        {"question": "How far is it in meters?", "answer": 1.25},
        {"question": "How far is it in meters?", "answer": "120 cm"},
        {"question": "How many chairs are there?", "answer": "3"},
        {"question": "How large is the room, in square feet?", "answer": "215.5"},
    )
    assert [item.gold for item in items(file)] == [("1.25 m",), ("120 cm",), ("3",), ("215.5 ft2",)]
    file = write({"question": "How far?", "answer_value": 20.5, "answer_unit": "inches"})
    assert items(file)[0].gold == ("20.5 in",)


@pytest.mark.parametrize(
    ("question", "unit"),
    [
        ("How tall is it, in centimetres?", "cm"),
        ("How many feet apart are they?", "ft"),
        ("What is the distance in the picture (in meters)?", "m"),
        ("How many chairs are in the room?", ""),
        ("By how many degrees must I turn?", "deg"),
        ("What is the area in square metres?", "m2"),
    ],
)
def test_the_unit_that_a_question_asks_for(question, unit):
    assert asked_unit(question) == unit


def test_few_whole_numbers_that_nothing_explains_stay_refused(write):
    file = write(*({"question": f"Thing {n}?", "answer": n % 3} for n in range(9)))
    with pytest.raises(gnomon.GnomonError, match="nothing says what they mean"):
        items(file)
    assert items(file, map="gold=answer,gold_is=number")[0].form == "number"


@pytest.mark.parametrize(
    "answer", [["cow", "ant", "bee"], "C > A > B", "C,A,B", "CAB", "cow, ant, bee"]
)
def test_a_gold_that_names_all_choices_is_an_order(write, answer):
    options = ["ant", "bee", "cow"]
    file = write({"question": "Largest first?", "options": options, "answer": answer})
    (item,) = items(file)
    assert item.form == "order"
    assert item.gold == ("cow", "ant", "bee")


def test_several_right_ones_stay_alternatives_unless_all_are_asked_for(write):
    options = ["ant", "bee", "cow"]
    file = write({"question": "Which flies?", "options": options, "answer": ["ant", "bee"]})
    assert items(file)[0].form == "choice"
    file = write({"question": "Select all that fly.", "options": options, "answer": ["ant", "bee"]})
    assert items(file)[0].form == "set"
    assert items(file, map="gold_is=text")[0].form == "choice"


@pytest.mark.parametrize(
    ("cell", "gold"),
    [
        ({"bbox": [10, 10, 30, 40]}, "box 10 10 30 40 in 100x50"),
        ({"box": "[0.1, 0.2, 0.3, 0.8]"}, "box 10 10 30 40 in 100x50"),
        ({"point": [0.5, 0.5]}, "point 50 25 in 100x50"),
        ({"point": {"x": 50, "y": 25}}, "point 50 25 in 100x50"),
        ({"polygon": [[0, 0], [50, 0], [0, 50]]}, "polygon 0 0 50 0 0 50 in 100x50"),
        ({"answer": "[(0.1, 0.2), (0.3, 0.2), (0.3, 0.8)]"}, "polygon 10 10 30 10 30 40 in 100x50"),
    ],
)
def test_regions_are_in_pixels_of_their_picture(write, cell, gold):
    file = write({"question": "Point to it.", "image": "p.png", **cell})
    (item,) = items(file)
    assert item.form == "point"
    assert item.gold == (gold,)
    (blind,) = items(file, images="none")
    assert blind.gold in ((gold,), ()), "the picture is not shown, the region is the same"


def test_written_items_go_to_a_file_and_come_back(write, tmp_path):
    from gnomon.items.writing import write_items

    file = write({"question": "How far, in m?", "answer": 1.5})
    made = tmp_path / "made.jsonl"
    write_items(made, items(file))
    assert items(made) == items(file)


def test_answers_of_a_file_are_read_as_numbers(write, tmp_path):
    file = write({"id": "a", "question": "How far, in m?", "answer": 1.5})
    said = tmp_path / "said.jsonl"
    said.write_text(json.dumps({"id": "a", "reply": "About 150 cm."}), encoding="utf-8")
    run = gnomon.run(str(file), f"answers:{said}", runs=tmp_path / "runs")
    ((item, answer),) = run.answers()
    assert is_right(item, answer.choice)
    measures = {score.measure for score in score_run(run)}
    assert measures == {"accuracy", "mean_relative_accuracy", "log_error"}


def test_what_another_harness_cannot_express_is_refused_with_a_remedy(write, tmp_path):
    from gnomon.cli import main

    file = write({"question": "How far, in m?", "answer": 1.5})
    for kind in ("lm-eval", "inspect"):
        code = main(["make", str(file), "--as", kind, "-o", str(tmp_path / kind)])
        assert code != 0

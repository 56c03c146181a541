"""Choices with labels, truths, lists and tables: what cells of strangers hold, and what they mean."""

import json
from pathlib import Path

import pytest

import gnomon
from gnomon.errors import DataError
from gnomon.items.values import OddCellError, as_choices, golds, read_gold
from tests.items.samples import write_json

FILE = Path("mine.jsonl")
TEXTS = ("in the box", "on the roof", "at sea")
OBJECTS = [{"text": text, "label": label} for text, label in zip(TEXTS, "ABC", strict=True)]
LISTS = {"text": list(TEXTS), "label": ["A", "B", "C"]}


def asked(*pairs, mapping=""):
    """The right answers of questions, each given by its choices and its gold."""
    rows = []
    for number, (choices, gold) in enumerate(pairs):
        rows.append({"question": f"Where is ball {number}?", "choices": choices, "answer": gold})
    write_json(FILE, rows)
    items = gnomon.load("mine.jsonl", map=mapping).items()
    return [item.gold for item in items]


@pytest.mark.parametrize("choices", [OBJECTS, LISTS], ids=["objects", "two lists"])
@pytest.mark.parametrize(
    "golds",
    [("B", "C"), ("b", "(C)"), (TEXTS[1], TEXTS[2]), (1, 2, 0), (["B"], ["C"])],
    ids=["labels", "letters", "texts", "numbers", "lists"],
)
def test_choices_with_labels_are_answered_by_label_text_or_number(choices, golds):
    found = asked(*((choices, gold) for gold in golds))
    assert found[:2] == [(TEXTS[1],), (TEXTS[2],)]


@pytest.mark.parametrize("name", ["label", "key", "id"])
def test_the_label_of_a_choice_may_be_called_its_key_or_its_id(name):
    objects = [{name: "1", "text": "in"}, {name: "2", "text": "on"}]
    assert as_choices(objects) == (("in", "on"), ("1", "2"), ())


def test_labels_that_are_numbers_are_not_counted_instead():
    objects = [{"text": text, "label": str(n)} for n, text in enumerate(TEXTS, start=1)]
    assert asked((objects, "1"), (objects, "2")) == [(TEXTS[0],), (TEXTS[1],)]


def test_numbers_beside_labels_that_are_numbers_may_still_be_counted_from_0():
    objects = [{"text": text, "label": str(n)} for n, text in enumerate(TEXTS, start=1)]
    assert asked((objects, "1"), (objects, "0")) == [(TEXTS[1],), (TEXTS[0],)]


def test_a_whole_number_beside_labels_that_are_texts_could_be_either_and_is_refused():
    objects = [{"text": text, "label": str(n)} for n, text in enumerate(TEXTS, start=1)]
    with pytest.raises(DataError, match="every row fits both"):
        asked((objects, 1), (objects, 2))


@pytest.mark.parametrize("choices", [OBJECTS, LISTS], ids=["objects", "two lists"])
def test_a_gold_that_is_no_label_is_told_with_the_labels(choices):
    with pytest.raises(DataError) as caught:
        asked((choices, "B"), (choices, "F"))
    message = caught.value.message
    assert "the gold 'F' is not the name of a choice or a letter" in message
    assert "their labels 'A', 'B', 'C'" in message
    assert caught.value.line == 2


def test_a_letter_is_never_counted_past_a_label_that_is_missing():
    objects = [{"text": "in", "label": "A"}, {"text": "on", "label": "C"}]
    with pytest.raises(DataError, match="'B' is not one of the choices"):
        asked((objects, "B"))
    assert asked((objects, "c")) == [("on",)]


def test_letters_count_where_the_labels_are_words():
    choices = {"text": ["in", "on"], "label": ["first", "second"]}
    assert asked((choices, "B"), (choices, "A")) == [("on",), ("in",)]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ([{"words": "in", "more": "x"}, {"words": "on", "more": "y"}], 'must be called "text"'),
        ([{"label": "A", "text": "in"}, {"label": "A", "text": "on"}], "the same label"),
        ([{"label": "A", "text": "in"}, "on"], "the choice is an object"),
        ({"text": ["in", "on"], "label": ["A"]}, "2 choices and 1 labels"),
    ],
)
def test_choices_whose_labels_do_not_fit_are_refused(choices, message):
    with pytest.raises(OddCellError, match=message):
        as_choices(choices)


def test_the_questions_of_arc_as_its_authors_wrote_them_need_no_map():
    question = {"stem": "Where is the cat?", "choices": OBJECTS}
    write_json(FILE, [{"id": "7", "question": question, "answerKey": "C"}])
    by_hand = "text=question.stem,choices=question.choices"
    for mapping in ("", f"{by_hand},gold=answerKey", f"{by_hand}.text,gold=answerKey"):
        (item,) = gnomon.load("mine.jsonl", map=mapping).items()
        assert (item.id, item.text, item.gold) == ("7", "Where is the cat?", (TEXTS[2],))
        assert item.choices == TEXTS


def test_a_question_that_is_an_object_is_told_how_to_name_its_field():
    rows = [{"query": {"words": "Where?"}, "choices": OBJECTS, "answer": "A"}]
    write_json(FILE, rows)
    with pytest.raises(DataError, match=r"name one of its fields, .*--map text=query\.words"):
        list(gnomon.load("mine.jsonl").items())


@pytest.mark.parametrize(
    ("choices", "right"),
    [(["False", "True"], "True"), (["no", "yes"], "yes"), (["Yes", "No"], "Yes")],
)
def test_a_truth_names_the_choice_that_says_so(choices, right):
    other = next(choice for choice in choices if choice != right)
    assert asked((choices, True), (choices, False)) == [(right,), (other,)]


def test_truths_without_choices_are_true_and_false():
    write_json(FILE, [{"question": "Is it?", "answer": True}, {"question": "Or?", "answer": False}])
    found = [(item.choices, item.gold) for item in gnomon.load("mine.jsonl").items()]
    assert found == [(("false", "true"), ("true",)), (("false", "true"), ("false",))]


@pytest.mark.parametrize("written", ['["A", "C"]', "['A', 'C']"])
def test_several_right_answers_may_stand_in_the_cell_of_a_table(written):
    assert read_gold(written, as_choices(LISTS), "name") == (TEXTS[0], TEXTS[2])


def test_a_text_in_brackets_that_is_no_list_is_one_answer():
    assert golds("[the box]") == ["[the box]"]


@pytest.mark.parametrize("write", [json.dumps, repr])
def test_choices_with_labels_may_stand_in_the_cell_of_a_table(write):
    assert as_choices(write(LISTS)) == as_choices(LISTS)
    assert as_choices(write(OBJECTS)) == as_choices(LISTS)


ROWS = ["question;A;B;answer", '"Where; when?";in;on;A', ";;;", "", "Whence?;in, then;on;B"]


@pytest.mark.parametrize("head", ["", "\ufeff"], ids=["plain", "with a byte order mark"])
def test_a_table_of_a_spreadsheet_is_read(head):
    Path("quiz.csv").write_text(head + "\r\n".join(ROWS), encoding="utf-8")
    items = list(gnomon.load("quiz.csv").items())
    assert [item.text for item in items] == ["Where; when?", "Whence?"]
    assert items[1].choices == ("in, then", "on")
    assert [item.gold for item in items] == [("in",), ("on",)]


def test_a_semicolon_within_a_column_that_commas_separate_stays():
    Path("quiz.csv").write_text("question,A,B,answer\nWhere; when?,in,on,A\n")
    (item,) = gnomon.load("quiz.csv").items()
    assert item.text == "Where; when?"


def test_a_table_without_a_row_that_holds_anything_is_refused():
    Path("quiz.csv").write_text("question,A,B,answer\n,,,\n")
    with pytest.raises(DataError, match="holds no items"):
        gnomon.load("quiz.csv")

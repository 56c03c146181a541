"""How right answers are named is settled by all rows; what could mean two things is refused."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnomon
from gnomon.errors import DataError, GnomonError, UsageError
from gnomon.items.mapping import parse_map
from gnomon.items.resolving import choices_in, refuse, resolve
from gnomon.items.values import Choices, read_gold

FILE = Path("mine.jsonl")
UNDECIDED = "text=q,context=p,gold=a,gold_is=text"


def resolved(rows, mapping="text=q,choices=c,gold=a"):
    return resolve(FILE, lambda: enumerate(rows, start=1), parse_map(mapping), {}, refuse(FILE))


def row(gold, choices=("in", "on", "at")):
    return {"q": "Where?", "c": list(choices), "a": gold}


@pytest.mark.parametrize(
    ("golds", "way"),
    [
        (["A", "C"], "letter"),
        (["(a)", "b."], "letter"),
        (["in", "at"], "text"),
        (["IN", " at "], "text"),
        ([0, 1], "index0"),
        (["0", "1"], "index0"),
        ([1.0, 3.0], "index1"),
        ([["in", "on"], ["at"]], "text"),
    ],
)
def test_the_way_that_fits_every_row_is_found(golds, way):
    assert resolved([row(gold) for gold in golds]).gold_is == way


def test_a_gold_of_lists_without_end_is_one_sentence_and_no_crash():
    with pytest.raises(DataError, match="is not one of the choices"):
        resolved([row("[" * 100_000)])


def test_numbers_that_could_count_from_0_or_from_1_are_refused():
    with pytest.raises(DataError) as caught:
        resolved([row(1), row(2)])
    assert "a number counted from 0 ('" in caught.value.message  # and the choice that it means
    assert "or a number counted from 1 ('" in caught.value.message
    assert "gold_is=index0 or gold_is=index1" in caught.value.hint


def test_a_number_that_is_also_the_text_of_a_choice_is_refused():
    with pytest.raises(
        DataError, match=r"text of a choice \('2'\) or a number counted from 0 \('3'\)"
    ):
        resolved([row("2", choices=("1", "2", "3")), row("1", choices=("1", "2", "3"))])


@pytest.mark.parametrize(("gold", "way"), [("D", "letter"), (3, "index0"), (4, "index1")])
def test_an_option_that_is_left_empty_keeps_its_place(gold, way):
    mapping = parse_map(f"text=q,choices=one+two+three+four,gold=a,gold_is={way}")
    choices = choices_in({"one": "in", "two": "", "three": "on", "four": "by"}, mapping)
    assert choices.texts == ("in", "on", "by")
    assert read_gold(gold, choices, way) == ("by",)


def test_an_option_that_is_left_empty_is_not_the_right_one():
    mapping = parse_map("text=q,choices=one+two+three,gold=a,gold_is=index1")
    choices = choices_in({"one": "in", "two": None, "three": "on"}, mapping)
    assert read_gold(2, choices, "index1") is None


def test_what_annotators_did_not_agree_on_is_no_label():
    labels = ["-", "entailment", "neutral", "contradiction"]
    mapping = resolved([{"q": "?", "p": "!", "a": label} for label in labels], UNDECIDED)
    assert mapping.labels == ("entailment", "neutral", "contradiction")


def test_a_column_of_answers_that_is_empty_everywhere_has_no_labels():
    with pytest.raises(UsageError, match="fewer than two different labels"):
        resolved([{"q": "?", "a": ""}, {"q": "!", "a": " "}], "text=q,gold=a")


def test_who_says_how_answers_are_named_is_believed():
    mapping = resolved([row(1), row(2)], "text=q,choices=c,gold=a,gold_is=index1")
    assert mapping.gold_is == "index1"


def test_a_row_that_differs_from_those_before_is_named_by_its_line():
    with pytest.raises(DataError, match=r"mine\.jsonl:2: the gold '0' is not a letter"):
        resolved([row("A"), row(0)])


@given(
    st.lists(st.text(min_size=1, max_size=5), min_size=2, max_size=6, unique=True),
    st.data(),
)
def test_letters_and_numbers_mean_the_same_choice_as_its_place(texts, data):
    place = data.draw(st.integers(0, len(texts) - 1))
    choices = Choices(tuple(texts))
    right = (texts[place],)
    assert read_gold("ABCDEF"[place], choices, "letter") == right
    assert read_gold(place, choices, "index0") == right
    assert read_gold(place + 1, choices, "index1") == right


def test_labels_that_are_numbers_need_names():
    rows = [{"premise": "p", "hypothesis": "h", "label": number} for number in (0, 1, 2)]
    with pytest.raises(UsageError, match="nothing says what they mean"):
        resolved(rows, "context=premise,text=hypothesis,gold=label")
    named = "context=premise,text=hypothesis,gold=label,labels=entailment+neutral+contradiction"
    assert resolved(rows, named).gold_is == "index0"


def write(*rows):
    FILE.write_text("".join(json.dumps(each) + "\n" for each in rows))


def test_premise_and_hypothesis_are_asked_as_entailment():
    write(
        {"premise": "Ann sits.", "hypothesis": "Ann stands.", "label": "Contradiction"},
        {"premise": "Ann sits.", "hypothesis": "Ann is there.", "label": "entailment"},
    )
    first, _ = gnomon.load("mine.jsonl").items()
    assert (first.form, first.context, first.gold) == (
        "entailment",
        "Ann sits.",
        ("contradiction",),
    )
    assert first.choices == ("entailment", "neutral", "contradiction")


def test_choices_with_names_of_their_own_are_answered_by_these():
    write(
        {"question": "?", "choices": {"text": ["x", "y"], "label": ["1", "2"]}, "answerKey": "1"},
        {"question": "!", "choices": {"text": ["v", "w"], "label": ["A", "B"]}, "answerKey": "B"},
    )
    for mapping in ("", "choices=choices.text,gold=answerKey"):
        one, two = gnomon.load("mine.jsonl", map=mapping).items()
        assert (one.gold, two.gold) == (("x",), ("w",))


def test_a_run_keeps_the_whole_map_and_another_map_is_another_run():
    write({"question": "?", "options": ["x", "y"], "answer": "A", "level": "easy", "key": "B"})
    one = gnomon.run("mine.jsonl", "random", runs="runs")
    other = gnomon.load("mine.jsonl", map={"gold": "key"})
    two = gnomon.run(other, "random", runs="runs")
    assert one.manifest.options["map"].endswith("gold=answer,gold_is=letter")
    assert one.path != two.path
    assert next(iter(other.items())).tags == {"level": "easy", "answer": "A"}


@pytest.mark.parametrize(
    "odd",
    [
        {"question": None, "options": ["x", "y"], "answer": "A"},
        {"question": {"a": 1}, "options": ["x", "y"], "answer": "A"},
        {"question": "?", "options": "x", "answer": "A"},
        {"question": "?", "options": ["x"], "answer": "A"},
        {"question": "?", "options": ["x", "x"], "answer": "A"},
        {"question": "?", "options": ["x", None], "answer": "A"},
        {"question": "?", "options": ["x", "y"], "answer": None},
        {"question": "?", "options": ["x", "y"], "answer": {"a": []}},
        {"question": "?", "options": {}, "answer": "A"},
        {"question": "?", "answer": "A"},
        {"question": "", "options": ["x", "y"], "answer": "A"},
        {"question": "a" * (2**20 + 1), "options": ["x", "y"], "answer": "A"},
    ],
)
def test_a_row_that_is_no_question_is_one_sentence_with_its_line(odd):
    write({"question": "?", "options": ["x", "y"], "answer": "A"}, odd)
    with pytest.raises(GnomonError, match=r"^mine\.jsonl:2: "):
        list(gnomon.load("mine.jsonl").items())


def test_not_a_number_in_json_or_in_a_table_is_refused():
    FILE.write_text('{"question": "?", "options": ["x", "y"], "answer": NaN}\n')
    with pytest.raises(DataError, match="not JSON"):
        gnomon.load("mine.jsonl")

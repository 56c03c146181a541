"""Tables and JSON lines: an id and a label, scores, or a column for each choice."""

import gzip

import pytest

from gnomon.errors import DataError


def test_id_and_label(tmp_path, choices):
    (tmp_path / "p.csv").write_text("id,label\nb,no\na,yes\nc,yes\n")
    assert choices(tmp_path / "p.csv") == ["yes", "no", "yes"]


def test_probabilities_pick_the_most_probable(tmp_path, joined):
    (tmp_path / "p.csv").write_text("id,yes,no\na,0.2,0.8\nb,0.9,0.1\nc,,\n")
    found, _ = joined(tmp_path / "p.csv")
    assert (found["a"].choice, found["b"].choice, found["c"].choice) == ("no", "yes", None)
    assert found["a"].scores == (0.2, 0.8)


def test_probabilities_beside_a_label_are_kept_and_checked(tmp_path, joined):
    (tmp_path / "p.csv").write_text("id,label,no,yes\na,yes,0.8,0.2\nb,yes,0.1,0.9\nc,no,1,0\n")
    found, (note,) = joined(tmp_path / "p.csv")
    assert found["a"].scores == (0.2, 0.8)
    assert "1 answers have a choice that is not the one with the highest score" in note


def test_answer_records_and_gzip(tmp_path, joined):
    lines = [
        '{"item": "a", "choice": "no"}',
        '{"item": "b", "scores": [-1.5, -0.5]}',
        '{"item": "c", "error": "gone"}',
    ]
    with gzip.open(tmp_path / "p.jsonl.gz", "wt") as out:
        out.write("\n".join(lines))
    found, _ = joined(tmp_path / "p.jsonl.gz")
    assert [answer.choice for answer in found.values()] == ["no", "no", None]
    assert found["c"].error == "gone"


def test_a_label_that_is_no_choice_is_unread_not_guessed(tmp_path, joined):
    (tmp_path / "p.csv").write_text("id,label\na,perhaps\nb,\n")
    found, _ = joined(tmp_path / "p.csv")
    assert (found["a"].choice, found["a"].reply) == (None, "perhaps")
    assert (found["b"].choice, found["b"].reply, found["b"].error) == (None, None, None)


def test_a_letter_in_a_reply_means_nothing_where_the_choices_are_not_listed(tmp_path, choices):
    (tmp_path / "p.csv").write_text("id,reply\na,The answer is (B).\nb,It is no.\nc,yes\n")
    assert choices(tmp_path / "p.csv") == [None, "no", "yes"]


@pytest.mark.parametrize(
    "header",
    ["id,label,prediction", "id,prediction,label", "id,choice,answer", "id,label,pred"],
)
def test_several_columns_that_could_be_the_answer_are_refused(tmp_path, choices, header):
    (tmp_path / "p.csv").write_text(f"{header}\na,yes,no\nb,yes,no\nc,yes,no\n")
    with pytest.raises(DataError, match=r"several columns could be the answer.*\n.*--set column"):
        choices(tmp_path / "p.csv")


def test_the_option_column_says_which_is_the_answer(tmp_path, choices):
    (tmp_path / "p.csv").write_text("id,label,prediction\na,yes,no\nb,yes,no\nc,yes,yes\n")
    assert choices(tmp_path / "p.csv", column="prediction") == ["no", "no", "yes"]
    with pytest.raises(DataError, match="there is no column 'guess'"):
        choices(tmp_path / "p.csv", column="guess")


BAD = {
    "no id": ("p.csv", "name,label\na,yes\n", "there is no field id"),
    "two columns of one name": (
        "p.csv",
        "id,label,label\na,yes,no\n",
        "p.csv:1: two columns are named 'label'",
    ),
    "no answer at all": ("p.csv", "id,note\na,fine\n", "there is no answer to item 'a'"),
    "wrong number of scores": ("p.jsonl", '{"id": "a", "scores": [1]}\n', "there must be 2 scores"),
    "score that is a text": (
        "p.jsonl",
        '{"id": "a", "scores": [1, "x"]}\n',
        "p.jsonl:1: a score is not a number: x",
    ),
    "score with an underscore": ("p.csv", "id,yes,no\na,1_0,0\n", "a score is not a number: 1_0"),
    "score in Arabic digits": ("p.csv", "id,yes,no\na,٣,0\n", "a score is not a number: ٣"),
    "score of 401 digits": (
        "p.jsonl",
        f'{{"id": "a", "scores": [1{"0" * 400}, 0]}}\n',
        "p.jsonl:1: ",
    ),
    "score that is true": (
        "p.jsonl",
        '{"id": "a", "scores": [true, 0]}',
        "a score is not a number",
    ),
    "reply as a list": (
        "p.jsonl",
        '{"id": "a", "reply": ["yes"]}',
        "the field reply is not a text",
    ),
    "label as an object": ("p.jsonl", '{"id": "a", "label": {}}', "the field label is not a text"),
    "truncated": ("p.jsonl", '{"id": "a", "label": "yes"}\n{"id": "b", "la', "p.jsonl:2: not JSON"),
}


@pytest.mark.parametrize(("name", "text", "words"), BAD.values(), ids=BAD)
def test_what_does_not_fit_is_named(name, text, words, tmp_path, choices):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=words):
        choices(tmp_path / name)


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_a_table_with_bare_carriage_returns_is_one_sentence(tmp_path, choices, delimiter):
    rows = (("id", "label"), ("a", "yes"), ("b", "no"))
    text = "".join(delimiter.join(row) + "\r" for row in rows)
    (tmp_path / "p.csv").write_bytes(text.encode())
    with pytest.raises(DataError, match="not a table"):
        choices(tmp_path / "p.csv")


def test_a_row_that_lists_its_choices_gives_its_letters_a_meaning(tmp_path, choices):
    rows = [
        '{"id": "a", "reply": "B", "choices": ["no", "yes"]}',
        '{"id": "b", "reply": "B", "choices": ["yes", "no"]}',
        '{"id": "c", "reply": "B"}',
    ]
    (tmp_path / "p.jsonl").write_text("\n".join(rows))
    assert choices(tmp_path / "p.jsonl") == ["yes", "no", None]
    (tmp_path / "p.csv").write_text("id,reply,choices\na,B,no | yes\nb,A,yes | no\nc,yes,\n")
    assert choices(tmp_path / "p.csv") == ["yes", "yes", "yes"]


def test_choices_that_are_no_list_are_refused_with_the_line(tmp_path, choices):
    (tmp_path / "p.jsonl").write_text('{"id": "a", "reply": "B", "choices": 3}')
    with pytest.raises(DataError, match="must be a list of texts"):
        choices(tmp_path / "p.jsonl")

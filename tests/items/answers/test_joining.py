"""A file joins with the items by id; what the file lacks, and what it has too much, is said."""

import os

import pytest

from gnomon.errors import DataError, UsageError
from gnomon.items.answers import joining
from gnomon.records import Item


def test_an_item_that_the_file_lacks_has_failed_and_that_is_said(tmp_path, joined):
    (tmp_path / "p.csv").write_text("id,label\nb,no\na,yes\n")
    answers, notes = joined(tmp_path / "p.csv")
    assert [answer.choice for answer in answers.values()] == ["yes", "no", None]
    assert answers["c"].error == "not in the file of answers"
    (note,) = notes
    assert "has no answer to 1 of 3 items: they count as failed." in note


def test_a_file_that_has_few_of_the_items_names_the_usual_reason(tmp_path, joined):
    (tmp_path / "p.csv").write_text("id,label\nb,no\n")
    _, (note,) = joined(tmp_path / "p.csv")
    assert "made or run with --limit or other options" in note


def test_answers_to_no_item_are_counted_and_named(tmp_path, joined):
    rows = "".join(f"x{n},yes\n" for n in range(60))
    (tmp_path / "p.csv").write_text(f"id,label\na,yes\nb,yes\nc,yes\n{rows}")
    answers, (note,) = joined(tmp_path / "p.csv")
    assert len(answers) == 3
    assert "60 of 63 answers are to no item" in note
    assert "x0, x1, x2 and 57 more" in note


def test_a_choice_against_its_own_scores_is_said(tmp_path, joined):
    lines = [
        '{"id": "a", "label": "yes", "scores": [0.1, 0.9]}',
        '{"id": "b", "label": "no", "scores": [0.1, 0.9]}',
        '{"id": "c", "label": "no", "scores": [0.5, 0.5]}',
    ]
    (tmp_path / "p.jsonl").write_text("\n".join(lines))
    answers, (note,) = joined(tmp_path / "p.jsonl")
    assert answers["a"].choice == "yes"
    assert "1 answers have a choice that is not the one with the highest score" in note
    assert note.endswith(": a.")


@pytest.mark.parametrize("scores", ["[0.5, -1.0]", "[2.0, 0.5]"])
def test_scores_that_are_on_no_scale_are_said(tmp_path, joined, scores):
    lines = [f'{{"id": "{name}", "scores": {scores}}}' for name in "abc"]
    (tmp_path / "p.jsonl").write_text("\n".join(lines))
    _, (note,) = joined(tmp_path / "p.jsonl")
    assert "neither probabilities (0 to 1) nor log-probabilities" in note


@pytest.mark.parametrize("scores", ["[0.0, -1.0]", "[1.0, 0.0]", "[null, -3.0]"])
def test_scores_on_a_scale_need_no_note(tmp_path, joined, scores):
    lines = [f'{{"id": "{name}", "scores": {scores}}}' for name in "abc"]
    (tmp_path / "p.jsonl").write_text("\n".join(lines))
    assert joined(tmp_path / "p.jsonl")[1] == []


def yes_or_no(name, choices=("false", "true")):
    return Item(id=name, form="caption", text="?", choices=choices, gold=(choices[0],))


def test_vsr_list_is_taken_in_the_order_of_the_items(tmp_path, choices):
    (tmp_path / "preds.txt").write_text("1\n0\n1\n")
    found = choices(tmp_path / "preds.txt", [yes_or_no(name) for name in "abc"])
    assert found == ["true", "false", "true"]


def test_vsr_list_of_another_length_is_refused(tmp_path, choices):
    (tmp_path / "preds.txt").write_text("1\n0\n1\n0\n")
    with pytest.raises(DataError, match="1 more predictions than there are items"):
        choices(tmp_path / "preds.txt", [yes_or_no(name) for name in "abc"])


def test_vsr_list_is_refused_for_a_benchmark_with_other_choices(tmp_path, choices):
    (tmp_path / "preds.txt").write_text("1\n0\n1\n")
    with pytest.raises(
        DataError, match=r"other choices for item '.*': false, true\.\nThe benchmark has: yes"
    ):
        choices(tmp_path / "preds.txt")


def test_spatialqa_results_join_with_the_items_of_the_same_file(tmp_path, choices):
    from gnomon.benchmarks.spatialqa import read

    header = (
        "premise\thypothesis\tentailment\treasoning_type\tfunction_name\tg_id\tanswer\tcorrect\n"
    )
    rows = [
        "The bee is still.\tThe bee moves.\tcontradiction\tmotion\tone_hop\t0\tcontradiction\t1\n",
        "The bee moves.\tThe bee is still.\tcontradiction\tmotion\tone_hop\t0\tNone\t0\n",
    ]
    file = tmp_path / "results-x.tsv"
    file.write_text(header + "".join(rows))
    assert choices(file, [i for i, _ in read(file)]) == ["contradiction", None]


def test_an_option_of_another_format_is_refused(tmp_path, choices):
    (tmp_path / "p.csv").write_text("id,label\na,yes\n")
    with pytest.raises(UsageError, match="format table has no option 'filter'"):
        choices(tmp_path / "p.csv", filter="none")


def test_a_file_without_end_is_refused_while_it_is_read(tmp_path, choices, monkeypatch):
    monkeypatch.setattr(joining, "MOST_ANSWERS", 10)
    rows = "".join(f"{n},yes\n" for n in range(100))
    (tmp_path / "p.csv").write_text(f"id,label\n{rows}")
    with pytest.raises(DataError, match=r"p.csv:12: the file holds more than 10 answers"):
        choices(tmp_path / "p.csv")


def test_replies_without_end_are_refused(tmp_path, choices, monkeypatch):
    monkeypatch.setattr(joining, "MOST_TEXT", 100)
    (tmp_path / "p.csv").write_text(f"id,reply\na,{'y' * 60}\nb,{'y' * 60}\n")
    with pytest.raises(DataError, match=r"p.csv:3: the file holds more"):
        choices(tmp_path / "p.csv")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_refused_and_does_not_hang(tmp_path, choices):
    os.mkfifo(tmp_path / "p.csv")
    with pytest.raises(DataError, match="this is not a file"):
        choices(tmp_path / "p.csv")


BAD = {
    "same id twice": (
        "id,label\na,yes\na,no\n",
        r"p.csv:3: the id 'a' was there already, in line 2",
    ),
    "no item of the benchmark": ("id,label\nz,yes\n", "no id in the file"),
    "not 0 or 1": ("1\n0\n1\n7\n", "p.csv:4: '7' is not 0 or 1"),
}


@pytest.mark.parametrize(("text", "words"), BAD.values(), ids=BAD)
def test_what_does_not_fit_is_named(text, words, tmp_path, choices):
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(DataError, match=words):
        choices(tmp_path / "p.csv", [yes_or_no(name) for name in "abcd"])

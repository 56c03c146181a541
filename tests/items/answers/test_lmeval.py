"""Sample logs of lm-eval: scores join with choices by text, and one filter counts."""

import json

import pytest

from gnomon.errors import DataError


def line(number, name, replies, asked=None, filter="none"):
    record = {
        "doc_id": number,
        "doc": {"id": name} if name else {"text": "?"},
        "target": "0",
        "resps": [],
        "filtered_resps": replies,
        "filter": filter,
    }
    if asked:
        pairs = {f"gen_args_{i}": {"arg_0": "Q", "arg_1": f" {a}"} for i, a in enumerate(asked)}
        record["arguments"] = pairs
    return json.dumps(record) + "\n"


def test_scores_of_multiple_choice(tmp_path, joined):
    (tmp_path / "s.jsonl").write_text(
        line(0, "b", [["-0.5", "False"], ["-0.1", "True"]], ("yes", "no"))
        + line(1, "a", [[-0.2, True], [-3.0, False]], ("yes", "no"))
    )
    found, _ = joined(tmp_path / "s.jsonl")
    assert (found["a"].choice, found["b"].choice, found["c"].choice) == ("yes", "no", None)
    assert found["b"].scores == (-0.5, -0.1)


def test_scores_are_joined_by_the_text_of_the_choice_not_by_its_place(tmp_path, joined):
    (tmp_path / "s.jsonl").write_text(line(0, "a", [[-0.1, True], [-3.0, False]], ("no", "yes")))
    found, _ = joined(tmp_path / "s.jsonl")
    assert found["a"].choice == "no"
    assert found["a"].scores == (-3.0, -0.1)


def exported(words, labels):
    """A line about a document that `gnomon make --as lm-eval` wrote."""
    record = json.loads(line(0, "a", [[-0.1, True], [-3.0, False]], words))
    record["doc"] |= {"choices": [f" {word}" for word in words], "labels": labels}
    return json.dumps(record)


def test_choices_of_an_exported_task_have_the_names_of_the_benchmark(tmp_path, choices):
    """The model was given "no, it is not." for the label no."""
    words = ("no, it is not.", "yes, it is.")
    (tmp_path / "s.jsonl").write_text(exported(words, ["no", "yes"]))
    assert choices(tmp_path / "s.jsonl")[0] == "no"


def test_labels_that_do_not_belong_to_the_choices_are_not_believed(tmp_path, choices):
    (tmp_path / "s.jsonl").write_text(exported(("no", "yes"), ["yes"]))
    assert choices(tmp_path / "s.jsonl")[0] == "no"


def test_arguments_of_older_versions_are_lists(tmp_path, choices):
    record = json.loads(line(0, "a", [[-0.1, True], [-3.0, False]]))
    record["arguments"] = [["Q", " no"], ["Q", " yes"]]
    (tmp_path / "s.jsonl").write_text(json.dumps(record))
    assert choices(tmp_path / "s.jsonl")[0] == "no"


def test_generated_replies_are_read_and_joined_by_place(tmp_path, choices):
    (tmp_path / "s.jsonl").write_text(
        line(0, "", ["The answer is no."]) + line(1, "", ["lol"]) + line(2, "", [])
    )
    assert choices(tmp_path / "s.jsonl") == ["no", None, None]


def test_of_several_filters_the_one_named_none_counts(tmp_path, choices):
    (tmp_path / "s.jsonl").write_text(
        line(0, "a", ["yes"], filter="strict") + line(0, "a", ["no"], filter="none")
    )
    assert choices(tmp_path / "s.jsonl")[0] == "no"


def test_of_other_filters_one_must_be_named(tmp_path, choices):
    (tmp_path / "s.jsonl").write_text(
        line(0, "a", ["yes"], filter="strict") + line(0, "a", ["no"], filter="flexible")
    )
    with pytest.raises(DataError, match="several filters: flexible, strict"):
        choices(tmp_path / "s.jsonl")
    assert choices(tmp_path / "s.jsonl", filter="strict")[0] == "yes"
    with pytest.raises(
        DataError,
        match=r"filter 'loose'.\nName one of these with --set filter=NAME: flexible, strict",
    ):
        choices(tmp_path / "s.jsonl", filter="loose")


PAIRS = [[-0.1, True], [-3.0, False]]
BAD = {
    "no arguments": (line(0, "a", PAIRS), "does not say which score belongs to which choice"),
    "other choices": (
        line(0, "a", PAIRS, ("A", "B")),
        r"the file has other choices for item 'a': A, B.\nThe benchmark has: yes, no",
    ),
    "one choice twice": (
        line(0, "a", PAIRS, ("yes", "yes")),
        "other choices for item 'a': yes, yes",
    ),
    "an empty reply in a list": (line(0, "a", [[]]), "neither one reply nor a score"),
    "a number for a reply": (line(0, "a", [3]), "neither one reply nor a score"),
}


@pytest.mark.parametrize(("text", "words"), BAD.values(), ids=BAD)
def test_what_does_not_fit_is_named(text, words, tmp_path, choices):
    (tmp_path / "s.jsonl").write_text(text)
    with pytest.raises(DataError, match=words):
        choices(tmp_path / "s.jsonl")

"""Answers from elsewhere: every format joins with its items, and what does not fit is named."""

import gzip
import json
import zipfile

import pytest

from gnomon.answerfiles.joining import read_predictions
from gnomon.errors import DataError
from gnomon.records import Item


def item(name, choices=("yes", "no")):
    return Item(id=name, form="choice", text="Is it so?", choices=choices, gold=(choices[0],))


ITEMS = [item("a"), item("b"), item("c")]


def choices(file, items=ITEMS):
    return [answer and answer.choice for _, answer in read_predictions(str(file), items)]


def test_id_and_label_csv(tmp_path):
    (tmp_path / "p.csv").write_text("id,label\nb,no\na,yes\n")
    assert choices(tmp_path / "p.csv") == ["yes", "no", None]


def test_probabilities_csv_picks_the_most_probable(tmp_path):
    (tmp_path / "p.csv").write_text("id,yes,no\na,0.2,0.8\nb,0.9,0.1\nc,,\n")
    found = {i.id: a for i, a in read_predictions(str(tmp_path / "p.csv"), ITEMS)}
    assert (found["a"].choice, found["b"].choice, found["c"].choice) == ("no", "yes", None)
    assert found["a"].scores == (0.2, 0.8)


def test_answer_records_and_gzip(tmp_path):
    with gzip.open(tmp_path / "p.jsonl.gz", "wt") as out:
        out.write(
            '{"item": "a", "choice": "no"}\n{"item": "b", "scores": [-1.5, -0.5]}\n{"item": "c", "error": "gone"}\n'
        )
    found = [a for _, a in read_predictions(str(tmp_path / "p.jsonl.gz"), ITEMS)]
    assert [a.choice for a in found] == ["no", "no", None]
    assert found[2].error == "gone"


def test_label_that_is_no_choice_is_unread_not_guessed(tmp_path):
    (tmp_path / "p.csv").write_text("id,label\na,perhaps\n")
    (_, answer), *_ = read_predictions(str(tmp_path / "p.csv"), ITEMS)
    assert (answer.choice, answer.reply) == (None, "perhaps")


def test_vsr_list_is_taken_in_the_order_of_the_items(tmp_path):
    (tmp_path / "preds.txt").write_text("1\n0\n1\n")
    assert choices(tmp_path / "preds.txt", [item(n, ("false", "true")) for n in "abc"]) == [
        "true",
        "false",
        "true",
    ]


def test_vsr_list_of_another_length_is_refused(tmp_path):
    (tmp_path / "preds.txt").write_text("1\n0\n1\n0\n")
    with pytest.raises(DataError, match="1 more predictions than there are items"):
        choices(tmp_path / "preds.txt")


def test_spatialqa_results_join_with_the_items_of_the_same_file(tmp_path):
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


def lm_eval_line(number, name, replies):
    return (
        json.dumps(
            {
                "doc_id": number,
                "doc": {"id": name} if name else {"text": "?"},
                "target": "0",
                "resps": [],
                "filtered_resps": replies,
            }
        )
        + "\n"
    )


def test_lm_eval_log_of_multiple_choice(tmp_path):
    (tmp_path / "s.jsonl").write_text(
        lm_eval_line(0, "b", [["-0.5", "False"], ["-0.1", "True"]])
        + lm_eval_line(1, "a", [[-0.2, True], [-3.0, False]])
    )
    found = {i.id: a for i, a in read_predictions(str(tmp_path / "s.jsonl"), ITEMS)}
    assert (found["a"].choice, found["b"].choice, found["c"]) == ("yes", "no", None)
    assert found["b"].scores == (-0.5, -0.1)


def test_lm_eval_log_of_generation_is_read_and_joined_by_place(tmp_path):
    (tmp_path / "s.jsonl").write_text(
        lm_eval_line(0, "", ["The answer is no."]) + lm_eval_line(1, "", ["lol"])
    )
    assert choices(tmp_path / "s.jsonl") == ["no", None, None]


def inspect_sample(
    name, completion="ANSWER: B", answer="B", options=("yes", "no"), error=None, epoch=1
):
    return {
        "id": name,
        "epoch": epoch,
        "choices": list(options) if options else None,
        "target": "A",
        "output": {"model": "m", "completion": completion},
        "error": error,
        "scores": {"choice": {"value": "C", "answer": answer}},
    }


SAMPLES = [
    inspect_sample("a"),
    inspect_sample("b", "Yes, it is.", "Yes, it is.", None),
    inspect_sample("c", error={"message": "time out"}),
    inspect_sample("a", epoch=2),
]


def test_inspect_json_log(tmp_path):
    (tmp_path / "log.json").write_text(
        json.dumps({"version": 2, "status": "success", "samples": SAMPLES})
    )
    found = [a for _, a in read_predictions(str(tmp_path / "log.json"), ITEMS)]
    assert [a.choice for a in found] == ["no", "yes", None]
    assert found[2].error == "time out"


def test_inspect_eval_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "log.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for i, sample in enumerate(SAMPLES):
            archive.writestr(f"samples/{i}.json", json.dumps(sample))
    assert choices(tmp_path / "log.eval") == ["no", "yes", None]


def test_archive_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("gnomon.answerfiles.foreign.MEMBER_LIMIT", 100)
    with zipfile.ZipFile(tmp_path / "log.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/1.json", " " * 10_000)
    with pytest.raises(DataError, match="too much"):
        choices(tmp_path / "log.eval")


BAD = {
    "same id twice": (
        "p.csv",
        "id,label\na,yes\na,no\n",
        r"p.csv:3: the id 'a' was there already, in line 2",
    ),
    "no id": ("p.csv", "name,label\na,yes\n", "there is no field id"),
    "no item of the benchmark": ("p.csv", "id,label\nz,yes\n", "no id in the file"),
    "wrong number of scores": ("p.jsonl", '{"id": "a", "scores": [1]}\n', "there must be 2 scores"),
    "score that is no number": (
        "p.jsonl",
        '{"id": "a", "scores": [1, "x"]}\n',
        "p.jsonl:1: a score is not a number",
    ),
    "not 0 or 1": ("p.txt", "1\n0\n1\n7\n", "p.txt:4: '7' is not 0 or 1"),
    "not an archive": ("p.eval", "hello", "not an Inspect log"),
    "truncated": ("p.jsonl", '{"id": "a", "label": "yes"}\n{"id": "b", "la', "p.jsonl:2: not JSON"),
}


@pytest.mark.parametrize(("name", "text", "words"), BAD.values(), ids=BAD)
def test_what_does_not_fit_is_named(name, text, words, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=words):
        choices(tmp_path / name)

"""Files of any kind, by naming their fields: what is asked and which answer is right."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import pytest

import gnomon
from gnomon.audit import sources
from gnomon.audit.sets import VoteCount
from gnomon.audit.sources import of_files
from gnomon.cli import main
from gnomon.errors import DataError, GnomonError, UsageError
from gnomon.items.writing import write_items


def read(file, mapping="", split=""):
    return of_files("mine", [Path(file)], mapping, split)


def write_lines(file, rows):
    Path(file).write_text("\n".join(json.dumps(row) for row in rows))
    return file


def asked(found):
    return [(one.texts, one.choices, one.gold) for one in found.questions]


def test_json_lines_with_fields_that_are_named():
    rows = [
        {"q": "Is it up?", "opts": ["yes", "no"], "right": "no", "fam": "f1", "img": "a.jpg"},
        {"q": "Is it down?", "opts": ["yes", "no"], "right": "yes", "fam": "f2", "img": "b.jpg"},
        {"q": "Is it in?", "opts": ["yes", "no"], "right": "no", "fam": "f2", "img": "b.jpg"},
    ]
    found = read(write_lines("a.jsonl", rows), "text=q,choices=opts,gold=right,group=fam,image=img")
    assert found.fields == ("q",)
    assert [one.gold for one in found.questions] == [("no",), ("yes",), ("no",)]
    assert [one.group for one in found.questions] == ["f1", "f2", "f2"]
    assert found.questions[0].picture == "a.jpg"
    assert found.questions[0].id == "row 1"


def test_usual_names_need_not_be_named():
    rows = [{"premise": "It rains.", "hypothesis": "It is wet.", "label": "neutral", "id": 7}]
    snow = {"premise": "It snows.", "hypothesis": "It is warm.", "label": "contradiction", "id": 8}
    rows.append(snow)
    found = read(write_lines("a.jsonl", rows))
    assert found.fields == ("premise", "hypothesis")
    assert [one.id for one in found.questions] == ["7", "8"]
    assert found.questions[0].choices == ("entailment", "neutral", "contradiction")  # as in run


def test_a_label_put_together_of_others_means_any_of_them():
    text = "premise\thypothesis\tlabel\na\tb\tneutral\na\tc\tcontradiction\na\td\tcontradiction,neutral\n"
    Path("a.tsv").write_text(text)
    found = read("a.tsv")
    assert found.questions[2].gold == ("contradiction", "neutral")
    assert found.questions[2].choices == ("entailment", "neutral", "contradiction")


def test_choices_in_the_cells_of_a_table():
    Path("a.csv").write_text(
        'question,options,answer\nWhere?,"[""in"", ""on""]",B\nWho?,me | you,A\n'
    )
    assert asked(read("a.csv")) == [
        (("Where?",), ("in", "on"), ("on",)),
        (("Who?",), ("me", "you"), ("me",)),
    ]


def test_choices_that_are_objects_are_called_by_their_labels():
    choices = [{"label": "1", "text": "in"}, {"label": "2", "text": "on"}]
    rows = [{"question": "Where?", "choices": choices, "answer": "2"}]
    assert asked(read(write_lines("a.jsonl", rows))) == [(("Where?",), ("in", "on"), ("on",))]


def test_fields_within_fields_are_named_with_a_dot():
    choices = [{"label": "A", "text": "in"}, {"label": "B", "text": "on"}]
    row = {"question": {"stem": "Where?", "choices": choices}, "answerKey": "B"}
    mapping = "text=question.stem,choices=question.choices,gold=answerKey"
    found = read(write_lines("a.jsonl", [row]), mapping)
    assert asked(found) == [(("Where?",), ("in", "on"), ("on",))]


def test_a_json_document_with_a_list_of_rows():
    rows = [
        {
            "question": "Where?",
            "choices": {"text": ["in", "on"], "label": ["1", "2"]},
            "answerKey": "2",
        }
    ]
    Path("a.json").write_text(json.dumps({"about": "us", "data": rows}, indent=1))
    assert asked(read("a.json")) == [(("Where?",), ("in", "on"), ("on",))]
    Path("b.json").write_text(json.dumps({"about": "us", "data": rows}))
    assert asked(read("b.json")) == asked(read("a.json"))
    Path("c.json").write_text(json.dumps({"about": "us"}, indent=1))
    with pytest.raises(DataError, match="no list of objects"):
        read("c.json")


def test_a_sample_log_of_lm_eval():
    rows = []
    for number, answer in enumerate("01"):
        for name in ("none", "strict"):
            doc = {"question": f"Where {number}?", "answer": int(answer)}
            asked_of = {
                f"gen_args_{i}": {"arg_0": "Q", "arg_1": f" {c}"}
                for i, c in enumerate(("in", "on"))
            }
            rows.append(
                {
                    "doc_id": number,
                    "doc": doc,
                    "filtered_resps": [],
                    "filter": name,
                    "arguments": asked_of,
                }
            )
    found = read(write_lines("samples.jsonl", rows))
    assert asked(found) == [
        (("Where 0?",), ("in", "on"), ("in",)),
        (("Where 1?",), ("in", "on"), ("on",)),
    ]


def test_samples_of_inspect():
    with zipfile.ZipFile("log.eval", "w") as archive:
        for epoch in (1, 2):
            sample = {
                "id": "s",
                "epoch": epoch,
                "input": [{"role": "user", "content": "Where?"}],
                "choices": ["in", "on"],
                "target": "B",
                "scores": {},
            }
            archive.writestr(f"samples/s_epoch_{epoch}.json", json.dumps(sample))
    assert asked(read("log.eval")) == [(("Where?",), ("in", "on"), ("on",))]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_what_gnomon_make_wrote_is_read_back(ending):
    if ending == "parquet":
        pytest.importorskip("duckdb")
    items = list(gnomon.load("scales").limited(20).items())
    write_items(Path(f"a.{ending}"), items)
    found = read(f"a.{ending}")
    assert [one.id for one in found.questions] == [item.id for item in items]
    assert [one.gold for one in found.questions] == [item.gold for item in items]
    assert [one.texts[1] for one in found.questions] == [item.text for item in items]


def test_a_folder_of_a_dataset_has_splits_by_the_names_of_its_files():
    duckdb = pytest.importorskip("duckdb")
    Path("data").mkdir()
    for split in ("train", "test"):
        query = f"SELECT '{split} in?' AS question, ['a', 'b'] AS choices, 0 AS answer"
        duckdb.execute(f"COPY ({query}) TO 'data/{split}-00000-of-00001.parquet' (FORMAT parquet)")
    found = read("data")
    assert {one.split: one.texts for one in found.questions} == {
        "test": ("test in?",),
        "train": ("train in?",),
    }
    assert [one.split for one in read("data", split="test").questions] == ["test"]


def test_arrow_without_pyarrow_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    Path("data-00000-of-00001.arrow").write_bytes(b"")
    with pytest.raises(GnomonError, match="pip install pyarrow"):
        read("data-00000-of-00001.arrow")


def test_parquet_without_duckdb_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    Path("a.parquet").write_bytes(b"")
    with pytest.raises(GnomonError, match=r"gnomon\[parquet\]"):
        read("a.parquet")


@pytest.mark.parametrize(
    ("row", "votes"),
    [
        ({"votes": ["yes", "no", "yes"]}, VoteCount(2, 3)),
        ({"votes": '["yes", "yes"]'}, VoteCount(2, 2)),
        ({"votes_true": [3, 4], "votes_false": "[9]"}, VoteCount(2, 3)),
        ({"votes_true": 1, "votes_false": 3}, VoteCount(1, 4)),
    ],
)
def test_votes_are_lists_of_labels_or_of_voters(row, votes):
    rows = [{"text": "a", "label": "yes", **row}, {"text": "b", "label": "no", **row}]
    assert read(write_lines("a.jsonl", rows)).questions[0].votes == votes


def test_an_item_of_our_own_that_is_damaged_is_told():
    row = {"id": "q", "form": "sonnet", "text": "?", "choices": ["a", "b"], "gold": ["a"]}
    with pytest.raises(DataError, match=r"a.jsonl:1: not an item"):
        read(write_lines("a.jsonl", [row]))


def test_two_things_that_are_compared_need_no_text():
    Path("a.csv").write_text("o1,o2,typical\nant,cow,<\ncow,ant,>\n")
    found = read("a.csv", "gold=typical")
    assert found.fields == ("o1", "o2")
    assert found.questions[0].compared.targets == {"<": "lesser", ">": "greater"}


@pytest.mark.parametrize(
    ("mapping", "says"),
    [
        ("words=question", "There is no field of an item named 'words'"),
        ("text=nothing", "There is no column named 'nothing'"),
        ("choices=question", "No column is known to hold the text"),
    ],
)
def test_a_map_that_does_not_fit_is_told_with_the_fields(mapping, says):
    file = write_lines("a.jsonl", [{"question": "a", "answer": "b"}])
    with pytest.raises(UsageError, match=says):
        read(file, mapping)


def test_of_a_very_large_file_a_part_is_audited(monkeypatch):
    monkeypatch.setattr(sources, "MOST", 50)
    rows = [{"text": f"t{i}", "label": "ab"[i % 2]} for i in range(400)]
    found = read(write_lines("a.jsonl", rows))
    assert found.total == 400
    assert len(found) == 50
    assert int(found.questions[-1].texts[0][1:]) > 380  # spread over all of it


def test_files_of_splits_are_one_set(capsys):
    for split in ("train", "test"):
        rows = [{"text": f"t{i}", "label": "ab"[i % 2]} for i in range(60)]
        write_lines(f"{split}.jsonl", rows)
    assert main(["audit", "train.jsonl", "test.jsonl", "--format", "json"]) == 1
    records = json.loads(capsys.readouterr().out)
    assert {record["set"] for record in records} == {"train.jsonl + test.jsonl"}
    parts = {(record["check"], record["part"]): record for record in records}
    assert parts["duplicates", "across splits"]["value"] == 1.0
    assert parts["lookup", "text in train"]["value"] == 1.0


def test_an_empty_or_unknown_file_is_told():
    Path("a.jsonl").write_text("\n")
    with pytest.raises(DataError, match="no questions"):
        read("a.jsonl")
    Path("a.docx").write_text("x")
    with pytest.raises(GnomonError, match=r"No column is known|no questions"):
        read("a.docx")


def test_a_cell_of_lists_without_end_is_told_with_its_row():
    deep = "[" * 100_000
    Path("deep.csv").write_text(f"q,opts,right,votes\nUp?,{deep},yes,{deep}\nDown?,yes|no,no,\n")
    found = read("deep.csv", "text=q,choices=opts,gold=right,votes=votes")
    assert [one.choices for one in found.questions] == [("yes", "no")]
    assert found.unasked == ("line 2: the choices are one text, not a list",)


def test_a_list_without_end_in_an_item_that_was_written_here_is_one_sentence():
    Path("deep.csv").write_text(
        f'id,form,text,choices,gold\n1,choice,?,{"[" * 100_000},"[""in""]"\n'
    )
    with pytest.raises(DataError, match="a list is not JSON"):
        read("deep.csv")


def lettered(gold):
    """Questions with a column for each of four options."""
    lines = ["id,question,A,B,C,D,answer"]
    for number in range(40):
        options = ",".join(f"{place} {number}" for place in ("in", "on", "by", "at"))
        lines.append(f"{number},Where is thing {number}?,{options},{gold(number)}")
    return "\n".join(lines)


@pytest.mark.parametrize("mapping", [[], ["--map", "text=question,choices=A+B+C+D,gold=answer"]])
def test_numbers_that_count_from_0_or_from_1_are_refused_as_a_run_refuses_them(mapping, capsys):
    Path("amb.csv").write_text(lettered(lambda number: 1 + number % 2))
    told = []
    for command in (["audit", "amb.csv"], ["run", "amb.csv", "-m", "random"]):
        assert main([*command, *mapping]) == 1
        told.append(capsys.readouterr().err)
    assert "counted from 0 (" in told[0]
    assert "counted from 1 (" in told[0]
    assert told[0] == told[1]


def test_signs_in_the_names_of_columns_are_written_as_for_a_run(capsys):
    rows = [{"question, long": f"Where {i}?", "opts": ["in", "on"], "key": "in"} for i in range(9)]
    write_lines("a.jsonl", rows)
    mapping = r"text=question\,\ long,choices=opts,gold=key"
    assert asked(read("a.jsonl", mapping))[0] == (("Where 0?",), ("in", "on"), ("in",))
    items = list(gnomon.load("a.jsonl", map=mapping).items())
    assert [item.text for item in items] == [
        one.item.text for one in read("a.jsonl", mapping).questions
    ]


@pytest.mark.parametrize("name", ["stem", "question", "sentence", "input", "ctx"])
def test_a_column_that_one_command_knows_the_other_knows_too(name):
    rows = [{name: f"Where {i}?", "options": ["in", "on"], "answer": "on"} for i in range(3)]
    write_lines("a.jsonl", rows)
    audited = [one.item for one in read("a.jsonl").questions]
    asked_in_a_run = list(gnomon.load("a.jsonl").items())
    for mine, theirs in zip(audited, asked_in_a_run, strict=True):
        assert (mine.text, mine.choices, mine.gold) == (theirs.text, theirs.choices, theirs.gold)


def test_the_questions_of_a_log_can_be_asked_too():
    sample = {"id": "s", "epoch": 1, "input": "Where?", "choices": ["in", "on"], "target": "B"}
    with zipfile.ZipFile("log.eval", "w") as archive:
        archive.writestr("samples/s_epoch_1.json", json.dumps({**sample, "scores": {}}))
    (item,) = gnomon.load("log.eval").items()
    assert (item.id, item.text, item.gold) == ("s", "Where?", ("on",))

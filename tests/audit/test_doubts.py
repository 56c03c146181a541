"""Labels that people marked as doubtful in the viewer are listed by the audit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gnomon
from gnomon.audit.auditing import audit
from gnomon.audit.doubts import with_marks
from gnomon.audit.sources import of_source
from gnomon.cli import main
from gnomon.runs import change_notes

QUESTIONS = [
    {"id": f"q{i}", "question": f"Where is {i}?", "options": ["in", "on"], "answer": "in"}
    for i in range(6)
]


@pytest.fixture
def source():
    write(QUESTIONS)
    return gnomon.load("mine.jsonl")


def write(rows, file="mine.jsonl"):
    Path(file).write_text("".join(json.dumps(row) + "\n" for row in rows))


def says_in(item):
    return "in"


def says_on(item):
    return "on"


def says_the_last(item):
    return item.choices[-1]


def wrong_on_the_first(item):
    return "on" if item.id == "q0" else "in"


def asked(source, *models):
    return [gnomon.run(source, model, runs="runs") for model in models]


def mark(run, name, comment=""):
    item, _ = run.row(name)
    change_notes(run.path, lambda notes: notes.doubt(item, comment))


def findings(audited):
    return audit(audited, ["doubts"]).findings


def test_a_marked_item_is_an_alarm_with_its_comments_and_how_many_runs_got_it_wrong(source):
    one, two, three = asked(source, says_in, says_on, says_the_last)
    mark(one, "q3", "Could be both.")
    mark(two, "q3", "No picture.")
    mark(two, "q5")
    whole, first, second = findings(with_marks(of_source(source), [one, two, three]))
    assert not whole.alarm
    assert whole.says == "2 of 6 items are marked as doubtful in the viewer."
    assert whole.items == ("q3", "q5")
    assert first.alarm
    assert (first.part, first.n) == ("q3", 3)
    assert (
        first.says == "The label is doubted: Could be both. / No picture. 2 of 3 runs got it wrong."
    )
    assert "Where is 3? → in" in first.examples[0].text
    assert second.says == "The label is marked as doubtful. 2 of 3 runs got it wrong."


def test_what_most_runs_get_wrong_comes_first(source):
    (run,) = asked(source, says_in)
    mark(run, "q1")
    (partly,) = asked(source.limited(2), wrong_on_the_first)
    mark(partly, "q0")
    _, *each = findings(with_marks(of_source(source), [run, partly]))
    assert [finding.part for finding in each] == ["q0", "q1"]


def test_a_mark_on_other_words_of_the_same_id_is_not_this_items(source):
    (run,) = asked(source, says_in)
    mark(run, "q2")
    write([{**row, "question": f"Whence {row['id']}?"} for row in QUESTIONS], "other.jsonl")
    (whole,) = findings(with_marks(of_source(gnomon.load("other.jsonl")), [run]))
    assert whole.says == (
        "None of 6 items are marked as doubtful in the viewer. Marks on items that are not in this "
        "set: 1."
    )


def test_without_runs_the_check_says_what_it_needs(source):
    (found,) = findings(of_source(source))
    assert "--runs DIR" in found.says
    assert found.value is None


@pytest.mark.parametrize("ids", [True, False], ids=["with ids", "without ids"])
def test_a_file_of_ones_own_finds_its_marks_by_id_or_by_words(capsys, ids):
    names = ("id", "question", "options", "answer") if ids else ("question", "options", "answer")
    write([{name: row[name] for name in names} for row in QUESTIONS])
    source = gnomon.load("mine.jsonl")
    (run,) = asked(source, says_on)
    item = list(source.items())[4]
    mark(run, item.id, "Says who?")
    words = ["audit", "mine.jsonl", "--runs", "runs", "--check", "doubts"]
    assert main(words) == 1
    out = capsys.readouterr().out
    part = "q4" if ids else "row 5"
    assert f"ALARM  doubts ({part})" in out
    assert "The label is doubted: Says who? 1 of 1 runs got it wrong." in out
    assert main([*words, "--allow", f"doubts:{part}"]) == 0


def test_a_folder_of_runs_is_audited_with_its_own_marks(capsys, source):
    one, _ = asked(source, says_in, says_on)
    gnomon.run("scales", "random", limit=20, runs="runs")
    mark(one, "q1")
    assert main(["audit", "runs", "--check", "doubts", "--format", "json"]) == 1
    records = json.loads(capsys.readouterr().out)
    alarms = [record for record in records if record["alarm"]]
    assert [(record["part"], record["n"]) for record in alarms] == [("q1", 2)]
    assert {record["set"].partition("@")[0] for record in records} == {"items", "scales"}
    assert main(["audit", str(one.path), "--check", "integrity"]) == 0

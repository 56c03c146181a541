"""Whoever is forgotten leaves no answer, and what was made from their answers is named."""

import json
import sys

import pytest

import gnomon
from gnomon.cli import main
from gnomon.items.writing import write_items
from gnomon.people.removal import dependents_of, people_in
from tests.people.voting import items_of, people_runs

LABELS = ("false", "true")
SAID = {
    "ann": {"0": "true", "1": "true"},
    "anna": {"0": "true", "1": "true"},
    "ben": {"0": "true", "1": "true"},
}


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A folder with runs of three people, what two of them validated, a run on it and a page."""
    monkeypatch.chdir(tmp_path)
    runs = people_runs(tmp_path, items_of(2, LABELS, [1, 1]), SAID)
    folders = {run.model: str(run.path) for run in runs}
    both = [folders["people:ann"], folders["people:ben"]]
    assert main(["people", "agree", *both, "-o", "kept.jsonl"]) == 0
    assert main(["people", "agree", folders["people:anna"], "-o", "other.jsonl"]) == 0
    assert main(["report", *both, "-o", "page.html"]) == 0
    gnomon.run(gnomon.load("kept.jsonl"), "random", runs="runs")
    return tmp_path


def test_people_are_listed_with_their_runs_and_answers(study, capsys):
    capsys.readouterr()
    assert main(["people", "list"]) == 0
    told = capsys.readouterr().out
    assert [line.split()[:3] for line in told.splitlines()[2:]] == [
        ["ann", "1", "2"],
        ["anna", "1", "2"],
        ["ben", "1", "2"],
    ]


def test_the_list_of_people_can_be_read_by_programs(study, capsys):
    capsys.readouterr()
    assert main(["people", "list", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found[0] == {"person": "ann", "runs": 1, "answers": 2, "items of": "items@items.jsonl"}


def test_what_depends_on_a_person_is_found_and_nobody_of_a_longer_name(study):
    found = dependents_of("ann", "runs", ["."])
    assert [(each.path.name.split("--")[0], each.what) for each in found] == [
        ("kept.jsonl", "items with their votes"),
        ("page.html", "a page that shows them"),
        ("items@kept.jsonl-random", "a run of random on such items"),
    ]
    [only] = dependents_of("anna", "runs", ["."])
    assert only.path.name == "other.jsonl"


def test_to_forget_removes_the_runs_and_leaves_the_rest(study, capsys):
    assert main(["people", "forget", "ann", "--yes"]) == 0
    told = capsys.readouterr().out
    assert "kept.jsonl" in told
    assert "page.html" in told
    assert "removed 1 run" in told
    assert [each.name for each in people_in("runs")] == ["anna", "ben"]
    assert (study / "kept.jsonl").is_file()
    assert not list((study / "runs").glob("*people-ann--*"))


def test_nothing_is_removed_without_a_yes(study, capsys):
    assert main(["people", "forget", "ann"]) == 2
    assert "--yes" in capsys.readouterr().err
    assert len(people_in("runs")) == 3


def test_somebody_unknown_is_not_forgotten(study, capsys):
    assert main(["people", "forget", "bea", "--yes"]) == 2
    assert "Did you mean ben?" in capsys.readouterr().err
    assert main(["people", "forget"]) == 2


def test_a_folder_without_people_says_so(tmp_path, capsys):
    assert main(["people", "list", "--runs", str(tmp_path)]) == 0
    assert "no answers of people" in capsys.readouterr().out


def test_exports_carry_votes_but_no_times_and_no_comments(study):
    text = (study / "kept.jsonl").read_text()
    assert "vote:ann" in text
    for word in ("seconds", "comment", "token", "link", "started"):
        assert word not in text


def test_votes_and_captions_are_found_in_parquet_too(study):
    pytest.importorskip("duckdb", reason="the extra 'parquet' is not installed")
    folders = sorted(str(path) for path in (study / "runs").glob("*people-*"))
    assert main(["people", "agree", *folders[:1], "-o", "packed.parquet"]) == 0
    write_items(study / "written.parquet", items_of(2, LABELS, annotator="ben"))
    (study / "broken.parquet").write_bytes(b"PAR1")
    assert "people-ann-" in folders[0]
    found = {each.path.name: each.what for each in dependents_of("ann", "runs", ["."])}
    assert found["packed.parquet"] == "items with their votes"
    assert {"written.parquet", "broken.parquet"}.isdisjoint(found)
    found = {each.path.name: each.what for each in dependents_of("ben", "runs", ["."])}
    assert found["written.parquet"] == "captions that they wrote"
    assert "packed.parquet" not in found


def test_a_parquet_file_that_cannot_be_read_here_is_named(study, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    (study / "packed.parquet").write_bytes(b"PAR1")
    found = {each.path.name: each.what for each in dependents_of("ann", "runs", ["."])}
    assert "gnomon[parquet]" in found["packed.parquet"]

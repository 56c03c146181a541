"""`gnomon people agree`: what people read, what programs read, and what can be asked afterwards."""

import json
import shutil

import pytest
from msgspec.structs import replace

import gnomon
from gnomon.cli import main
from gnomon.errors import CopyWarning
from gnomon.items.itemfiles import read_items
from gnomon.people.answering import AskedItems, PersonSettings, open_person_run
from gnomon.people.tasks import task_named
from gnomon.reports.page.headline import headline
from gnomon.reports.study import studies
from gnomon.runs import open_runs
from tests.people.voting import Person, items_of, people_runs

LABELS = ("false", "true")


@pytest.fixture
def runs(tmp_path):
    said = {
        "ann": {str(n): "true" for n in range(12)},
        "ben": {str(n): LABELS[n % 4 > 0] for n in range(12)},
        "cas": {str(n): LABELS[n % 3 > 0] for n in range(9)},
    }
    people_runs(tmp_path, items_of(12, LABELS, [1] * 12), said)
    return tmp_path / "runs"


def test_the_tables_say_who_agrees_who_is_right_and_what_divides(runs, capsys):
    assert main(["people", "agree", str(runs), "--by", "relation"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("items@items.jsonl: 3 people, 12 items, 33 votes; 12 items have two")
    for words in ("Krippendorff's alpha", "By relation", "People", "Pairs", "Human ceiling"):
        assert words in told
    assert "true: ann, ben; false: cas" in told
    assert "Kept by the rule two-thirds: 11 of 12 items (91.7 %); all votes on 7" in told


def test_json_holds_every_figure(runs, capsys):
    assert main(["people", "agree", str(runs), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [person["name"] for person in found["people"]] == ["ann", "ben", "cas"]
    assert [person["answers"] for person in found["people"]] == [12, 12, 9]
    assert found["people"][1]["accuracy"]["value"] == 0.75
    assert len(found["pairs"]) == 3
    assert {each["name"] for each in found["agreement"]} == {
        "agreement",
        "cohen",
        "fleiss",
        "alpha",
    }
    assert found["consensus"]["converged"]


@pytest.mark.parametrize("format", ["markdown", "csv", "latex"])
def test_other_formats_hold_the_same_people(runs, capsys, format):
    assert main(["people", "agree", str(runs), "--format", format]) == 0
    told = capsys.readouterr().out
    assert all(name in told for name in ("ann", "ben", "cas"))


def test_what_is_kept_can_be_run_and_agreed_on_again(runs, tmp_path, capsys):
    file = tmp_path / "kept.jsonl"
    assert main(["people", "agree", str(runs), "-o", str(file), "--least", "3"]) == 0
    assert "8 items with their votes" in capsys.readouterr().err
    run = gnomon.run(gnomon.load(str(file)), "constant:true", runs=tmp_path / "models")
    assert gnomon.score(run)[0].value == 1.0
    assert main(["people", "agree", str(file), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["votes"] == 24


def test_wrong_use_is_told_in_a_sentence(runs, tmp_path, capsys):
    assert main(["people", "agree", str(tmp_path / "items.jsonl")]) == 1
    assert "no votes" in capsys.readouterr().err
    assert main(["people", "agree", str(runs), "--by", "colour"]) == 2
    assert "no tag 'colour'" in capsys.readouterr().err
    assert main(["people", "agree", str(runs), str(tmp_path / "items.jsonl")]) == 2
    assert main(["people", "agree", str(runs), "--least", "-1"]) == 2
    assert main(["people", "agree", str(runs), "--level", "2"]) == 2


def test_the_ceiling_in_the_report_is_that_of_the_command(runs, tmp_path, capsys):
    people = [str(path) for path in sorted(runs.glob("*people*"))]
    assert main(["people", "agree", *people, "--format", "json"]) == 0
    ceiling = {row["name"]: row for row in json.loads(capsys.readouterr().out)["ceiling"]}
    gnomon.run(gnomon.load(str(tmp_path / "items.jsonl")), "constant:false", runs=runs)
    [study] = studies(open_runs([runs]))
    shown = {line.model: line for line in headline(study).lines if line.kind == "people"}
    assert list(shown) == ["majority of 3 people", "mean of 3 people"]
    for name, label in (("person", "mean of 3 people"), ("majority", "majority of 3 people")):
        cell = shown[label].cells[0]
        assert cell.measure == "accuracy"
        assert (cell.value, cell.low, cell.high) == pytest.approx(
            (ceiling[name]["value"], ceiling[name]["low"], ceiling[name]["high"])
        )
    page = tmp_path / "page.html"
    assert main(["report", str(runs), "-o", str(page)]) == 0
    assert "human ceiling" in page.read_text()


def test_one_person_has_no_ceiling_in_the_report(runs):
    [study] = studies(open_runs(list(runs.glob("*people-ann*"))))
    assert {line.kind for line in headline(study).lines} == {""}


def test_repeated_and_catch_items_of_the_page_are_told(tmp_path, capsys):
    items = tuple(items_of(8, LABELS, [1] * 8))
    known = replace(items[0], id="catch", gold=("false",))
    settings = PersonSettings(task_named("choose"), repeat=4, catch=(known,))
    person = open_person_run(
        AskedItems("b@file", {}, None, items), "ann", settings, tmp_path / "runs"
    )
    for slot in person.slots:
        person.keep(slot, {"choice": "true"})
    repeats = [slot for slot in person.slots if slot.kind == "repeat"]
    person.keep(repeats[0], {"choice": "false"})
    person.close()
    assert main(["people", "agree", str(tmp_path / "runs")]) == 0
    told = capsys.readouterr().out
    assert "75.0 % of 4" in told
    assert "0.0 % of 1" in told


def test_a_copy_of_a_persons_run_agrees_with_nobody(runs, capsys):
    assert main(["people", "agree", str(runs)]) == 0
    before = capsys.readouterr().out
    person = next(runs.glob("*people-ann*"))
    shutil.copytree(person, runs / "a-backup")
    with pytest.warns(CopyWarning, match="which counts once"):
        assert main(["people", "agree", str(runs)]) == 0
    assert capsys.readouterr().out == before


def test_a_folder_stands_for_the_people_in_it_and_models_are_named_one_by_one(
    runs, tmp_path, capsys
):
    model = gnomon.run(gnomon.load(str(tmp_path / "items.jsonl")), "random", runs=runs)
    assert main(["people", "agree", str(runs)]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("items@items.jsonl: 3 people")
    assert "1 run of models is left out" in told.err
    assert main(["people", "agree", str(runs), str(model.path)]) == 0
    assert capsys.readouterr().out.startswith("items@items.jsonl: 4 people")


def test_runs_on_two_sets_of_items_are_told_apart(runs, tmp_path, capsys):
    other = tmp_path / "other"
    other.mkdir()
    people_runs(other, items_of(2, LABELS)[:1], {"ann": {"0": "true"}})
    assert main(["people", "agree", str(runs), str(other / "runs")]) == 0  # the same file name
    capsys.readouterr()
    (other / "items.jsonl").rename(other / "more.jsonl")
    gnomon.run(gnomon.load(str(other / "more.jsonl")), Person("ben", {}), runs=runs)
    assert main(["people", "agree", str(runs)]) == 2
    assert "gnomon people agree" in capsys.readouterr().err


def test_five_points_are_read_as_each_judge_means_them(tmp_path, capsys):
    labels = ("entailment", "neutral", "contradiction")
    items = items_of(30, labels, [0, 1, 2] * 10)
    # Whoever is bold says 1, 3, 5 for contradiction, neutral, entailment; the careful 2, 3, 4.
    bold, careful = ("5", "3", "1"), ("4", "3", "2")
    for name, points in (("ann", bold), ("ben", careful), ("cas", bold)):
        replies = {item.id: points[int(item.id) % 3] for item in items}
        replies["0"] = "3" if name == "cas" else replies["0"]
        said = {name: {item.id: "neutral" for item in items}}  # a poor first reading
        people_runs(tmp_path, items, said, task="scale", replies=replies)
    kept = tmp_path / "kept.jsonl"
    command = ["people", "agree", str(tmp_path / "runs"), "--rule", "majority", "-o", str(kept)]
    assert main([*command, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["scale"]["kappa"] == pytest.approx((1.0 + 0.95 + 0.95) / 3, abs=0.005)
    assert len(found["scale"]["shared"]) == 6
    ordinal = [row for row in found["agreement"] if row["name"] == "alpha_ordinal"]
    assert 0.5 < ordinal[0]["value"] < 1.0
    assert found["validation"]["kept"] == 30
    assert [item.gold[0] for item in read_items(kept)] == [labels[n % 3] for n in range(30)]
    assert main(command[:3]) == 0
    assert "each person's own way" in capsys.readouterr().out


def test_before_anybody_has_answered_a_sentence_says_so(tmp_path, capsys):
    asked = AskedItems("items@file", {}, None, tuple(items_of(3, LABELS)))
    for name in ("ann", "ben"):
        open_person_run(asked, name, PersonSettings(task_named("choose")), tmp_path).close()
    assert main(["people", "agree", str(tmp_path)]) == 2
    assert "Nobody has answered an item of items@file yet." in capsys.readouterr().err

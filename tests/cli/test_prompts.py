"""--prompts all and --permute on the command line: runs, tables, pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gnomon
from gnomon.cli import main
from gnomon.items.source import load
from gnomon.models.functions import RuleModel
from gnomon.models.prompts.library import load_prompt
from gnomon.registry import MODELS, Entry


def worded(name, *, prompt: str = "", wording: int = 1):
    """A model that is asked by a prompt: right wherever its wording asks for it."""
    put = load_prompt(prompt or "multiple-choice", wording)

    def rule(item):
        known = int(item.id.encode().hex(), 16) % 4
        if known >= wording:
            return item.gold[0]
        return item.choices[0]

    model = RuleModel("worded", rule, {"prompt": put.describe()})
    model.lists_choices = put.lists_choices
    return model


@pytest.fixture(autouse=True)
def model(monkeypatch):
    monkeypatch.setitem(MODELS, "worded", Entry(f"{__name__}:worded", "for tests"))


@pytest.fixture
def give(capsys):
    def run(*words, code=0):
        capsys.readouterr()
        assert (main([str(word) for word in words]) or 0) == code
        told = capsys.readouterr()
        return told.out, told.err

    return run


def test_all_prompts_are_one_run_for_each_wording_and_a_table_over_them(give):
    out, _ = give(
        "run", "scales", "-m", "worded", "-m", "random", "--limit", 40, "--prompts", "all"
    )
    runs = gnomon.runs.open_runs(["runs"])
    assert sorted(run.manifest.model_options.get("wording", 1) for run in runs) == [1, 1, 2, 3, 4]
    assert {run.manifest.model for run in runs} == {"worded", "random"}
    assert "Over prompts" in out
    assert "worded (wording 3)" in out
    again, _ = give("run", "scales", "-m", "worded", "--limit", 40, "--prompts", "all", "--json")
    assert len(again.splitlines()) == 4
    assert len(list(Path("runs").iterdir())) == 5, "the same command asks nothing again"


def test_scores_over_prompts_are_mean_worst_best_and_spread(give):
    give("run", "scales", "-m", "worded", "--limit", 80, "--prompts", "all", "--quiet")
    out, _ = give("score", "runs", "--measure", "accuracy", "--format", "json")
    values = [row["value"] for row in json.loads(out)]
    assert len(values) == 4
    command = ("score", "runs", "--prompts", "all", "--measure", "accuracy")
    out, _ = give(*command, "--format", "json")
    (row,) = json.loads(out)
    assert row["value"] == pytest.approx(sum(values) / 4)
    assert (row["worst"], row["best"]) == (min(values), max(values))
    assert row["spread"] == pytest.approx(max(values) - min(values))
    assert row["low"] < row["value"] < row["high"]
    assert (row["prompts"], row["chance"], row["n"]) == (4, 0.5, 80)
    assert row["best_prompt"] == "wording 1"
    out, _ = give(*command, "--by", "scale")
    assert "height" in out
    assert "spread" in out


def test_models_are_compared_by_their_means_over_prompts(give):
    models = ("-m", "worded", "-m", "random", "-m", "majority")
    give("run", "scales", *models, "--limit", 80, "--prompts", "all", "--quiet")
    out, _ = give("compare", "runs", "--prompts", "all", "--format", "json")
    board = {rank["model"]: rank for rank in json.loads(out)["leaderboard"]}
    assert set(board) == {"worded", "random", "majority"}
    assert {rank["n"] for rank in board.values()} == {320}, "every wording of every item"
    scores, _ = give(
        "score", "runs", "--prompts", "all", "--measure", "accuracy", "--format", "json"
    )
    for row in json.loads(scores):
        assert board[row["model"]]["value"] == pytest.approx(row["value"])


def test_a_report_shows_the_spread_over_prompts(give):
    give("run", "scales", "-m", "worded", "--limit", 40, "--prompts", "all", "--quiet")
    give("report", "runs", "-o", "page.html", "--prompts", "all")
    page = Path("page.html").read_text()
    assert "by wording of the prompt" in page
    assert "on average over 4 wordings" in page


def test_runs_in_one_wording_have_no_spread_over_prompts(give):
    give("run", "scales", "-m", "random", "--limit", 20, "--quiet")
    for command in ("score", "compare", "report"):
        _, err = give(command, "runs", "--prompts", "all", code=2)
        assert "gnomon run ... --prompts all" in err


def test_one_wording_and_all_prompts_exclude_each_other(give):
    _, err = give("run", "scales", "-m", "worded", "--set", "wording=2", "--prompts", "all", code=2)
    assert "wording" in err


def test_permuted_choices_show_a_bias_for_a_place(give):
    give(
        "run",
        "scales",
        "-m",
        "worded",
        "--limit",
        200,
        "--permute",
        "--set",
        "wording=4",
        "--quiet",
    )
    (run,) = gnomon.runs.open_runs(["runs"])
    assert run.manifest.permute == 0
    out, _ = give("score", "runs")
    assert "by place of the choices" in out
    assert "too often" in out
    assert "too seldom" in out
    out, _ = give("score", "runs", "--format", "json")
    chosen = {row["key"]: row for row in json.loads(out) if row["measure"] == "chosen"}
    assert chosen["1"]["value"] == 1.0
    assert 0.4 < chosen["1"]["chance"] < 0.6
    right = {row["key"]: row for row in json.loads(out) if row["by"] == "place"}
    assert right["1"]["value"] == 1.0
    assert right["2"]["value"] == 0.0
    give("report", "runs", "-o", "page.html")
    assert "Bias by place" in Path("page.html").read_text()


def test_a_run_that_was_not_permuted_has_no_table_by_place(give):
    give("run", "scales", "-m", "worded", "--limit", 40, "--quiet")
    assert "by place" not in give("score", "runs")[0]
    assert "place" not in give("score", "runs", "--format", "json")[0]


def test_permuting_says_where_it_changes_nothing(give):
    words = ("run", "scales", "-m", "worded", "--limit", 20, "--permute", "--prompt", "plain")
    out, _ = give(*words)
    assert "does not list the choices of choice, cloze items" in out
    out, _ = give("run", "scales", "-m", "worded", "--limit", 20, "--permute")
    assert "does not list" not in out


def test_the_order_of_choices_is_fixed_by_the_seed_and_keeps_what_is_right():
    plain = list(load("scales").limited(60).items())
    one = list(load("scales").limited(60).permuted(1).items())
    again = list(load("scales").limited(60).permuted(1).items())
    two = list(load("scales").limited(60).permuted(2).items())
    assert one == again
    assert [item.choices for item in one] != [item.choices for item in two]
    for before, after in zip(plain, one, strict=True):
        assert set(before.choices) == set(after.choices)
        assert before.gold == after.gold
        assert before.id == after.id
    fewer = {item.id: item.choices for item in load("scales").limited(20).permuted(1).items()}
    whole = {item.id: item.choices for item in load("scales").permuted(1).items()}
    assert all(whole[name] == choices for name, choices in fewer.items())


def test_a_permuted_run_is_a_run_of_its_own_and_is_taken_up_again(give):
    for words in ((), ("--permute",), ("--permute", 5), ("--permute",)):
        give("run", "scales", "-m", "random", "--limit", 20, "--quiet", *words)
    found = sorted(str(run.manifest.permute) for run in gnomon.runs.open_runs(["runs"]))
    assert found == ["0", "5", "None"]


def test_answers_given_before_cannot_be_permuted_now(give):
    Path("answers.csv").write_text("id,label\nx,yes\n")
    words = ("run", "scales", "-m", "answers:answers.csv", "--permute", "--quiet")
    _, err = give(*words, code=1)
    assert "Leave out --permute" in err


def test_runs_with_other_orders_of_choices_are_joined_by_the_choices_texts():
    source = load("spatialqa").limited(60)
    one = gnomon.run(source, "constant:neutral")
    two = gnomon.run(source, "constant:neutral", permute=3)
    (pair,) = gnomon.agreement(one, two)
    assert pair.value == 1.0, "the same label, wherever it stands"
    (difference,) = gnomon.compare(one, two)
    assert difference.difference == 0.0
    assert gnomon.score(one)[0].value == gnomon.score(two)[0].value


def test_a_page_names_choices_by_their_texts_in_any_order():
    from gnomon.reports.study import studies

    source = load("spatialqa").limited(60)
    (study,) = studies(
        [gnomon.run(source, "constant:neutral"), gnomon.run(source, "constant:neutral", permute=3)]
    )
    one, two = study.entrants
    assert (one.choice == two.choice).all()
    assert (one.right == two.right).all()
    assert len(set(one.choice.tolist())) == 1

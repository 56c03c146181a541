"""gnomon prompts on the command line: candidates, folds, the grid, resuming, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gnomon
from gnomon.cli import main
from gnomon.models.functions import RuleModel
from gnomon.models.prompts.library import load_prompt
from gnomon.registry import MODELS, Entry

OPENED = []
STOPPING = set()  # wordings at which somebody presses Ctrl-C


def worded(name, *, prompt: str = "", wording: int = 1):
    """A model that is right wherever its sentence says "surely", and else guesses the first."""
    put = load_prompt(prompt or "plain", wording)
    OPENED.append(wording)

    def rule(item):
        if wording in STOPPING:
            raise KeyboardInterrupt
        return item.gold[0] if "surely" in put.context(item) else item.choices[0]

    return RuleModel("worded", rule, {"prompt": put.describe()})


@pytest.fixture(autouse=True)
def model(monkeypatch):
    monkeypatch.setitem(MODELS, "worded", Entry(f"{__name__}:worded", "for tests"))
    OPENED.clear()
    STOPPING.clear()


@pytest.fixture
def candidates():
    file = Path("mine.yaml")
    file.write_text(
        "templates:\n"
        '  - "{tag:obj_a} is {answer} than {tag:obj_b}."\n'
        '  - "{tag:obj_a} is surely {answer} than {tag:obj_b}."\n'
        '  - "{tag:obj_a} IS {answer} than {tag:obj_b}"\n'
        '  - "{tag:obj_a} is {answer}."\n'
    )
    return file


@pytest.fixture
def give(capsys):
    def run(*words, code=0):
        capsys.readouterr()
        assert (main([str(word) for word in words]) or 0) == code
        told = capsys.readouterr()
        return told.out, told.err

    return run


SCALES = ("prompts", "scales", "-m", "worded", "--set", "form=cloze", "--limit", 60)


def test_each_fold_chooses_the_best_sentence_and_scores_it_on_other_objects(give, candidates):
    out, _ = give(*SCALES, "--candidates", candidates, "--format", "json")
    found = json.loads(out)
    assert found["dropped"] == {"say the same as an earlier one": 1, "lost an object": 1}
    assert len(found["candidates"]) == 2
    assert [fold["wording"] for fold in found["folds"]] == [2] * 5
    assert found["mean"]["accuracy"] == 1.0
    assert found["deviation"]["accuracy"] == 0.0
    assert found["first"]["accuracy"] < 0.7
    named = [name for objects in found["objects"] for name in objects]
    assert len(named) == len(set(named)), "no object is in two folds"
    for fold in found["folds"]:
        assert 0 < fold["choosing"] < fold["n"] < 60


def test_a_search_that_is_repeated_asks_nothing_again(give, candidates):
    first, _ = give(*SCALES, "--candidates", candidates)
    assert OPENED == [1, 2]
    again, _ = give(*SCALES, "--candidates", candidates)
    grid, _ = give(*SCALES, "--candidates", candidates, "--grid")
    assert OPENED == [1, 2], "finished runs open no model"
    assert again == first
    assert "100.0 %" in grid
    runs = gnomon.runs.open_runs(["runs"])
    assert [run.manifest.model_options.get("wording", 1) for run in runs] == [1, 2]


def test_a_search_that_was_stopped_says_how_to_go_on_and_does(give, candidates, capsys):
    STOPPING.add(2)
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in (*SCALES, "--candidates", candidates)])
    assert stopped.value.code == 130
    assert "stopped at prompt 2 of 2" in capsys.readouterr().err
    STOPPING.clear()
    OPENED.clear()
    out, _ = give(*SCALES, "--candidates", candidates)
    assert OPENED == [2], "the first prompt was finished"
    assert "100.0 %" in out


def test_the_grid_tells_median_worst_best_and_spread(give, candidates):
    out, _ = give(*SCALES, "--candidates", candidates, "--grid", "--format", "json")
    row = json.loads(out)[0]
    assert row["best"] == 1.0
    assert row["worst"] < 0.7
    assert row["median"] == pytest.approx((row["best"] + row["worst"]) / 2)
    assert row["spread"] == pytest.approx(row["best"] - row["worst"])
    shown, _ = give(*SCALES, "--candidates", candidates, "--grid")
    lines = shown.splitlines()
    best, worst = lines[3], lines[4]
    assert "surely" in best
    assert "surely" not in worst


def test_a_report_draws_the_grid_and_says_what_the_prompts_are(give, candidates):
    give(*SCALES, "--candidates", candidates, "--grid", "-o", "grid.txt", "--quiet")
    assert "Every prompt on every item" in Path("grid.txt").read_text()
    give("report", "runs", "-o", "page.html", "--prompts", "all")
    page = Path("page.html").read_text()
    assert "by wording of the prompt" in page
    assert "median" in page
    assert "is surely {answer} than" in page


def test_a_benchmark_without_a_list_is_asked_in_the_wordings_of_the_prompt(give):
    out, _ = give("prompts", "calculus", "-m", "worded", "--limit", 40, "--folds", 2)
    assert "4 wordings" in out
    assert "No item falls between two folds." in out


def test_our_own_list_is_the_default(give):
    out, _ = give("prompts", "posrel", "-m", "worded", "--limit", 30, "--folds", 2)
    assert "18 candidates in prompts/posrel-" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("prompts", "scales", "-m", "worded"), "--set form=choice"),
        (("prompts", "scales", "-m", "random", "--set", "form=choice"), "only one way to ask"),
        ((*SCALES, "--folds", 1), "two folds or more"),
        ((*SCALES, "--set", "wording=2"), "Leave out --set wording"),
        ((*SCALES, "--set", "apart=colour"), "no tag 'colour'"),
        ((*SCALES, "--set", "beams=1"), "2 or more"),
        ((*SCALES, "--candidates", "none.yaml"), "none.yaml"),
        ((*SCALES, "--prompt", "plain", "--back-translate", "a,b"), "needs a list of candidates"),
    ],
)
def test_what_cannot_be_searched_is_refused_before_anything_is_asked(words, said, give):
    import re

    _, err = give(*words, code=1 if "none.yaml" in words else 2)
    assert re.search(said, err)
    assert OPENED == []


def test_a_misspelt_label_of_a_file_is_refused_with_the_nearest(give, candidates):
    with candidates.open("a") as file:
        file.write("answers:\n  - {larger: bigger, smaller: tiny}\n  - {lager: big}\n")
    _, err = give(*SCALES, "--candidates", candidates, code=2)
    assert "mine.yaml has a word for the label 'lager', which no item of scales has." in err
    assert "Did you mean larger" in err
    assert OPENED == []


def test_a_label_that_only_items_beyond_the_limit_have_is_none_misspelt(give, candidates):
    with candidates.open("a") as file:
        file.write("answers:\n  - {larger: bigger, smaller: small, taller: high, shorter: low}\n")
    two = (*SCALES[:-1], 2)
    give(*two, "--grid", "--candidates", candidates)
    assert OPENED


@pytest.mark.parametrize("words", ["", "--format json", "--grid", "--grid --format csv"])
def test_what_a_search_wrote_is_replaced_and_nothing_else(give, candidates, words):
    search = (*SCALES, "--candidates", candidates, "-o", "mine.txt", *words.split())
    mine = Path("mine.txt")
    mine.write_text("what nobody else wrote\n")
    _, err = give(*search, code=2)
    assert "mine.txt is there, and Gnomon did not write it" in err
    assert not OPENED, "it is told before anything is asked"
    mine.unlink()
    give(*search)
    give(*search)

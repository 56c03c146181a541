"""Files of answers on the command line: what does not fit is said, whichever command reads them."""

import json

import pytest

import gnomon
from gnomon.cli import main

SCORE = ["score", "--benchmark", "scales", "--limit", "8", "--measure", "accuracy"]
SCORE += ["--format", "json", "--answers", "a.csv"]
RUN = ["run", "scales", "-m", "answers:a.csv", "--limit", "8", "--json"]


@pytest.fixture
def items():
    return list(gnomon.load("scales").limited(8).items())


def wrong(item):
    return next(choice for choice in item.choices if choice not in item.gold)


def accuracy(out):
    found = json.loads(out)
    scores = found["scores"] if isinstance(found, dict) else found
    return next(score["value"] for score in scores if score["measure"] == "accuracy")


@pytest.mark.parametrize("command", [SCORE, RUN], ids=["score", "run"])
def test_the_right_labels_beside_the_answers_are_not_taken_for_them(
    command, items, tmp_path, capsys
):
    rows = [f"{item.id},{item.gold[0]},{wrong(item)}" for item in items]
    (tmp_path / "a.csv").write_text("\n".join(["id,label,prediction", *rows]))
    assert main(command) == 1
    assert "several columns could be the answer: label, prediction" in capsys.readouterr().err
    assert main([*command, "--set", "column=prediction"]) == 0
    assert accuracy(capsys.readouterr().out) == 0


@pytest.mark.parametrize("command", [SCORE, RUN], ids=["score", "run"])
@pytest.mark.filterwarnings("default::gnomon.errors.AnswerFileWarning")
def test_missing_items_and_unknown_ids_are_said(command, items, tmp_path, capsys):
    rows = [f"{item.id},{item.gold[0]}" for item in items[:6]]
    (tmp_path / "a.csv").write_text("\n".join(["id,label", *rows, "nobody,yes"]))
    assert main(command) == 0
    out, err = capsys.readouterr()
    assert accuracy(out) == 0.75, "items that the file lacks count as wrong"
    assert "gnomon: a.csv has no answer to 2 of 8 items: they count as failed." in err
    assert "1 of 7 answers are to no item of the benchmark, and are left out: nobody." in err

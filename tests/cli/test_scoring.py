"""`gnomon score` and `gnomon compare`, as people and scripts see them."""

import csv
import io
import json

import pytest

import gnomon
from gnomon.cli import main
from gnomon.runs import runs_in


@pytest.fixture
def runs():
    """Three baselines on the same 80 fresh items, in ./runs."""
    return [str(gnomon.run("scales", model, limit=80).path) for model in ("random", "majority", "constant:yes")]


def printed(capsys, *arguments):
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr()


def test_json_is_a_list_of_scores_with_exactly_their_fields(runs, capsys):
    found = json.loads(printed(capsys, "score", runs[0], "--format", "json", "--by", "scale").out)
    assert {tuple(score) for score in found} == {
        ("benchmark", "model", "measure", "by", "key", "value", "low", "high", "n", "clusters")
    }
    first = found[0]
    assert (first["benchmark"], first["model"], first["measure"], first["by"], first["n"]) == (
        "scales@fresh",
        "random",
        "accuracy",
        "",
        80,
    )
    assert 0 <= first["low"] <= first["value"] <= first["high"] <= 1
    assert {(score["by"], score["key"]) for score in found} == {("", ""), ("scale", "height"), ("scale", "size")}
    assert {
        "accuracy",
        "macro_f1",
        "symmetry",
        "transitivity",
        "group_agreement",
        "form_agreement",
        "symmetry_and_right",
    } <= {score["measure"] for score in found}


def test_the_python_api_gives_the_same_scores(runs, capsys):
    found = {
        score["measure"]: score["value"]
        for score in json.loads(printed(capsys, "score", runs[0], "--format", "json").out)
    }
    for score in gnomon.score(runs[0]):
        assert score.value == found[score.measure]


def test_the_table_shows_percentages_with_intervals_and_bars_and_fits_the_width(runs, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = printed(capsys, "score", "runs", "--measure", "accuracy", "--by", "scale").out
    assert " % " in out
    assert "█" in out
    assert max(map(len, out.splitlines())) <= 80
    plain = printed(capsys, "score", "runs", "--measure", "accuracy", "--plain").out
    assert plain.isascii()


def test_csv_markdown_and_latex(runs, capsys):
    rows = list(csv.DictReader(io.StringIO(printed(capsys, "score", *runs, "--format", "csv").out)))
    assert {row["model"] for row in rows} == {"random", "majority", "constant:yes"}
    assert "| random | accuracy |" in printed(capsys, "score", *runs, "--format", "markdown").out
    assert r"\begin{tabular}" in printed(capsys, "score", *runs, "--format", "latex").out


def test_missing_answers_are_counted_and_listed_on_standard_error(runs, capsys):
    told = printed(capsys, "score", runs[2], "--measure", "accuracy", "--format", "json")
    assert "unread (counted as wrong)" in told.err
    assert "cloze" in told.err
    assert json.loads(told.out)[0]["n"] == 80


def test_guesses_take_the_place_of_missing_answers(runs, capsys):
    wrong, first, again = (
        json.loads(printed(capsys, "score", runs[2], "--measure", "accuracy", "--format", "json", *extra).out)[0][
            "value"
        ]
        for extra in ([], *[["--guess", "1"]] * 2)
    )
    assert wrong < first == again


def test_consistency_stands_beside_being_right_as_well(runs, capsys):
    out = printed(capsys, "score", runs[0]).out
    assert "and right" in out
    assert "_and_right" not in out


def test_bootstrap_intervals_are_the_same_each_time(runs, capsys):
    first, again = (printed(capsys, "score", runs[0], "--draws", "200", "--format", "json").out for _ in range(2))
    assert first == again
    assert first != printed(capsys, "score", runs[0], "--format", "json").out


def test_answers_in_a_file_are_scored_against_the_items(capsys, tmp_path):
    items = list(gnomon.load("scales", seed=3).items())
    lines = [f"{item.id},{item.gold[0] if i % 4 else 'nonsense'}" for i, item in enumerate(items)]
    (tmp_path / "answers.csv").write_text("id,label\n" + "\n".join(lines[:-10]) + "\n")
    told = printed(
        capsys,
        "score",
        "--answers",
        "answers.csv",
        "--benchmark",
        "scales",
        "--seed",
        "3",
        "--measure",
        "accuracy",
        "--format",
        "json",
    )
    right = sum(1 for i in range(len(items) - 10) if i % 4)
    assert json.loads(told.out)[0]["value"] == pytest.approx(right / len(items))
    assert "10 not asked" in told.err


def test_negative_scores_in_a_file_are_log_probabilities(capsys, tmp_path):
    item = next(gnomon.load("scales").items())
    record = {"item": item.id, "scores": [-0.5, -3.0]}
    (tmp_path / "answers.jsonl").write_text(json.dumps(record) + "\n")
    told = printed(
        capsys, "score", "--answers", "answers.jsonl", "--benchmark", "scales", "--measure", "ece", "--format", "json"
    )
    [score] = json.loads(told.out)
    assert score["n"] == 1
    assert 0 < score["value"] < 1


def test_seeds_are_taken_together(capsys):
    for seed in (0, 1, 2):
        gnomon.run(gnomon.load("scales", seed=seed), "random", limit=60)
    told = printed(
        capsys, "score", "runs", "--over-seeds", "--measure", "accuracy", "--by", "scale", "--format", "json"
    )
    found = json.loads(told.out)
    assert (found[0]["by"], found[0]["n"]) == ("", 180)
    assert "over 3 seeds" in told.err
    assert len(found) == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["score"], "either runs or a file"),
        (["score", "runs", "--answers", "x.csv"], "either runs or a file"),
        (["score", "--answers", "x.csv"], "needs its benchmark"),
        (["score", "nowhere"], "is not a run"),
        (["score", "{run}", "--measure", "acuracy"], "Did you mean accuracy"),
        (["score", "{run}", "--measure", "pattern_accuracy"], "pattern_accuracy@NUMBER"),
        (["score", "{run}", "--by", "colour"], "no tag 'colour'"),
        (["score", "{run}", "--level", "2"], "between 0 and 1"),
        (["compare", "{run}"], "one run is given"),
    ],
)
def test_mistakes_are_told_in_a_sentence(runs, arguments, says, capsys):
    assert main([argument.replace("{run}", runs[0]) for argument in arguments]) in (1, 2)
    told = capsys.readouterr().err
    assert says in told
    assert "Traceback" not in told


def test_compare_ranks_models_and_tells_ties_from_differences(runs, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    out = printed(capsys, "compare", *runs).out
    assert "differ" in out
    assert "tied with" in out
    assert "p (Holm)" in out
    found = json.loads(printed(capsys, "compare", *runs, "--format", "json", "--measure", "macro_f1").out)
    assert len(found["comparisons"]) == 3
    assert [rank["model"] for rank in found["leaderboard"]][-1] == "constant:yes"
    for pair in found["comparisons"]:
        assert pair["difference"] == pytest.approx(pair["first_value"] - pair["second_value"])
        assert pair["p"] <= pair["p_adjusted"] <= 1
    rows = list(csv.DictReader(io.StringIO(printed(capsys, "compare", *runs, "--format", "csv").out)))
    assert rows[0]["measure"] == "accuracy"


def test_compare_takes_seeds_together(capsys):
    for seed in (0, 1):
        for model in ("random", "majority"):
            gnomon.run(gnomon.load("scales", seed=seed), model, limit=40)
    found = json.loads(printed(capsys, "compare", "runs", "--over-seeds", "--format", "json").out)
    [pair] = found["comparisons"]
    assert {pair["first"], pair["second"]} == {"random", "majority"}
    assert pair["n"] == 80
    ones = [str(run.path) for run in runs_in("runs") if run.model == "random"]
    assert main(["compare", *ones, "--over-seeds"]) == 2
    assert "all runs on scales@fresh are of random" in capsys.readouterr().err


def test_compare_needs_two_runs_on_one_benchmark(capsys):
    one = gnomon.run("scales", "random", limit=10).path
    two = gnomon.run("posrel", "random", limit=10).path
    assert main(["compare", str(one), str(two)]) == 2
    assert "no two of these runs are on the same benchmark" in capsys.readouterr().err

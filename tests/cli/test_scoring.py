"""`gnomon score` and `gnomon compare`, as people and scripts see them."""

import csv
import io
import json
import re
import shutil
from pathlib import Path

import pytest

import gnomon
from gnomon.cli import main
from gnomon.errors import UsageError
from gnomon.runs import MANIFEST, runs_in


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A folder with runs of three baselines on the same 80 fresh items, and their names."""
    folder = tmp_path_factory.mktemp("asked")
    source = gnomon.load("scales")
    names = []
    for model in ("random", "majority", "constant:yes"):
        names.append(gnomon.run(source, model, limit=80, runs=folder).path.name)
    return folder, names


@pytest.fixture
def runs(asked):
    """A copy of those runs, in ./runs."""
    folder, names = asked
    shutil.copytree(folder, "runs")
    return [f"runs/{name}" for name in names]


def printed(capsys, *arguments):
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr()


def narrow(monkeypatch, columns):
    """Print to a terminal of so many columns."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)


def test_json_is_a_list_of_scores_with_exactly_their_fields(runs, capsys):
    found = json.loads(printed(capsys, "score", runs[0], "--format", "json", "--by", "scale").out)
    fields = ("benchmark", "model", "measure", "by", "key", "value", "low", "high", "chance", "n")
    further = ("clusters", "run", "units", "label", "seed")
    assert {tuple(score) for score in found} == {(*fields, *further)}
    first = found[0]
    assert (first["benchmark"], first["model"], first["measure"], first["by"], first["n"]) == (
        "scales@fresh",
        "random",
        "accuracy",
        "",
        80,
    )
    assert 0 <= first["low"] <= first["value"] <= first["high"] <= 1
    assert {(score["by"], score["key"]) for score in found} == {
        ("", ""),
        ("scale", "height"),
        ("scale", "size"),
    }
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
    scores = {score.measure: score.value for score in gnomon.score(runs[0])}
    assert scores == found
    assert len(scores) > 5


def test_the_table_shows_percentages_with_intervals_and_fits_the_width(runs, capsys, monkeypatch):
    narrow(monkeypatch, 80)
    out = printed(capsys, "score", "runs", "--measure", "accuracy", "--by", "scale").out
    assert " % " in out
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
        json.loads(
            printed(
                capsys, "score", runs[2], "--measure", "accuracy", "--format", "json", *extra
            ).out
        )[0]["value"]
        for extra in ([], *[["--guess", "1"]] * 2)
    )
    assert wrong < first == again


def test_consistency_stands_beside_being_right_as_well(runs, capsys):
    out = printed(capsys, "score", runs[0]).out
    assert "and right" in out
    assert "_and_right" not in out


def test_bootstrap_intervals_are_the_same_each_time(runs, capsys):
    first, again = (
        printed(capsys, "score", runs[0], "--draws", "200", "--format", "json").out
        for _ in range(2)
    )
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
    assert "10 not in the file" in told.err
    assert json.loads(told.out)[0]["n"] == len(items)
    assert "counted as wrong" in told.err
    assert items[0].id in told.err  # a few of the ids are named


def test_negative_scores_in_a_file_are_log_probabilities(capsys, tmp_path):
    item = next(gnomon.load("scales").items())
    record = {"item": item.id, "scores": [-0.5, -3.0]}
    (tmp_path / "answers.jsonl").write_text(json.dumps(record) + "\n")
    told = printed(
        capsys,
        "score",
        "--answers",
        "answers.jsonl",
        "--benchmark",
        "scales",
        "--measure",
        "ece",
        "--format",
        "json",
    )
    [score] = json.loads(told.out)
    assert score["n"] == 1
    assert 0 < score["value"] < 1


def test_seeds_are_taken_together(capsys):
    for seed in (0, 1, 2):
        gnomon.run(gnomon.load("scales", seed=seed), "random", limit=60)
    told = printed(
        capsys,
        "score",
        "runs",
        "--over-seeds",
        "--measure",
        "accuracy",
        "--by",
        "scale",
        "--format",
        "json",
    )
    found = json.loads(told.out)
    assert (found[0]["by"], found[0]["n"]) == ("", 180)
    assert "over 3 seeds" in told.err
    assert len(found) == 3


def test_seeds_taken_together_by_an_undefined_measure_are_not_said_to_be_alone(capsys):
    for seed in (0, 1):
        gnomon.run(gnomon.load("scales", seed=seed), "majority", limit=20)
    words = ("--measure", "accuracy", "--measure", "negation")
    told = printed(capsys, "score", "runs", "--over-seeds", *words)
    assert "seed alone" not in told.err
    alone = printed(capsys, "score", str(sorted(Path("runs").iterdir())[0]), "--over-seeds", *words)
    assert "No two of these runs differ only in the seed" in alone.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["score", "runs", "--answers", "x.csv"], "either runs or a file"),
        (["score", "--answers", "x.csv"], "needs its benchmark"),
        (["score", "nowhere"], "is not a run"),
        (["score", "{run}", "--measure", "acuracy"], "Did you mean accuracy"),
        (["score", "{run}", "--measure", "pattern_accuracy"], "pattern_accuracy@NUMBER"),
        (["score", "{run}", "--by", "colour"], "no tag 'colour'"),
        (["score", "{run}", "--level", "2"], "between 0 and 1"),
        (["score", "{run}", "--draws", "-3"], "2 or more, or 0 for none, not -3"),
        (["score", "{run}", "--draws", "1"], "2 or more, or 0 for none, not 1"),
        (["score", "{run}", "--minimum", "-1"], "must be 1 or more, not -1"),
        (["score", "{run}", "--seed", "3"], "--seed belongs to a file of answers"),
        (["score", "{run}", "--set", "form=cloze"], "--set belongs to a file of answers"),
        (["score", "{run}", "--limit", "3"], "--limit belongs to a file of answers"),
        (
            ["score", "{run}", "--like-paper", "--by", "scale"],
            "--by has no effect with --like-paper",
        ),
        (
            ["score", "{run}", "--over-seeds", "--draws", "100"],
            "--draws has no effect with --over-seeds",
        ),
        (["compare", "{run}", "runs", "--draws", "1"], "2 or more, or 0 for none, not 1"),
        (["compare", "{run}"], "one run is given"),
    ],
)
def test_mistakes_are_told_in_a_sentence(runs, arguments, says, capsys):
    assert main([argument.replace("{run}", runs[0]) for argument in arguments]) in (1, 2)
    told = capsys.readouterr().err
    assert says in told
    assert "Traceback" not in told


def test_compare_ranks_models_and_tells_ties_from_differences(runs, capsys):
    out = printed(capsys, "compare", *runs).out
    assert "differ" in out
    assert "tied with" in out
    assert "p (Holm)" in out
    found = json.loads(
        printed(capsys, "compare", *runs, "--format", "json", "--measure", "macro_f1").out
    )
    assert len(found["comparisons"]) == 3
    assert [rank["model"] for rank in found["leaderboard"]][-1] == "constant:yes"
    for pair in found["comparisons"]:
        assert pair["difference"] == pytest.approx(pair["first_value"] - pair["second_value"])
        assert pair["p"] <= pair["p_adjusted"] <= 1
    rows = list(
        csv.DictReader(io.StringIO(printed(capsys, "compare", *runs, "--format", "csv").out))
    )
    assert rows[0]["measure"] == "accuracy"


@pytest.mark.parametrize("name", ["z-clever", "a-clever"])
def test_pairs_keep_the_order_given_and_name_the_better_model(capsys, name):
    def clever(item):
        return item.gold[0]

    source = gnomon.load("scales")
    runs = [gnomon.run(source, "random", limit=40, runs="asked/random").path]
    runs.append(gnomon.run(source, clever, name=name, limit=40, runs=f"asked/{name}").path)
    out = printed(capsys, "compare", *runs).out
    board, _, pairs = out.partition("Differences in points")
    assert re.search(rf"{name} .* better than chance", board)
    row = pairs.splitlines()[3]
    assert row.split()[:2] == ["random", name]
    assert f"{name} is better" in row
    found = json.loads(printed(capsys, "compare", *runs, "--format", "json").out)
    assert found["comparisons"][0]["first"] == "random"


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


def accuracies(capsys, *arguments):
    told = printed(capsys, "score", *arguments, "--measure", "accuracy", "--format", "json")
    return [score for score in json.loads(told.out) if not score["by"]]


def test_runs_of_one_model_have_a_row_each_with_what_tells_them_apart(capsys):
    for seed, limit in ((0, 20), (1, 40)):
        gnomon.run(gnomon.load("scales", seed=seed), "random", limit=limit)
    gnomon.run("scales", gnomon.model("random", model_seed=7), limit=20)
    out = printed(capsys, "score", "runs", "--measure", "accuracy").out
    for label in (
        "random (seed 0, limit 20)",
        "random (seed 1, limit 40)",
        "random (model seed 7, seed 0, limit 20)",
    ):
        assert out.count(f"{label} ") == 1
    found = accuracies(capsys, "runs")
    assert [(score["label"], score["seed"]) for score in found][1] == (
        "random (seed 1, limit 40)",
        1,
    )
    assert {score["model"] for score in found} == {"random"}
    assert {score["run"] for score in found} == {run.path.as_posix() for run in runs_in("runs")}


def test_a_label_names_no_options_that_only_concern_cost(capsys):
    for shots, timeout in ((1, 5.0), (2, 9.0)):
        run = gnomon.run("scales", "random", limit=8, runs=f"runs-{shots}")
        manifest = json.loads((run.path / "run.json").read_text())
        manifest |= {"model": "openai:x", "model_options": {"shots": shots, "timeout": timeout}}
        (run.path / "run.json").write_text(json.dumps(manifest))
    assert [score["label"] for score in accuracies(capsys, "runs-1", "runs-2")] == [
        "openai:x (shots 1)",
        "openai:x (shots 2)",
    ]


def test_a_narrow_terminal_does_not_hide_which_run_a_row_is_of(capsys, monkeypatch):
    for seed in (0, 1):
        gnomon.run(gnomon.load("scales", seed=seed), "random", limit=20)
    gnomon.run("posrel", "random", limit=20)
    narrow(monkeypatch, 70)
    out = printed(capsys, "score", "runs", "--measure", "accuracy").out
    assert "random (seed 0)" in out
    assert "random (seed 1)" in out
    assert max(map(len, out.splitlines())) <= 70


def test_only_runs_that_differ_in_nothing_but_the_seed_are_taken_together(capsys):
    for seed, permute in ((0, None), (1, None), (0, 7)):
        gnomon.run(gnomon.load("scales", seed=seed), "random", limit=20, permute=permute)
    found = accuracies(capsys, "runs", "--over-seeds")
    assert [(score["label"], score["n"], score["run"]) for score in found] == [
        ("random", 40, ""),
        ("random (permute 7)", 20, ""),
    ]
    again = gnomon.run(gnomon.load("scales", seed=0), "random", limit=20, runs="copies").path
    assert main(["score", "runs", str(again), "--over-seeds"]) == 2
    assert "do not differ in the seed, nor in anything else" in capsys.readouterr().err


def test_a_tag_that_only_some_benchmarks_have_slices_those(capsys):
    gnomon.run("scales", "random", limit=20)
    gnomon.run("spatialqa", "random", limit=20)
    told = printed(
        capsys, "score", "runs", "--by", "scale", "--measure", "accuracy", "--format", "json"
    )
    assert {s["benchmark"] for s in json.loads(told.out) if s["by"]} == {"scales@fresh"}
    assert "spatialqa@fresh has no tag 'scale'" in told.err
    told = printed(capsys, "score", "runs", "--by", "scale", "--over-seeds", "--format", "json")
    assert {s["benchmark"] for s in json.loads(told.out) if s["by"]} == {"scales@fresh"}
    assert main(["score", "runs", "--by", "colour"]) == 2
    assert "no tag 'colour'" in capsys.readouterr().err


def test_answers_to_items_made_with_a_limit_are_scored_with_it(capsys, tmp_path):
    items = list(gnomon.load("scales").limited(40).items())
    (tmp_path / "a.csv").write_text(
        "id,label\n" + "\n".join(f"{item.id},{item.gold[0]}" for item in items)
    )
    asked = [
        "score",
        "--answers",
        "a.csv",
        "--benchmark",
        "scales",
        "--measure",
        "accuracy",
        "--format",
        "json",
    ]
    told = printed(capsys, *asked, "--limit", "40")
    assert [(score["value"], score["n"]) for score in json.loads(told.out)] == [(1.0, 40)]
    assert not told.err
    assert "If the items were made or run with --limit" in printed(capsys, *asked).err


def test_what_goes_to_a_file_is_not_cut(capsys):
    for seed in (0, 1):
        gnomon.run(
            gnomon.load("scales", seed=seed),
            gnomon.model("random", model_seed=1234567890 + seed),
        )
    gnomon.run("viphy-size-transitive", "random", limit=20)
    for arguments in (["score"], ["score", "--plain"], ["compare"]):
        out = printed(capsys, *arguments, "runs").out
        assert out.count("random (model seed 1234567891, seed 1)") >= 1
        assert "…" not in out


def test_a_leaderboard_is_over_the_items_that_all_runs_share(capsys):
    gnomon.run("scales", "random", limit=400)
    gnomon.run("scales", "majority", limit=400)
    short = gnomon.run("scales", "constant:yes", limit=400)
    with_less(short, 30)
    asked = ("compare", "runs", "--unfinished")
    found = json.loads(printed(capsys, *asked, "--format", "json").out)
    assert {rank["n"] for rank in found["leaderboard"]} == {30}
    assert {(pair["first"], pair["second"]): pair["n"] for pair in found["comparisons"]} == {
        ("random", "majority"): 400,
        ("random", "constant:yes"): 30,
        ("majority", "constant:yes"): 30,
    }
    values = {rank["model"]: rank["value"] for rank in found["leaderboard"]}
    for pair in found["comparisons"][1:]:
        assert values[pair["first"]] == pytest.approx(pair["first_value"])
    assert "the 30 items (42 objects) that all 3 runs share" in printed(capsys, *asked).out


def with_less(run, number):
    """Drop all but the first items of a run's log."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(run.path / "answers.sqlite")) as db, db:
        db.execute("DELETE FROM answers WHERE n >= ?", (number,))
        db.execute("DELETE FROM items WHERE n >= ?", (number,))


def stopped_after(run, number):
    """A run as it is when it was stopped: the items after these were not asked."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(run.path / "answers.sqlite")) as db, db:
        db.execute("DELETE FROM answers WHERE n >= ?", (number,))
    return run


def test_an_unfinished_run_is_scored_over_the_items_that_were_asked(capsys):
    whole = gnomon.run("scales", "majority", limit=100)
    first = [answer.choice in item.gold for item, answer in list(whole.rows())[:30]]
    stopped_after(whole, 30)
    asked = ("score", whole.path, "--measure", "accuracy")
    told = printed(capsys, *asked, "--format", "json")
    [score] = json.loads(told.out)
    assert (score["n"], score["value"]) == (30, pytest.approx(sum(first) / 30))
    assert "asked 30 of 100 items; the figures are over those" in told.err
    assert "30" in printed(capsys, *asked).out
    [same] = gnomon.score(whole, measures="accuracy")
    assert (same.n, same.value) == (30, score["value"])


def test_a_run_that_was_asked_nothing_has_figures_of_nothing(capsys):
    run = stopped_after(gnomon.run("scales", "majority", limit=20), 0)
    for more in ([], ["--over-seeds"]):
        told = printed(capsys, "score", run.path, "--format", "json", *more)
        found = json.loads(told.out)
        assert len(found) > 5
        assert {(score["value"], score["n"]) for score in found} == {(None, 0)}
        assert "asked 0 of 20 items" in told.err


def test_unfinished_runs_are_not_compared_unless_that_is_asked_for(runs, capsys):
    stopped_after(gnomon.runs.Run.open(runs[0]), 30)
    assert main(["compare", *runs[:2]]) == 2
    told = capsys.readouterr().err
    assert "random on scales@fresh is not finished: it was asked 30 of 80 items" in told
    assert "--unfinished" in told
    with pytest.raises(UsageError, match="is not finished"):
        gnomon.compare(*runs[:2])
    told = printed(capsys, "compare", *runs[:2], "--unfinished", "--format", "json")
    assert [pair["n"] for pair in json.loads(told.out)["comparisons"]] == [30]
    assert "asked 30 of 80 items; it is compared on those" in told.err
    [pair] = gnomon.compare(*runs[:2], unfinished=True)
    assert pair.n == 30


def answered(tmp_path, name, sure, right=lambda number: True):
    """A run of answers with so much confidence, right where a function of the number says so."""
    lines = []
    for number, item in enumerate(gnomon.load("scales", form="cloze").limited(200).items()):
        best = item.gold[0] if right(number) else next(c for c in item.choices if c != item.gold[0])
        scores = [sure if choice == best else 1 - sure for choice in item.choices]
        lines.append(json.dumps({"item": item.id, "choice": best, "scores": scores}))
    file = tmp_path / f"{name}.jsonl"
    file.write_text("\n".join(lines) + "\n")
    return gnomon.run(gnomon.load("scales", form="cloze"), f"answers:{file}", limit=200)


def test_a_lower_calibration_error_ranks_first(capsys, tmp_path):
    unsure = answered(tmp_path, "unsure", 0.6)  # always right, 60 % sure: the gap is 40 points
    sure = answered(tmp_path, "sure", 0.95)  # the gap is 5 points
    asked = ("compare", unsure.path, sure.path)
    for measure in ("ece", "brier"):
        told = printed(capsys, *asked, "--measure", measure, "--format", "json")
        found = json.loads(told.out)
        models = [rank["model"].rpartition("/")[2] for rank in found["leaderboard"]]
        assert models == ["sure.jsonl", "unsure.jsonl"]
        assert [(rank["best"], rank["worst"]) for rank in found["leaderboard"]] == [(1, 1), (2, 2)]
        [pair] = found["comparisons"]
        assert pair["difference"] > 0
        assert pair["better"] == "lower"
    assert "ece (lower is better)" in printed(capsys, *asked, "--measure", "ece").out
    [pair] = gnomon.compare(*asked[1:], measure="ece")
    assert pair.ahead.endswith("sure.jsonl")
    assert not pair.ahead.endswith("unsure.jsonl")


def test_a_measure_whose_needs_are_not_met_has_no_value_and_says_why(runs, capsys):
    measures = ("--measure", "accuracy", "--measure", "negation")
    told = printed(capsys, "score", runs[1], *measures, "--format", "json")
    _, score = json.loads(told.out)
    assert (score["value"], score["n"]) == (None, 0)
    assert "negation needs items under declared relations" in told.err
    measures = ("--measure", "accuracy", "--measure", "ece", "--measure", "brier")
    told = printed(capsys, "score", runs[2], *measures)
    assert "constant:yes on scales@fresh: ece, brier need scores, and there are none." in told.err
    assert main(["score", runs[2], "--measure", "ece"]) == 2, "a table of dashes is no score"
    assert "ece needs scores, and there are none" in capsys.readouterr().err
    assert main(["compare", *runs[1:], "--measure", "ece"]) == 2
    assert "ece needs scores, and there are none" in capsys.readouterr().err


def test_how_often_two_runs_agree_stands_beside_each_pair(runs, capsys):
    found = json.loads(
        printed(capsys, "compare", *runs, "--measure", "agreement", "--format", "json").out
    )
    assert (found["comparisons"], len(found["agreements"])) == ([], 3)
    one, two = (dict(map(_choice, gnomon.runs.Run.open(run).rows())) for run in runs[:2])
    alike = [name for name in one if one[name] == two[name]]
    assert 0 < len(alike) < 80
    first = found["agreements"][0]
    assert (first["first"], first["second"], first["n"]) == ("random", "majority", 80)
    assert first["value"] == pytest.approx(len(alike) / 80)
    assert first["low"] < first["value"] < first["high"]
    [same] = gnomon.agreement(*runs[:2])
    assert same._asdict() == first
    out = printed(capsys, "compare", *runs, "--measure", "agreement").out
    assert out.count("agreement") == 3
    rows = printed(capsys, "compare", *runs, "--measure", "both_right", "--format", "csv").out
    assert {row["measure"] for row in csv.DictReader(io.StringIO(rows))} == {"both_right"}


def _choice(row):
    item, answer = row
    return item.id, answer.choice


def test_a_measure_over_two_runs_is_not_scored_and_has_no_difference(runs):
    with pytest.raises(UsageError, match="agreement is a measure over two runs"):
        gnomon.score(*runs, measures="agreement")
    with pytest.raises(UsageError, match="is a measure over two runs"):
        gnomon.compare(*runs, measure="agreement")
    with pytest.raises(UsageError, match="no pair measure named"):
        gnomon.agreement(*runs, measure="agrement")


def test_answers_at_odds_with_their_scores_are_told(capsys, tmp_path):
    items = list(gnomon.load("scales", form="cloze").limited(4).items())
    lines = [
        {"item": item.id, "choice": item.choices[0], "scores": scores}
        for item, scores in zip(
            items, ([-1.0, -0.1], [-0.2, -2.0], [3.0, -1.0], [-0.5, -0.5]), strict=True
        )
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    asked = ["score", "--answers", "a.jsonl", "--benchmark", "scales", "--limit", "4"]
    told = printed(capsys, *asked, "--set", "form=cloze", "--measure", "accuracy").err
    assert "1 answer is not the choice with the best score" in told
    assert "1 answer has log-probabilities above 0" in told


def test_without_a_test_there_is_no_verdict_and_no_rank(capsys):
    one, two = (gnomon.run("scales", model, limit=200) for model in ("random", "majority"))
    with_less(one, 1)
    asked = ("compare", one.path, two.path, "--unfinished")
    found = json.loads(printed(capsys, *asked, "--format", "json").out)
    [pair] = found["comparisons"]
    assert (pair["n"], pair["p"], pair["differ"]) == (1, None, None)
    assert all(
        not rank["tied"] and (rank["best"], rank["worst"]) == (1, 2)
        for rank in found["leaderboard"]
    )
    out = printed(capsys, *asked).out
    assert "tied  " not in out.split("Differences")[1]


def test_runs_with_little_in_common_are_not_on_one_leaderboard(capsys):
    for seed in (0, 1):
        for model in ("random", "majority"):
            gnomon.run(gnomon.load("scales", seed=seed), model, limit=60)
    told = printed(capsys, "compare", "runs", "--format", "json")
    found = json.loads(told.out)
    assert [rank["n"] for rank in found["leaderboard"]] == [60] * 4
    assert {
        (pair["first"], pair["second"]) for pair in found["comparisons"] if pair["n"] == 60
    } == {
        ("random (seed 0)", "majority (seed 0)"),
        ("random (seed 1)", "majority (seed 1)"),
    }


def test_sources_of_one_benchmark_are_compared_apart(capsys, tmp_path):
    for model in ("random", "majority"):
        gnomon.run("scales", model, limit=20)
    other = gnomon.run("scales", "random", limit=20, permute=1).path
    manifest = json.loads((other / "run.json").read_text())
    (other / "run.json").write_text(json.dumps(manifest | {"benchmark": "scales@published"}))
    told = printed(capsys, "compare", "runs", "--format", "json")
    assert [pair["benchmark"] for pair in json.loads(told.out)["comparisons"]] == ["scales@fresh"]
    assert "scales@published: one run only" in told.err


def test_names_of_a_pair_are_never_cut(capsys, monkeypatch):
    for seed in (200, 220):
        gnomon.run("scales", "random", limit=200, permute=seed)
    narrow(monkeypatch, 70)
    out = printed(capsys, "compare", "runs").out
    assert "…" not in out
    assert "200" in out
    assert "220" in out


def test_beside_a_paper_runs_say_that_their_items_are_fresh_and_coarse_patterns_are_left_out(
    capsys,
):
    gnomon.run("spacenli", "random", limit=50)
    told = printed(capsys, "score", "runs", "--like-paper", "--format", "csv")
    rows = list(csv.reader(io.StringIO(told.out)))
    mine = dict(zip(rows[0], next(row for row in rows if row[0] == "random"), strict=True))
    assert float(mine["Acc"]) > 0
    assert (mine["PA0.95"], mine["PA1.0"]) == ("", "")
    assert told.err.count("items a group on average") == 1
    assert "random on spacenli@fresh: 1.0 items a group on average, 200 in the paper" in told.err
    assert "the runs answered fresh items" in printed(capsys, "score", "runs", "--like-paper").out
    assert (
        "1.0 items a group on average say little about pattern_accuracy@0.9"
        in printed(capsys, "score", "runs").err
    )


def test_runs_of_one_model_have_a_row_each_in_a_papers_table(capsys):
    for seed in (0, 1):
        gnomon.run(gnomon.load("scales", seed=seed), "random", limit=40)
    out = printed(capsys, "score", "runs", "--like-paper").out
    assert "random (seed 0)" in out
    assert "random (seed 1)" in out
    together = printed(capsys, "score", "runs", "--like-paper", "--over-seeds")
    assert "seed 0" not in together.out
    assert together.err.count("mean and standard deviation over 2 seeds") == 1


def test_a_figure_of_hardly_any_pairs_is_told_to_be_one(capsys):
    """200 items of scales hold no five pairs of objects asked both ways."""
    assert main(["run", "scales", "-m", "random", "--limit", "200", "--quiet"]) == 0
    assert main(["score", "runs"]) == 0
    told = capsys.readouterr()
    (line,) = [line for line in told.err.splitlines() if "fewer than 5 pairs" in line]
    assert "symmetry" in line
    assert "accuracy" not in line


def test_runs_are_scored_compared_and_shown_on_the_items_that_another_recognised(capsys, tmp_path):
    """The rows § and † of the spatial-commonsense paper, for runs of one's own."""
    cloze = gnomon.load("posrel", form="cloze")
    for model in ("random", "constant:beside"):
        gnomon.run(cloze, model, limit=60)
    scenes = list(gnomon.load("posrel", form="scene").limited(60).items())
    file = tmp_path / "seen.jsonl"
    rows = []
    for number, item in enumerate(scenes):
        choice = item.choices[0] if number % 3 == 0 else None
        rows.append(json.dumps({"item": item.id, "choice": choice}))
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    scene = gnomon.load("posrel", form="scene")
    seen = gnomon.run(scene, f"answers:{file}", limit=60, runs="seen").path
    found = printed(capsys, "score", "runs", "--on-items-of", seen, "--format", "json")
    scores = json.loads(found.out)
    assert {each["n"] for each in scores if each["measure"] == "accuracy"} == {20}
    assert "20 items, those to which" in found.err
    assert "20 items" in printed(capsys, "compare", "runs", "--on-items-of", seen).out
    cells = json.loads(
        printed(capsys, "table", "runs", "--on-items-of", seen, "--format", "json").out
    )
    assert '"items": 20' in json.dumps(cells)
    paper = printed(capsys, "score", "runs", "--like-paper", "--on-items-of", seen).out
    own = next(line for line in paper.splitlines() if line.startswith("constant:beside"))
    whole, _, recognised, *_ = own.split()[1:]
    fine = {each["model"]: each["value"] for each in scores if each["measure"] == "accuracy"}
    assert recognised == f"{100 * fine['constant:beside']:.1f}"
    assert whole != recognised
    assert main(["score", "runs", "--on-items-of", "nowhere"]) == 1


def test_seeds_that_change_nothing_are_told(capsys):
    """Of released files a seed changes nothing: three runs are one."""
    for seed in (1, 2, 3):
        gnomon.run(gnomon.load("scales", seed=seed), "constant:yes", limit=20, runs="others")
        gnomon.run(gnomon.load("scales"), "constant:yes", limit=20, runs=f"same/{seed}")
    told = printed(capsys, "score", "others", "--over-seeds").err
    assert "changes neither items nor answers" not in told
    for seed in (1, 2, 3):
        [run] = runs_in(f"same/{seed}")
        manifest = json.loads((run.path / MANIFEST).read_text(encoding="utf-8"))
        manifest["options"]["seed"] = seed
        (run.path / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    told = printed(capsys, "score", "same/1", "same/2", "same/3", "--over-seeds").err
    assert "constant:yes: the seed changes neither items nor answers" in told

"""Everything at once: suites, experiments, plans without asking, and what is printed at the end."""

import json
from argparse import Namespace

import pytest

import gnomon
from gnomon.cli import main
from gnomon.errors import ModelError, UsageError
from gnomon.items.experiments import experiment_of, load_suite, suite_names
from gnomon.records import Answer
from gnomon.registry import BENCHMARKS, MODELS, Entry
from gnomon.runs import runs_in

MIXED = """\
summary: text, pictures, and authors' files that are not here
limit: 8
benchmarks:
  - scales
  - name: vsr
    options: {quads: 1, size: 64}
  - spacenli@published
"""


class Reader:
    """Reads, and sees nothing."""

    scale = "none"
    spec = "reader"

    def describe(self):
        return {}

    def answer(self, items):
        return [Answer(item=item.id, choice=item.choices[0]) for item in items]


def reader(name):
    return Reader()


def broken(name):
    raise ModelError("its file is damaged.", "Fetch it again.")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(MODELS, "reader", Entry(f"{__name__}:reader", ""))
    monkeypatch.setitem(MODELS, "broken", Entry(f"{__name__}:broken", ""))


def test_suites_name_every_benchmark():
    named = {each.spec for each in load_suite("all").benchmarks}
    assert named == set(BENCHMARKS)
    text = {each.spec for each in load_suite("text").benchmarks}
    assert text == {each.spec for each in load_suite("quick").benchmarks}
    assert named - text == {"vsr", "relativesize", "views"}
    published = {each.spec for each in load_suite("paper").benchmarks}
    assert published
    assert all(spec.endswith("@published") for spec in published)


def test_a_suite_leaves_out_what_cannot_be_asked_with_a_sentence_for_each(tmp_path, capsys):
    (tmp_path / "mixed.yaml").write_text(MIXED)
    assert main(["run", "mixed.yaml", "-m", "reader"]) == 0
    shown = capsys.readouterr()
    assert "vsr@fresh · reader is left out" in shown.err
    assert "takes text only" in shown.err
    assert "spacenli@published · reader is left out" in shown.err
    assert [run.benchmark for run in runs_in("runs")] == ["scales@fresh"]
    assert runs_in("runs")[0].manifest.limit == 8


def test_a_suite_of_which_nothing_can_be_asked_fails(tmp_path, capsys):
    (tmp_path / "none.yaml").write_text("benchmarks: [spacenli@published]\n")
    assert main(["run", "none.yaml", "-m", "random"]) == 1
    assert "left out" in capsys.readouterr().err


def test_what_the_command_says_counts_more_than_the_suite(tmp_path):
    (tmp_path / "mine.yaml").write_text("limit: 8\nbenchmarks: [scales, posrel]\n")
    assert main(["run", "mine.yaml", "-m", "random", "--limit", "5", "--seed", "3"]) == 0
    for run in runs_in("runs"):
        assert run.manifest.counts.items == 5
        assert run.manifest.seed == 3


@pytest.mark.parametrize(
    ("word", "near"), [("quik", "quick"), ("scalse", "scales"), ("papers", "paper")]
)
def test_a_wrong_suite_or_benchmark_is_told_the_nearest(word, near, capsys):
    assert main(["run", word, "-m", "random"]) == 2
    assert near in capsys.readouterr().err


def test_a_benchmark_without_a_model_asks_for_one(capsys):
    assert main(["run", "scales"]) == 2
    assert "-m" in capsys.readouterr().err


EXPERIMENT = """\
benchmarks:
  - scales
  - name: posrel
    limit: 6
    models: [Coin]
models:
  - Coin=random
  - name: Most
    model: majority
seeds: [0, 1]
limit: 10
report: page.html
"""


def test_an_experiment_runs_everything_and_writes_its_report(tmp_path, capsys):
    (tmp_path / "experiment.yaml").write_text(EXPERIMENT)
    assert main(["run", "experiment.yaml"]) == 0
    found = sorted((run.benchmark, run.name, run.manifest.seed) for run in runs_in("runs"))
    scales = [("scales@fresh", name, seed) for name in ("Coin", "Most") for seed in (0, 1)]
    assert found == [("posrel@fresh", "Coin", 0), ("posrel@fresh", "Coin", 1), *scales]
    assert (tmp_path / "page.html").stat().st_size > 10_000
    assert "page.html" in capsys.readouterr().out


def test_the_experiment_of_runs_repeats_them_to_the_digit(tmp_path):
    (tmp_path / "experiment.yaml").write_text(EXPERIMENT)
    assert main(["run", "experiment.yaml", "--quiet"]) == 0
    first = runs_in("runs")
    (tmp_path / "again.yaml").write_text(experiment_of(first))
    assert main(["run", "again.yaml", "--runs", "again", "--quiet"]) == 0
    figures = []
    for folder in ("runs", "again"):
        found = gnomon.score(folder, measures="accuracy")
        figures.append(sorted((each.benchmark, each.model, each.value, each.n) for each in found))
    assert figures[0] == figures[1]
    assert len(figures[0]) == len(first) == 6


def test_a_plan_asks_nothing_and_says_what_it_would_take(tmp_path, capsys):
    (tmp_path / "mixed.yaml").write_text(MIXED)
    assert main(["run", "mixed.yaml", "-m", "Coin=reader", "--dry-run", "--format", "json"]) == 0
    shown = capsys.readouterr()
    assert "vsr@fresh · Coin would be left out" in shown.err
    plan = json.loads(shown.out)
    assert [(row["benchmark"], row["name"], row["left"]) for row in plan["runs"]] == [
        ("scales@fresh", "Coin", 8)
    ]
    assert plan["total"]["seconds"] > 0
    assert not (tmp_path / "runs").exists()


def test_a_plan_goes_on_after_what_would_fail(tmp_path, capsys):
    (tmp_path / "mine.yaml").write_text("benchmarks: [calculus, scales]\n")
    words = ["run", "mine.yaml", "-m", "reader", "--limit", "5", "--dry-run", "--format", "json"]
    assert main(words) == 1
    shown = capsys.readouterr()
    assert "calculus@fresh · reader would fail. A limit of 5 has no room" in shown.err
    assert [row["benchmark"] for row in json.loads(shown.out)["runs"]] == ["scales@fresh"]


def test_a_model_that_cannot_be_opened_does_not_stop_the_plan_of_another(capsys):
    words = ["run", "scales", "-m", "broken", "-m", "random", "--limit", "5", "--dry-run"]
    assert main([*words, "--format", "json"]) == 1
    shown = capsys.readouterr()
    assert "broken would fail. its file is damaged." in shown.err
    assert [row["model"] for row in json.loads(shown.out)["runs"]] == ["random"]


def test_a_benchmark_that_is_named_twice_is_asked_with_the_larger_limit(tmp_path):
    (tmp_path / "mine.yaml").write_text(
        "benchmarks:\n- {name: scales, limit: 9}\n- {name: scales, limit: 4}\n"
    )
    assert main(["run", "mine.yaml", "-m", "random", "--quiet"]) == 0
    assert [run.manifest.limit for run in runs_in("runs")] == [9]


def test_a_plan_counts_what_is_left_of_a_run(capsys):
    assert main(["run", "scales", "-m", "random", "--limit", "10", "--quiet"]) == 0
    words = ["run", "scales", "-m", "random", "--limit", "30", "--dry-run"]
    assert main([*words, "--format", "json"]) == 0
    row = json.loads(capsys.readouterr().out)["runs"][0]
    assert (row["items"], row["left"]) == (30, 20)
    assert main(words) == 0
    assert "20 items to ask" in capsys.readouterr().out


def test_a_plan_for_a_server_contacts_nobody_and_counts_money(capsys):
    server = ["-m", "openai:nobody", "--base-url", "http://127.0.0.1:9/v1"]
    prices = ["--set", "price_input=2", "--set", "price_output=8"]
    words = ["run", "scales", *server, *prices, "--limit", "10", "--dry-run", "--format", "json"]
    assert main(words) == 0
    row = json.loads(capsys.readouterr().out)["runs"][0]
    assert row["seconds"] is None
    assert row["read"] > 10 * 20
    assert row["written"] == 10 * 64
    assert row["cost"] == pytest.approx((2 * row["read"] + 8 * row["written"]) / 1e6)


def test_suites_are_listed_with_their_items(tmp_path, capsys):
    (tmp_path / "mixed.yaml").write_text(MIXED)
    assert main(["list", "suites", "mixed.yaml", "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    counted = {each["name"]: each["items"] for each in found["benchmarks"]}
    assert counted == {"scales@fresh": 8, "vsr@fresh": 4, "spacenli@published": None}
    assert found["items"] == 12
    assert main(["list", "suites", "mixed.yaml"]) == 0
    assert "not counted" in capsys.readouterr().out
    assert suite_names() == ["all", "paper", "quick", "text", "vision"]


def test_several_benchmarks_end_in_one_table_of_models_by_benchmarks(capsys):
    words = ["run", "scales", "posrel", "-m", "random", "-m", "majority", "--limit", "12"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    rows = [line for line in shown.splitlines() if line.startswith(("random ", "majority "))]
    assert len(rows) == 2
    assert "More: gnomon compare runs" in shown


def test_one_benchmark_ends_in_one_row_a_model(capsys):
    assert main(["run", "scales", "-m", "random", "-m", "majority", "--limit", "12"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("  accuracy  ") == 2
    assert "symmetry" not in shown


def test_a_plan_tells_two_prompts_of_one_model_apart(tmp_path, capsys):
    text = "benchmarks: [scales]\nmodels: [smollm2=openai:none]\nprompts: [plain, chat]\nlimit: 5\n"
    (tmp_path / "two.yaml").write_text(text)
    assert main(["run", "two.yaml", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "smollm2 (prompt plain)" in out
    assert "smollm2 (prompt chat)" in out


def test_a_command_given_again_says_that_nothing_was_asked(capsys):
    words = ["run", "scales", "posrel", "-m", "random", "--limit", "5"]
    assert main(words) == 0
    assert "nothing was asked" not in capsys.readouterr().err
    assert main(words) == 0
    assert "nothing was asked" in capsys.readouterr().err
    assert main([*words[:-1], "6"]) == 0
    assert "nothing was asked" not in capsys.readouterr().err
    assert main([*words[:-1], "6", "--restart"]) == 0
    assert "nothing was asked" not in capsys.readouterr().err


PAPERS = ("paper-000", "paper-001", "paper-002", "paper-003", "paper-004")


@pytest.mark.parametrize("name", PAPERS)
def test_the_experiment_of_a_paper_reads_with_either_models_and_its_recipes_are_right(name):
    from gnomon.cli.steps import trained_models
    from gnomon.train.recipes import load_recipe

    small, whole = load_suite(name), load_suite(name, "paper")
    assert small.results.endswith(name)
    assert small.comes_along
    assert all(each.limit is None for each in whole.benchmarks)
    for found in (small, whole):
        asked = {place for each in found.benchmarks for place in each.models}
        assert asked
        assert {place for place, _ in found.trainings} <= asked
        for place, training in found.trainings:
            assert load_recipe(training.recipe, training.changes)
            models = trained_models(Namespace(data=None, images=None), found, place)
            assert models[0].spec.partition(":")[2].startswith(training.folder)
    theirs = {place for each in whole.benchmarks for place in each.models}
    ours = {place for each in small.benchmarks for place in each.models}
    assert not theirs & ours


def test_an_experiment_of_a_paper_goes_on_without_models_and_data_that_are_not_here(
    tmp_path, capsys, monkeypatch
):
    """One's own file means every model that it names; of a paper's, readers have some."""
    asked = "benchmarks: [scales, spacenli@published]\nmodels: [random, broken, reader]\n"
    (tmp_path / "e.yaml").write_text(f"{asked}limit: 5\nresults: out\n")
    assert main(["run", "e.yaml", "--runs", "mine"]) == 1
    monkeypatch.setattr("gnomon.items.experiments._comes_along", lambda file: True)
    capsys.readouterr()
    assert main(["run", "e.yaml", "--runs", "theirs"]) == 0
    told = capsys.readouterr().err
    assert "scales@fresh · broken is left out. its file is damaged." in told
    assert "spacenli@published · random is left out, as is all that lacks the same." in told
    assert told.count("is left out") == 2, "data that are not here once for all models"
    assert {run.name for run in runs_in("theirs")} == {"random", "reader"}
    tables = (tmp_path / "out/tables.md").read_text(encoding="utf-8")
    lacking = tables.partition("## What is not here")[2].splitlines()
    assert "- scales@fresh was not asked of broken." in lacking
    assert "- spacenli@published was not asked of random, broken, reader." in lacking
    assert any(line.startswith("- the published files of spacenli") for line in lacking)
    assert main(["run", "e.yaml", "-m", "broken:other"]) == 1, "what the command names is asked"


TAUGHT = """\
results: out
recognised_by: [Most]
benchmarks:
  - {name: posrel, options: {form: cloze}, limit: 40}
  - {name: posrel, options: {form: cloze}, limit: 40, choose_prompts: yes, models: [Taught]}
models:
  - Most=majority
  - name: Taught
    model: hf:out/taught
    train: few-shot
    set: {schedule.steps: 1, "data.train.options.seed": 2}
    curve: 0,2
    draws: 2
paper_models:
  - Coin=random
"""


@pytest.mark.parametrize(("words", "format"), [([], "table"), (["--quiet"], "")])
def test_a_quiet_experiment_prints_no_curve(words, format, tmp_path, monkeypatch):
    (tmp_path / "e.yaml").write_text(TAUGHT)
    formats = []

    def train_curve(args):
        formats.append(args.format)
        raise UsageError("Enough is known.")

    monkeypatch.setattr("gnomon.cli.steps.train_curve", train_curve)
    assert main(["run", "e.yaml", *words]) == 2
    assert formats == [format]


def test_an_experiment_trains_asks_and_writes_tables_and_figures(tmp_path, capsys, monkeypatch):
    (tmp_path / "e.yaml").write_text(TAUGHT)
    trained, chosen = [], []

    def train_curve(args):
        trained.append((args.recipe, list(args.set), args.output, args.curve, args.draws))
        for draw in ("draw-1", "draw-2"):
            (tmp_path / args.output / "items-2" / draw).mkdir(parents=True)

    def choose(args):
        chosen.append((args.benchmark, args.model, args.limit, args.set))
        print("a row")

    monkeypatch.setattr("gnomon.cli.steps.train_curve", train_curve)
    monkeypatch.setattr("gnomon.cli.prompts.main", choose)
    monkeypatch.setitem(MODELS, "hf", Entry(f"{__name__}:prompted", ""))
    assert main(["run", "e.yaml", "--runs", "asked"]) == 0
    changes = ["schedule.steps=1", "data.train.options.seed=2"]
    assert trained == [("few-shot", changes, "out/taught", "0,2", 2)]
    assert chosen == [("posrel", "hf:out/taught", 40, ["items.form=cloze"])]
    asked = {run.name: run.model for run in runs_in("asked")}
    largest = "hf:out/taught/items-2/draw-"  # what smaller amounts come to, training measured
    assert asked == {"Most": "majority", "Taught #1": f"{largest}1", "Taught #2": f"{largest}2"}
    assert (tmp_path / "out/report.html").stat().st_size > 10_000
    assert list((tmp_path / "out/figures").glob("*.svg"))
    tables = (tmp_path / "out/tables.md").read_text(encoding="utf-8")
    assert "Table 3. Positional relationship" in tables
    assert "| Taught | " in tables  # both draws in one row, with their deviation
    assert "| Taught #1 |" not in tables
    assert "Taught on posrel@fresh: mean and standard deviation over 2 seeds." in tables
    assert "prompts chosen by folds" in tables
    assert "a row" in tables
    assert "tables.md" in capsys.readouterr().out
    assert main(["run", "e.yaml", "--runs", "theirs", "--set", "models=paper"]) == 0
    assert {(run.name, run.manifest.limit) for run in runs_in("theirs")} == {("Coin", None)}
    assert (
        main(["run", "e.yaml", "--runs", "mine", "--set", "models=own", "-m", "Mine=random"]) == 0
    )
    assert {run.name for run in runs_in("mine")} == {"Mine"}
    assert len(trained) == 1
    assert main(["run", "e.yaml", "--set", "models=own"]) == 2
    assert main(["run", "scales", "-m", "random", "--set", "models=paper"]) == 2


def prompted(name, *, prompt="", device=""):
    """A reader that takes a prompt.

    prompt  how items are put
    device  where it computes
    """
    return Reader()


def test_models_of_a_file_compute_on_the_device_that_the_command_names(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setitem(MODELS, "hf", Entry(f"{__name__}:prompted", ""))
    (tmp_path / "e.yaml").write_text("benchmarks: [scales]\nmodels: [hf:x, random]\nlimit: 5\n")
    assert main(["run", "e.yaml", "--device", "cuda"]) == 0
    found = {run.model: run.manifest.model_options.get("device") for run in runs_in("runs")}
    assert found == {"hf:x": "cuda", "random": None}
    capsys.readouterr()
    assert main(["run", "e.yaml", "--prompt", "plain"]) == 2
    told = capsys.readouterr().err
    assert "The option 'prompt' is for models of the command, and it names none." in told
    assert "options:" in told


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("results: ../elsewhere\n", "only below its own folder"),
        ("results: mine\n", "mine/tables.md is there, and Gnomon did not write it"),
        ("models: [{model: hf:../x, train: probe}]\n", "only below its own folder"),
        ("models: [{model: hf:x, train: look, set: {look.allow_pickle: yes}}]\n", "may not set"),
    ],
)
def test_an_experiment_writes_below_its_own_folder_and_over_nobody_elses_files(
    text, words, tmp_path, capsys
):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/tables.md").write_text("my own\n")
    (tmp_path / "e.yaml").write_text(f"benchmarks: [scales]\n{text}")
    assert main(["run", "e.yaml", "-m", "random"]) == 2
    assert words in capsys.readouterr().err
    assert (tmp_path / "mine/tables.md").read_text() == "my own\n"


def test_experiments_are_listed(capsys):
    assert main(["list", "experiments"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in PAPERS)
    assert main(["list", "experiments", "paper-002", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "RoBERTa-L" in found[0]["models"]
    assert main(["list", "experiments", "paper-02"]) == 2
    assert "paper-002" in capsys.readouterr().err

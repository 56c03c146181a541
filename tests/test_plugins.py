"""Adding a benchmark, a model, a measure, a figure: one file each, one line each, no edit elsewhere."""

import json

import gnomon
from gnomon.cli import main


def test_every_command_knows_what_a_plugin_adds(plugin, tmp_path, capsys):
    for kind, name in {
        "benchmarks": "numbers",
        "models": "digits",
        "measures": "first_choice",
        "figures": "first-choices",
        "commands": "tally",
    }.items():
        main(["list", kind])
        assert f"  {name} " in capsys.readouterr().out
    main(["list", "benchmarks", "numbers"])
    assert capsys.readouterr().out.startswith("numbers: which of two numbers is larger\n")
    main(["list", "models", "digits"])
    assert "the probability of what it picks" in capsys.readouterr().out


def test_a_plugins_benchmark_is_asked_of_its_model_and_scored_by_its_measure(plugin, tmp_path):
    run = gnomon.run("numbers", "digits", runs=tmp_path)
    found = {score.measure: score.value for score in gnomon.score(run)}
    assert found == {
        "accuracy": 1.0,
        "symmetry": 1.0,
        "symmetry_and_right": 1.0,
        "first_choice": 0.5,
    }


def test_a_plugins_measure_ranks_by_its_own_direction(plugin, tmp_path, capsys):
    first = gnomon.run("numbers", "constant:larger", runs=tmp_path)
    digits = gnomon.run("numbers", "digits", runs=tmp_path)
    main(
        [
            "compare",
            str(first.path),
            str(digits.path),
            "--measure",
            "first_choice",
            "--format",
            "json",
        ]
    )
    board = json.loads(capsys.readouterr().out)["leaderboard"]
    assert [rank["model"] for rank in board] == ["digits", "constant:larger"]


def test_a_trained_baseline_holds_out_what_a_plugins_benchmark_says(plugin, tmp_path):
    run = gnomon.run("numbers", "bag-of-words", runs=tmp_path)
    (score,) = gnomon.score(run, measures="accuracy")
    assert score.value <= 0.75, "objects in training and test at once would give nearly all away"


def test_a_plugins_figure_is_drawn_on_the_page_and_written_to_files(plugin, tmp_path):
    run = gnomon.run("numbers", "digits", runs=tmp_path / "runs")
    page = gnomon.report(run, tmp_path / "page.html", figures=tmp_path / "figures")
    assert "How often the first choice is picked" in page.read_text()
    (table,) = (tmp_path / "figures").rglob("*first-choices*.csv")
    assert "digits,0.5" in table.read_text()


def test_a_plugins_command_is_given_like_any_other(plugin, tmp_path, capsys):
    run = gnomon.run("numbers", "constant:larger", runs=tmp_path)
    assert main(["tally", str(run.path)]) == 0
    assert capsys.readouterr().out == "   30  larger\n"
    assert main(["tally", str(run.path), "--least", "x"]) == 2
    assert "--least takes a whole number, not 'x'" in capsys.readouterr().err
    assert main(["help", "tally"]) == 0
    assert "gnomon tally runs/RUN" in capsys.readouterr().out


def test_a_plugins_command_that_is_none_is_refused_in_a_sentence(plugin, monkeypatch, capsys):
    from gnomon import registry

    entry = registry.Entry("gnomon_guess.model", "no command")
    monkeypatch.setitem(registry.COMMANDS, "broken", entry)
    assert main(["broken"]) == 2
    assert "must name a module with a docstring" in capsys.readouterr().err


def test_a_plugins_items_do_not_get_our_licence(plugin, tmp_path):
    assert main(["make", "numbers", "--as", "dataset", "-o", str(tmp_path / "set")]) == 0
    card = (tmp_path / "set" / "README.md").read_text()
    assert "apache" not in card.lower()
    assert "not stated" in card

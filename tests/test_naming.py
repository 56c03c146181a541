"""Names of models: of the user's own, kept by the run, shown wherever the model is."""

import pytest

import gnomon
from gnomon.errors import UsageError
from gnomon.measures.entries import entries_of
from gnomon.naming import LONGEST, check_name, model_name, split_name
from gnomon.registry import model
from gnomon.reports.study import studies
from gnomon.runs import Run


@pytest.mark.parametrize(
    ("text", "name", "spec"),
    [
        ("RoBERTa=hf:roberta-large-mnli", "RoBERTa", "hf:roberta-large-mnli"),
        (" My model = smollm2", "My model", "smollm2"),
        ("smollm2", "", "smollm2"),
        ("gguf:q=4.gguf", "", "gguf:q=4.gguf"),
        ("./q=4.gguf", "", "./q=4.gguf"),
        ("Q4=gguf:models/q=4.gguf", "Q4", "gguf:models/q=4.gguf"),
    ],
)
def test_a_name_stands_before_the_first_equals_sign_and_has_no_colon_or_slash(text, name, spec):
    assert split_name(text) == (name, spec)


@pytest.mark.parametrize("text", ["=random", "x=", "a\nb=random", f"{'x' * (LONGEST + 1)}=random"])
def test_what_cannot_be_a_name_is_refused(text):
    with pytest.raises(UsageError):
        split_name(text)


@pytest.mark.parametrize("name", ["hf:x", "a/b", "a=b", "a\\b", ""])
def test_a_name_given_in_python_follows_the_same_rule(name):
    with pytest.raises(UsageError):
        check_name(name)


def test_a_name_is_what_a_shortened_spec_would_be():
    assert model_name("answers") == "answers"
    assert model_name("RoBERTa") == "RoBERTa"


def test_a_name_makes_no_other_run_and_another_name_renames_it(tmp_path):
    unnamed = gnomon.run("scales", "random", limit=6, runs=tmp_path)
    named = gnomon.run("scales", "Coin=random", limit=6, runs=tmp_path)
    assert named.path == unnamed.path
    assert (unnamed.name, named.name) == ("random", "Coin")
    again = gnomon.run("scales", "random", limit=6, runs=tmp_path, name="Dice")
    assert (again.path, again.name) == (named.path, "Dice")
    assert gnomon.run("scales", "random", limit=6, runs=tmp_path).name == "Dice"
    assert again.manifest.counts.answered == 6


def test_a_name_is_the_label_in_tables_and_pages(tmp_path):
    run = gnomon.run("scales", model("Coin=random", model_seed=3), limit=6, runs=tmp_path)
    assert entries_of([run])[0].label == "Coin"
    assert studies([run])[0].entrants[0].label == "Coin"
    assert gnomon.score(run)[0].model == "Coin"


def test_runs_of_one_model_under_two_names_still_combine_over_seeds(tmp_path):
    one = gnomon.run(gnomon.load("scales", seed=1), "A=random", limit=40, runs=tmp_path)
    two = gnomon.run(gnomon.load("scales", seed=2), "B=random", limit=40, runs=tmp_path)
    found = gnomon.score(one, two, over_seeds=True, measures="accuracy")
    assert [score.n for score in found] == [80]


def test_two_models_with_one_name_do_not_combine_over_seeds(tmp_path):
    one = gnomon.run(gnomon.load("scales", seed=1), "A=random", limit=40, runs=tmp_path)
    two = gnomon.run(gnomon.load("scales", seed=2), "A=majority", limit=40, runs=tmp_path)
    found = gnomon.score(one, two, over_seeds=True, measures="accuracy")
    assert [score.n for score in found] == [40, 40]


def test_a_name_with_markup_is_text_in_every_format(tmp_path, capsys):
    from gnomon.cli.dispatch import main

    runs = str(tmp_path)
    assert (
        main(["run", "scales", "-m", "a_b & <i>50%</i>=random", "--limit", "6", "--runs", runs])
        == 2
    )
    name = "a_b & <i>50%"
    assert main(["run", "scales", "-m", f"{name}=random", "--limit", "6", "--runs", runs]) == 0
    assert main(["run", "scales", "-m", "majority", "--limit", "6", "--runs", runs]) == 0
    capsys.readouterr()
    assert main(["score", runs, "--format", "latex"]) == 0
    assert r"a\_b \&" in capsys.readouterr().out
    page = gnomon.report(tmp_path, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<i>50%" not in page
    assert "a_b &amp; &lt;i&gt;50%" in page


@pytest.mark.parametrize(
    ("models", "words"),
    [
        (("A=random", "A=majority"), "Two models are called 'A'"),
        (("A=random", "B=random"), "random has two names: A and B"),
    ],
)
def test_one_name_for_two_models_and_two_for_one_are_refused(models, words, tmp_path, capsys):
    from gnomon.cli.dispatch import main

    asked = [word for each in models for word in ("-m", each)]
    assert main(["run", "scales", *asked, "--limit", "6", "--runs", str(tmp_path)]) == 2
    assert words in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_run_without_a_name_still_opens(tmp_path):
    run = gnomon.run("scales", "random", limit=6, runs=tmp_path)
    file = run.path / "run.json"
    file.write_text(file.read_text().replace('  "name": "",\n', ""))
    assert Run.open(run.path).name == "random"

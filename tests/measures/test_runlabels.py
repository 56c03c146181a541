"""Labels that tell runs of one model apart, and nothing more."""

from time import process_time

import pytest

import gnomon
from gnomon.measures.runlabels import labels, settings_of
from gnomon.runs import Run


def test_a_name_of_its_own_needs_no_settings():
    assert labels(["a", "b"], [{"seed": 0, "limit": 5}, {"seed": 1}]) == ["a", "b"]


def test_only_what_differs_is_named_and_what_is_not_set_is_not():
    settings = [
        {"seed": 0, "split": ""},
        {"seed": 0, "split": "test"},
        {"seed": 0, "limit": 5, "split": ""},
    ]
    assert labels(["m"] * 3, settings) == ["m", "m (split test)", "m (limit 5)"]


def test_runs_that_differ_in_nothing_are_numbered():
    assert labels(["m", "n", "m"], [{"seed": 0}] * 3) == ["m #1", "n", "m #2"]


def test_a_hundred_thousand_runs_that_differ_in_nothing_are_numbered_at_once():
    began = process_time()
    told = labels(["m"] * 100_000, [{"seed": 0, "limit": 5}] * 100_000)
    assert told[-1] == "m #100000"
    assert process_time() - began < 5, "it took minutes"


def test_of_a_long_value_the_end_is_kept_and_what_steers_a_terminal_is_shown_as_an_escape():
    one, two = labels(
        ["m", "m"], [{"prompt": "/very" * 20 + "/first.yaml"}, {"prompt": "\x1b[31mx\u202ey\n"}]
    )
    assert one.endswith("/first.yaml)")
    assert len(one) < 50
    assert two == r"m (prompt \x1b[31mx\u202ey)"


@pytest.mark.parametrize(
    ("model", "options", "told"),
    [
        ("openai:x", {"shots": 2, "timeout": 9.0}, {"shots": 2}),
        ("not-installed:x", {"threads": 2}, {"threads": 2}),
        ("random", {"no_such_option": 1}, {"no_such_option": 1}),
    ],
)
def test_settings_are_the_options_that_have_a_say_in_the_answers(model, options, told):
    run = gnomon.run(gnomon.load("scales", seed=4), "random", limit=6)
    run.manifest.model, run.manifest.model_options = model, options
    found = settings_of(Run(run.path, run.manifest))
    assert {name: found[name] for name in (*told, "seed", "limit")} == told | {
        "seed": 4,
        "limit": 6,
    }
    assert not {"timeout"} & set(found)


def test_runs_of_one_model_whose_weights_changed_are_told_apart(tmp_path):
    run = gnomon.run(gnomon.load("scales"), "random", limit=6)
    run.manifest.model = "hf:mine"
    found = []
    for digest in ("0123456789abcdef", "fedcba9876543210"):
        run.manifest.model_files = {"mine": digest, "examples.jsonl": "00"}
        found.append(settings_of(Run(run.path, run.manifest)))
    assert labels(["m", "m"], found) == ["m (weights 01234567)", "m (weights fedcba98)"]

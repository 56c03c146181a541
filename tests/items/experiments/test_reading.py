"""A file that says what is asked of whom is checked, with its lines, before anything loads."""

import time
from contextlib import suppress

import pytest

from gnomon.errors import DataError, GnomonError, UsageError
from gnomon.items.experiments import experiment_of, read_experiment
from gnomon.runs import Manifest, Run

GOOD = """\
summary: two of them
limit: 20
benchmarks:
  - scales
  - name: spacenli
    options: {per_group: 5}
    limit: 30
models:
  - Coin=random
  - model: smollm2
    name: Small
    options: {threads: 2}
prompts: [plain]
seeds: [0, 1]
"""


def test_what_a_file_says_is_read(tmp_path):
    file = tmp_path / "e.yaml"
    file.write_text(GOOD)
    found = read_experiment(file)
    assert [(each.spec, each.limit) for each in found.benchmarks] == [
        ("scales", 20),
        ("spacenli", 30),
    ]
    assert [(each.name, each.spec) for each in found.models] == [
        ("Coin", "random"),
        ("Small", "smollm2"),
    ]
    assert (found.prompts, found.seeds) == (("plain",), (0, 1))


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("benchmarks:\n  - scalse\n", 2, "Did you mean scales"),
        ("benchmark: [scales]\n", 1, "Did you mean benchmarks"),
        ("models: [random]\n", 1, "names no benchmarks"),
        ("benchmarks: []\n", 1, "the list is empty"),
        ("benchmarks:\n  - name: scales\n    limits: 3\n", 3, "Did you mean limit"),
        ("benchmarks:\n  - name: scales\n    options: {sede: 1}\n", 2, "no option 'sede'"),
        ("benchmarks: [scales]\nmodels:\n  - random\n  - smolm2\n", 4, "Did you mean smollm2"),
        ("benchmarks: [scales]\nmodels:\n  - model: random\n    nam: x\n", 4, "Did you mean name"),
        ("benchmarks: [scales]\nmodels:\n  - model: 5\n", 3, "a model must be a text"),
        ("benchmarks: [scales]\nmodels:\n  - {model: random, name: 5}\n", 3, "a name must be"),
        ("benchmarks: [scales]\nlimit: many\n", 2, "must be a whole number"),
        ("benchmarks: [scales]\nlimit: 0\n", 2, "1 or more"),
        ("benchmarks: [scales]\nprompts: [plane]\n", 2, "Did you mean plain"),
        ("benchmarks: [spatialqa@published]\nseeds: [1]\n", 2, "takes a seed"),
        ("benchmarks: [scales]\nreport: no/such/page.html\n", 2, "no folder"),
        ("benchmarks: [scales]\nmodels: [A=random, A=majority]\n", 2, "called 'A'"),
        ("benchmarks:\n  - name: scales\n    models: [B]\nmodels: [A=random]\n", 3, "no model"),
        (
            "benchmarks: [scales]\nmodels:\n  - model: openai:x\n    options:\n"
            "      base_url: http://***@host/v1\n",
            5,
            "a secret was left out",
        ),
    ],
)
def test_a_slip_is_told_with_its_line_and_a_remedy(text, line, words, tmp_path):
    file = tmp_path / "e.yaml"
    file.write_text(text)
    with pytest.raises(UsageError) as told:
        read_experiment(file)
    assert str(told.value).startswith(f"{file}:{line}: ")
    assert str(told.value).count(str(file)) == 1
    assert words in str(told.value)
    assert told.value.hint


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("benchmarks: [scales]\nlimit: 1\nlimit: 2\n", 3, "given twice"),
        ("benchmarks: &a [scales]\nmodels: *a\n", 1, "aliases"),
        ("benchmarks: [scales]\nmodels: !!python/name:os.system\n", 2, "tags"),
        ("[" * 20_000, 1, "nested too deeply"),
        ("- " * 20_000, 1, "nested too deeply"),
        ("{a: " * 20_000, 1, "nested too deeply"),
    ],
)
def test_yaml_that_is_not_plain_is_refused_at_once(text, line, words, tmp_path):
    file = tmp_path / "e.yaml"
    file.write_text(text)
    began = time.process_time()
    with pytest.raises(DataError) as told:
        read_experiment(file)
    assert time.process_time() - began < 2
    assert str(told.value).startswith(f"{file}:{line}: ")
    assert words in str(told.value)


@pytest.mark.parametrize("line", ["models: [ran\tdom]", "limit\t: 3", "models: [random]\t# all"])
def test_a_tab_within_a_line_is_no_traceback(line, tmp_path):
    file = tmp_path / "e.yaml"
    file.write_text(f"benchmarks: [scales]\n{line}\n")
    with suppress(GnomonError):
        read_experiment(file)


def test_the_experiment_of_runs_holds_no_secret_and_names_what_it_leaves_out(tmp_path):
    from datetime import UTC, datetime

    about = {"benchmark": "scales@fresh", "started": datetime(2026, 1, 1, tzinfo=UTC)}
    options = {"base_url": "https://me:hidden@example.org/v1"}
    server = Manifest(id="a", model="openai:m", model_options=options, **about)
    person = Manifest(id="b", model="people:ann", **about)
    text = experiment_of([Run(tmp_path, server), Run(tmp_path, person)])
    assert "hidden" not in text
    assert "# Left out" in text
    assert "people:ann" in text

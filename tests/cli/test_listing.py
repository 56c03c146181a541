"""What `gnomon list` says of benchmarks, models and runs, in wide terminals and in narrow ones."""

import json
import os
import pty
import subprocess
import sys

import pytest

import gnomon
from gnomon.cli import main
from gnomon.cli.benchmarkfacts import Facts, known_facts
from gnomon.cli.options import what_it_does
from gnomon.measures.chance import chance_of
from gnomon.measures.table import Table
from gnomon.measures.units import Sharing
from gnomon.options import options_of
from gnomon.records import Answer
from gnomon.registry import BENCHMARKS, MODELS, benchmark, measure, model_factory

FRESH = [name for name in BENCHMARKS if "fresh" in benchmark(name).sources]


def printed(capsys, *words):
    assert main(list(words)) == 0
    return capsys.readouterr().out


def facts_of(source):
    """The facts about a source, found by making its items."""
    rows = [(item, Answer(item=item.id)) for item in source.without_pictures()]
    asked = source.benchmark
    sharing = Sharing.of(asked)
    table = Table.of(rows, benchmark=source.name, sharing=sharing, laws=asked.laws)
    headline = measure(asked.measures[0])
    chance = chance_of(headline, table)
    return Facts(
        items=len(rows),
        units=str(headline.statistics(table.judged).units),
        chance=None if chance is None else round(chance, 4),
        pictures=any(item.images for item, _ in rows),
    )


@pytest.mark.parametrize("name", FRESH)
def test_the_size_and_the_chance_that_are_listed_are_those_of_the_items(name):
    assert known_facts()[name] == facts_of(gnomon.load(f"{name}@fresh"))


def test_benchmarks_are_listed_with_their_size_and_chance(capsys):
    told = printed(capsys, "list", "benchmarks")
    assert set(known_facts()) == set(FRESH)
    for name in BENCHMARKS:
        assert f"  {name} " in told
    for facts in known_facts().values():
        assert facts.in_words() in told
    listed = json.loads(printed(capsys, "list", "benchmarks", "--format", "json"))
    assert [each["name"] for each in listed][: len(BENCHMARKS)] == list(BENCHMARKS)
    assert listed[0]["fresh"]["items"] == known_facts()["scales"].items


def test_one_benchmark_is_shown_with_a_question_its_paper_and_licences(capsys):
    told = printed(capsys, "list", "benchmarks", "spacenli")
    assert "Paper: SpaceNLI: Evaluating the Consistency" in told
    assert "https://arxiv.org/abs/2307.02269" in told
    assert "https://github.com/kovvalsky/SpaceNLI" in told
    assert "licence: MIT" in told
    assert "gnomon data get spacenli" in told
    assert "A question:" in told
    assert "✓ " in told
    found = json.loads(printed(capsys, "list", "benchmarks", "spacenli", "--format", "json"))
    assert found["published"]["licence"] == "MIT"
    assert found["fresh"]["chance"] == pytest.approx(1 / 3, abs=1e-3)


@pytest.mark.parametrize("name", MODELS)
def test_every_option_of_a_model_is_explained(name):
    factory = model_factory(name)
    assert [o for o in options_of(factory) if not what_it_does("models", o, factory)] == []


def test_runs_of_one_model_are_listed_with_what_tells_them_apart(capsys):
    for seed in (4, 6):
        gnomon.run(gnomon.load("scales", seed=seed), "random", limit=4)
    gnomon.run("scales", "majority", limit=4)
    told = printed(capsys, "runs", "list")
    assert "random (seed 4)" in told
    assert "random (seed 6)" in told
    assert "majority  " in told
    labels = {run["label"] for run in json.loads(printed(capsys, "runs", "list", "--json"))}
    assert labels == {"random (seed 4)", "random (seed 6)", "majority"}


def on_a_terminal(columns, *words):
    """What a terminal of so many columns is shown."""
    above, below = pty.openpty()
    environment = os.environ | {"COLUMNS": str(columns)}
    command = [sys.executable, "-m", "gnomon", *words]
    with subprocess.Popen(command, stdout=below, env=environment) as process:
        os.close(below)
        shown = b""
        while chunk := _read(above):
            shown += chunk
        process.wait()
    os.close(above)
    return shown.decode().replace("\r\n", "\n")


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # as Linux says that the other end is closed
        return b""


def test_a_narrow_terminal_breaks_between_words_and_no_path_is_cut():
    run = gnomon.run("scales", "random", limit=4)
    told = on_a_terminal(60, "list", "models")
    assert max(map(len, told.splitlines())) <= 60
    assert "paper does" in " ".join(told.split())
    told = on_a_terminal(60, "runs", "list")
    assert str(run.path) in told
    assert max(map(len, told.splitlines())) <= 60


def test_a_long_name_is_cut_in_its_middle_and_a_sentence_at_a_word():
    from gnomon.contracts import Listing
    from gnomon.tabular import render

    names = [f"answers:DATA/spatialqa/results-{size}.tsv" for size in ("base", "large")]
    rows = tuple((name, "which of two everyday objects is larger") for name in names)
    told = render(Listing("", ("model", "asks"), rows), width=50)
    assert max(map(len, told.splitlines())) <= 50
    assert "base.tsv" in told
    assert "large.tsv" in told
    assert "which of two…" in told or "which of two everyday…" in told

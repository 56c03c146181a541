"""The workflow that `gnomon ci init` writes: what it is given stays what it is."""

import shlex

import pytest
import yaml

from gnomon.cli import main


def write(name):
    return main(["ci", "init", name, "-m", "random", "-o", "ci.yml"])


@pytest.mark.parametrize("name", ["mine: all.csv", "mine #2.csv", "$(touch a) 'b'.csv", "- a.csv"])
def test_a_name_is_one_word_of_the_command(name):
    assert write(name) == 0
    with open("ci.yml", encoding="utf-8") as file:
        steps = yaml.safe_load(file)["jobs"]["nightly"]["steps"]
    (command,) = [step["run"] for step in steps if step.get("name") == "Ask"]
    assert shlex.split(command)[:5] == ["gnomon", "run", name, "-m", "random"]


@pytest.mark.parametrize(
    "name", ["a.csv\n      - run: make evil", "${{ secrets.KEY }}.csv", "a\x1b"]
)
def test_a_name_that_a_workflow_would_act_on_is_refused(name, capsys):
    assert write(name) == 2
    assert "cannot stand in a workflow" in capsys.readouterr().err

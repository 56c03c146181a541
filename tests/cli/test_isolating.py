"""A run that fails, or whose compiled code crashes, does not stop the other runs of a command."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PLUGIN = """
import os
import time

from gnomon import Answer


class Model:
    scale = "none"

    def __init__(self, spec, how):
        self.spec, self.how = spec, how

    def describe(self):
        return {}

    def answer(self, items):
        if self.how == "abort":
            os.abort()
        if self.how == "slow":
            with open("asked.txt", "a") as out:
                out.write("asked")
            time.sleep(0.05)
        return [Answer(item=item.id, choice=item.choices[0]) for item in items]


def fragile(name):
    if name == "raise":
        raise KeyError("a bug")
    return Model(f"fragile:{name}", name)


fragile.native = True


def buggy(name):
    return fragile("raise")
"""


@pytest.fixture
def environment(tmp_path):
    """A plug-in whose models fail in ways of their own."""
    info = tmp_path / "plugin" / "gnomon_fragile-0.1.dist-info"
    info.mkdir(parents=True)
    (tmp_path / "plugin" / "gnomon_fragile.py").write_text(PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gnomon-fragile\nVersion: 0.1\n")
    points = "fragile = gnomon_fragile:fragile\nbuggy = gnomon_fragile:buggy\n"
    (info / "entry_points.txt").write_text(f"[gnomon.models]\n{points}")
    path = os.pathsep.join([str(tmp_path / "plugin"), os.environ.get("PYTHONPATH", "")])
    return os.environ | {"PYTHONPATH": path, "PYTHONFAULTHANDLER": ""}


def command(*models):
    words = [sys.executable, "-m", "gnomon", "run", "scales", "--json"]
    for model in models:
        words += ["-m", model]
    return words


def gnomon(environment, *models):
    words = [*command(*models), "--limit", "5"]
    return subprocess.run(words, env=environment, capture_output=True, text=True)


@pytest.mark.skipif(sys.platform == "win32", reason="ends otherwise there")
def test_a_crash_of_compiled_code_does_not_stop_the_runs_after_it(environment):
    done = gnomon(environment, "fragile:one", "fragile:abort", "fragile:two")
    assert done.returncode == 1
    models = [json.loads(line)["model"] for line in done.stdout.splitlines()]
    assert models == ["fragile:one", "fragile:two"]
    assert "scales@fresh · fragile:abort: it ended the process (SIGABRT)." in done.stderr


def test_a_fault_in_a_models_code_does_not_stop_the_runs_after_it(environment):
    done = gnomon(environment, "random", "buggy", "majority")
    assert done.returncode == 1
    models = [json.loads(line)["model"] for line in done.stdout.splitlines()]
    assert models == ["random", "majority"]
    assert "scales@fresh · buggy: KeyError: 'a bug'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
def test_ctrl_c_reaches_the_child_once_and_says_how_to_go_on(environment):
    asked = Path("asked.txt")
    asked.touch()
    process = subprocess.Popen(
        command("fragile:slow", "random"), env=environment, stderr=subprocess.PIPE, text=True
    )
    while not asked.stat().st_size and process.poll() is None:
        time.sleep(0.01)  # the child needs the processor more than we do
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "of 1,920 items. To continue, give the command again:" in err
    assert "Traceback" not in err

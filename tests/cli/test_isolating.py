"""A run that fails, or whose compiled code crashes, does not stop the other runs of a command."""

import json
import os
import subprocess
import sys

import pytest

PLUGIN = """
import os

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


def gnomon(environment, *models):
    command = [sys.executable, "-m", "gnomon", "run", "scales", "--limit", "5", "--json"]
    for model in models:
        command += ["-m", model]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


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

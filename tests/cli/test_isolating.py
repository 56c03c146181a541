"""A run that fails, or whose compiled code crashes, does not stop the other runs of a command."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gnomon.cli import execution as isolating

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


def test_a_crash_is_told_by_the_name_of_its_signal_if_it_has_one():
    assert isolating._how_it_ended(-signal.SIGABRT) == "it ended the process (SIGABRT)"
    assert isolating._how_it_ended(-9999) == "it ended the process (signal 9999)"
    assert isolating._how_it_ended(3) == "it ended the process (exit code 3)"


def test_what_a_child_sends_is_never_unpickled():
    """Whatever a crash leaves in the pipe is taken as the end of the child's reports."""

    class Trap:
        def __reduce__(self):
            return (os.mkdir, ("trapped",))

    receiver, sender = multiprocessing.Pipe(duplex=False)
    sender.send_bytes(isolating.WENT_WELL)
    sender.send(Trap())
    sender.close()
    assert list(isolating._reports(receiver, None)) == [True]
    assert not Path("trapped").exists()

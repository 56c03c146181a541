"""Real workers: processes of this machine, and Ray. One of each dies of an item."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import gnomon
from gnomon.errors import MissingExtraError, UsageError
from gnomon.runs import Run, running, runs_in
from gnomon.runs.pace import PACE, Pace, PaceFile, WorkerPace, pace_in_words, read_pace
from gnomon.runs.workers import WorkerPlan, plan_workers


def answers_of(run):
    return {item.id: (answer.choice, answer.error) for item, answer in run.rows()}


def test_processes_answer_as_one_does_and_outlive_an_item_that_kills(plugin):
    source = gnomon.load("dice", n=300)
    alone = running.run(source, gnomon.model("slow"), runs="alone")
    deadly = gnomon.model("slow", kill="roll-77")
    together = running.run(source, deadly, runs="together", workers=WorkerPlan(count=2))
    expected = answers_of(alone)
    found = answers_of(together)
    choice, error = found.pop("roll-77")
    del expected["roll-77"]
    assert found == expected
    assert choice is None
    assert error == "3 workers died while they were asked this: the process was ended by SIGKILL"


def test_processes_let_a_model_see_all_items(plugin):
    source = gnomon.load("dice", n=300)
    alone = running.run(source, gnomon.model("majority"), runs="alone")
    together = running.run(
        source, gnomon.model("majority"), runs="together", workers=WorkerPlan(count=2)
    )
    assert answers_of(together) == answers_of(alone)


def test_processes_end_with_the_run(plugin):
    import multiprocessing

    running.run(gnomon.load("dice", n=50), gnomon.model("slow"), workers=WorkerPlan(count=2))
    assert multiprocessing.active_children() == []


def test_a_model_that_no_process_can_open_leaves_no_run(plugin):
    with pytest.raises(UsageError, match="No item offers the label"):
        running.run(
            gnomon.load("dice", n=50), gnomon.model("constant:maybe"), workers=WorkerPlan(count=2)
        )
    assert runs_in("runs") == []


def test_without_ray_one_sentence_says_what_to_install(plugin, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    wanted = plan_workers("ray:2")
    with pytest.raises(MissingExtraError, match=r"--workers ray needs(.|\n)*gnomon\[ray\]"):
        running.run(gnomon.load("dice", n=50), gnomon.model("slow"), workers=wanted)
    assert runs_in("runs") == []


def test_ray_answers_as_one_process_does_and_asks_again_what_a_dead_worker_held(plugin, tmp_path):
    pytest.importorskip("ray")
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(plugin), str(Path(gnomon.__file__).parents[1])]),
        "RAY_ADDRESS": "",
        "GNOMON_DICE_ASKED": str(tmp_path / "asked"),
        "GNOMON_DICE_KILLED": str(tmp_path / "killed"),
    }
    words = ["run", "dice", "-m", "slow", "--set", "kill=roll-77", "--set", "n=300"]
    command = [sys.executable, "-m", "gnomon", *words, "--workers", "ray:2", "--json"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    together = Run.open(json.loads(done.stdout)["run"])
    alone = running.run(gnomon.load("dice", n=300), gnomon.model("slow"), runs="alone")
    assert answers_of(together) == answers_of(alone)
    assert (tmp_path / "killed").exists()
    asked = Counter((tmp_path / "asked").read_text().split())
    again = {item for item, times in asked.items() if times > 1}
    assert "roll-77" in again
    # the batch that it was asked and, on a slow machine, the one before, on its way to the driver
    assert len(again) <= 2 * 16, "only what the dead worker held"
    assert asked.total() == 300 + len(again)


def test_the_pace_of_a_run_is_for_now_only(tmp_path):
    file = PaceFile(tmp_path)
    assert not file.is_due(), "a short run writes none"
    file.write(Pace(asked=90, seconds=30.0, left=60, wanted=2, workers=[WorkerPace("a", 45, 30.0)]))
    found = read_pace(tmp_path)
    assert pace_in_words(found) == "3.0 items/s · 1 of 2 workers, 1.5 each · 20 s left"
    found.at -= 1000
    (tmp_path / PACE).write_text(json.dumps({"asked": 90, "at": found.at}))
    assert read_pace(tmp_path) is None, "a process that was killed left it"
    for damaged in ("{", "[]", '{"at": "now"}', "\xff"):
        (tmp_path / PACE).write_text(damaged, encoding="latin-1")
        assert read_pace(tmp_path) is None
    file.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_was_killed_can_be_removed_with_its_pace(plugin, tmp_path):
    run = running.run(gnomon.load("dice", n=50), gnomon.model("slow"))
    assert {entry.name for entry in run.path.iterdir()} == {
        "run.json",
        "answers.sqlite",
        "run.lock",
    }
    PaceFile(run.path).write(Pace())
    gnomon.runs.remove(run)
    assert not run.path.exists()

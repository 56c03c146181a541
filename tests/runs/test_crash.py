"""kill -9 at random moments: every item is answered once, and nothing that was logged is asked
again."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from gnomon.runs import LOG, Run, runs_in

COMMAND = [
    sys.executable,
    "-m",
    "gnomon",
    "run",
    "dice",
    "-m",
    "slow",
    "--set",
    "seconds=0.02",
    "--quiet",
]
KILLS = 20  # `make hostile` has hundreds


def logged(folder: Path) -> set[str]:
    """Items with an answer, by the log as it lies there after the kill."""
    if not (folder / "run.json").exists():
        return set()
    run = Run.open(folder)
    return (
        {item.id for item, answer in run.rows() if answer is not None}
        if (folder / LOG).exists()
        else set()
    )


def test_killed_at_any_moment_a_run_loses_and_repeats_nothing(plugin, tmp_path):
    asked_file = tmp_path / "asked.txt"
    asked_file.touch()
    environment = os.environ | {
        "PYTHONPATH": f"{plugin}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        "GNOMON_DICE_ASKED": str(asked_file),
    }
    draw = random.Random(20220523)
    kills = 0
    for _ in range(400):  # bounded: each start either is killed or finishes the run
        before = {item for run in runs_in(tmp_path / "runs") for item in logged(run.path)}
        seen = len(asked_file.read_text().split())
        process = subprocess.Popen(COMMAND, cwd=tmp_path, env=environment)
        try:
            if kills < KILLS:
                _wait_until_at_work(process, asked_file, draw)
                process.kill()
                kills += 1
            process.wait(timeout=120)
        finally:
            process.kill()
            process.wait()
        assert process.returncode in (0, -signal.SIGKILL), "the command failed by itself"
        asked_now = asked_file.read_text().split()[seen:]
        assert not before & set(asked_now), (
            "an item was asked again although its answer was in the log"
        )
        assert len(asked_now) == len(set(asked_now))
        if process.returncode == 0:
            break
    assert kills == KILLS
    (run,) = runs_in(tmp_path / "runs")
    answers = [answer for _, answer in run.rows()]
    assert len(answers) == 2000
    assert all(answer is not None and answer.choice == "first" for answer in answers)
    assert run.manifest.finished is not None


def _wait_until_at_work(process: subprocess.Popen, asked: Path, draw: random.Random) -> None:
    """Mostly kill while batches come and go, now and then while the process is still getting up."""
    moment = draw.random()
    deadline = time.monotonic() + (draw.random() * 0.2 if moment < 0.1 else 30)
    size = asked.stat().st_size
    while process.poll() is None and time.monotonic() < deadline:
        if asked.stat().st_size > size:
            time.sleep(moment * 0.04)  # somewhere within a batch or its commit
            return
        time.sleep(0.002)

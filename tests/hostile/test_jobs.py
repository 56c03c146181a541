"""The jobs of the harness: what they find is kept, and no process outlives them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import pytest

from hostile import jobs
from hostile.tally import KEPT, Tally

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")

STAYS = "import subprocess, sys; subprocess.Popen(['sleep', '900'], start_new_session=True)"
# A harness whose job has a helper in a session of its own, and says when both are there.
HARNESS = f"""
import sys
sys.path.insert(0, {str(jobs.ROOT)!r})
from pathlib import Path
from hostile import jobs
jobs.ROOT = Path(".").absolute()
with jobs.harness() as within:
    print(within.mark, flush=True)
    jobs.done(jobs.Job("planted", ("planted",)), 0, within)
"""


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Make a script the module `hostile.planted`."""
    monkeypatch.setattr(jobs, "ROOT", tmp_path)
    monkeypatch.setattr(jobs, "GRACE", 0.0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "hostile").mkdir()

    def plant(script):
        (tmp_path / "hostile" / "planted.py").write_text(script)

    return plant


JOB = jobs.Job("planted", ("planted", "--files", "3"))


def done():
    with jobs.harness() as within:
        return jobs.done(JOB, 0, within), [path.name for path in within.scratch.iterdir()]


def test_what_a_job_prints_is_what_it_found(planted):
    told = json.dumps({"files": asdict(Tally(tried=3))})
    planted(f"import sys; print({told!r}); print('beside', file=sys.stderr)")
    result, left = done()
    assert result.found == {"files": Tally(tried=3)}
    assert result.said == "beside\n"
    assert (result.tried, result.faults, left) == (3, 0, [])
    assert result.busy > 0
    assert result.job.command == "python -m hostile.planted --files 3"


@pytest.mark.parametrize("script", ["1/0", "print('no JSON')\n1/0", "print('{}')\nexit(1)"])
def test_a_job_that_fails_is_a_fault(planted, script):
    planted(script)
    result, _ = done()
    ((name, tally),) = result.found.items()
    assert name == result.job.command
    assert tally.faults["failed"] == 1


def test_inputs_with_faults_are_kept(planted):
    planted(
        f"import tempfile; tempfile.mkdtemp(prefix={KEPT!r}); tempfile.mkdtemp(); print('{{}}')"
    )
    _, left = done()
    assert len(left) == 1
    assert left[0].startswith(KEPT)


def test_a_process_that_outlives_its_job_is_a_fault_and_ended(planted):
    planted(f"{STAYS}; print('{{}}')")
    with jobs.harness() as within:
        result = jobs.done(JOB, 0, within)
        assert jobs.marked(within.mark) == []
    assert result.found["processes"].notes == ["failed: 1 processes were left behind"]


def test_a_job_without_end_is_ended(planted, monkeypatch):
    monkeypatch.setattr(jobs, "LONGEST", 0.5)
    planted("import time; time.sleep(900)")
    result, _ = done()
    assert result.faults == 1


def test_a_killed_harness_leaves_no_processes(planted, tmp_path):
    planted(f"{STAYS}; open('up', 'w').write('up'); import time; time.sleep(900)")
    ready = tmp_path / "up"
    script = [sys.executable, "-c", HARNESS]
    with subprocess.Popen(script, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as harness:
        assert harness.stdout is not None
        mark = harness.stdout.readline().strip()
        while not ready.exists() and harness.poll() is None:
            continue
        assert len(jobs.marked(mark)) == 2
        harness.send_signal(signal.SIGKILL)
        assert harness.stdout.read() == ""  # it ends with the guard
    assert jobs.marked(mark) == []
    assert not Path(mark.partition("=")[2]).exists()

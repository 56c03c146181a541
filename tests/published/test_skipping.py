"""A clone without the authors' files says how much of the proof it has left out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def test_the_last_lines_say_how_many_tests_were_skipped_and_why(tmp_path):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q"]
    done = subprocess.run(
        [*command, "-n", "0", str(HERE / "test_posrel.py")],
        cwd=HERE.parents[1],
        env={**os.environ, "GNOMON_SHARED": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    said = "4 tests against the authors' published files were skipped: they are not here"
    assert said in done.stdout, done.stdout + done.stderr
    assert "GNOMON_SHARED" in done.stdout

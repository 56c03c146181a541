"""A task that Gnomon exported gives the same accuracy in lm-eval itself, with the same model."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def test_lm_eval_measures_the_accuracy_that_gnomon_does():
    for package in ("lm_eval", "sacrebleu", "datasets", "torch"):
        pytest.importorskip(package, reason="lm-eval is not installed")
    script = str(ROOT / "bench" / "roundtrip.py")
    words = [sys.executable, script, "--items", "40", "--benchmarks", "spacenli", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
    (row,) = json.loads(done.stdout)
    assert row["items"] == 40
    assert abs(row["gnomon"] - row["lm_eval"]) <= 1e-4

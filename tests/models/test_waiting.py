"""How OpenMP's threads wait: settled before the first library that uses it is loaded."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

TORCH = "from gnomon.models.transformers.loading import libraries; libraries()"
LLAMA = "from gnomon.models.llamacpp.library import open_library; open_library()"


def what_openmp_says(*steps, **environment):
    """OpenMP's settings, as it prints them when it is loaded."""
    inherited = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(steps)],
        env=inherited | {"OMP_DISPLAY_ENV": "verbose"} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    if "GOMP_SPINCOUNT" not in done.stderr:
        pytest.skip("this OpenMP has no such setting")
    return [line.split("'")[1] for line in done.stderr.splitlines() if "GOMP_SPINCOUNT" in line]


@pytest.mark.parametrize("first", ["torch", "llama.cpp"])
def test_threads_sleep_soon_whichever_library_comes_first(first):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    pytest.importorskip("xllamacpp")
    steps = [TORCH, LLAMA] if first == "torch" else [LLAMA, TORCH]
    assert set(what_openmp_says(*steps)) == {"300"}


def test_the_users_own_setting_stays():
    pytest.importorskip("xllamacpp")
    assert set(what_openmp_says(LLAMA, GOMP_SPINCOUNT="7")) == {"7"}


def test_the_environment_is_left_as_it_was():
    pytest.importorskip("xllamacpp")
    what_openmp_says(LLAMA, "import os; assert 'GOMP_SPINCOUNT' not in os.environ")

"""Freed memory is kept: a second pass over blocks of some megabytes meets no new pages."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import resource
import numpy as np
from gnomon.models.machine import keep_freed_memory

def pages():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    blocks = [np.ones(2_000_000, dtype=np.float32) for _ in range(8)]
    del blocks
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

told = {told}
pages()
print(told, min(pages() for _ in range(3)))
"""


def second_pass(told, **environment):
    """Whether the C library was told, and how many new pages a pass of 64 MB then met."""
    import os

    script = SCRIPT.replace("{told}", told)
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=dict(os.environ) | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    was_told, count = done.stdout.split()
    return was_told == "True", int(count)


def test_memory_that_was_freed_is_used_again():
    pytest.importorskip("resource")
    was_told, count = second_pass("keep_freed_memory()")
    if not was_told:
        pytest.skip("this C library cannot be told")
    assert count < 100
    _, untold = second_pass("False")
    assert untold > 10 * max(count, 1)


def test_the_users_own_setting_stays():
    pytest.importorskip("resource")
    was_told, _ = second_pass("keep_freed_memory()", MALLOC_TRIM_THRESHOLD_="131072")
    assert not was_told

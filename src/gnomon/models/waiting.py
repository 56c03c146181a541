"""How threads of OpenMP wait for their next piece of work: asleep, not spinning."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def patient_threads() -> Iterator[None]:
    """While a library is loaded, let OpenMP's threads sleep soon, unless the user has set how.

    OpenMP reads the setting once, when the first library that uses it is loaded: torch and
    llama.cpp share one copy of it. By default threads spin: on a busy machine one batch took 33 s
    of CPU that takes 0.8 s (docs/decisions.md).
    """
    if os.environ.keys() & {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"}:
        yield
        return
    os.environ["GOMP_SPINCOUNT"] = "300"
    try:
        yield
    finally:
        os.environ.pop("GOMP_SPINCOUNT", None)

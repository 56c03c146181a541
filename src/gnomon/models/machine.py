"""What models take of the machine: threads, freed memory, and weights that stay loaded."""

import ctypes
import os
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

Loaded = TypeVar("Loaded")
_kept: dict[Hashable, Any] | None = None


@contextmanager
def keeping_models() -> Iterator[None]:
    """While inside, what was loaded is not loaded again; it is closed at the end."""
    global _kept
    before, _kept = _kept, {}
    try:
        yield
    finally:
        loaded, _kept = _kept, before
        for each in loaded.values():
            close = getattr(each, "close", None)
            if close:
                close()


def kept(key: Hashable, load: Callable[[], Loaded]) -> Loaded:
    """What `load` gives, or gave before for the same key while models are kept."""
    if _kept is None:
        return load()
    if key not in _kept:
        _kept[key] = load()
    found: Loaded = _kept[key]
    return found


def is_kept(loaded: object) -> bool:
    """Whether something stays loaded, so that its user must not close it."""
    return _kept is not None and any(each is loaded for each in _kept.values())


def available_cores() -> int:
    """The cores this process may use: its share of them, if it is one of several workers."""
    cores = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    share = os.environ.get("OMP_NUM_THREADS", "")
    if share.isdecimal() and int(share) > 0:
        return min(int(share), cores)
    return cores


# --- freed memory is kept for the next pass instead of being given back after every step ---------


KEPT = 256 * 2**20  # bytes: blocks up to that size come from memory that is kept, up to that much
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # glibc's names for the two settings
_USERS_OWN = ("GLIBC_TUNABLES", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_")


@cache
def keep_freed_memory() -> bool:
    """Tell the C library, once, unless the user has; whether it was told (only glibc can be)."""
    if any(name in os.environ for name in _USERS_OWN):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(_MMAP_THRESHOLD, KEPT) and mallopt(_TRIM_THRESHOLD, KEPT))


# --- how threads of OpenMP wait for their next piece of work: asleep, not spinning ---------------


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

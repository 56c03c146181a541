"""Passes side by side, each with matrix products on one thread of its own.

numpy's BLAS would share each product among threads that spin while they wait for the next; a pass
for each thread waits for nothing. Where BLAS cannot be told so, it keeps its own threads.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

Task = TypeVar("Task")
Result = TypeVar("Result")
NAMES = "scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "openblas_{}_num_threads"


class Threads(NamedTuple):
    """How OpenBLAS is asked and told how many threads it uses."""

    get: Callable[[], int]
    set: Callable[[int], None]


def side_by_side(
    work: Callable[[Task], Result], tasks: Sequence[Task], threads: int
) -> list[Result]:
    """The results of tasks in their order; as many are done at once as there are threads.

    A single task has all threads for its products.

    >>> side_by_side(abs, [-1, -2], threads=2)
    [1, 2]
    """
    blas = openblas()
    if blas is None:
        return list(map(work, tasks))
    if threads == 1 or len(tasks) == 1:
        with _limited(blas, threads):
            return list(map(work, tasks))
    with _limited(blas, 1), ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, tasks))


@cache
def openblas() -> Threads | None:
    """The library that numpy's wheel brings; None if numpy was built with another one."""
    home = Path(np.__file__).parent
    for folder in (home.with_name("numpy.libs"), home / ".dylibs"):
        for file in sorted(folder.glob("*openblas*")):
            found = _threads(ctypes.CDLL(str(file)))
            if found is not None:
                return found
    return None


def _threads(library: Any) -> Threads | None:
    for name in NAMES:
        get = getattr(library, name.format("get"), None)
        tell = getattr(library, name.format("set"), None)
        if get is not None and tell is not None:
            return Threads(get, tell)
    return None


@contextmanager
def _limited(blas: Threads, threads: int) -> Iterator[None]:
    before = blas.get()
    blas.set(threads)
    try:
        yield
    finally:
        blas.set(before)

"""A line of progress that is written over itself: for Python on a terminal and in a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gnomon.errors import inert
from gnomon.runs.progress import Progress, in_words

OFTEN = 0.2  # seconds between two drawings


@contextmanager
def progress_line(title: str, *, shown: bool | None = None) -> Iterator[Callable[[Progress], None]]:
    """A watcher for `engine.run`; it draws if that is wanted or, unasked, where somebody looks."""
    if shown is None:
        shown = sys.stderr.isatty() or "ipykernel" in sys.modules
    if not shown:
        yield lambda progress: None
        return
    line = _Line(title)
    try:
        yield line.update
    finally:
        line.end()


class _Line:
    """Overwrites what it wrote before; a notebook understands a carriage return, too."""

    def __init__(self, title: str) -> None:
        self._title = inert(title)
        self._drawn = 0.0
        self._width = 0

    def update(self, progress: Progress) -> None:
        now = time.monotonic()
        finished = progress.done >= progress.total
        if not finished and now - self._drawn < OFTEN:
            return
        self._drawn = now
        text = f"{self._title}: {in_words(progress)}"
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def end(self) -> None:
        if self._width:
            sys.stderr.write("\n")
            sys.stderr.flush()

"""How far a run is, how fast, how long still, how right so far.

A terminal has one live line; a pipe or a file gets a plain line a minute.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from gnomon.errors import inert
from gnomon.runs.progress import Progress, in_words

MINUTE = 60.0  # seconds between two plain lines
SHORT = 20.0  # seconds that are left of a run that writes none


@contextmanager
def live_line(title: str, *, quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """A watcher for `engine.run` that draws one line on a terminal, and writes some elsewhere."""
    if quiet:
        yield lambda progress: None
        return
    if not sys.stderr.isatty():
        yield PlainLines(title)
        return
    with bar_with_words(title) as show:
        yield lambda progress: show(progress.done, progress.total, in_words(progress))


class PlainLines:
    """Writes a line of progress a minute, the first when the time that is left can be told.

    A run that is over within seconds writes none.
    """

    def __init__(self, title: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._title, self._clock = title, clock
        self._next: float | None = None

    def __call__(self, progress: Progress) -> None:
        """Write a line if one is due."""
        now = self._clock()
        left = progress.pace(now).seconds_left or 0.0
        is_first = self._next is None
        if is_first and left < SHORT:
            return
        if self._next is not None and now < self._next:
            return
        self._next = now + MINUTE
        print(inert(f"{self._title}: {in_words(progress, now)}"), file=sys.stderr, flush=True)


def tell_of_stopping() -> None:
    """Say what happens after the first Ctrl-C, which may take a while."""
    with suppress(RuntimeError):  # the signal came while something else was being printed
        print(
            "\ngnomon: finishing the batch; Ctrl-C again stops at once.",
            file=sys.stderr,
            flush=True,
        )


@contextmanager
def bar_with_words(title: str) -> Iterator[Callable[[int, int | None, str], None]]:
    """A bar on a terminal: how many are done, of how many, and a line of words behind it."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TextColumn("{task.fields[line]}"),
    )
    with Bars(*columns, console=Console(stderr=True)) as bars:
        task = bars.add_task(escape(inert(title)), total=None, line="getting ready")
        yield lambda done, total, words: bars.update(task, completed=done, total=total, line=words)


@contextmanager
def counted_line(title: str, noun: str, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A watcher that draws how many of how many are done on a terminal, and nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True)) as bars:
        task = bars.add_task(escape(inert(f"{title}: {noun}")), total=None)
        yield lambda done, total: bars.update(task, total=total, completed=done)


@contextmanager
def staged_lines(*, quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A watcher that draws a line for each stage, with the time that is left, on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True)) as bars:
        tasks = {}

        def watch(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], total=total, completed=done)

        yield watch

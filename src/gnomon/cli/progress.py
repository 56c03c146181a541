"""One live line per run: how far, how fast, how long still, how right so far. On terminals only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gnomon.engine import Progress
from gnomon.errors import inert
from gnomon.runs.pace import pace_in_words


@contextmanager
def live_line(title: str, *, quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """A watcher for `engine.run` that draws one line on a terminal, and nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield lambda progress: None
        return
    with bar_with_words(title) as show:
        yield lambda progress: show(progress.done, progress.total, in_words(progress))


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


def in_words(progress: Progress, now: float | None = None) -> str:
    """Items so far, items per second, time still needed, share right, failures.

    >>> so_far = Progress(total=200, done=100, judged=100, right=61, asked=100, started=0.0)
    >>> in_words(so_far, now=10.0)
    '100/200 · 10.0 items/s · 10 s left · 61.0 % right'
    """
    parts = [f"{progress.done:,}/{progress.total:,}"]
    pace = pace_in_words(progress.pace(now))
    if pace:
        parts.append(pace)
    if progress.judged:
        parts.append(f"{100 * progress.right / progress.judged:.1f} % right")
    if progress.errors:
        parts.append(f"{progress.errors:,} failed")
    return " · ".join(parts)

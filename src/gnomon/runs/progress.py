"""How far a run has come, and how fast: for whoever watches it, and for the viewer."""

import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from gnomon.errors import inert
from gnomon.forms import is_right
from gnomon.records import Answer
from gnomon.runs import Manifest, RunLog
from gnomon.runs.batches import Numbered
from gnomon.runs.identity import pending_count
from gnomon.runs.pace import Pace, WorkerPace, pace_in_words


@dataclass
class RunProgress:
    """How far a run has come; handed to the watcher after each batch."""

    total: int = 0
    done: int = 0  # answered, unread or failed
    judged: int = 0  # of these, items that name a right answer; a scene to be painted has none
    right: int = 0
    errors: int = 0
    asked: int = 0  # by this process and its workers
    started: float = 0.0  # time.monotonic() of the first batch
    workers: list[WorkerPace] = field(default_factory=list)  # those that are ready
    wanted: int = 1  # workers there are to be
    lost: int = 0  # workers that died

    def pace(self, now: float | None = None) -> Pace:
        """How fast it goes."""
        if now is None:
            now = time.monotonic()
        return Pace(
            asked=self.asked,
            seconds=max(0.0, now - self.started),
            left=max(0, self.total - self.done),
            workers=list(self.workers),
            wanted=self.wanted,
            lost=self.lost,
        )

    def count(self, batch: Sequence[Numbered], answers: Sequence[Answer]) -> None:
        """Count a batch that was answered. Of several answers to an item the first counts."""
        self.asked += len(batch)
        self.done += len(batch)
        self.judged += sum(bool(item.gold) for _, item in batch)
        asked = {item.id: item for _, item in batch}
        for answer in answers:
            if answer.sample == 0:
                self.right += is_right(asked[answer.item], answer.choice)
                self.errors += answer.error is not None


def in_words(progress: RunProgress, now: float | None = None) -> str:
    """Items so far, items per second, time still needed, share right, failures.

    >>> so_far = RunProgress(total=200, done=100, judged=100, right=61, asked=100, started=0.0)
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


Watcher = Callable[[RunProgress], None]


def progress_of(
    log: RunLog,
    manifest: Manifest,
    *,
    retry_errors: bool = False,
    only: frozenset[int] | None = None,
) -> RunProgress:
    """What is done so far; failures that are to be asked again are not.

    Of a run that holds more than is asked now, what is done counts as its first items.
    """
    counts = log.counts()
    progress = RunProgress(
        total=manifest.counts.items,
        done=counts.asked,
        judged=log.judged(retry_errors=retry_errors),
        right=log.right(),
        errors=counts.errors,
    )
    if retry_errors:
        progress.done -= counts.errors
        progress.errors = 0
    if only is not None:
        progress.total = progress.done + pending_count(log, only, retry_errors=retry_errors)
    return progress


OFTEN = 0.2  # seconds between two drawings
CELLS = 24  # of a bar


@contextmanager
def progress_line(
    title: str, *, shown: bool | None = None
) -> Iterator[Callable[[RunProgress], None]]:
    """A watcher for `engine.run`; it draws if that is wanted or, unasked, where somebody looks."""
    if shown is None:
        shown = sys.stderr.isatty() or "ipykernel" in sys.modules
    if not shown:
        yield lambda progress: None
        return
    with drawn_line(title) as draw:
        yield lambda progress: draw(progress.done, progress.total, in_words(progress))


@contextmanager
def drawn_line(title: str) -> Iterator[Callable[[int, int, str], None]]:
    """Draws one line again and again: a title, how much of how much is done, and words."""
    line = _Line(title)
    try:
        yield line.draw
    finally:
        line.end()


class _Line:
    """Overwrites what it wrote before; a notebook understands a carriage return, too."""

    def __init__(self, title: str) -> None:
        self._title = inert(title)
        self._drawn = 0.0
        self._width = 0

    def draw(self, done: int, total: int, words: str) -> None:
        now = time.monotonic()
        finished = bool(total) and done >= total
        if not finished and now - self._drawn < OFTEN:
            return
        self._drawn = now
        text = f"{self._title} {bar(done, total)} {inert(words)}"
        if sys.stderr.isatty():  # a line that is broken in two cannot be overwritten
            text = text[: shutil.get_terminal_size().columns - 1]
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def end(self) -> None:
        if self._width:
            sys.stderr.write("\n")
            sys.stderr.flush()


def bar(done: int, total: int) -> str:
    """How much is done, drawn; nothing where nobody knows of how much.

    >>> bar(3, 4), bar(3, 0)
    ('━━━━━━━━━━━━━━━━━━────── 75 %', '')
    """
    if not total:
        return ""
    share = min(done / total, 1.0)
    full = int(CELLS * share)
    return f"{'━' * full}{'─' * (CELLS - full)} {100 * share:.0f} %"

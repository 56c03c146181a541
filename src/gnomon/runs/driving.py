"""The heart of a run: items that lack an answer become batches, and answers go into the log."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gnomon.errors import ModelWarning
from gnomon.items.limits import middles
from gnomon.records import Answer
from gnomon.runs import Manifest, RunLog
from gnomon.runs.batches import Numbered, in_sized_batches
from gnomon.runs.pace import PaceFile
from gnomon.runs.progress import Progress, progress_of
from gnomon.runs.storing import pending_windows
from gnomon.runs.task import Task
from gnomon.runs.workers import Done, Local

if TYPE_CHECKING:
    from gnomon.runs.pool import Pool

QUICK = 0.005  # seconds: answers that took longer to get are on disk before anything else is done
TOGETHER, LONGEST = 0.02, 0.2  # seconds for which quicker ones may wait to be written together
SHARE = 5  # they wait so many times as long as the disk takes: it has a sixth of the time at most
FIRST = 8  # items of the first batch, after which the time that is left can be told
LOOK = 0.25  # seconds between two looks at what each worker did


def ask_all(task: Task, workers: Local | Pool, manifest: Manifest) -> None:
    """Ask everything that lacks an answer; the manifest tells how far it came, however it ends."""
    log = task.log
    progress = progress_of(log, manifest, retry_errors=task.retry_errors, only=task.only)
    writer = Writer(log)
    watcher = _Watcher(task, workers, progress)
    try:
        watcher.begin()
        with _interruptible(task.stopping) as interrupted:
            batches = _plan(task, workers)
            answered = manifest.counts.answered > 0
            for group in workers.work(_until(interrupted, batches), answered=answered):
                writer.add(group)
                watcher.tell(group)
            if interrupted.is_set():
                raise KeyboardInterrupt
    finally:
        writer.flush()
        watcher.end()
        manifest.model_description = workers.about.description
        manifest.scale = workers.about.scale
        manifest.counts = log.counts()
        kept_replies = workers.about.kept_replies
        _note_kept_replies(manifest, kept_replies)
        log.write_manifest(manifest)
        _tell_kept_replies(kept_replies)


def _note_kept_replies(manifest: Manifest, used: dict[str, int]) -> None:
    """Write down how many replies the model had kept since before a stop."""
    for day, count in used.items():
        manifest.kept_replies[day] = manifest.kept_replies.get(day, 0) + count


def _tell_kept_replies(used: dict[str, int]) -> None:
    for day, count in sorted(used.items()):
        warnings.warn(f"{count:,} replies kept from {day} were used.", ModelWarning, stacklevel=2)


class Writer:
    """Puts answers into the log: at once, or in groups where they come faster than a disk can sync.

    An answer that took a while to get is never at risk: only what would take a moment to ask again
    waits, and no longer than that moment.
    """

    def __init__(self, log: RunLog) -> None:
        self._log = log
        self._waiting: list[tuple[int, Answer]] = []
        self._next = 0.0  # when those that wait are written, at the latest

    def add(self, group: Sequence[Done]) -> None:
        """Take answers; when this returns, those that took long to get are on disk."""
        slow = False
        for done in group:
            self._waiting += done.answers
            slow = slow or done.seconds >= QUICK
        if slow or time.monotonic() >= self._next:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        began = time.monotonic()
        self._log.add_answers(self._waiting)
        self._waiting = []  # not before: a write that failed may succeed at the end of the run
        ended = time.monotonic()
        self._next = ended + min(LONGEST, max(TOGETHER, SHARE * (ended - began)))


class _Watcher:
    """Keeps count, and tells the user and the viewer."""

    def __init__(self, task: Task, workers: Local | Pool, progress: Progress) -> None:
        self._watch, self._workers, self._progress = task.watch, workers, progress
        self._file = PaceFile(task.log.path)
        self._looked = 0.0

    def begin(self) -> None:
        self._progress.started = time.monotonic()
        self.tell(())

    def tell(self, group: Sequence[Done]) -> None:
        progress = self._progress
        for done in group:
            progress.count(done.batch, [answer for _, answer in done.answers])
        now = time.monotonic()
        if now - self._looked >= LOOK:
            self._looked = now
            progress.workers, progress.wanted, progress.lost = self._workers.paces()
        self._watch(progress)
        if self._file.is_due():
            self._file.write(progress.pace(now))

    def end(self) -> None:
        self._file.remove()


def _plan(task: Task, workers: Local | Pool) -> Iterator[list[Numbered]]:
    """Batches of the items that lack an answer, a window at a time."""
    windows = pending_windows(task.log, only=task.only, retry_errors=task.retry_errors)
    is_first = True
    for window, sizes in workers.measured(windows):
        if is_first and min(workers.batch, len(window)) > 2 * FIRST:
            first, (window, sizes) = _apart(window, sizes)
            yield from in_sized_batches(*first, workers.budget, FIRST)
        is_first = False
        yield from in_sized_batches(window, sizes, workers.budget, workers.batch)


Sized = tuple[list[Numbered], list[int]]


def _apart(window: Sequence[Numbered], sizes: Sequence[int]) -> tuple[Sized, Sized]:
    """A few items of all lengths, which soon show how long the rest will take, and that rest."""
    by_length = sorted(range(len(window)), key=sizes.__getitem__)
    chosen = {by_length[place] for place in middles(len(window), FIRST)}
    first: Sized = [], []
    rest: Sized = [], []
    for place, (numbered, size) in enumerate(zip(window, sizes, strict=True)):
        items, known = first if place in chosen else rest
        items.append(numbered)
        known.append(size)
    return first, rest


def _until(
    interrupted: threading.Event, batches: Iterable[Sequence[Numbered]]
) -> Iterator[Sequence[Numbered]]:
    """The batches until Ctrl-C: those that are being asked are finished and logged."""
    for batch in batches:
        if interrupted.is_set():
            return
        yield batch


@contextmanager
def _interruptible(stopping: Callable[[], None]) -> Iterator[threading.Event]:
    """Ctrl-C sets the event, so that what is being asked is finished and logged.

    A second Ctrl-C stops at once.
    """
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    before = signal.getsignal(signal.SIGINT)

    def on_interrupt(number: int, frame: Any) -> None:
        event.set()
        signal.signal(signal.SIGINT, before)
        stopping()

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)

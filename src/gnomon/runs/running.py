"""One run from start to end: items into the log, then to the model, then answers into the log.

Everything that took a while to answer is on disk before the next batch starts, so a run may be
stopped at any byte and the same command takes it up again. A folder becomes a run when its manifest
is written, which is when items and model are ready.
"""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.contracts import Model
from gnomon.errors import EmptyShardError, ModelWarning, RunError
from gnomon.items.limits import is_larger, middles
from gnomon.items.source import ItemSource
from gnomon.naming import check_name
from gnomon.records import Answer
from gnomon.registry import ModelSpec
from gnomon.runs import Manifest, Run, RunLog, identity, plan
from gnomon.runs.batches import Numbered, in_sized_batches
from gnomon.runs.pace import PaceFile
from gnomon.runs.progress import RunProgress, Watcher, progress_of
from gnomon.runs.workers import Done, Local, WorkerPlan

if TYPE_CHECKING:
    from gnomon.runs.pool import WorkerPool


def run(
    source: ItemSource,
    model: Model | ModelSpec,
    *,
    runs: str | Path = "runs",
    restart: bool = False,
    retry_errors: bool = False,
    blind: bool = False,
    watch: Watcher | None = None,
    stopping: Callable[[], None] | None = None,
    command: str = "",
    workers: WorkerPlan | None = None,
    name: str = "",
    more: Callable[[Run], int | None] | None = None,
) -> Run:
    """Ask a model all items of a source that still lack an answer, and return the run.

    `name` is what to call the model; asking again with another one renames it. `more` says, when
    all are answered, up to which limit to ask on, or none.

    Raises KeyboardInterrupt after the current batch when the user presses Ctrl-C; what was answered
    is kept. `stopping` is called when the keys are pressed.
    """
    folder = identity.run_folder(source, model, runs, blind=blind)
    log = RunLog(folder)
    try:
        # read under the lock: another process may just have made or extended the run
        manifest = identity.earlier_manifest(folder, source, model, restart=restart)
        if manifest is None and not restart:
            identity.check_no_older_run(source, model, runs, blind=blind)
        task = plan.RunTask(
            log=log,
            source=source,
            model=model,
            retry_errors=retry_errors,
            blind=blind,
            watch=watch or (lambda _: None),
            stopping=stopping or (lambda: None),
            command=command,
            workers=workers or WorkerPlan(),
            name=_name(model, name),
            more=more,
        )
        if manifest is None or not manifest.items_sha256:
            _begin(task, replacing=restart and not log.is_new)
        else:
            _go_on(task, manifest)
    except BaseException:
        log.discard()  # only what never became a run
        raise
    log.close()
    return Run.open(folder)


def _name(model: Model | ModelSpec, name: str) -> str:
    """The user's own name for the model, if there is one."""
    if name:
        return check_name(name)
    return model.name if isinstance(model, ModelSpec) else ""


def _begin(task: plan.RunTask, *, replacing: bool) -> None:
    """A new run: the model is opened and the first item made before anything is written."""
    first = next(task.source.items(), None)
    if first is None:
        raise _no_items(task.source)
    if replacing:  # the old answers go only when the new items are known to be sound
        for _ in task.source.items():
            pass
    began = datetime.now(UTC)
    with _opened(task, began) as workers:
        plan.check_takes(workers.about, first, blind=task.blind)
        plan.check_order(workers.about, task.source)
        plan.check_can_stop(workers.about, task)
        workers.prepare(task.items_to_learn_from(), task.source.benchmark)
        manifest = plan.new_manifest(task, workers.about, began)
        task.log.begin_anew(manifest)
        manifest.items_sha256 = identity.store_items(task.log, task.source.items())
        manifest.counts = task.log.counts()
        task.log.write_manifest(manifest)
        workers.keep(task.log.path)
        _ask_by_rounds(task, task, workers, manifest)
    _finish(task.log, manifest)


def _no_items(source: ItemSource) -> RunError:
    if source.shard is not None and source.of_all_shards.items:
        return EmptyShardError(
            f"Shard {source.shard} of {source.name} has no items: there are "
            f"{source.of_all_shards.items:,} in all.",
            "There is nothing to do: merge the other shards without it.",
        )
    return RunError(
        f"{source.name} has no items with these options.",
        f"`gnomon show {source.name}` says what there is.",
    )


def _go_on(task: plan.RunTask, manifest: Manifest) -> None:
    """A run that was started before: items and model must be the same."""
    log = task.log
    manifest.counts = log.counts()
    files = identity.model_files(task.model)
    identity.check_same_files(manifest, files, log.path)
    identity.check_items(log, plan.as_begun(task.source, manifest), manifest)
    manifest.name = task.name or manifest.name
    asked, task = task, plan.fitted(task, manifest)
    grows = plan.must_grow(task, manifest)
    if grows or plan.has_pending(task):
        with _opened(task, manifest.started) as workers:
            about = workers.about
            plan.check_can_stop(about, asked)
            if manifest.counts.asked:
                identity.check_same_files(manifest, about.files, log.path)
                identity.check_same_model(manifest, about.description, log.path)
            workers.prepare(task.items_to_learn_from(), task.source.benchmark)
            if grows:
                plan.grow(task, manifest, about)
                task = plan.fitted(asked, manifest)
            plan.note_model(manifest, task, workers.about, files or about.files)
            log.write_manifest(manifest)
            workers.keep(log.path)
            _ask_by_rounds(asked, task, workers, manifest)
    else:
        task.watch(progress_of(log, manifest, only=task.only))
        if asked.more is not None:
            asked.more(log.run(manifest))
    _finish(log, manifest)


def _ask_by_rounds(
    asked: plan.RunTask, task: plan.RunTask, workers: Local | WorkerPool, manifest: Manifest
) -> None:
    """Ask; if more is wanted then, go on, with the same workers. `task` is what fits the log.

    The manifest tells how far it came, however it ends.
    """
    log = task.log
    writer = AnswerWriter(log)
    watcher = _Watcher(task, workers, _progress(task, manifest))
    try:
        watcher.begin()
        _ask_round(task, workers, manifest, writer, watcher)
        while asked.more is not None:
            limit = asked.more(log.run(manifest))
            if limit is None or not is_larger(limit, asked.source.limit):
                break
            asked = replace(asked, source=asked.source.limited(limit))
            if is_larger(limit, manifest.limit):
                plan.extend(asked, manifest)
            task = plan.fitted(asked, manifest)
            if task.only is None and not task.retry_errors and not workers.about.learns:
                watcher.progress.total = manifest.counts.items
            else:
                watcher.progress = _progress(task, manifest)
            _ask_round(task, workers, manifest, writer, watcher)
        if manifest.growing:
            plan.grow(asked, manifest, workers.about)
    finally:
        writer.flush()
        log.commit()
        watcher.end()
        _note_answers(manifest, workers, log)
        _note_kept_replies(manifest, workers.about.kept_replies)
        log.write_manifest(manifest)


def _ask_round(
    task: plan.RunTask,
    workers: Local | WorkerPool,
    manifest: Manifest,
    writer: AnswerWriter,
    watcher: _Watcher,
) -> None:
    """Ask everything that lacks an answer."""
    with _interruptible(task.stopping) as interrupted:
        batches = _plan(task, workers)
        answered = manifest.counts.answered > 0
        for group in workers.work(_until(interrupted, batches), answered=answered):
            writer.add(group)
            watcher.tell(group)
        if interrupted.is_set():
            raise KeyboardInterrupt
    writer.settle()
    _note_answers(manifest, workers, task.log)


def _note_answers(manifest: Manifest, workers: Local | WorkerPool, log: RunLog) -> None:
    """Write down how far the run came, and what the model says of itself by now."""
    manifest.model_description = workers.about.description
    manifest.scale = workers.about.scale
    manifest.counts = log.counts()


def _progress(task: plan.RunTask, manifest: Manifest) -> RunProgress:
    return progress_of(task.log, manifest, retry_errors=task.retry_errors, only=task.only)


def _finish(log: RunLog, manifest: Manifest) -> None:
    if manifest.finished is None and not log.pending(-1, 1):
        manifest.finished = datetime.now(UTC)
    manifest.counts = log.counts()
    manifest.usage = log.usage(manifest.model_options)
    log.write_manifest(manifest)


@contextmanager
def _opened(task: plan.RunTask, began: datetime) -> Iterator[Local | WorkerPool]:
    """Those who ask, with the model loaded, and closed however the run ends."""
    workers: Local | WorkerPool
    run = f"{task.log.path.name} {began.isoformat()}"
    if task.workers.here:
        workers = Local(task.model, run=run, blind=task.blind)
    else:
        from gnomon.runs.pool import pool_of

        workers = pool_of(task, run)
    try:
        yield workers
    finally:
        workers.close()


QUICK = 0.005  # seconds: answers that took longer to get are on disk before anything else is done
TOGETHER, LONGEST = 0.02, 0.2  # seconds for which quicker ones may wait to be written together
SHARE = 5  # they wait so many times as long as the disk takes: it has a sixth of the time at most
FIRST = 8  # items of the first batch, after which the time that is left can be told
LOOK = 0.25  # seconds between two looks at what each worker did


def _note_kept_replies(manifest: Manifest, used: dict[str, int]) -> None:
    """Write down and tell how many replies the model had kept since before a stop."""
    for day, count in sorted(used.items()):
        manifest.kept_replies[day] = manifest.kept_replies.get(day, 0) + count
        warnings.warn(f"{count:,} replies kept from {day} were used.", ModelWarning, stacklevel=2)


class AnswerWriter:
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

    def settle(self) -> None:
        """Let this process read what waits; it is on disk with what is written next."""
        self._log.add_answers(self._waiting, durable=False)
        self._waiting = []

    def flush(self) -> None:
        """Write what waits."""
        began = time.monotonic()
        self._log.add_answers(self._waiting)
        self._waiting = []  # not before: a write that failed may succeed at the end of the run
        ended = time.monotonic()
        self._next = ended + min(LONGEST, max(TOGETHER, SHARE * (ended - began)))


class _Watcher:
    """Keeps count, and tells the user and the viewer."""

    def __init__(
        self, task: plan.RunTask, workers: Local | WorkerPool, progress: RunProgress
    ) -> None:
        self._watch, self._workers, self.progress = task.watch, workers, progress
        self._file = PaceFile(task.log.path)
        self._looked = 0.0

    def begin(self) -> None:
        self.progress.started = time.monotonic()
        self.tell(())

    def tell(self, group: Sequence[Done]) -> None:
        progress = self.progress
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


def _plan(task: plan.RunTask, workers: Local | WorkerPool) -> Iterator[list[Numbered]]:
    """Batches of the items that lack an answer, a window at a time."""
    windows = identity.pending_windows(task.log, only=task.only, retry_errors=task.retry_errors)
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

"""One run from start to end: items into the log, those that lack an answer to the model, answers
into the log.

Everything that was answered is on disk before the next batch starts, so a run may be stopped at any
byte and the same command takes it up again.
"""

from __future__ import annotations

import platform
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from gnomon import __version__
from gnomon.contracts import Model
from gnomon.engine.asking import Asker
from gnomon.engine.batches import Numbered, in_batches
from gnomon.engine.sameness import deciding, model_files, same_files, same_model
from gnomon.errors import DataError, RunError
from gnomon.itemsource import Fingerprint, ItemSource
from gnomon.records import Answer
from gnomon.registry import ModelSpec
from gnomon.runs import LOG, MANIFEST, Manifest, Run, RunLog

WINDOW = 4096  # items planned at a time, so that memory does not grow with the benchmark


@dataclass
class Progress:
    """How far a run has come; handed to the watcher after each batch."""

    total: int = 0
    done: int = 0  # answered, unread or failed
    right: int = 0
    errors: int = 0
    asked: int = 0  # by this process
    started: float = 0.0  # time.monotonic() of the first batch


Watcher = Callable[[Progress], None]


def run(
    source: ItemSource,
    model: Model | ModelSpec,
    *,
    runs: str | Path = "runs",
    fresh: bool = False,
    retry_errors: bool = False,
    watch: Watcher | None = None,
    command: str = "",
) -> Run:
    """Ask a model all items of a source that still lack an answer, and return the run.

    Raises KeyboardInterrupt after the current batch when the user presses Ctrl-C; what was answered
    is kept.
    """
    folder = run_folder(source, model, runs)
    look_first(folder, fresh=fresh)
    files = model_files(model)
    with _open_log(folder, fresh=fresh) as log:
        manifest = _manifest(folder, source, model, command)
        same_files(manifest, files, log)
        log.write_manifest(manifest)
        _store_items(log, source, manifest)
        progress = Progress(
            total=manifest.counts.items,
            done=log.asked(),
            right=log.right(),
            errors=log.counts().errors,
        )
        if log.pending(-1, 1, retry_errors=retry_errors):
            with _opened(model) as ready:
                same_model(manifest, ready, log)
                manifest.model_options, manifest.model_files = _options(model), files
                manifest.command = command or manifest.command
                log.write_manifest(manifest)
                _ask_all(
                    log,
                    source,
                    ready,
                    manifest,
                    progress,
                    watch or (lambda _: None),
                    retry_errors=retry_errors,
                )
        elif watch:
            watch(progress)
        if manifest.finished is None and not log.pending(-1, 1):
            manifest.finished = _now()
        manifest.counts = log.counts()
        log.write_manifest(manifest)
    return Run.open(folder)


def run_folder(source: ItemSource, model: Model | ModelSpec, runs: str | Path) -> Path:
    """Where this run lives: the same benchmark, model and options that determine its answers give
    the same folder."""
    options = model.deciding if isinstance(model, ModelSpec) else deciding(model.describe())
    key = msgspec.json.encode(
        [source.name, source.options, source.limit, model.spec, options], order="sorted"
    )
    slug = re.sub(
        r"[^A-Za-z0-9.@]+",
        "-",
        f"{source.name}--{Path(model.spec).name if '/' in model.spec else model.spec}",
    )
    return Path(runs) / f"{slug.strip('-')[:80]}--{blake2b(key, digest_size=4).hexdigest()}"


def look_first(folder: Path, *, fresh: bool) -> None:
    """Look before touching: a folder of a newer Gnomon is left as it is, and so is one that is
    damaged."""
    if not (folder / MANIFEST).exists():
        return
    try:
        manifest = Run.open(folder).manifest
    except DataError:
        if fresh:
            return
        raise
    if manifest.items_sha256 and not fresh and not (folder / LOG).exists():
        raise _lost(folder)


def _lost(folder: Path) -> RunError:
    return RunError(
        f"{folder} has lost items or all of its log ({LOG}).",
        "Restore the file, or start over with --fresh.",
    )


@contextmanager
def _open_log(folder: Path, *, fresh: bool) -> Iterator[RunLog]:
    try:
        log = RunLog(folder, fresh=fresh)
    except OSError as error:
        raise RunError(
            f"{folder} cannot be written: {error.strerror or error}.",
            "Check the folder's permissions, or give another with --runs.",
        ) from None
    try:
        yield log
    finally:
        log.close()


def _manifest(folder: Path, source: ItemSource, model: Model | ModelSpec, command: str) -> Manifest:
    """The manifest of the run that is there, or a new one."""
    if (folder / MANIFEST).exists():
        return Run.open(folder).manifest
    return Manifest(
        id=folder.name,
        benchmark=source.name,
        options=source.options,
        limit=source.limit,
        model=model.spec,
        model_options=_options(model),
        command=command,
        started=_now(),
        versions={"gnomon": __version__, "python": platform.python_version()},
    )


def _options(model: Model | ModelSpec) -> dict[str, Any]:
    return dict(model.options) if isinstance(model, ModelSpec) else {}


def _store_items(log: RunLog, source: ItemSource, manifest: Manifest) -> None:
    """Put the items into the log, or, if they are there, make sure that they are still the same."""
    fingerprint, number, stream = Fingerprint(), 0, source.items()
    while chunk := list(islice(stream, WINDOW)):
        for item in chunk:
            fingerprint.add(item)
        if not manifest.items_sha256:
            log.add_items(number, chunk)
        number += len(chunk)
    if not number:
        raise RunError(
            f"{source.name} has no items with these options.",
            "See `gnomon show` for what there is.",
        )
    if manifest.items_sha256 and manifest.items_sha256 != fingerprint.hexdigest():
        raise RunError(
            f"The items of {source.name} are not those that {log.path} was begun with (data files or version changed).",
            "Start over with --fresh, or give another folder with --runs.",
        )
    if manifest.items_sha256 and log.counts().items != number:
        raise _lost(log.path)
    if not manifest.items_sha256:
        log.keep_items(number)
        manifest.items_sha256 = fingerprint.hexdigest()
        manifest.counts = log.counts()
        log.write_manifest(manifest)


@contextmanager
def _opened(model: Model | ModelSpec) -> Iterator[Model]:
    """The model, loaded if it is not yet, and closed however the run ends."""
    ready = model.open() if isinstance(model, ModelSpec) else model
    try:
        yield ready
    finally:
        if close := getattr(ready, "close", None):
            close()


def _ask_all(
    log: RunLog,
    source: ItemSource,
    model: Model,
    manifest: Manifest,
    progress: Progress,
    watch: Watcher,
    *,
    retry_errors: bool,
) -> None:
    try:
        if prepare := getattr(model, "prepare", None):
            prepare(source.items())
        asker = Asker(model)
        progress.started = time.monotonic()
        watch(progress)
        with _interruptible() as interrupted:
            for batch in _plan(log, asker, retry_errors=retry_errors):
                answers = asker.ask(batch)
                log.add_answers((n, answer) for (n, _), answer in zip(batch, answers, strict=True))
                _count(progress, batch, answers, retrying=retry_errors)
                watch(progress)
                if interrupted.is_set():
                    raise KeyboardInterrupt
    finally:
        manifest.counts = log.counts()
        log.write_manifest(manifest)


def _plan(log: RunLog, asker: Asker, *, retry_errors: bool) -> Iterator[list[Numbered]]:
    """Batches of the items that lack an answer, a window at a time."""
    after = -1
    while window := log.pending(after, WINDOW, retry_errors=retry_errors):
        after = window[-1][0]
        yield from in_batches(window, asker.size, asker.budget, asker.batch)


def _count(
    progress: Progress, batch: Sequence[Numbered], answers: Sequence[Answer], *, retrying: bool
) -> None:
    progress.asked += len(batch)
    progress.done = (
        min(progress.total, progress.done + len(batch)) if not retrying else progress.done
    )
    progress.right += sum(
        answer.choice in item.gold for (_, item), answer in zip(batch, answers, strict=True)
    )
    progress.errors += sum(answer.error is not None for answer in answers)


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """Ctrl-C sets the event, so that the batch at hand is finished and logged; a second Ctrl-C
    stops at once."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    before = signal.getsignal(signal.SIGINT)

    def on_interrupt(number: int, frame: Any) -> None:
        event.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)


def _now() -> datetime:
    return datetime.now(UTC)

"""One run from start to end: items into the log, then to the model, then answers into the log.

Everything that was answered is on disk before the next batch starts, so a run may be stopped at any
byte and the same command takes it up again. A folder becomes a run when its manifest is written,
which is when items and model are ready.
"""

from __future__ import annotations

import platform
import re
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from gnomon import __version__
from gnomon.contracts import TEXT, Model
from gnomon.engine.asking import Asker
from gnomon.engine.batches import Numbered, in_batches
from gnomon.engine.sameness import (
    START_OVER,
    check_same_files,
    check_same_model,
    check_same_question,
    model_files,
)
from gnomon.errors import DataError, ModelError, RunError
from gnomon.itemsource import ItemSource
from gnomon.records import Answer, Fingerprint, Item
from gnomon.redaction import redact_command, redact_options
from gnomon.registry import ModelSpec
from gnomon.runs import FORMAT, LOG, MANIFEST, Manifest, Run, RunLog, determining

WINDOW = 4096  # items planned at a time, so that memory does not grow with the benchmark


@dataclass
class Progress:
    """How far a run has come; handed to the watcher after each batch."""

    total: int = 0
    done: int = 0  # answered, unread or failed
    judged: int = 0  # of these, items that name a right answer; a scene to be painted has none
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
    restart: bool = False,
    retry_errors: bool = False,
    blind: bool = False,
    watch: Watcher | None = None,
    command: str = "",
) -> Run:
    """Ask a model all items of a source that still lack an answer, and return the run.

    Raises KeyboardInterrupt after the current batch when the user presses Ctrl-C; what was answered
    is kept.
    """
    folder = run_folder(source, model, runs, blind=blind)
    manifest = _earlier(folder, source, model, restart=restart)
    log = RunLog(folder)
    task = _Task(log, source, model, retry_errors, blind, watch or (lambda _: None), command)
    try:
        if manifest is None or not manifest.items_sha256:
            _begin(task, replacing=restart and not log.is_new)
        else:
            _go_on(task, manifest)
    except BaseException:
        log.discard()  # only what never became a run
        raise
    log.close()
    return Run.open(folder)


@dataclass(frozen=True)
class _Task:
    """What a run is to do, as its steps need it."""

    log: RunLog
    source: ItemSource
    model: Model | ModelSpec
    retry_errors: bool
    blind: bool
    watch: Watcher
    command: str


def run_folder(
    source: ItemSource, model: Model | ModelSpec, runs: str | Path, *, blind: bool = False
) -> Path:
    """Where this run lives: the same benchmark, model and options give the same folder."""
    if isinstance(model, ModelSpec):
        options = redact_options(model.deciding)  # a new password does not make a new run
    else:
        options = determining(model.describe())
    identity: list[Any] = [source.name, source.options, source.limit, model.spec, options]
    if blind:
        identity.append("blind")
    if source.permute is not None:
        identity.append(["permute", source.permute])
    key = msgspec.json.encode(identity, order="sorted")
    name = Path(model.spec).name if "/" in model.spec else model.spec
    slug = re.sub(r"[^A-Za-z0-9.@]+", "-", f"{source.name}--{name}").strip("-")
    name = f"{slug[:80]}--{blake2b(key, digest_size=8).hexdigest()}"
    if source.shard is not None:
        name += f"--shard-{source.shard.number}-of-{source.shard.of}"
    return Path(runs) / name


def _earlier(
    folder: Path, source: ItemSource, model: Model | ModelSpec, *, restart: bool
) -> Manifest | None:
    """The manifest of the run to go on with; none if there is none or it is to start over.

    A folder of a newer Gnomon is left alone in either case.
    """
    if not (folder / MANIFEST).exists():
        return None
    try:
        manifest = Run.open(folder).manifest
    except DataError:
        if restart:
            return None
        raise
    if restart:
        return None
    if manifest.format < FORMAT:
        raise RunError(
            f"{folder} was written by an earlier Gnomon (run format {manifest.format}). It can be "
            "scored and shown, but no further items can be asked.",
            START_OVER,
        )
    check_same_question(manifest, source, model, folder)
    if manifest.items_sha256 and not (folder / LOG).exists():
        raise _lost(folder)
    return manifest


def _begin(task: _Task, *, replacing: bool) -> None:
    """A new run: the model is opened and the first item made before anything is written."""
    first = next(task.source.items(), None)
    if first is None:
        raise _no_items(task.source)
    if replacing:  # the old answers go only when the new items are known to be sound
        for _ in task.source.items():
            pass
    with _opened(task.model) as model:
        _check_takes(model, first, blind=task.blind)
        _check_order(model, task.source)
        _prepare(task, model)
        manifest = _new_manifest(task, model)
        task.log.begin_anew(manifest)
        manifest.items_sha256 = _store_items(task.log, task.source)
        manifest.counts = task.log.counts()
        task.log.write_manifest(manifest)
        _ask_all(task, model, manifest)
    _finish(task.log, manifest)


def _no_items(source: ItemSource) -> RunError:
    if source.shard is not None and source.of_all_shards.items:
        return RunError(
            f"Shard {source.shard} of {source.name} has no items: there are "
            f"{source.of_all_shards.items:,} in all.",
            "Divide the run into fewer shards.",
        )
    return RunError(
        f"{source.name} has no items with these options.",
        f"`gnomon show {source.name}` says what there is.",
    )


def _go_on(task: _Task, manifest: Manifest) -> None:
    """A run that was started before: items and model must be the same."""
    log = task.log
    manifest.counts = log.counts()
    files = model_files(task.model)
    check_same_files(manifest, files, log.path)
    _check_items(log, task.source, manifest)
    if log.pending(-1, 1, retry_errors=task.retry_errors):
        with _opened(task.model) as model:
            if manifest.counts.asked:
                check_same_model(manifest, model, log.path)
            _prepare(task, model)
            _note_model(manifest, task, model, files)
            log.write_manifest(manifest)
            _ask_all(task, model, manifest)
    else:
        task.watch(_progress(log, manifest))
    _finish(log, manifest)


def _finish(log: RunLog, manifest: Manifest) -> None:
    if manifest.finished is None and not log.pending(-1, 1):
        manifest.finished = datetime.now(UTC)
    manifest.counts = log.counts()
    log.write_manifest(manifest)


def _prepare(task: _Task, model: Model) -> None:
    """Let a model that learns from the items see them. One that fails here leaves no run behind.

    For a shard these are the items of all shards: its answers must be those of the whole run.
    """
    prepare = getattr(model, "prepare", None)
    if prepare:
        whole = task.source.sharded(None)
        prepare(_shown(whole.items(), blind=task.blind), whole.benchmark)


def _shown(items: Iterable[Item], *, blind: bool) -> Iterator[Item]:
    """The items as the model gets them: without their pictures if it is asked blind."""
    for item in items:
        yield msgspec.structs.replace(item, images=()) if blind else item


def _new_manifest(task: _Task, model: Model) -> Manifest:
    source = task.source
    manifest = Manifest(
        id=task.log.path.name,
        benchmark=source.name,
        options=source.options,
        limit=source.limit,
        permute=source.permute,
        unlisted=_unlisted(source, model),
        model=task.model.spec,
        blind=task.blind,
        started=datetime.now(UTC),
        versions={"gnomon": __version__, "python": platform.python_version()},
    )
    if source.shard is not None:
        whole = source.sharded(None)
        manifest.shard = str(source.shard)
        manifest.shard_of = run_folder(whole, task.model, "", blind=task.blind).name
        manifest.whole_items, manifest.whole_sha256 = source.of_all_shards
    _note_model(manifest, task, model, model_files(task.model))
    return manifest


def _unlisted(source: ItemSource, model: Model) -> list[str]:
    """The forms of permuted items whose choices the model is not shown as a list."""
    lists_choices = getattr(model, "lists_choices", None)
    if source.permute is None or lists_choices is None:
        return []
    forms = {item.form for item in source.sharded(None).without_pictures()}
    return sorted(form for form in forms if not lists_choices(form))


def _note_model(manifest: Manifest, task: _Task, model: Model, files: dict[str, str]) -> None:
    manifest.model_description = msgspec.to_builtins(model.describe())
    manifest.scale = model.scale
    manifest.model_files = files
    manifest.command = redact_command(task.command) or manifest.command
    if isinstance(task.model, ModelSpec):
        manifest.model_options = redact_options(task.model.options)


def _check_takes(model: Model, item: Item, *, blind: bool) -> None:
    """Refuse items with pictures for a model that cannot see, unless it is to be asked blind."""
    sees = "image" in getattr(model, "takes", TEXT)
    if item.images and not sees and not blind:
        raise ModelError(
            f"The items have pictures, and {model.spec} takes text only.",
            "Choose a model that takes images, or ask without the pictures: --blind.",
        )
    if blind and not item.images:
        raise ModelError("The items have no pictures.", "Leave out --blind.")


def _check_order(model: Model, source: ItemSource) -> None:
    """Refuse to permute the choices for a model whose answers were given before."""
    if source.permute is not None and getattr(model, "answered_before", False):
        raise ModelError(
            f"The answers of {model.spec} were given to choices in the usual order.",
            "Leave out --permute.",
        )


def _store_items(log: RunLog, source: ItemSource) -> str:
    """Put the items into the log, and give their digest."""
    digest = Fingerprint()
    number = 0
    for chunk in _chunks(source):
        for item in chunk:
            digest.add(item)
        log.add_items(number, chunk)
        number += len(chunk)
    return digest.hexdigest()


def _check_items(log: RunLog, source: ItemSource, manifest: Manifest) -> None:
    """The items that the source gives now must be those in the log."""
    digest = Fingerprint()
    number = 0
    for item in source.items():
        digest.add(item)
        number += 1
    if manifest.items_sha256 != digest.hexdigest():
        raise RunError(
            f"The items of {source.name} are not those that {log.path} was started with: "
            "data files or the version changed.",
            START_OVER,
        )
    if manifest.counts.items != number:
        raise _lost(log.path)


def _chunks(source: ItemSource) -> Iterator[list[Item]]:
    stream = source.items()
    while chunk := list(islice(stream, WINDOW)):
        yield chunk


def _lost(folder: Path) -> RunError:
    return RunError(
        f"{folder} has lost items or all of its log ({LOG}).",
        "Restore the file from a copy, or start over with --restart.",
    )


@contextmanager
def _opened(model: Model | ModelSpec) -> Iterator[Model]:
    """The model, loaded if it is not yet, and closed however the run ends."""
    ready = model.open() if isinstance(model, ModelSpec) else model
    try:
        yield ready
    finally:
        close = getattr(ready, "close", None)
        if close:
            close()


def _ask_all(task: _Task, model: Model, manifest: Manifest) -> None:
    log = task.log
    progress = _progress(log, manifest, retry_errors=task.retry_errors)
    keep = getattr(model, "keep", None)
    if keep:
        keep(log.path)
    try:
        asker = Asker(model, blind=task.blind)
        progress.started = time.monotonic()
        task.watch(progress)
        with _interruptible() as interrupted:
            for batch in _plan(log, asker, retry_errors=task.retry_errors):
                answers = asker.ask(batch)
                log.add_answers(answers)
                _count(progress, batch, [answer for _, answer in answers])
                task.watch(progress)
                if interrupted.is_set():
                    raise KeyboardInterrupt
    finally:
        # A model may learn while it is asked what a server really does.
        manifest.model_description = msgspec.to_builtins(model.describe())
        manifest.scale = model.scale
        manifest.counts = log.counts()
        log.write_manifest(manifest)


def _progress(log: RunLog, manifest: Manifest, *, retry_errors: bool = False) -> Progress:
    """What is done so far; failures that are to be asked again are not."""
    counts = log.counts()
    progress = Progress(
        total=manifest.counts.items,
        done=counts.asked,
        judged=log.judged(retry_errors=retry_errors),
        right=log.right(),
        errors=counts.errors,
    )
    if retry_errors:
        progress.done -= counts.errors
        progress.errors = 0
    return progress


def _plan(log: RunLog, asker: Asker, *, retry_errors: bool) -> Iterator[list[Numbered]]:
    """Batches of the items that lack an answer, a window at a time."""
    after = -1
    while window := log.pending(after, WINDOW, retry_errors=retry_errors):
        after = window[-1][0]
        yield from in_batches(window, asker.size, asker.budget, asker.batch)


def _count(progress: Progress, batch: Sequence[Numbered], answers: Sequence[Answer]) -> None:
    """Bring the progress up to date by a batch. Of several answers to an item the first counts."""
    progress.asked += len(batch)
    progress.done += len(batch)
    progress.judged += sum(bool(item.gold) for _, item in batch)
    gold = {item.id: item.gold for _, item in batch}
    for answer in answers:
        if answer.sample == 0:
            progress.right += answer.choice in gold[answer.item]
            progress.errors += answer.error is not None


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """Ctrl-C sets the event, so that the batch at hand is finished and logged.

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

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)

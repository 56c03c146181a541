"""One run from start to end: items into the log, then to the model, then answers into the log.

Everything that took a while to answer is on disk before the next batch starts, so a run may be
stopped at any byte and the same command takes it up again. A folder becomes a run when its manifest
is written, which is when items and model are ready.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.contracts import Model
from gnomon.errors import EmptyShardError, RunError
from gnomon.items.source import ItemSource
from gnomon.naming import check_name
from gnomon.registry import ModelSpec
from gnomon.runs import Manifest, Run, RunLog
from gnomon.runs.driving import ask_all
from gnomon.runs.folders import check_no_older_run, earlier_manifest, run_folder
from gnomon.runs.growing import as_begun, fitted, grow, has_pending, must_grow
from gnomon.runs.manifests import check_order, check_takes, new_manifest, note_model
from gnomon.runs.progress import Watcher, progress_of
from gnomon.runs.sameness import check_same_files, check_same_model, model_files
from gnomon.runs.storing import check_items, store_items
from gnomon.runs.task import Task
from gnomon.runs.workers import Local, WorkerPlan

if TYPE_CHECKING:
    from gnomon.runs.pool import Pool


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
) -> Run:
    """Ask a model all items of a source that still lack an answer, and return the run.

    `name` is what to call the model; asking again with another one renames it.

    Raises KeyboardInterrupt after the current batch when the user presses Ctrl-C; what was answered
    is kept. `stopping` is called when the keys are pressed.
    """
    folder = run_folder(source, model, runs, blind=blind)
    log = RunLog(folder)
    try:
        # read under the lock: another process may just have made or extended the run
        manifest = earlier_manifest(folder, source, model, restart=restart)
        if manifest is None and not restart:
            check_no_older_run(source, model, runs, blind=blind)
        task = Task(
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


def _begin(task: Task, *, replacing: bool) -> None:
    """A new run: the model is opened and the first item made before anything is written."""
    first = next(task.source.items(), None)
    if first is None:
        raise _no_items(task.source)
    if replacing:  # the old answers go only when the new items are known to be sound
        for _ in task.source.items():
            pass
    began = datetime.now(UTC)
    with _opened(task, began) as workers:
        check_takes(workers.about, first, blind=task.blind)
        check_order(workers.about, task.source)
        workers.prepare(task.items_to_learn_from(), task.source.benchmark)
        manifest = new_manifest(task, workers.about, began)
        task.log.begin_anew(manifest)
        manifest.items_sha256 = store_items(task.log, task.source)
        manifest.counts = task.log.counts()
        task.log.write_manifest(manifest)
        workers.keep(task.log.path)
        ask_all(task, workers, manifest)
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


def _go_on(task: Task, manifest: Manifest) -> None:
    """A run that was started before: items and model must be the same."""
    log = task.log
    manifest.counts = log.counts()
    files = model_files(task.model)
    check_same_files(manifest, files, log.path)
    check_items(log, as_begun(task.source, manifest), manifest)
    manifest.name = task.name or manifest.name
    asked, task = task, fitted(task, manifest)
    grows = must_grow(task, manifest)
    if grows or has_pending(task):
        with _opened(task, manifest.started) as workers:
            about = workers.about
            if manifest.counts.asked:
                check_same_files(manifest, about.files, log.path)
                check_same_model(manifest, about.description, log.path)
            workers.prepare(task.items_to_learn_from(), task.source.benchmark)
            if grows:
                grow(task, manifest, about)
                task = fitted(asked, manifest)
            note_model(manifest, task, workers.about, files or about.files)
            log.write_manifest(manifest)
            workers.keep(log.path)
            ask_all(task, workers, manifest)
    else:
        task.watch(progress_of(log, manifest, only=task.only))
    _finish(log, manifest)


def _finish(log: RunLog, manifest: Manifest) -> None:
    if manifest.finished is None and not log.pending(-1, 1):
        manifest.finished = datetime.now(UTC)
    manifest.counts = log.counts()
    manifest.usage = log.usage(manifest.model_options)
    log.write_manifest(manifest)


@contextmanager
def _opened(task: Task, began: datetime) -> Iterator[Local | Pool]:
    """Those who ask, with the model loaded, and closed however the run ends."""
    workers: Local | Pool
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

"""What a run is to do: the task, the manifest that says so, and a limit that is raised.

What a limit takes is contained in what a larger one takes (gnomon.items.limits): a run whose
limit is raised keeps its answers, and one that is asked for less keeps its items.
"""

import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

import msgspec

from gnomon import __version__
from gnomon.contracts import Model
from gnomon.errors import ModelError, UnfitError
from gnomon.items.limits import is_larger
from gnomon.items.source import ItemSource
from gnomon.records import Fingerprint, Item
from gnomon.redaction import redact_command, redact_options
from gnomon.registry import DEMO_SEEN, ModelSpec, about_benchmark
from gnomon.runs import Manifest, Run, RunLog
from gnomon.runs.identity import model_files, pending_count, run_folder, store_items
from gnomon.runs.progress import Watcher
from gnomon.runs.workers import ModelFacts, WorkerPlan


@dataclass(frozen=True)
class RunTask:
    """Which items are to be asked of whom, by which workers, and where the answers go."""

    log: RunLog
    source: ItemSource
    model: Model | ModelSpec
    retry_errors: bool = False
    blind: bool = False
    watch: Watcher = lambda _: None
    stopping: Callable[[], None] = lambda: None  # told of the first Ctrl-C
    command: str = ""
    name: str = ""  # what to call the model
    only: frozenset[int] | None = None  # numbers of the items that are asked; none for all
    workers: WorkerPlan = field(default_factory=WorkerPlan)
    # told what was answered so far: the limit up to which to ask on, or none if that is enough
    more: Callable[[Run], int | None] | None = None

    def items_to_learn_from(self) -> Iterator[Item]:
        """The items as the model gets them: without their pictures if it is asked blind.

        For a shard these are the items of all shards: its answers must be those of the whole run.
        """
        for item in self.source.sharded(None).items():
            yield msgspec.structs.replace(item, images=()) if self.blind else item


def new_manifest(task: RunTask, about: ModelFacts, began: datetime) -> Manifest:
    """The manifest of a run that begins."""
    source = task.source
    manifest = Manifest(
        id=task.log.path.name,
        benchmark=source.name,
        options=source.options,
        about=about_benchmark(source.benchmark),
        limit=source.limit,
        permute=source.permute,
        unlisted=_unlisted(source, about),
        model=task.model.spec,
        name=task.name,
        blind=task.blind,
        started=began,
    )
    if source.shard is not None:
        whole = source.sharded(None)
        manifest.shard = str(source.shard)
        manifest.shard_of = run_folder(whole, task.model, "", blind=task.blind).name
        manifest.whole_items, manifest.whole_sha256 = source.of_all_shards
    note_model(manifest, task, about, model_files(task.model) or about.files)
    return manifest


def note_model(manifest: Manifest, task: RunTask, about: ModelFacts, files: dict[str, str]) -> None:
    """Write down what the model says of itself, and with which options it is asked now."""
    manifest.model_description = about.description
    manifest.scale = about.scale
    manifest.asking = about.asking
    manifest.model_files = files
    _note_versions(manifest)
    manifest.command = redact_command(task.command) or manifest.command
    if isinstance(task.model, ModelSpec):
        manifest.model_options = redact_options(task.model.options)


def _note_versions(manifest: Manifest) -> None:
    """Write down the versions that ask now, after those that asked before."""
    now = {"gnomon": __version__, "python": platform.python_version()}
    for name, version in now.items():
        earlier = manifest.versions.get(name, "")
        known = earlier.split(", ") if earlier else []
        if version not in known:
            manifest.versions[name] = ", ".join([*known, version])


def _unlisted(source: ItemSource, about: ModelFacts) -> list[str]:
    """The forms of permuted items whose choices the model is not shown as a list."""
    lists = about.lists
    if source.permute is None or lists is None:
        return []
    forms = {item.form for item in source.sharded(None).without_pictures()}
    return sorted(form for form in forms if not lists[form])


def check_takes(about: ModelFacts, item: Item, *, blind: bool) -> None:
    """Refuse items with pictures for a model that cannot see, unless it is to be asked blind.

    A model that only sees is refused items without pictures, and is never asked blind.
    """
    if "text" not in about.takes and (blind or not item.images):
        raise UnfitError(
            f"{about.spec} answers by pictures alone, and would be shown none.",
            "Choose items with pictures and leave out --blind, as in: "
            f"gnomon run {DEMO_SEEN} -m {about.spec}",
        )
    if item.images and "image" not in about.takes and not blind:
        raise UnfitError(
            f"The items have pictures, and {about.spec} takes text only.",
            "Choose a model that takes images, or ask without the pictures: --blind.",
        )
    if blind and not item.images:
        raise ModelError("The items have no pictures.", "Leave out --blind.")


def check_can_stop(about: ModelFacts, task: RunTask) -> None:
    """Refuse to ask a part, and then more, of a model whose answers depend on all items."""
    if task.more is not None and about.learns and not about.keeps:
        raise ModelError(
            f"{about.spec} learns from all items that it is asked, so that it must be asked all.",
            "Leave out --until, --until-differs (in Python until, until_differs).",
        )


def check_order(about: ModelFacts, source: ItemSource) -> None:
    """Refuse to permute the choices for a model whose answers were given before."""
    if source.permute is not None and about.answered_before:
        raise ModelError(
            f"The answers of {about.spec} were given to choices in the usual order.",
            "Leave out --permute.",
        )


def as_begun(source: ItemSource, manifest: Manifest) -> ItemSource:
    """The source with the limit that a run has so far."""
    if source.limit == manifest.limit:
        return source
    return source.limited(manifest.limit)


def must_grow(task: RunTask, manifest: Manifest) -> bool:
    """Whether the log must be filled up; a larger limit that takes no more is only written down."""
    if manifest.growing:
        return True
    if not is_larger(task.source.limit, manifest.limit):
        return False
    if sum(1 for _ in task.source.without_pictures()) > manifest.counts.items:
        return True
    manifest.limit = task.source.limit
    return False


def fitted(task: RunTask, manifest: Manifest) -> RunTask:
    """The task for a run that may hold more than is asked: with all its items, of which some."""
    if not is_larger(manifest.limit, task.source.limit):
        return task
    whole = task.source.limited(manifest.limit)
    if manifest.growing:  # the log is not in order yet
        return replace(task, source=whole)
    return replace(task, source=whole, only=task.log.numbers_of(task.source.items()))


def has_pending(task: RunTask) -> bool:
    """Whether any item that is asked lacks an answer."""
    if task.only is not None:
        return pending_count(task.log, task.only, retry_errors=task.retry_errors) > 0
    return bool(task.log.pending(-1, 1, retry_errors=task.retry_errors))


def grow(task: RunTask, manifest: Manifest, about: ModelFacts) -> None:
    """Fill the log up to the limit of the task. Killed at any point, it is done again.

    The manifest says so when it is next written.

    A model that learns from the items knows others now: what it answered before is forgotten.
    """
    learns = about.learns and not about.keeps
    digest = Fingerprint()

    def items() -> Iterator[Item]:
        for item in task.source.items():
            digest.add(item)
            yield item

    _say_growing(task, manifest)
    task.log.grow(items(), forgetting=learns)
    manifest.items_sha256 = digest.hexdigest()
    manifest.counts = task.log.counts()
    manifest.growing = False


def extend(task: RunTask, manifest: Manifest) -> None:
    """Add the items of a larger limit behind those that the log holds.

    A run that is asked by rounds would else write all its items anew for each. Until `grow` puts
    the log in order, after the last one, its manifest says that it grows.
    """
    _say_growing(task, manifest)
    log = task.log
    held = log.ids()
    new = (item for item in task.source.items() if item.id not in held)
    manifest.items_sha256 = store_items(log, new, len(held), manifest.items_sha256)
    manifest.counts = log.counts()


def _say_growing(task: RunTask, manifest: Manifest) -> None:
    """From here on the manifest does not tell what is in the log."""
    manifest.limit = task.source.limit
    manifest.growing = True
    manifest.finished = None
    task.log.announced = manifest

"""A run whose limit is raised keeps its answers; one that is asked for less keeps its items.

What a limit takes is contained in what a larger one takes (gnomon.items.limits).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gnomon.items.limits import is_larger
from gnomon.items.source import ItemSource
from gnomon.records import Fingerprint, Item
from gnomon.runs import Manifest
from gnomon.runs.storing import pending_count
from gnomon.runs.task import Task
from gnomon.runs.workers import About


def as_begun(source: ItemSource, manifest: Manifest) -> ItemSource:
    """The source with the limit that a run has so far."""
    if source.limit == manifest.limit:
        return source
    return source.limited(manifest.limit)


def must_grow(task: Task, manifest: Manifest) -> bool:
    """Whether the log must be filled up; a larger limit that takes no more is only written down."""
    if manifest.growing:
        return True
    if not is_larger(task.source.limit, manifest.limit):
        return False
    if sum(1 for _ in task.source.without_pictures()) > manifest.counts.items:
        return True
    manifest.limit = task.source.limit
    return False


def fitted(task: Task, manifest: Manifest) -> Task:
    """The task for a run that may hold more than is asked: with all its items, of which some."""
    if not is_larger(manifest.limit, task.source.limit):
        return task
    whole = task.source.limited(manifest.limit)
    if manifest.growing:  # the log is not in order yet
        return replace(task, source=whole)
    return replace(task, source=whole, only=task.log.numbers_of(task.source.items()))


def has_pending(task: Task) -> bool:
    """Whether any item that is asked lacks an answer."""
    if task.only is not None:
        return pending_count(task.log, task.only, retry_errors=task.retry_errors) > 0
    return bool(task.log.pending(-1, 1, retry_errors=task.retry_errors))


def grow(task: Task, manifest: Manifest, about: About) -> None:
    """Fill the log up to the limit of the task. Killed at any point, it is done again.

    A model that learns from the items knows others now: what it answered before is forgotten.
    """
    learns = about.learns and not about.keeps
    digest = Fingerprint()

    def items() -> Iterator[Item]:
        for item in task.source.items():
            digest.add(item)
            yield item

    def say_so() -> None:
        """From here on the manifest does not tell what is in the log."""
        manifest.limit = task.source.limit
        manifest.growing = True
        manifest.finished = None
        task.log.write_manifest(manifest)

    task.log.grow(items(), forgetting=learns, ready=say_so)
    manifest.items_sha256 = digest.hexdigest()
    manifest.counts = task.log.counts()
    manifest.growing = False
    task.log.write_manifest(manifest)

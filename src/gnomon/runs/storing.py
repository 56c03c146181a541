"""The items of a run go into its log, and must be the same when it goes on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from gnomon.errors import RunError
from gnomon.items.source import ItemSource
from gnomon.records import Fingerprint, Item
from gnomon.runs import Manifest, RunLog
from gnomon.runs.batches import Numbered
from gnomon.runs.folders import lost
from gnomon.runs.sameness import START_OVER

WINDOW = 4096  # items handled at a time, so that memory does not grow with the benchmark


def store_items(log: RunLog, source: ItemSource) -> str:
    """Put the items into the log, and give their digest."""
    digest = Fingerprint()
    number = 0
    for chunk in in_chunks(source.items()):
        for item in chunk:
            digest.add(item)
        log.add_items(number, chunk)
        number += len(chunk)
    return digest.hexdigest()


def check_items(log: RunLog, source: ItemSource, manifest: Manifest) -> None:
    """The items that the source gives now must be those in the log."""
    if manifest.growing:  # a log may hold more than its digest covers; what it holds is told apart
        return  # when it is filled
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
        raise lost(log.path)


def pending_windows(
    log: RunLog, *, only: frozenset[int] | None = None, retry_errors: bool = False
) -> Iterator[list[Numbered]]:
    """The items that lack an answer, a window at a time; of some numbers only, if so asked."""
    after = -1
    while window := log.pending(after, WINDOW, retry_errors=retry_errors):
        after = window[-1][0]
        if only is not None:
            window = [numbered for numbered in window if numbered[0] in only]
        if window:
            yield window


def pending_count(log: RunLog, only: frozenset[int], *, retry_errors: bool = False) -> int:
    """How many items of these numbers lack an answer."""
    windows = pending_windows(log, only=only, retry_errors=retry_errors)
    return sum(len(window) for window in windows)


def in_chunks(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Items in lists of at most WINDOW."""
    stream = iter(items)
    while chunk := list(islice(stream, WINDOW)):
        yield chunk

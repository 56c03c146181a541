"""Which run is it, and is it still the same: its folder, its model, its files and its items.

Answers of two models must never meet in one log. A model that is opened says what determines its
answers, and that is compared. A finished run opens none, so the files that a model's name and
options point to are compared as well.
"""

import os
import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from os.path import expanduser
from pathlib import Path
from typing import Any

import msgspec

from gnomon.contracts import Model
from gnomon.errors import DataError, RunError
from gnomon.fingerprint import fingerprint
from gnomon.grouped import chunks
from gnomon.items.source import ItemSource
from gnomon.records import Fingerprint, Item
from gnomon.redaction import redact_options
from gnomon.registry import ModelSpec, scheme_of
from gnomon.runs import LOG, MANIFEST, Manifest, Run, RunLog
from gnomon.runs.batches import Numbered
from gnomon.runs.manifest import FORMAT, changed_keys, determining

START_OVER = (
    "Start over with --restart (in Python restart=True), or give another folder with --runs."
)


def model_files(model: Model | ModelSpec) -> dict[str, str]:
    """The local files that a model is made of or reads, with their fingerprints.

    Whatever its name or an option that determines its answers says and is a path counts, so that
    plug-ins need not declare theirs. A model that is code says itself what it is made of.
    """
    if not isinstance(model, ModelSpec):
        return dict(getattr(model, "code", {}))
    paths = [scheme_of(model.spec)[1]]
    for value in model.deciding.values():
        if isinstance(value, str) and os.path.isfile(expanduser(value)):
            paths.append(value)
    found = {}
    for text in sorted(paths):
        path = Path(expanduser(text))
        try:
            if text and path.exists():
                found[text] = fingerprint(path)
        except OSError:  # opening the model will say so
            continue
    return found


def check_same_question(
    manifest: Manifest, source: ItemSource, model: Model | ModelSpec, folder: Path
) -> None:
    """Refuse a folder that was started with another benchmark, model or options.

    The folder's name is a hash of these, so only a copied folder or a collision gets here.
    """
    asked: dict[str, tuple[Any, Any]] = {
        "benchmark": (manifest.benchmark, source.name),
        "options": (manifest.options, msgspec.to_builtins(source.options)),
        "permute": (manifest.permute, source.permute),
        "shard": (manifest.shard, str(source.shard or "")),
        "model": (manifest.model, model.spec),
    }
    if source.shard is not None:  # a run grows with its limit, a part of one does not
        asked["limit"] = (manifest.limit, source.limit)
    changed = [name for name, (before, now) in asked.items() if before != now]
    if changed:
        raise RunError(
            f"{folder} is a run of {manifest.model} on {manifest.benchmark}, started with other "
            f"settings: {', '.join(changed)}.",
            START_OVER,
        )


def check_same_files(manifest: Manifest, files: dict[str, str], folder: Path) -> None:
    """Refuse files that are not those the run was started with."""
    if manifest.model_files is None or not manifest.counts.asked:
        return
    changed = [text for text, found in files.items() if manifest.model_files.get(text) != found]
    if changed:
        raise _other_model(manifest, folder, changed)


def check_same_model(manifest: Manifest, description: dict[str, Any], folder: Path) -> None:
    """Refuse a model that describes itself otherwise than when the run was started."""
    changed = changed_keys(determining(manifest.model_description), determining(description))
    if changed:
        raise _other_model(manifest, folder, changed)


def _other_model(manifest: Manifest, folder: Path, changed: list[str]) -> RunError:
    return RunError(
        f"The model {manifest.model} is not the one that {folder} was started with: "
        f"{', '.join(changed)} changed.",
        START_OVER,
    )


def run_folder(
    source: ItemSource,
    model: Model | ModelSpec,
    runs: str | Path,
    *,
    blind: bool = False,
    limit: int | None = None,
) -> Path:
    """Where this run lives: the same benchmark, model and options give the same folder.

    The limit has no say in it, so that a run grows when a larger one is asked for; `limit` is for
    runs of an earlier Gnomon, where it had.
    """
    if isinstance(model, ModelSpec):
        options = redact_options(model.deciding)  # a new password does not make a new run
    else:
        options = determining(model.describe())
    identity: list[Any] = [source.name, source.options, limit, model.spec, options]
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


def check_no_older_run(
    source: ItemSource, model: Model | ModelSpec, runs: str | Path, *, blind: bool
) -> None:
    """Refuse to begin beside a run of an earlier Gnomon, whose limit chose other items.

    There a limit was a part of the folder's name.
    """
    if source.limit is None:
        return
    older = run_folder(source, model, runs, blind=blind, limit=source.limit)
    if (older / MANIFEST).exists():
        raise RunError(
            f"{older} was made by an earlier Gnomon, whose --limit chose other items. It can be "
            "scored and shown, but no further items can be asked.",
            "Make a new run beside it with --restart, or give another folder with --runs.",
        )


def earlier_manifest(
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
        raise lost(folder)
    return manifest


def lost(folder: Path) -> RunError:
    """The error for a run whose log is gone."""
    return RunError(
        f"{folder} has lost items or all of its log ({LOG}).",
        "Restore the file from a copy, or start over with --restart.",
    )


WINDOW = 4096  # items handled at a time, so that memory does not grow with the benchmark


def store_items(log: RunLog, items: Iterable[Item], number: int = 0, before: str = "") -> str:
    """Put items into the log from a number on, and give the digest of all, with those before."""
    digest = Fingerprint(before)
    for chunk in chunks(items, WINDOW):
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

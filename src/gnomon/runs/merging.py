"""The shards of a run made into one: what the run would have been without shards.

It is written beside its place and moved there when it is whole, so that a merge that is stopped
leaves no run behind, and the same command does it again. Memory does not grow with the run.
"""

import os
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from gnomon.durable import link_or_copy
from gnomon.errors import GnomonError, RunError
from gnomon.grouped import chunks
from gnomon.records import Fingerprint, Item
from gnomon.runs.log import RunLog
from gnomon.runs.manifest import MANIFEST, MERGING, PICTURES, Manifest, check_not_in_use
from gnomon.runs.reading import Run
from gnomon.runs.shards import Parts, check_can_be_merged

STEP = 4096  # items or answers at a time
Watcher = Callable[[int, int], None]


class Merged(NamedTuple):
    """The new run, and of how many shards it is made."""

    run: Run
    shards: int
    before: bool = False  # it was made by an earlier command, which may have been killed then


def merge(
    shards: Sequence[Run],
    output: Path | None = None,
    *,
    incomplete: bool = False,
    watch: Watcher = lambda done, total: None,
) -> Merged:
    """Make one run of its shards, in the folder `output` or where the whole run would be.

    Shards that differ in anything but their items are refused, and so is a set that lacks one,
    unless it is said to be `incomplete`: the new run then says which shards it holds. `watch` is
    told how many items and answers are copied, of how many.
    """
    parts = check_can_be_merged(_without_result(shards), incomplete=incomplete)
    for run in parts.runs:
        check_not_in_use(run.path)
    target = output or _usual_place(parts)
    if _is_made_of(target, parts):
        return Merged(Run.open(target), len(parts.runs), before=True)
    _check_is_free(target)

    part = target.with_name(f".{target.name}{MERGING}")
    log = RunLog(part)
    try:
        manifest = _manifest(parts, target.name)
        log.begin_anew(manifest)
        copied = _Counted(parts.runs, watch)
        manifest.items_sha256 = _copy_items(parts.runs, log, copied)
        _copy_answers(parts.runs, log, copied)
        _copy_pictures(parts.runs, part / PICTURES)
        manifest.counts = log.counts()
        manifest.usage = log.usage(manifest.model_options)
        _check_items(parts, manifest)
        log.write_manifest(manifest)
    except BaseException:
        log.close()
        shutil.rmtree(part, ignore_errors=True)
        raise
    log.close()
    _put_in_place(part, target)
    return Merged(Run.open(target), len(parts.runs))


def _usual_place(parts: Parts) -> Path:
    """Where `gnomon run` without a shard looks for the run: it can then go on with it."""
    first = parts.runs[0]
    name = first.manifest.shard_of
    if not parts.complete:
        name += f"--shards-{parts.numbers}-of-{parts.of}"
    folder = first.path if first.path.name else first.path.resolve()  # "." has no name
    return folder.parent / name


def _without_result(runs: Sequence[Run]) -> Sequence[Run]:
    """The runs without the one that merging them before has made, where that is put by itself."""
    places = {(run.path.resolve().parent, run.manifest.shard_of) for run in runs}
    shards = []
    for run in runs:
        place = run.path.resolve()
        if run.manifest.shard or (place.parent, place.name) not in places:
            shards.append(run)
    return shards


def _is_made_of(target: Path, parts: Parts) -> bool:
    """Whether a folder holds the run that these shards make: with all their items and answers."""
    if not (target / MANIFEST).is_file():
        return False
    try:
        there = Run.open(target)
        counts = there.counts()
    except GnomonError:
        return False
    wanted = _manifest(parts, target.name)
    for name in ("id", "benchmark", "options", "model", "model_files", "shard", "started"):
        if getattr(there.manifest, name) != getattr(wanted, name):
            return False
    held = [run.counts() for run in parts.runs]
    same_items = counts.items == sum(each.items for each in held)
    return same_items and counts.asked >= sum(each.asked for each in held)


def _check_is_free(target: Path) -> None:
    if target.resolve() == Path.cwd():  # it would be renamed under the user's feet
        raise RunError("The new run cannot be the folder you are in.", "Give another with -o.")
    if target.is_dir() and not any(target.iterdir()):
        return
    if target.exists() or target.is_symlink():
        raise RunError(f"{target} is there already.", "Give another folder with -o, or remove it.")
    if not target.parent.is_dir():
        raise RunError(f"The folder {target.parent} does not exist.", "Make it first.")


def _put_in_place(part: Path, target: Path) -> None:
    with suppress(FileNotFoundError):
        target.rmdir()  # an empty folder is no obstacle
    try:
        part.rename(target)
    except OSError as error:
        raise RunError(
            f"{part} cannot be renamed to {target.name}: {error.strerror}.",
            "The merged run is whole: rename it yourself, or give the command again.",
        ) from None


def _manifest(parts: Parts, name: str) -> Manifest:
    """The manifest of the new run, without what is only known when its log is filled."""
    manifests = [run.manifest for run in parts.runs]
    first = manifests[0]
    finished = [each.finished for each in manifests if each.finished is not None]
    merged = msgspec.structs.replace(
        first,
        id=name,
        items_sha256="",
        command=_without_shard(first.command),
        started=min(each.started for each in manifests),
        finished=max(finished) if len(finished) == len(manifests) else None,
    )
    if parts.complete:
        merged.shard = merged.shard_of = merged.whole_sha256 = ""
        merged.whole_items = 0
    else:
        merged.shard = f"{parts.numbers}/{parts.of}"
    return merged


def _without_shard(command: str) -> str:
    """The command that asks for the whole run.

    >>> _without_shard("gnomon run scales -m random --shard 3/8 --quiet")
    'gnomon run scales -m random --quiet'
    """
    try:
        coming = iter(shlex.split(command))
    except ValueError:  # whoever wrote the manifest wrote no command
        return command
    words = []
    for word in coming:
        if word == "--shard":
            next(coming, None)
        elif not word.startswith("--shard="):
            words.append(word)
    return shlex.join(words)


class _Counted:
    """How many items and answers are copied, told to a watcher."""

    def __init__(self, runs: Sequence[Run], watch: Watcher) -> None:
        counts = [run.manifest.counts for run in runs]
        self._total = sum(each.items + each.asked for each in counts)
        self._done = 0
        self._watch = watch

    def add(self, rows: int) -> None:
        self._done += rows
        self._watch(self._done, max(self._done, self._total))


def _copy_items(runs: Sequence[Run], log: RunLog, copied: _Counted) -> str:
    """Put the items of all shards into the log, and give their digest."""
    digest = Fingerprint()
    number = 0
    for run in runs:
        own = Fingerprint()
        for chunk in chunks(_items_without_gaps(run), STEP):
            for item in chunk:
                digest.add(item)
                own.add(item)
            log.add_items(number, chunk)
            number += len(chunk)
            copied.add(len(chunk))
        _check_own_items(run, own)
    return digest.hexdigest()


def _check_own_items(run: Run, found: Fingerprint) -> None:
    """Refuse a shard whose items are not those it was started with: its last may be lost."""
    if found.hexdigest() != run.manifest.items_sha256:
        raise RunError(
            f"{run.path} has lost items: they are not those that its run.json tells of.",
            "Ask this shard again with --restart.",
        )


def _items_without_gaps(run: Run) -> Iterator[Item]:
    """The items of a shard; answers find theirs by the number, so none may be missing between."""
    for place, (number, record) in enumerate(run.records()):
        if number != place:
            raise RunError(
                f"{run.path} has lost items, the first of them number {place + 1:,}.",
                "Ask this shard again with --restart.",
            )
        yield run.item(record)


def _copy_answers(runs: Sequence[Run], log: RunLog, copied: _Counted) -> None:
    before = 0
    for run in runs:
        for chunk in chunks(run.numbered_answers(), STEP):
            log.add_answers([(before + number, answer) for number, answer in chunk])
            copied.add(len(chunk))
        before += run.counts().items


def _check_items(parts: Parts, manifest: Manifest) -> None:
    """Refuse shards of which one has lost items, as a recovered run may have."""
    if not parts.complete:
        return
    first = parts.runs[0].manifest
    if manifest.counts.items != first.whole_items:
        raise RunError(
            f"The shards hold {manifest.counts.items:,} items, but the run has "
            f"{first.whole_items:,}: some were lost.",
            "Ask the shard that lost them again with --restart.",
        )


def _copy_pictures(runs: Sequence[Run], folder: Path) -> None:
    """What the model painted: files by their names, which say what they hold, and their lists."""
    for run in runs:
        source = run.path / PICTURES
        if source.is_symlink() or not source.is_dir():
            continue
        folder.mkdir(exist_ok=True)
        for file in sorted(source.iterdir()):
            if file.is_symlink() or not file.is_file():
                continue
            if file.suffix == ".jsonl":
                _append_lines(file, folder / file.name)
            else:
                link_or_copy(file, folder / file.name)


def _append_lines(file: Path, to: Path) -> None:
    """Add the whole lines of a file to another; what a kill has cut off is left."""
    with file.open("rb") as lines, to.open("ab") as out:
        for line in lines:
            if line.endswith(b"\n"):
                out.write(line)
        out.flush()
        os.fsync(out.fileno())

"""The shards of a run made into one: what the run would have been without shards.

It is written beside its place and moved there when it is whole, so that a merge that is stopped
leaves no run behind, and the same command does it again. Memory does not grow with the run.
"""

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gnomon.durable import link_or_copy
from gnomon.errors import GnomonError, RunError
from gnomon.grouped import chunks
from gnomon.items.limits import Shard, parse_shard
from gnomon.records import Fingerprint, Item
from gnomon.runs.log import RunLog
from gnomon.runs.manifest import (
    MANIFEST,
    MERGING,
    PICTURES,
    Manifest,
    changed_keys,
    check_not_in_use,
    determining,
)
from gnomon.runs.reading import Run

LONGEST = 60  # characters of a value in a message
ONE_RUN = "Merge shards of one `gnomon run` command, made with the same versions."


# May these shards be made into one run? Only if nothing but their items tells them apart.


class Parts(NamedTuple):
    """The shards of one run, in order."""

    runs: tuple[Run, ...]
    shards: tuple[Shard, ...]

    @property
    def of(self) -> int:
        """How many shards make the whole run."""
        return self.shards[0].of

    @property
    def complete(self) -> bool:
        """Whether all items are here: of more shards than items, some are empty and no runs."""
        if len(self.shards) == self.of:
            return True
        items = sum(run.counts().items for run in self.runs)
        return items == self.runs[0].manifest.whole_items

    @property
    def numbers(self) -> str:
        """Which of them are here, in short.

        >>> Parts((), (Shard(1, 8), Shard(2, 8), Shard(3, 8), Shard(6, 8))).numbers
        '1-3,6'
        """
        return _ranges(_stretches([shard.number for shard in self.shards]))


def check_can_be_merged(runs: Sequence[Run], *, incomplete: bool = False) -> Parts:
    """The shards in order, if they are shards of one run, none is missing and none there twice."""
    if not runs:
        raise RunError("There is nothing to merge.", "Name the folders of shards.")
    numbered: dict[Shard, Run] = {}
    first = runs[0]
    for run in runs:
        shard = _shard_of(run)
        _check_same_run(first, run)
        if shard in numbered:
            raise RunError(
                f"{numbered[shard].path} and {run.path} are both shard {shard}.",
                "Give one of them.",
            )
        numbered[shard] = run
    ordered = sorted(numbered)
    parts = Parts(tuple(numbered[shard] for shard in ordered), tuple(ordered))
    if not parts.complete and not incomplete:
        raise _lacking(parts)
    return parts


def _shard_of(run: Run) -> Shard:
    label = run.manifest.shard
    if not label:
        raise RunError(
            f"{run.path} is a whole run, not a shard.",
            "Shards are made by `gnomon run ... --shard I/N`.",
        )
    if re.fullmatch(r"[0-9,-]*[,-][0-9,-]*/[0-9]+", label):
        raise RunError(
            f"{run.path} is itself made of the shards {label}.",
            "Merge the shards that it was made of, together with the others.",
        )
    try:
        shard = parse_shard(label)
    except GnomonError:
        raise _nonsense(run, f"shard '{_short(label)}'") from None
    name = run.manifest.shard_of
    if not name or name != Path(name).name:  # it becomes a folder's name
        raise _nonsense(run, f"a shard of '{_short(name)}'")
    return shard


def _nonsense(run: Run, said: str) -> RunError:
    return RunError(
        f"{run.path} says that it is {said}, which cannot be.",
        "Restore its run.json from a copy, or ask the shard again with --restart.",
    )


def _check_same_run(first: Run, other: Run) -> None:
    """Refuse two runs that differ in anything that has a say in the answers."""
    different = _differences(first.manifest, other.manifest)
    if different:
        raise RunError(
            f"{first.path} and {other.path} are not shards of one run. They differ in "
            f"{'; and in '.join(different)}.",
            ONE_RUN,
        )


def _differences(one: Manifest, two: Manifest) -> list[str]:
    """In what two manifests differ, in words."""
    found = []
    other = _must_be_same(two)
    for name, mine in _must_be_same(one).items():
        theirs = other[name]
        if mine == theirs:
            continue
        if isinstance(mine, dict):
            found.append(f"{name}: {_differing_keys(mine, theirs)}")
        else:
            found.append(f"{name}: {_short(mine)} and {_short(theirs)}")
    if not found and one.shard_of != two.shard_of:
        found.append(f"model options: {_differing_keys(one.model_options, two.model_options)}")
    return found


def _must_be_same(manifest: Manifest) -> dict[str, Any]:
    """What all shards of a run share, by the words for it."""
    digest = manifest.whole_sha256[:12]
    return {
        "the number of shards": manifest.shard.rpartition("/")[2],
        "the benchmark": manifest.benchmark,
        "options of the benchmark": manifest.options,
        "the limit": manifest.limit,
        "the order of choices (--permute)": manifest.permute,
        "showing pictures (--blind)": manifest.blind,
        "the model": manifest.model,
        "what the model says of itself": determining(manifest.model_description),
        "files of the model": manifest.model_files or {},
        "the scale of scores": manifest.scale,
        "versions": manifest.versions,
        "the items of the whole run": f"{manifest.whole_items:,} with the digest {digest}",
    }


def _differing_keys(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """The entries in which two mappings differ, with both values."""
    parts = []
    for key in changed_keys(mine, theirs):
        parts.append(f"{key} {_short(mine.get(key))} and {_short(theirs.get(key))}")
    return ", ".join(parts) or "a password or key"


def _short(value: Any) -> str:
    """A value in a few characters."""
    if value is None:
        return "none"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _lacking(parts: Parts) -> RunError:
    missing = _ranges(_gaps([shard.number for shard in parts.shards], parts.of))
    several = not missing.isdigit()
    which = f"shards {_short(missing)} are" if several else f"shard {missing} is"
    return RunError(
        f"Of {parts.of:,} shards, {which} missing.",
        "Name all of them, or merge what there is with --incomplete: the new run says which shards "
        "it holds.",
    )


def _gaps(numbers: Sequence[int], last: int) -> list[range]:
    """The stretches from 1 to `last` that increasing numbers leave out."""
    found = []
    before = 0
    for number in [*numbers, last + 1]:
        if number > before + 1:
            found.append(range(before + 1, number))
        before = number
    return found


def _stretches(numbers: Sequence[int]) -> list[range]:
    """Increasing numbers as stretches without gaps."""
    found: list[range] = []
    for number in numbers:
        if found and found[-1].stop == number:
            found[-1] = range(found[-1].start, number + 1)
        else:
            found.append(range(number, number + 1))
    return found


def _ranges(stretches: Sequence[range]) -> str:
    """Stretches in short: 1-3,6."""
    parts = []
    for each in stretches:
        parts.append(f"{each[0]}-{each[-1]}" if len(each) > 1 else str(each[0]))
    return ",".join(parts)


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

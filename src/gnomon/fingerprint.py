"""Is a file still the same? One way to check, for data, answers, prompts, pictures and weights.

Every byte counts: a model may be changed in one layer only. What a large file was found to be is
kept in the cache, so that weights are read whole once and not at each start.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import file_digest, sha256
from pathlib import Path

import msgspec

from gnomon.durable import cache_folder

LARGE = 2 * 2**20  # bytes from which on it is worth while to remember a hash
BY_HASH = 64 * 2**20  # bytes from which on a file counts by its hash in that of its folder
SETTLED = 2.0  # seconds since the last change: clocks of file systems are coarse
DEEPEST = 5  # folders in each other; a link may lead in a circle
PROSE, NOT_PROSE = (".md", ".txt"), ("vocab.txt", "merges.txt")
NO_PART = (".", "checkpoint-")  # how folders begin that no model is loaded from


class _KnownFile(msgspec.Struct, frozen=True):
    """A file as it was when it was hashed; whatever changes it changes one of these."""

    path: str
    size: int
    modified: int  # nanoseconds, as the file says
    changed: int  # nanoseconds, as the system says: copying back an old time changes this one
    inode: int


class _KnownHash(msgspec.Struct, frozen=True):
    files: list[_KnownFile]
    sha256: str


def sha256_of(file: Path) -> str:
    """The sha256 of a file's bytes."""
    with file.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def remembered_sha256(file: Path) -> str:
    """The same; that of a large file is looked up if the file is as it was when it was hashed."""
    return _remembered("file", [file], lambda: sha256_of(file))


def fingerprint(path: Path) -> str:
    """A hash of a file, or of the files of a model's folder and of the folders in it.

    In a folder, prose does not count: a new README does not change a model. Nor do the checkpoints
    of a training and what is hidden: no model is loaded from there.
    """
    members = [("", path)] if path.is_file() else list(_within(path))
    files = [file for _, file in members]
    return _remembered("model", files, lambda: _hash_of(members))


def _hash_of(members: Sequence[tuple[str, Path]]) -> str:
    digest = sha256()
    for name, file in members:
        size = file.stat().st_size
        digest.update(f"{name}\0{size}\0".encode())
        if size >= BY_HASH:
            digest.update(sha256_of(file).encode())
        else:
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _remembered(kind: str, files: Sequence[Path], hashed: Callable[[], str]) -> str:
    """The hash of some files: looked up if all are as they were when it was last worked out."""
    now = [_as_it_is(file) for file in files]
    if sum(file.size for file in now) < LARGE:
        return hashed()
    which = sha256(f"{kind} {now[0].path}".encode()).hexdigest()
    record = cache_folder() / "hashes" / f"{which[:32]}.json"
    with suppress(OSError, msgspec.MsgspecError):
        known = msgspec.json.decode(record.read_bytes(), type=_KnownHash)
        if known.files == now:
            return known.sha256
    found = hashed()
    last_change = max(max(file.modified, file.changed) for file in now)
    is_settled = time.time() - last_change / 1e9 > SETTLED
    if is_settled and [_as_it_is(file) for file in files] == now:
        _remember(record, _KnownHash(now, found))
    return found


def _as_it_is(file: Path) -> _KnownFile:
    about = file.stat()
    path = os.path.realpath(file)
    return _KnownFile(path, about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino)


def _remember(record: Path, known: _KnownHash) -> None:
    """Write it down for the next start; a disk that refuses it is no fault."""
    part = record.with_suffix(f".{os.getpid()}.part")
    with suppress(OSError):
        record.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(msgspec.json.encode(known))
        part.replace(record)


def _within(folder: Path, before: str = "", depth: int = 1) -> Iterator[tuple[str, Path]]:
    """The files of a folder that count, each with its name within it."""
    for entry in sorted(folder.iterdir()):
        name = f"{before}{entry.name}"
        if entry.is_dir():
            if depth < DEEPEST and not entry.name.startswith(NO_PART):
                yield from _within(entry, f"{name}/", depth + 1)
            continue
        is_prose = entry.suffix in PROSE and entry.name not in NOT_PROSE
        if entry.is_file() and not is_prose:
            yield name, entry

"""Is a file still the same? One way to check, for data, answers, prompts, pictures and weights."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

WHOLE = 64 * 2**20  # bytes up to which a file is read whole
PIECE, PIECES = 2**16, 64  # of a larger one: so many pieces of so many bytes, evenly spaced
PROSE, NOT_PROSE = (".md", ".txt"), ("vocab.txt", "merges.txt")


def sha256_of(file: Path) -> str:
    """The sha256 of a file's bytes."""
    digest = sha256()
    with file.open("rb") as stream:
        while block := stream.read(2**20):
            digest.update(block)
    return digest.hexdigest()


def fingerprint(path: Path) -> str:
    """A hash of a file, or of the files of a model's folder, that takes a moment even for weights.

    Of large files it reads the size and evenly spaced pieces: weights that were trained further
    differ nearly everywhere. Their time of change would be quicker still, but copying changes it.
    In a folder, prose does not count: a new README does not change a model.
    """
    digest = sha256()
    for file in _members(path):
        size = file.stat().st_size
        name = "" if file == path else file.name
        digest.update(f"{name}\0{size}\0".encode())
        step = PIECE if size <= WHOLE else size // PIECES
        with file.open("rb") as stream:
            for start in range(0, size, step):
                stream.seek(start)
                digest.update(stream.read(PIECE))
    return digest.hexdigest()


def _members(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for file in sorted(path.iterdir()):
        is_prose = file.suffix in PROSE and file.name not in NOT_PROSE
        if file.is_file() and not is_prose:
            yield file

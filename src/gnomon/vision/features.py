"""What models made of pictures, kept on disk: a second run does not look at a picture again.

Each entry is a safetensors file, named by everything that decides what is in it. The folder has a
bound; what was used longest ago goes first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gnomon.errors import UsageError

if TYPE_CHECKING:
    from torch import Tensor

DEFAULT_BYTES = 2 * 2**30
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([MG])B?", re.IGNORECASE)
_UNITS = {"m": 2**20, "g": 2**30}
_ROOM = 0.9  # of the bound that stays full after entries were removed


class Entry(NamedTuple):
    """What is kept of a picture: tensors, and texts about them."""

    tensors: Mapping[str, Tensor]
    texts: Mapping[str, str]


class Features:
    """A folder of entries that takes at most so many bytes."""

    def __init__(self, folder: Path, most_bytes: int = DEFAULT_BYTES) -> None:
        self.folder, self.most_bytes = folder, most_bytes
        self._taken: int | None = None  # bytes, counted when something is written first

    def read(self, key: str, only: Iterable[str] = ()) -> Entry | None:
        """The entry of a key, if it is there and whole; with `only`, those of its tensors."""
        from safetensors import SafetensorError, safe_open

        file = self._file(key)
        try:
            with safe_open(file, framework="pt") as kept:
                names = list(only) or kept.keys()
                tensors = {name: kept.get_tensor(name) for name in names}
                texts = kept.metadata() or {}
        except FileNotFoundError:
            return None
        except (SafetensorError, OSError):  # cut off, or not ours: it is made again
            _remove(file)
            return None
        with suppress(OSError):
            os.utime(file)
        return Entry(tensors, texts)

    def write(self, key: str, entry: Entry) -> None:
        """Keep an entry; where that fails, nothing is kept, and nobody is the worse for it."""
        from safetensors.torch import save_file

        file = self._file(key)
        part = file.with_name(f".{file.name}.{os.getpid()}.part")
        whole = {name: tensor.detach().cpu().contiguous() for name, tensor in entry.tensors.items()}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            save_file(whole, part, metadata=dict(entry.texts))
            size = part.stat().st_size
            part.replace(file)
        except OSError:
            _remove(part)
            return
        self._count(size)

    def keys(self, start: str) -> list[str]:
        """The keys of all entries that begin so."""
        return sorted(file.stem for file in self.folder.glob(f"{start}*.safetensors"))

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.safetensors"

    def _count(self, size: int) -> None:
        if self._taken is None:
            self._taken = sum(taken for _, taken, _ in self._files())
        else:
            self._taken += size
        if self._taken > self.most_bytes:
            self._taken = self._remove_oldest()

    def _remove_oldest(self) -> int:
        """Remove what was used longest ago until there is some room; the bytes that are left."""
        files = sorted(self._files())
        taken = sum(size for _, size, _ in files)
        for _, size, file in files:
            if taken <= _ROOM * self.most_bytes:
                break
            _remove(file)
            taken -= size
        return taken

    def _files(self) -> Iterable[tuple[float, int, Path]]:
        """When each file was used last, its bytes, and where it is."""
        for file in self.folder.glob("*.safetensors"):
            with suppress(OSError):  # another process may have removed it
                state = file.stat()
                yield state.st_mtime, state.st_size, file


def key_of(*parts: str) -> str:
    """The name of an entry, by everything that decides what is in it."""
    return sha256("\0".join(parts).encode()).hexdigest()


def bytes_of(wanted: str) -> int:
    """How much may be kept: "on", "off", or a size such as 500MB or 8 GB; 0 for nothing.

    >>> bytes_of("off"), bytes_of("on") == DEFAULT_BYTES, bytes_of("1.5 GB") == 3 * 2**29
    (0, True, True)
    """
    plain = wanted.strip().lower()
    if plain in ("off", "no", "false", "0"):
        return 0
    if plain in ("on", "yes", "true", "1", ""):
        return DEFAULT_BYTES
    size = _SIZE.fullmatch(plain)
    if size is None:
        raise UsageError(
            f"'{wanted}' is not a size of the cache of pictures.",
            "Write on, off, or a size: features=500MB, features=8GB.",
        )
    return int(float(size[1]) * _UNITS[size[2].lower()])


def _remove(file: Path) -> None:
    with suppress(OSError):
        file.unlink()

"""What is kept by digest: results on disk, each a file named by everything that decides what it is.

So there is no question of what is stale. An entry takes its place whole or not at all, and several
processes may keep at once. A folder may have a bound: what was used longest ago goes first.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from gnomon.errors import DataError, RunError, UsageError

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")
VERSION = 2  # of what is kept; older results are made again
FAST = 1  # compression of zlib that costs less time than it saves
DEFAULT_BYTES = 2 * 2**30
LARGEST = 4 * 2**30  # bytes of an entry, unpacked: a folder may be a stranger's
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([MG])B?", re.IGNORECASE)
_UNITS = {"m": 2**20, "g": 2**30}
_ROOM = 0.9  # of the bound that stays full after entries were removed


def key_of(*parts: Any) -> str:
    """A digest of anything that can be written as MessagePack, in order.

    >>> key_of("names", 1) == key_of("names", 1), key_of("names", 1) == key_of("names", 2)
    (True, False)
    """
    return blake2b(msgspec.msgpack.encode((VERSION, *parts)), digest_size=32).hexdigest()


class Keep:
    """A folder of entries by key, of at most so many bytes; 0 is no bound.

    Where an entry cannot be kept, a folder that is `needed` says so; else nobody is the worse.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     kept = Keep(Path(folder))
    ...     kept.write("a1", b"found")
    ...     kept.read("a1"), kept.read("b2"), kept.keys("a")
    (b'found', None, ['a1'])
    """

    def __init__(
        self, folder: Path, *, ending: str = ".kept", most_bytes: int = 0, needed: bool = False
    ) -> None:
        self.folder, self.ending, self.most_bytes = folder, ending, most_bytes
        self._needed = needed
        self._taken: int | None = None  # bytes, counted when something is written first

    def read(self, key: str) -> bytes | None:
        """What was written under a key; none if it was not, or is damaged and so is made again."""
        file = self.file(key)
        unpacking = zlib.decompressobj()
        try:
            content = unpacking.decompress(file.read_bytes(), LARGEST)
        except FileNotFoundError:
            return None
        except zlib.error:
            self.remove(key)
            return None
        except OSError as error:
            if not self._needed:
                return None
            raise self._unusable(error) from None
        if not unpacking.eof:  # cut off, or larger than anything that is kept
            self.remove(key)
            return None
        return content

    def write(self, key: str, content: bytes) -> None:
        """Keep some bytes."""
        self.put(key, lambda part: part.write_bytes(zlib.compress(content, FAST)))

    def kept(self, key: str, kind: type[T], make: Callable[[], T]) -> T:
        """What was made under a key before, of a kind that MessagePack knows, or is made now."""
        content = self.read(key)
        if content is not None:
            with suppress(msgspec.MsgspecError):  # of another shape: it is made again
                return msgspec.msgpack.decode(content, type=kind)
        made = make()
        self.write(key, msgspec.msgpack.encode(made))
        return made

    def put(self, key: str, write: Callable[[Path], object]) -> None:
        """Keep what a function writes into the file that it is given."""
        file = self.file(key)
        part = file.with_name(f".{file.name}.{os.getpid()}.part")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write(part)
            size = part.stat().st_size
            part.replace(file)
        except OSError as error:
            with suppress(OSError):
                part.unlink()
            if self._needed:
                raise self._unusable(error) from None
            return
        if self.most_bytes:
            self._count(size)

    def remove_torn(self) -> None:
        """Remove what a process that was killed left of its writing, where no other one writes."""
        for part in self.folder.glob(f".*{self.ending}.*.part"):
            with suppress(OSError):
                part.unlink()

    def file(self, key: str) -> Path:
        """Where the entry of a key is, or would be."""
        return self.folder / f"{key}{self.ending}"

    def use(self, key: str) -> None:
        """Note that an entry was used now."""
        with suppress(OSError):
            os.utime(self.file(key))

    def remove(self, key: str) -> None:
        """Remove an entry, if it is there."""
        with suppress(OSError):
            self.file(key).unlink()

    def keys(self, start: str) -> list[str]:
        """The keys of all entries that begin so."""
        files = self.folder.glob(f"{start}*{self.ending}")
        return sorted(file.name.removesuffix(self.ending) for file in files)

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
            with suppress(OSError):
                file.unlink()
            taken -= size
        return taken

    def _files(self) -> Iterable[tuple[float, int, Path]]:
        """When each file was used last, its bytes, and where it is."""
        for file in self.folder.glob(f"*{self.ending}"):
            with suppress(OSError):  # another process may have removed it
                state = file.stat()
                yield state.st_mtime, state.st_size, file

    def _unusable(self, error: OSError) -> DataError:
        return DataError(
            f"the kept results cannot be used: {error.strerror}.",
            f"Remove {self.folder} and give the same command again.",
            file=self.folder,
        )


class KeptTensors(NamedTuple):
    """Tensors by name, and texts about them."""

    tensors: Mapping[str, Tensor]
    texts: Mapping[str, str]


class TensorKeep:
    """A bounded folder of tensors, for instance what a model made of pictures, as safetensors."""

    def __init__(self, folder: Path, most_bytes: int = DEFAULT_BYTES) -> None:
        self.most_bytes = most_bytes
        self._files = Keep(folder, ending=".safetensors", most_bytes=most_bytes)

    def read(self, key: str, only: Iterable[str] = ()) -> KeptTensors | None:
        """The entry of a key, if it is there and whole; with `only`, those of its tensors."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(self._files.file(key), framework="pt") as kept:
                names = list(only) or kept.keys()
                tensors = {name: kept.get_tensor(name) for name in names}
                texts = kept.metadata() or {}
        except FileNotFoundError:
            return None
        except (SafetensorError, OSError):  # cut off, or not ours: it is made again
            self._files.remove(key)
            return None
        self._files.use(key)
        return KeptTensors(tensors, texts)

    def write(self, key: str, entry: KeptTensors) -> None:
        """Keep an entry."""
        from safetensors.torch import save_file

        whole = {name: tensor.detach().cpu().contiguous() for name, tensor in entry.tensors.items()}
        self._files.put(key, lambda part: save_file(whole, part, metadata=dict(entry.texts)))

    def keys(self, start: str) -> list[str]:
        """The keys of all entries that begin so."""
        return self._files.keys(start)


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


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep a second process out of the folder while this one writes there."""
    from filelock import FileLock, Timeout

    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise RunError(
            f"Another process is writing to {folder.parent}.",
            "Wait for it to end, or give another folder with -o.",
        ) from None
    try:
        yield
    finally:
        lock.release()

"""Files that are whole and on the disk when a function returns, whatever is killed afterwards.

Also where files are kept that can be made or fetched again.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from gnomon.errors import DataError

T = TypeVar("T")

EVERYBODY, OWNER = 0o666, 0o600  # who may read a new file, as far as the user's mask allows


def replace_file(file: Path, content: bytes, *, mode: int = EVERYBODY) -> None:
    """Put the content into a file in one step: what stood there stays until all is written."""
    part = file.with_suffix(".part")
    part.unlink(missing_ok=True)  # whoever sent the folder may have put a link there
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with open(descriptor, "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    part.replace(file)


def sync_folder(folder: Path) -> None:
    """Make new names in a folder durable, where the system knows how to."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_torn_line(file: Path) -> None:
    """Remove what a kill has left behind the last whole line, where new lines will stand."""
    if not file.exists():
        return
    content = file.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(file, whole)


def log_records(
    file: Path, kind: type[T], what: str, *, most: int, hint: str
) -> Iterator[tuple[int, T]]:
    """The records of a log to which lines are added, with their lines; `what` a record is.

    A last line without an end was cut off by a kill: nobody was told that it was kept.
    """
    if not file.is_file():
        return
    if file.stat().st_size > most:
        raise DataError("the log is too large to be read.", hint, file=file)
    decode = msgspec.json.Decoder(kind).decode
    for number, line in enumerate(file.read_bytes().split(b"\n")[:-1], start=1):
        try:
            yield number, decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise DataError(f"not {what}: {error}.", hint, file=file, line=number) from None


def link_or_copy(source: Path, target: Path) -> None:
    """Give a file a second place, without a copy where the file system can."""
    if target.exists():
        return
    try:
        os.link(source, target)
    except OSError:  # another disk, or a file system without links
        shutil.copyfile(source, target)


def cache_folder() -> Path:
    """Where fetched files are kept: GNOMON_CACHE, or the user's cache folder of the platform."""
    set_by_user = os.environ.get("GNOMON_CACHE")
    if set_by_user:
        return Path(set_by_user).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("gnomon", appauthor=False)

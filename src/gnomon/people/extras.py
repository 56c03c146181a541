"""What a person's run holds beside answers: responses as given, comments, order, times, repeats.

It is a file in the run's folder to which one line is added for each response, durable before the
answer itself is logged. The last line on a slot counts, so nothing is doubled by a change of mind.
"""

from __future__ import annotations

import errno
import os
from datetime import datetime
from pathlib import Path

import msgspec

from gnomon.durable import remove_torn_line, sync_folder
from gnomon.errors import DataError, RunError
from gnomon.people.order import SlotKind

EXTRAS = "people.jsonl"
LARGEST = 2**28  # bytes of a file that is read
_encode = msgspec.json.Encoder().encode


class Extra(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One response of a person, as it was given."""

    slot: str  # item/3, repeat/3, catch/0
    kind: SlotKind
    item: str  # Item.id
    place: int  # in the person's order, from 0
    response: dict[str, str] = {}  # part -> value
    skipped: str = ""  # the reason
    comment: str = ""
    seconds: float | None = None
    at: datetime | None = None
    right: bool | None = None  # of a catch item


_decode = msgspec.json.Decoder(Extra).decode


def read_extras(folder: Path) -> list[Extra]:
    """The last response to each slot, in the order in which slots were first answered."""
    return list(_last_lines(folder / EXTRAS).values())


class Extras:
    """The file, for writing. The run's lock sees to it that one process writes."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / EXTRAS
        self.last = _last_lines(self._file)
        try:
            remove_torn_line(self._file)
            self._out = self._file.open("ab", buffering=0)
            sync_folder(folder)
        except OSError as error:
            raise _not_kept(self._file, error) from None

    def add(self, extra: Extra) -> None:
        """Write one response down for good."""
        line = _encode(extra) + b"\n"
        before = self._out.seek(0, os.SEEK_END)
        try:
            if self._out.write(line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._out.fileno())
        except OSError as error:
            self._out.truncate(before)  # half a line would spoil the next one
            raise _not_kept(self._file, error) from None
        self.last[extra.slot] = extra

    def close(self) -> None:
        """Let go of the file."""
        self._out.close()


def _last_lines(file: Path) -> dict[str, Extra]:
    if not file.is_file():
        return {}
    if file.stat().st_size > LARGEST:
        raise DataError("it is too large to be read.", "Restore it from a copy.", file=file)
    found: dict[str, Extra] = {}
    for number, line in enumerate(file.read_bytes().splitlines(keepends=True), 1):
        if not line.endswith(b"\n"):  # the process was killed amid this line: nobody was told
            break
        try:
            extra = _decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            hint = "Remove the line, or restore the file from a copy."
            raise DataError(f"not a response: {error}.", hint, file=file, line=number) from None
        found[extra.slot] = extra
    return found


def _not_kept(file: Path, error: OSError) -> RunError:
    return RunError(
        f"{file} cannot be written: {error.strerror or error}.",
        "Free some space or check the permissions, then start again: what was saved is kept.",
    )

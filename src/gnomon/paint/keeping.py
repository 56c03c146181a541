"""The pictures of a run: a folder of files, and a log with one line for each picture.

A picture counts once its line is in the log. Its file is durable before that, so a process that is
killed loses at most the picture it is at, and what was kept is never painted again. Files are named
by their content: nothing that a stranger wrote is in a path, and equal pictures are stored once.
"""

from __future__ import annotations

import errno
import os
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import msgspec

from gnomon.durable import link_or_copy, remove_torn_line, replace_file, sync_folder
from gnomon.errors import DataError, RunError
from gnomon.files import first_bytes
from gnomon.paint.records import Painted, Picture, Request, Trouble
from gnomon.records import digest
from gnomon.vision.images import MOST_DECODED, PNG, Pixels, decode_bytes, size_in

LOG = "pictures.jsonl"
UNFINISHED = "unfinished"  # what painters keep of pictures they are still at
MOST_BYTES = 64 * 2**20  # of one picture's file
MOST_LOG = 2**28  # bytes of a log that is read
LONGEST_REASON = 300  # characters
START_OVER = "Restore it from a copy, or start the run over with --restart."
Key = tuple[str, int]  # an item's id, and which of its pictures


class Pictures:
    """The pictures that were painted so far, by item and number. One process at a time writes.

    The run's lock sees to that.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._painted = read_log(folder)
            _check_own(folder / LOG)
            remove_torn_line(folder / LOG)
        except OSError as error:
            raise _not_kept(folder, error) from None

    def find(self, item: str, number: int) -> Painted | None:
        """A picture that was kept, or why there is none; none if it was not painted yet."""
        return self._painted.get((item, number))

    def __len__(self) -> int:
        return len(self._painted)

    def keep(self, request: Request, made: Picture | Trouble, painter: str) -> Painted:
        """Keep a picture for good; one that cannot be looked at becomes its own trouble."""
        if isinstance(made, Picture):
            made = _trouble_of(made) or made
        painted = Painted(
            item=request.item.id,
            number=request.number,
            prompt=request.prompt,
            seed=request.seed,
            painter=painter,
        )
        if isinstance(made, Trouble):
            painted = msgspec.structs.replace(painted, trouble=made.reason[:LONGEST_REASON])
            self._note(painted)
            return painted
        try:
            file, known = self._store(made.content)
        except OSError as error:
            raise _not_kept(self.folder, error) from None
        painted = msgspec.structs.replace(painted, file=file, sha256=known, truth=made.truth)
        self._note(painted)
        return painted

    def adopt(self, other: Path) -> int:
        """Take over the pictures of another run without copying them, where the disk allows it."""
        taken = 0
        for key, painted in read_log(other).items():
            if key in self._painted:
                continue
            try:
                if painted.file:
                    link_or_copy(other / painted.file, self.folder / painted.file)
            except OSError as error:
                raise _not_kept(self.folder, error) from None
            self._note(painted)
            taken += 1
        return taken

    def open(self, painted: Painted) -> Pixels:
        """The pixels of a picture that was kept; an error if its file is gone or changed."""
        file = self.folder / painted.file
        content = first_bytes(file, MOST_BYTES + 1, "Restore the file.")
        if sha256(content).hexdigest() != painted.sha256:
            raise DataError(
                "the picture is not the one that was painted.", "Restore it.", file=file
            )
        return decode_bytes(content, file)

    def _store(self, content: bytes) -> tuple[str, str]:
        """Write the bytes under their own name: whole or not at all."""
        known = sha256(content).hexdigest()
        ending = "png" if content.startswith(PNG) else "jpg"
        name = f"{known[:32]}.{ending}"
        file = self.folder / name
        if file.is_file() and file.stat().st_size == len(content):
            return name, known
        replace_file(file, content)
        sync_folder(self.folder)
        return name, known

    def _note(self, painted: Painted) -> None:
        try:
            with (self.folder / LOG).open("ab") as log:
                log.write(msgspec.json.encode(painted) + b"\n")
                log.flush()
                os.fsync(log.fileno())
        except OSError as error:
            raise _not_kept(self.folder, error) from None
        self._painted[painted.item, painted.number] = painted


def painter_name(spec: str, description: dict[str, object]) -> str:
    """A painter as the log names it: by its spec and a digest of what determines its pictures."""
    about = msgspec.json.encode(description, order="sorted").decode()
    return f"{spec} {digest(about)}"


def _trouble_of(picture: Picture) -> Trouble | None:
    """Why some bytes are no picture that can be kept and looked at."""
    if len(picture.content) > MOST_BYTES:
        return Trouble(f"the picture has more than {MOST_BYTES // 2**20} MB")
    try:
        size = size_in(BytesIO(picture.content), Path("the picture"))
    except DataError as error:
        return Trouble(error.message.removeprefix("the picture: ").rstrip("."))
    if size.width * size.height > MOST_DECODED:
        return Trouble(f"a picture of {size.width:,} x {size.height:,} pixels is too large")
    return None


def read_log(folder: Path) -> dict[Key, Painted]:
    """All that a folder of pictures holds. A last line without an end was cut off by a kill."""
    file = folder / LOG
    if not file.exists():
        return {}
    if file.stat().st_size > MOST_LOG:
        raise DataError("the log of pictures is too large.", START_OVER, file=file)
    found: dict[Key, Painted] = {}
    lines = file.read_bytes().split(b"\n")[:-1]
    for number, line in enumerate(lines, start=1):
        try:
            painted = msgspec.json.decode(line, type=Painted)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise DataError(
                f"not a picture: {error}.", START_OVER, file=file, line=number
            ) from None
        if painted.file != Path(painted.file).name:
            problem = "the picture's file is in another folder."
            raise DataError(problem, START_OVER, file=file, line=number)
        found[painted.item, painted.number] = painted
    return found


def _check_own(log: Path) -> None:
    """Whoever sent the run may have put a link there, and lines would be added elsewhere."""
    if log.is_symlink():
        raise DataError("the log of pictures is a link.", START_OVER, file=log)


def _not_kept(folder: Path, error: OSError) -> RunError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return RunError(
            f"The disk that holds {folder} is full.",
            "Free some space and give the same command again: pictures that were kept stay.",
        )
    return RunError(
        f"Pictures cannot be kept in {folder}: {error.strerror or error}.",
        "Check the folder's permissions, or give another with --runs.",
    )

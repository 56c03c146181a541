"""Many pictures into a folder, by several processes; what is there and right is not drawn again.

A picture's name is a digest of its scene, its size and the data of all things, so the same scene
has the same file; the scene lies beside it. Each is written beside its place and then moved: no
half picture is left.
"""

import os
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from gnomon.errors import DataError
from gnomon.files import package_data
from gnomon.jobs import Notice, Watch, do_jobs
from gnomon.records import digest
from gnomon.scenes.pictures import PNG, check_size, chunks, paint, png, scene_file
from gnomon.scenes.scenes import Scene, from_json, to_json

# How scenes look: another word, whenever the same scene is drawn with other pixels. Names of
# pictures depend on it, so it stays while they do; a test holds it against the data of the things.
EDITION = "4ac4d3807b6a"
PART = ".part"  # how the name of an unfinished picture ends
OLD = 3600.0  # seconds after which an unfinished picture counts as left behind


@cache
def data_digest() -> str:
    """A digest of all data from which scenes are made: things, thresholds, palette, words."""
    texts = []
    for folder in ("things", "space", "lexicon"):
        for file in sorted(package_data(folder).glob("*.yaml")):
            texts.append(file.read_text(encoding="utf-8"))
    return digest(*texts)


def picture_name(scene: Scene, size: int) -> str:
    """The name of a picture's file: the same for the same scene in every process."""
    return f"{digest(EDITION, to_json(scene), str(size), digits=20)}.png"


def draw_missing(
    scenes: Mapping[str, Scene],
    folder: Path,
    size: int,
    *,
    meshes: bool = False,
    processes: int = 0,
    watch: Watch | None = None,
) -> int:
    """Draw those of the named scenes whose pictures are not there yet; gives how many."""
    check_size(size)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = "Check the path and its permissions."
        raise DataError(f"{error.strerror}.", hint, file=folder) from None
    _remove_leftovers(folder)
    tasks = []
    for name, scene in scenes.items():
        if not is_whole(folder / name, size):
            tasks.append([to_json(scene), str(folder / name), size, meshes])
    told = watch or Notice("Drawing pictures (once, then kept)")
    for _ in do_jobs(draw_one, tasks, processes=processes, watch=told):
        pass
    return len(tasks)


def draw_one(task: Any) -> None:
    """Draw a scene of JSON into a file, whole or not at all, and keep the scene beside it."""
    scene, path, size, meshes = task
    file = Path(path)
    part = file.with_name(f".{file.name}.{os.getpid()}{PART}")
    try:
        scene_file(file).write_text(f"{scene}\n", encoding="utf-8")
        part.write_bytes(_picture(from_json(scene), size, meshes=meshes))
        part.replace(file)
    except OSError as error:
        hint = "Check the disk and the folder's permissions."
        raise DataError(f"cannot be written: {error.strerror}.", hint, file=file) from None
    finally:
        with suppress(OSError):
            part.unlink()


def _picture(scene: Scene, size: int, *, meshes: bool) -> bytes:
    """The bytes of a picture; with meshes it names all who made any, not what is to be seen."""
    notes = {}
    if meshes:
        from gnomon.scenes.meshes import credit, entries

        notes["Copyright"] = credit(set(entries()))
    return png(paint(scene, size, meshes=meshes), notes=notes)


def is_whole(file: Path, size: int) -> bool:
    """Whether a file is a picture of this size, with nothing missing and nothing changed.

    >>> is_whole(Path("nowhere.png"), 64)
    False
    """
    try:
        content = file.read_bytes()
    except OSError:
        return False
    side = size.to_bytes(4)
    if content[16:24] != side + side:
        return False
    length = len(PNG)
    kind = b""
    for kind, body, check in chunks(content):
        if zlib.crc32(kind + body).to_bytes(4) != check:
            return False
        length += len(body) + 12
    return kind == b"IEND" and length == len(content)


def keep_within(folder: Path, most: int, kept: Mapping[str, object]) -> None:
    """Remove the pictures that were used longest ago until a folder holds at most so many bytes."""
    found = []
    total = 0
    for file in folder.glob("*.png"):
        with suppress(OSError):
            state = file.stat()
            total += state.st_size
            found.append((state.st_mtime, file, state.st_size))
    for _, file, length in sorted(found):
        if total <= most:
            return
        if file.name not in kept:
            with suppress(OSError):
                file.unlink()
                total -= length
                scene_file(file).unlink(missing_ok=True)


def _remove_leftovers(folder: Path) -> None:
    """Remove what processes that were killed have left."""
    before = time.time() - OLD
    for file in folder.glob(f".*{PART}"):
        with suppress(OSError):
            if file.stat().st_mtime < before:
                file.unlink()

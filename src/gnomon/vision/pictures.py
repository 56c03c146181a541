"""The pictures of items, as models are shown them: whole, bounded, and those of the question.

Every model that sees gets its pictures here. A picture that cannot be shown is a trouble of its
item, never the end of a run. Reading and decoding go on in threads ahead of the model.
"""

import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from gnomon.downloads.catalogue import cache_folder
from gnomon.downloads.download import download
from gnomon.errors import DataError
from gnomon.files import first_bytes
from gnomon.records import Image
from gnomon.vision import images
from gnomon.vision.images import MOST_BYTES, LargePictureError, Pixels

_DIGEST = re.compile("[0-9a-f]{64}")
AHEAD = 16  # pictures that may be ready before the model asks for them
Thing = TypeVar("Thing")
Made = TypeVar("Made")


class Prepared(NamedTuple, Generic[Made]):
    """What was made of a picture, or why it cannot be shown."""

    made: Made | None
    trouble: str = ""


def file_of(image: Image) -> Path:
    """Where a picture is on this machine: an address of the web is fetched into the cache once."""
    if not image.path.startswith(("http://", "https://")):
        return Path(image.path)
    is_digest = _DIGEST.fullmatch(image.sha256)  # a stranger's file may have a path in its place
    name = image.sha256 if is_digest else sha256(image.path.encode()).hexdigest()
    target = cache_folder() / "photos" / name
    if not target.exists():
        download(image.path, target, sha256=image.sha256, limit=MOST_BYTES)
    return target


def stored(image: Image) -> bytes:
    """The bytes of a picture's file, which must be those that the question was made with."""
    file = file_of(image)
    content = first_bytes(file, MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        most = MOST_BYTES // 2**20
        raise DataError(f"the picture has more than {most} MB.", "Scale it down.", file=file)
    if image.sha256 and sha256(content).hexdigest() != image.sha256:
        raise DataError(
            "the picture is not the one that the question was made with.",
            "Restore the file, or start the run over with --restart.",
            file=file,
        )
    return content


def pixels(image: Image) -> Pixels:
    """The picture as 8-bit RGB."""
    return images.decode_bytes(stored(image), file_of(image))


def see(
    things: Iterable[Thing], make: Callable[[Thing], Made], *, threads: int = 0, ahead: int = AHEAD
) -> Iterator[Prepared[Made]]:
    """What `make` gives for each picture, in order; a `DataError` becomes the picture's trouble.

    A thing is an `Image`, or several that are shown together.

    At most `ahead` are made before they are asked for; a large picture is made when it is asked
    for, so that one at a time is held. `threads` 0 is as many as there are cores, at most four.
    """
    with ThreadPoolExecutor(threads or min(4, os.cpu_count() or 1)) as pool:
        waiting: deque[tuple[Thing, Future[Prepared[Made] | None]]] = deque()
        try:
            for thing in things:
                waiting.append((thing, pool.submit(_ahead, thing, make)))
                if len(waiting) > ahead:
                    yield _in_turn(*waiting.popleft(), make)
            while waiting:
                yield _in_turn(*waiting.popleft(), make)
        finally:
            for _, future in waiting:
                future.cancel()


def _ahead(thing: Thing, make: Callable[[Thing], Made]) -> Prepared[Made] | None:
    """What is made of a picture before its turn; none if it is too large for that."""
    try:
        with images.small_only():
            return _seen(thing, make)
    except LargePictureError:
        return None


def _in_turn(
    thing: Thing, coming: Future[Prepared[Made] | None], make: Callable[[Thing], Made]
) -> Prepared[Made]:
    return coming.result() or _seen(thing, make)


def _seen(thing: Thing, make: Callable[[Thing], Made]) -> Prepared[Made]:
    try:
        return Prepared(make(thing))
    except DataError as error:
        return Prepared(None, error.message)


# Pictures as a mirror shows them: made once, exact, and never beside the original file.


DIGITS = 24  # of the sha256 in a name: no two pictures will ever share them


def mirrored(image: Image, folder: Path) -> Image:
    """The picture with left and right changed, as a PNG file in a folder.

    It is named by the sha256 of the original, and made only if it is not there yet.
    """
    file = folder / f"mirrored-{image.sha256[:DIGITS]}.png"
    if not file.is_file():
        from PIL.Image import Transpose

        _write(pixels(image).transpose(Transpose.FLIP_LEFT_RIGHT), file)
    return images.describe(file)


def _write(picture: Pixels, file: Path) -> None:
    """Write beside its place, then move: no half picture is left under the name."""
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        picture.save(part, "PNG")
        part.replace(file)
    except OSError as error:
        part.unlink(missing_ok=True)
        hint = "Check the path and its permissions."
        raise DataError(f"{error.strerror}.", hint, file=file) from None

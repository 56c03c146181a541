"""Pictures: files and addresses decoded, described and checked, and looked at ahead of the model.

Pictures come from strangers: only regular files are opened, a few headers of each are read before a
decoder sees a byte, and a picture of more pixels than a photograph can have is refused. What a
picture says of itself is left alone: a turn in its EXIF data is not made, no link is followed, and
of an animation only the first frame counts.
"""

from __future__ import annotations

import base64
import os
import re
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Generic, NamedTuple, TypeAlias, TypeVar

from gnomon.downloads.catalogue import cache_folder
from gnomon.downloads.download import download
from gnomon.errors import DataError, importing
from gnomon.files import first_bytes, open_regular
from gnomon.fingerprint import sha256_of
from gnomon.records import Image
from gnomon.vision import images

if TYPE_CHECKING:
    import PIL.Image


MOST_PIXELS = 2**28  # a quarter of a gigapixel
MOST_BYTES = 2**28  # of a file
MOST_SEGMENTS = 1000  # of a JPEG before its frame; real ones have about ten
PICTURE_ENDINGS = (".jpg", ".jpeg", ".png")
PNG = b"\x89PNG\r\n\x1a\n"
JPEG = b"\xff\xd8"
# The markers that begin a frame: C0 to CF without the tables C4, C8 and CC.
FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
BARE = frozenset({0x01, *range(0xD0, 0xD8)})  # markers without a length
FETCH_AGAIN = "Remove the file and fetch or copy it again."


class PictureSize(NamedTuple):
    """Width and height in pixels, as stored: a turn that the file asks for is not made."""

    width: int
    height: int


def describe(path: str | Path) -> Image:
    """The record of a picture file, JPEG or PNG: where it is, its sha256, its width and height.

    A file is hashed once in a process, and again if its size or time of change differs.
    """
    file = Path(path)
    try:
        state = file.stat()
    except OSError as error:
        raise DataError(f"{error.strerror}.", "Check the path.", file=file) from None
    return _described(str(path), state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=2**16)
def _described(path: str, length: int, changed: int) -> Image:
    file = Path(path)
    size = size_of(file)
    if length > MOST_BYTES:
        raise DataError(
            f"the picture has more than {MOST_BYTES // 2**20} MB.", "Scale it down.", file=file
        )
    return Image(path=path, sha256=sha256_of(file), width=size.width, height=size.height)


def photos_in(folder: Path) -> Iterator[Path]:
    """Every picture file below a folder, in the order of their paths."""
    if not folder.is_dir():
        raise DataError("there is no such folder.", "Check the path.", file=folder)
    for file in files_below(folder):
        if file.suffix.lower() in PICTURE_ENDINGS:
            yield file


def files_below(folder: Path) -> Iterator[Path]:
    """Every file below a folder, in the order of their paths; hidden ones are left out."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield Path(place, name)


class PictureFolder:
    """The pictures below a folder, found by name or by the number that their name ends in."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._files: dict[str, str] = {}
        for file in photos_in(folder) if folder else ():
            self._files.setdefault(file.name, str(file))
            self._files.setdefault(file.stem, str(file))

    def file_of(self, *names: str) -> str:
        """The path of the picture that has one of the names; empty if there is none."""
        return next((self._files[name] for name in names if name in self._files), "")


def size_of(file: Path) -> PictureSize:
    """The size of a JPEG or PNG file, from its header."""
    try:
        with open_regular(file) as stream:
            return size_in(stream, file)
    except OSError as error:
        raise DataError(f"{error.strerror}.", "Check the path.", file=file) from None


def size_in(stream: IO[bytes], file: Path) -> PictureSize:
    """The size of the JPEG or PNG picture that a stream holds; `file` is for error messages."""
    size = _read_size(stream)
    if size is None:
        raise DataError("this is not a complete JPEG or PNG picture.", FETCH_AGAIN, file=file)
    if not 0 < size.width * size.height <= MOST_PIXELS:
        shown = f"{size.width:,} x {size.height:,}"
        raise DataError(f"a picture of {shown} pixels is not read.", FETCH_AGAIN, file=file)
    return size


def _read_size(stream: IO[bytes]) -> PictureSize | None:
    head = stream.read(2)
    if head == JPEG:
        return _jpeg_size(stream)
    head += stream.read(22)
    if head.startswith(PNG) and head[12:16] == b"IHDR" and len(head) == 24:
        return PictureSize(int.from_bytes(head[16:20]), int.from_bytes(head[20:24]))
    return None


def _jpeg_size(stream: IO[bytes]) -> PictureSize | None:
    """The size in the frame header, which stands behind any number of other segments."""
    for _ in range(MOST_SEGMENTS):
        marker = _next_marker(stream)
        if marker in FRAMES:
            frame = stream.read(7)  # length, bits, height, width
            if len(frame) < 7:
                return None
            return PictureSize(int.from_bytes(frame[5:7]), int.from_bytes(frame[3:5]))
        if marker is None or marker in (0xD9, 0xDA):  # the picture ends, or its data begin
            return None
        if marker in BARE:
            continue
        length = int.from_bytes(stream.read(2))
        if length < 2:
            return None
        stream.seek(length - 2, 1)
    return None


def _next_marker(stream: IO[bytes]) -> int | None:
    """The byte after FF, of which there may be several; none where there is no marker."""
    if stream.read(1) != b"\xff":
        return None
    for _ in range(MOST_SEGMENTS):
        byte = stream.read(1)
        if byte != b"\xff":
            return byte[0] if byte else None
    return None


# The one place where a stranger's picture is decoded: bounded, complete, and always plain RGB.


Pixels: TypeAlias = "PIL.Image.Image"  # a decoded picture, for annotations: Pillow loads late
MOST_DECODED = 64_000_000  # pixels: 192 MB as RGB
LARGE = 8_000_000  # pixels: pictures beyond that are not decoded ahead, to bound memory
_here = threading.local()  # whether this thread decodes small pictures only
_ONE_WARNING = threading.Lock()
FORMATS = ("JPEG", "PNG")
THUMBNAIL = 160  # pixels of the longer side
QUALITY = 70


def check_decoder() -> None:
    """Refuse to begin where pictures cannot be decoded."""
    with importing("Pictures", "vision"):
        import PIL.Image  # noqa: F401


class LargePictureError(Exception):
    """The picture is too large to be decoded before its turn."""


@contextmanager
def small_only() -> Iterator[None]:
    """Inside, this thread raises `LargePictureError` instead of decoding a large picture."""
    _here.small_only = True
    try:
        yield
    finally:
        _here.small_only = False


def decode(path: str | Path) -> Pixels:
    """The picture in a file as 8-bit RGB; whatever is transparent shows white."""
    file = Path(path)
    try:
        with open_regular(file) as stream:
            return _decoded(stream, file)
    except OSError as error:
        raise DataError(f"{error.strerror}.", "Check the path.", file=file) from None


def decode_bytes(content: bytes, file: Path) -> Pixels:
    """The picture in some bytes, as `decode` gives it; `file` is for error messages."""
    return _decoded(BytesIO(content), file)


def thumbnail(path: str | Path, side: int = THUMBNAIL) -> str:
    """A small copy as a data URI, for pages that must not load anything from outside."""
    file = Path(path)
    try:
        with open_regular(file) as stream:
            small = _decoded(stream, file, shrink_to=side)
    except OSError as error:
        raise DataError(f"{error.strerror}.", "Check the path.", file=file) from None
    small.thumbnail((side, side))
    kept = BytesIO()
    small.save(kept, "JPEG", quality=QUALITY)
    return "data:image/jpeg;base64," + base64.b64encode(kept.getvalue()).decode()


def _decoded(stream: IO[bytes], file: Path, *, shrink_to: int = 0) -> Pixels:
    check_decoder()
    import PIL.Image

    size = size_in(stream, file)
    pixels = size.width * size.height
    if pixels > MOST_DECODED:
        shown = f"{size.width:,} x {size.height:,}"
        raise DataError(f"a picture of {shown} pixels is not decoded.", "Scale it down.", file=file)
    if pixels > LARGE and getattr(_here, "small_only", False):
        raise LargePictureError
    stream.seek(0)
    try:
        picture = _opened(stream)
        if shrink_to:
            picture.draft("RGB", (shrink_to, shrink_to))  # a JPEG can be read smaller
        picture.load()
        return _plain(picture)
    except (
        PIL.UnidentifiedImageError,
        PIL.Image.DecompressionBombError,
        OSError,
        SyntaxError,
        ValueError,
        EOFError,
    ) as error:
        reason = " ".join(str(error).split())[:120]
        raise DataError(f"the picture is damaged: {reason}.", FETCH_AGAIN, file=file) from None


def _opened(stream: IO[bytes]) -> Pixels:
    """The picture, its header read: what damaged EXIF data it has is not used, nor warned of."""
    import PIL.Image

    with _ONE_WARNING, warnings.catch_warnings():  # which all threads share
        warnings.simplefilter("ignore")
        return PIL.Image.open(stream, formats=FORMATS)


def _plain(picture: Pixels) -> Pixels:
    """8-bit RGB. Deeper greys are scaled, and what is transparent is laid on white."""
    import PIL.Image

    if picture.mode.startswith("I"):  # 16-bit grey, which `convert` would cut off at 255
        picture = picture.point(lambda value: value * (1 / 256)).convert("L")
    if picture.mode in ("LA", "PA", "RGBA") or "transparency" in picture.info:
        over = picture if picture.mode == "RGBA" else picture.convert("RGBA")
        white = PIL.Image.new("RGB", over.size, "white")
        white.paste(over, mask=over.getchannel("A"))
        return white
    return picture.convert("RGB")


# The pictures of items, as models are shown them: whole, bounded, and those of the question.
#
# Every model that sees gets its pictures here. A picture that cannot be shown is a trouble of its
# item, never the end of a run. Reading and decoding go on in threads ahead of the model.


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

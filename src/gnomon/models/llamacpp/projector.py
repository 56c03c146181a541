"""Pictures for a model of llama.cpp: a projector (mmproj) turns them into what the model reads.

In a path of tokens a picture is a run of one number below zero, as long as the positions that it
takes. So paths with pictures share their beginnings as others do, and a picture that is in the
model's cache is not computed again. In the text that a model reads, a sign stands for each picture,
before the question. Pictures are decoded ahead of the model, and no more of them are in memory than
one item shows and a few to come.
"""

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from gnomon.downloads.download import printable
from gnomon.errors import ModelError
from gnomon.fingerprint import remembered_sha256
from gnomon.grouped import grouped
from gnomon.models.choices import take
from gnomon.models.llamacpp import library
from gnomon.models.llamacpp.llama import CHUNK, Llama
from gnomon.models.prompts.chat import Messages, Writer, showing
from gnomon.records import Answer, Item
from gnomon.vision.images import Pixels, Prepared, pixels, see

PROJECTOR = ("clip.projector_type", "clip.vision.projector_type")
_OTHER = "Give the mmproj file that was published together with the model."


class PicturePath(NamedTuple):
    """A picture as a part of a path: tokens that mark where it begins and ends, and itself."""

    path: list[int]
    more: int  # tokens that it takes of the model's window, beyond the length of the path


class _Chunk(NamedTuple):
    """A picture, or a part of one, that is computed at once."""

    address: Any
    positions: int


class UnshowableError(ValueError):
    """A picture that this projector cannot show to this model."""


class Projector:
    """One projector in memory, beside the model that it belongs to."""

    def __init__(self, file: Path, llama: Llama, *, threads: int) -> None:
        self.file = file
        self._api = library.open_mtmd()
        self._llama = llama
        self._numbers: dict[tuple[str, int], int] = {}  # of (a picture's digest, its chunk)
        self._chunks: dict[int, _Chunk] = {}  # of the pictures that are shown now, by number
        self._handle: Any = None
        self.shown = 0  # chunks that were computed, for the curious and for tests
        self.projector = self._read_projector()
        self._handle = self._load(threads)
        if not self._api.mtmd_support_vision(self._handle):
            self.close()
            raise ModelError(f"{file} is a projector for sound, not for pictures.", _OTHER)
        llama.look = self.look

    def describe(self) -> dict[str, Any]:
        """What of the projector determines the scores."""
        return {
            "file": self.file.name,
            "sha256": remembered_sha256(self.file),
            "projector": self.projector,
        }

    def close(self) -> None:
        """Free the memory. A second call does nothing."""
        handle, self._handle = self._handle, None
        if handle:
            self._api.mtmd_free(handle)

    @contextmanager
    def showing(self, pictures: Sequence[Pixels]) -> Iterator[list[PicturePath]]:
        """The pictures as parts of paths, which can be computed as long as this lasts."""
        lists: list[Any] = []
        try:
            found = []
            for picture in pictures:
                lists.append(self._prepare(picture))
                found.append(self._as_path(lists[-1], _digest(picture)))
            yield found
        finally:
            self._chunks.clear()
            for chunks in lists:
                self._api.mtmd_input_chunks_free(chunks)

    def look(self, path: Sequence[int], begin: int) -> int:
        """Compute a path from a place on, up to the end of its last picture; where that is."""
        at = begin
        for start in range(begin, len(path)):
            if path[start] >= 0 or start < at:  # or within a picture that was just shown
                continue
            self._llama.read(path[at:start])
            at = start + self._show(path[start], start)
        return at

    def _read_projector(self) -> str:
        kind = library.header_text(self.file, *PROJECTOR)
        if kind:
            return kind
        architecture = library.header_text(self.file, "general.architecture")
        if architecture and architecture != "clip":
            raise ModelError(
                f"{self.file} holds no projector for pictures but a model ({architecture}).", _OTHER
            )
        return ""  # an old file, or a damaged one: loading it will say

    def _load(self, threads: int) -> Any:
        library.forget_complaints()
        settings = library.parameters(self._api, threads)
        name = str(self.file).encode()
        model, _ = self._llama.handles
        handle = self._api.mtmd_init_from_file(name, model, settings)
        if handle:
            return handle
        said = library.last_complaint().partition("\n")[0]
        reason = printable(said.rpartition(f"'{self.file}': ")[2])
        raise ModelError(
            f"{self.file} cannot be used as eyes of this model: {reason}.",
            f"{_OTHER} If it is, fetch it again, or update xllamacpp.",
        )

    def _prepare(self, picture: Pixels) -> Any:
        """The library's list of chunks for a picture, scaled and cut as the projector wants it."""
        width, height = picture.size
        bitmap = self._api.mtmd_bitmap_init(width, height, picture.tobytes())
        chunks = self._api.mtmd_input_chunks_init()
        parts = (ctypes.POINTER(library.InputPart) * 1)(
            ctypes.pointer(library.InputPart(None, bitmap))
        )
        library.forget_complaints()
        try:
            status = self._api.mtmd_tokenize_from_parts(self._handle, chunks, parts, 1, False)
        finally:
            self._api.mtmd_bitmap_free(bitmap)
        if status != 0:
            self._api.mtmd_input_chunks_free(chunks)
            raise UnshowableError(
                f"the projector cannot show this picture: {library.last_complaint()}"
            )
        return chunks

    def _as_path(self, chunks: Any, digest: str) -> PicturePath:
        path: list[int] = []
        tokens = 0
        count = ctypes.c_size_t()
        for place in range(self._api.mtmd_input_chunks_size(chunks)):
            chunk = self._api.mtmd_input_chunks_get(chunks, place)
            tokens += self._api.mtmd_input_chunk_get_n_tokens(chunk)
            if self._api.mtmd_input_chunk_get_type(chunk) != library.IMAGE:
                written = self._api.mtmd_input_chunk_get_tokens_text(chunk, ctypes.byref(count))
                path += written[: count.value]
                continue
            self._check_fits(chunk)
            number = self._numbers.setdefault((digest, place), -1 - len(self._numbers))
            positions = self._api.mtmd_input_chunk_get_n_pos(chunk)
            self._chunks[number] = _Chunk(chunk, positions)
            path += [number] * positions
        return PicturePath(path, tokens - len(path))

    def _check_fits(self, chunk: Any) -> None:
        """Where the parts of a picture see each other, llama.cpp must compute them in one go."""
        tokens = self._api.mtmd_input_chunk_get_n_tokens(chunk)
        if tokens > CHUNK and self._api.mtmd_decode_use_non_causal(self._handle, chunk):
            raise UnshowableError(
                f"the picture takes {tokens} tokens at once, at most {CHUNK} can be"
            )

    def _show(self, number: int, start: int) -> int:
        """Compute a chunk at its place in the path; how many positions it takes."""
        address, positions = self._chunks[number]
        _, context = self._llama.handles
        end = ctypes.c_int32()
        place = (start, 0, CHUNK, False, ctypes.byref(end))
        status = self._api.mtmd_helper_eval_chunk_single(self._handle, context, address, *place)
        if status != 0 or end.value != start + positions:
            self._llama.forget()  # a part of it may have been computed
            raise RuntimeError(f"llama.cpp could not compute a picture (status {status})")
        self._llama.cached += [number] * positions
        self.shown += 1
        return positions


def _digest(picture: Pixels) -> str:
    """What tells a picture from others: its pixels and its shape."""
    width, height = picture.size
    return sha256(f"{width} {height} ".encode() + picture.tobytes()).hexdigest()


# --- items with pictures: those that show the same ones are asked together ------------------------


SIGN = "<__picture__>"
AHEAD = 2  # pictures that are decoded before the model asks for them
Answerer = Callable[[Sequence[Item], Sequence[PicturePath]], Sequence[Answer]]


def answer_seeing(items: Sequence[Item], eyes: Projector, answer: Answerer) -> list[Answer]:
    """An answer for each item; `answer` is given items that show the same pictures, and these.

    A picture that cannot be shown is the error of the items that show it.
    """
    groups = grouped(range(len(items)), lambda number: items[number].images)
    opened = see((image for images in groups for image in images), pixels, ahead=AHEAD)
    found: dict[int, Answer] = {}
    for images, numbers in groups.items():
        seen = list(islice(opened, len(images)))
        alike = take(items, numbers)
        found.update(zip(numbers, _answer_alike(alike, seen, eyes, answer), strict=True))
    return [found[number] for number in range(len(items))]


def writer_with_signs(write: Writer, pictures: int) -> Writer:
    """A chat template for questions with so many pictures: their signs stand before the last one.

    Some templates read the parts of a message one by one and lose a message that is a plain text.
    """
    if not pictures:
        return write
    signs = {"mark": SIGN, "gap": ""}
    plain = showing(write, pictures, **signs)
    in_parts = showing(showing(write, 0), pictures, **signs)

    def write_with_signs(messages: Messages, begin: bool) -> str:
        text = plain(messages, begin)
        return text if SIGN * pictures in text else in_parts(messages, begin)

    return write_with_signs


def split_at_signs(text: str, pictures: int) -> list[str]:
    """What stands before, between and after the pictures.

    >>> split_at_signs("Look: <__picture__> A cat?", 1)
    ['Look: ', ' A cat?']
    """
    if not pictures:
        return [text]
    parts = text.split(SIGN)
    if len(parts) != pictures + 1:
        raise ValueError(f"the prompt has {len(parts) - 1} signs for {pictures} pictures")
    return parts


def _answer_alike(
    items: Sequence[Item], seen: Sequence[Prepared[Pixels]], eyes: Projector, answer: Answerer
) -> Sequence[Answer]:
    troubles = [each.trouble for each in seen if each.trouble]
    if troubles:
        return _failed(items, troubles[0])
    try:
        with eyes.showing([each.made for each in seen if each.made is not None]) as pictures:
            return answer(items, pictures)
    except UnshowableError as error:
        return _failed(items, str(error))


def _failed(items: Sequence[Item], trouble: str) -> list[Answer]:
    return [Answer(item=item.id, error=trouble) for item in items]

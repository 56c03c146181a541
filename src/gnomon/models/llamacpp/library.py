"""llama.cpp by its C interface: the library that the binding brings, found, opened and checked.

The binding (xllamacpp) offers a server in Python but not the logits, so the few functions needed
are called directly, those for pictures (mtmd) among them. How the library lays out its blocks of
values is checked when it is opened: one that differs is refused, never misread.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from gnomon.errors import MissingExtraError, ModelError
from gnomon.files import package_data, read_yaml
from gnomon.models.machine import patient_threads

# n_ctx, n_batch, n_ubatch and n_seq_max of llama_context_default_params()
DEFAULTS = (512, 2048, 512, 1)

_int, _bool, _pointer, _text = ctypes.c_int32, ctypes.c_bool, ctypes.c_void_p, ctypes.c_char_p
TOKEN = ctypes.c_int32
_Log = ctypes.CFUNCTYPE(None, ctypes.c_int, _text, _pointer)


class _Parameters(ctypes.Structure):
    """A parameter block, larger than any version's: passed by value, its tail untouched."""

    _fields_ = (("fields", ctypes.c_uint32 * 256),)


class Batch(ctypes.Structure):
    """llama_batch: the tokens to compute, where they stand, and which of them need logits."""

    _fields_ = (
        ("n_tokens", _int),
        ("token", _pointer),
        ("embd", _pointer),
        ("pos", _pointer),
        ("n_seq_id", _pointer),
        ("seq_id", _pointer),
        ("logits", _pointer),
        ("spare", _pointer * 8),  # room, should the library's block be larger than ours
    )


def decoded(raw: bytes | None) -> str:
    """A text of the library; bytes that are no text are replaced."""
    return (raw or b"").decode("utf-8", "replace")


_complaints: list[str] = []
_WARNING, _ERROR = 3, 4  # ggml's levels


def _keep_complaint(level: int, text: bytes, _: Any) -> None:
    """llama.cpp's log goes nowhere, but its last complaints are kept for the error message."""
    line = decoded(text).strip().removesuffix(".")
    if line and level in (_WARNING, _ERROR):
        _complaints[:] = [*_complaints[-4:], line]


listen = _Log(_keep_complaint)  # must outlive the library, which keeps a pointer to it


def forget_complaints() -> None:
    """Before something is tried whose failure is to be explained."""
    _complaints.clear()


def last_complaint() -> str:
    """Why the library failed, in its own words."""
    if not _complaints:
        return "it does not say why"
    function, _, reason = _complaints[0].partition(": ")
    return reason or function


def library_file() -> Path:
    """The binding's shared library; an error says what to install."""
    from importlib.util import find_spec

    spec = find_spec("xllamacpp")
    if spec is None or spec.origin is None:
        raise MissingExtraError("A GGUF model", "gguf")
    for suffix in ("so", "pyd", "dylib"):
        for file in sorted(Path(spec.origin).parent.glob(f"*.{suffix}")):
            return file
    raise unfit("it has no shared library")


@cache
def open_library() -> Any:
    """The binding's shared library, with the signatures of the functions used, checked."""
    try:
        with patient_threads():
            library = ctypes.CDLL(str(library_file()))
    except OSError as error:
        raise unfit(str(error)) from None
    set_signatures(library, "texts")
    check_layout(library)
    library.llama_log_set(listen, None)
    library.llama_backend_init()
    return library


@cache
def _signatures() -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = read_yaml(package_data("llamacpp.yaml"))
    return found


def set_signatures(library: Any, about: str) -> None:
    """Say what functions give and take; a library that lacks one of them is refused."""
    try:
        for name, types in _signatures()[about].items():
            function = getattr(library, name)
            function.restype = _TYPES[types[0]]
            function.argtypes = [_TYPES[kind] for kind in types[1:]]
    except AttributeError as error:
        raise unfit(str(error)) from None


def check_layout(library: Any) -> None:
    """Refuse a library whose blocks of values are laid out in another way than is written here."""
    defaults = tuple(library.llama_context_default_params().fields[:4])
    if defaults != DEFAULTS:
        raise unfit(f"a context's parameters begin with {defaults}, not {DEFAULTS}")

    batch = library.llama_batch_init(1, 0, 1)  # a batch of tokens, so without embeddings
    filled = (batch.token, batch.pos, batch.n_seq_id, batch.seq_id, batch.logits)
    if not all(filled) or batch.n_tokens or batch.embd:
        raise unfit("a batch of tokens is laid out in another way")
    library.llama_batch_free(batch)


def unfit(reason: str) -> ModelError:
    """The error for a library that is not as it is known here."""
    return ModelError(
        "The installed xllamacpp does not offer llama.cpp's C interface as Gnomon knows it: "
        f"{reason}.",
        "Install another version of it (2026.10 is known to work), or serve the file with "
        "llama.cpp's own server and ask that with -m openai.",
    )


# --- GGUF files: what their headers say, and where their tensors are ------------------------------


_STRING = 8  # the type of a text in a GGUF file's header


class _HeaderOnly(ctypes.Structure):
    """gguf_init_params: no_alloc, and no context for tensors."""

    _fields_ = (("no_alloc", _bool), ("context", _pointer))


@contextmanager
def open_header(file: Path) -> Iterator[tuple[Any, Any]]:
    """While inside, a library that reads GGUF files, and its handle of one; none if it is none."""
    library = open_library()
    set_signatures(library, "files")
    handle = library.gguf_init_from_file(str(file).encode(), _HeaderOnly(True, None))
    try:
        yield library, handle
    finally:
        if handle:
            library.gguf_free(handle)


def header_text(file: Path, *keys: str) -> str:
    """The first of some texts in a GGUF file's header that is there; empty if none is."""
    with open_header(file) as (library, header):
        for key in keys if header else ():
            at = library.gguf_find_key(header, key.encode())
            if at >= 0 and library.gguf_get_kv_type(header, at) == _STRING:
                return decoded(library.gguf_get_val_str(header, at))
    return ""


# --- llama.cpp's interface for pictures (mtmd) ---------------------------------------------------


IMAGE = 1  # the type of a chunk that is a picture, or a part of one
# mtmd_context_params_default() as 64-bit words, before and after the one that points to the marker
_THREADS = 2  # word: print_timings, n_threads
_BEFORE, _MARKER, _AFTER = (1, 0, 0x4_0000_0001, 0), 4, 0x1_FFFF_FFFF


class PictureParameters(ctypes.Structure):
    """mtmd_context_params, larger than any version's: passed by value, its tail untouched."""

    _fields_ = (("words", ctypes.c_uint64 * 64),)


class InputPart(ctypes.Structure):
    """mtmd_input_part: a text, or a picture."""

    _fields_ = (("text", _pointer), ("bitmap", _pointer))


# as data/llamacpp.yaml names them
_TYPES: dict[str, Any] = {
    "nothing": None,
    "pointer": _pointer,
    "text": _text,
    "bool": _bool,
    "int": _int,
    "int64": ctypes.c_int64,
    "uint32": ctypes.c_uint32,
    "uint64": ctypes.c_uint64,
    "size": ctypes.c_size_t,
    "float": ctypes.c_float,
    "ints": ctypes.POINTER(_int),
    "floats": ctypes.POINTER(ctypes.c_float),
    "sizes": ctypes.POINTER(ctypes.c_size_t),
    "parts": ctypes.POINTER(ctypes.POINTER(InputPart)),
    "log": _Log,
    "batch": Batch,
    "parameters": _Parameters,
    "header": _HeaderOnly,
    "picture parameters": PictureParameters,
}


@cache
def open_mtmd() -> Any:
    """The binding's shared library with the functions for pictures, checked."""
    library = open_library()
    set_signatures(library, "pictures")
    check_picture_layout(library)
    library.mtmd_helper_log_set(ctypes.cast(listen, _pointer), None)
    return library


def check_picture_layout(library: Any) -> None:
    """Refuse a library whose parameters for pictures are laid out in another way."""
    words = list(library.mtmd_context_params_default().words)
    expected = [*_BEFORE, library.mtmd_default_marker(), _AFTER]
    if words[: len(expected)] != expected:
        raise unfit("the parameters for pictures are laid out in another way")


def parameters(library: Any, threads: int) -> PictureParameters:
    """The library's own defaults, with so many threads and no lines about time."""
    found: PictureParameters = library.mtmd_context_params_default()
    found.words[_THREADS] = threads << 32
    return found

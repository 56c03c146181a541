"""llama.cpp's interface for pictures (mtmd), in the same shared library: found, checked, quiet.

It changes from one version to the next, so how its blocks of values are laid out is checked before
a projector is loaded: a library that differs is refused, never misread.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

from gnomon.models.llamacpp.library import decoded, listen, open_library, set_signatures, unfit

_pointer, _text, _bool, _size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_bool, ctypes.c_size_t
_int, _number = ctypes.c_int32, ctypes.c_uint32

IMAGE = 1  # the type of a chunk that is a picture, or a part of one
_STRING = 8  # the type of a text in a GGUF file's header
# mtmd_context_params_default() as 64-bit words, before and after the one that points to the marker
_THREADS = 2  # word: print_timings, n_threads
_BEFORE, _MARKER, _AFTER = (1, 0, 0x4_0000_0001, 0), 4, 0x1_FFFF_FFFF


class Parameters(ctypes.Structure):
    """mtmd_context_params, larger than any version's: passed by value, its tail untouched."""

    _fields_ = (("words", ctypes.c_uint64 * 64),)


class InputPart(ctypes.Structure):
    """mtmd_input_part: a text, or a picture."""

    _fields_ = (("text", _pointer), ("bitmap", _pointer))


class _HeaderOnly(ctypes.Structure):
    """gguf_init_params: no_alloc, and no context for tensors."""

    _fields_ = (("no_alloc", _bool), ("context", _pointer))


_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "mtmd_helper_log_set": (None, [_pointer, _pointer]),
    "mtmd_context_params_default": (Parameters, []),
    "mtmd_default_marker": (_pointer, []),
    "mtmd_init_from_file": (_pointer, [_text, _pointer, Parameters]),
    "mtmd_free": (None, [_pointer]),
    "mtmd_support_vision": (_bool, [_pointer]),
    "mtmd_decode_use_non_causal": (_bool, [_pointer, _pointer]),
    "mtmd_bitmap_init": (_pointer, [_number, _number, _text]),
    "mtmd_bitmap_free": (None, [_pointer]),
    "mtmd_input_chunks_init": (_pointer, []),
    "mtmd_input_chunks_size": (_size, [_pointer]),
    "mtmd_input_chunks_get": (_pointer, [_pointer, _size]),
    "mtmd_input_chunks_free": (None, [_pointer]),
    "mtmd_input_chunk_get_type": (_int, [_pointer]),
    "mtmd_input_chunk_get_n_tokens": (_size, [_pointer]),
    "mtmd_input_chunk_get_n_pos": (_int, [_pointer]),
    "mtmd_input_chunk_get_tokens_text": (
        ctypes.POINTER(_int),
        [_pointer, ctypes.POINTER(_size)],
    ),
    "mtmd_tokenize_from_parts": (
        _int,
        [_pointer, _pointer, ctypes.POINTER(ctypes.POINTER(InputPart)), _size, _bool],
    ),
    "mtmd_helper_eval_chunk_single": (
        _int,
        [_pointer, _pointer, _pointer, _int, _int, _int, _bool, ctypes.POINTER(_int)],
    ),
    "gguf_init_from_file": (_pointer, [_text, _HeaderOnly]),
    "gguf_find_key": (ctypes.c_int64, [_pointer, _text]),
    "gguf_get_kv_type": (_int, [_pointer, ctypes.c_int64]),
    "gguf_get_val_str": (_text, [_pointer, ctypes.c_int64]),
    "gguf_free": (None, [_pointer]),
}


@cache
def open_mtmd() -> Any:
    """The binding's shared library with the functions for pictures, checked."""
    library = open_library()
    set_signatures(library, _SIGNATURES)
    check_layout(library)
    library.mtmd_helper_log_set(ctypes.cast(listen, _pointer), None)
    return library


def check_layout(library: Any) -> None:
    """Refuse a library whose parameters for pictures are laid out in another way."""
    words = list(library.mtmd_context_params_default().words)
    expected = [*_BEFORE, library.mtmd_default_marker(), _AFTER]
    if words[: len(expected)] != expected:
        raise unfit("the parameters for pictures are laid out in another way")


def parameters(library: Any, threads: int) -> Parameters:
    """The library's own defaults, with so many threads and no lines about time."""
    found: Parameters = library.mtmd_context_params_default()
    found.words[_THREADS] = threads << 32
    return found


def header_text(library: Any, file: Path, *keys: str) -> str:
    """The first of some texts in a GGUF file's header that is there; empty if none is."""
    header = library.gguf_init_from_file(str(file).encode(), _HeaderOnly(True, None))
    if not header:
        return ""
    try:
        for key in keys:
            at = library.gguf_find_key(header, key.encode())
            if at >= 0 and library.gguf_get_kv_type(header, at) == _STRING:
                return decoded(library.gguf_get_val_str(header, at))
    finally:
        library.gguf_free(header)
    return ""

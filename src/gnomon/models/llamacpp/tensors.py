"""The numbers in a GGUF file: its tensors as 32-bit floats, and its settings.

llama.cpp's own functions read the file and unpack the weights: 135 million of them in a fifth of a
second.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.errors import ModelError
from gnomon.models.llamacpp.library import Signatures, open_library, set_signatures

Numbers = NDArray[np.float32]

_pointer, _size, _long = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64
_ROW = [_pointer, _pointer, _long]


class _Opening(ctypes.Structure):
    """gguf_init_params: whether to leave the tensors in the file, and where to put them."""

    _fields_ = (("no_alloc", ctypes.c_bool), ("context", _pointer))


_SIGNATURES: Signatures = {
    "gguf_init_from_file": (_pointer, [ctypes.c_char_p, _Opening]),
    "gguf_free": (None, [_pointer]),
    "gguf_find_key": (_long, [_pointer, ctypes.c_char_p]),
    "gguf_get_kv_type": (ctypes.c_int, [_pointer, _long]),
    "gguf_get_val_u32": (ctypes.c_uint32, [_pointer, _long]),
    "gguf_get_val_f32": (ctypes.c_float, [_pointer, _long]),
    "gguf_find_tensor": (_long, [_pointer, ctypes.c_char_p]),
    "gguf_get_tensor_type": (ctypes.c_int, [_pointer, _long]),
    "gguf_get_tensor_size": (_size, [_pointer, _long]),
    "gguf_get_tensor_offset": (_size, [_pointer, _long]),
    "gguf_get_data_offset": (_size, [_pointer]),
    "dequantize_row_q4_1": (None, _ROW),
    "dequantize_row_q8_0": (None, _ROW),
}
_NUMBERS = {4: "gguf_get_val_u32", 6: "gguf_get_val_f32"}  # by the kind of a setting


class _Block(NamedTuple):
    """How numbers are packed: so many bytes for so many numbers, and what unpacks them."""

    bytes: int
    numbers: int
    unpack: str


# by ggml's number of the kind
_PLAIN: dict[int, np.dtype[Any]] = {0: np.dtype(np.float32), 1: np.dtype(np.float16)}
_PACKED = {3: _Block(20, 32, "dequantize_row_q4_1"), 8: _Block(34, 32, "dequantize_row_q8_0")}


class Tensors:
    """An open GGUF file."""

    def __init__(self, file: Path, handle: int) -> None:
        self.file = file
        self._api = open_library()
        self._handle = handle
        self._start = self._api.gguf_get_data_offset(handle)
        self._bytes = np.memmap(file, dtype=np.uint8, mode="r")

    def setting(self, name: str, default: float | None = None) -> float:
        """A number that the file names, such as llama.block_count."""
        place = self._api.gguf_find_key(self._handle, name.encode())
        if place < 0 and default is not None:
            return default
        if place < 0:
            raise self._unfit(f"it does not say {name}")
        read = _NUMBERS.get(self._api.gguf_get_kv_type(self._handle, place))
        if read is None:
            raise self._unfit(f"{name} is no number")
        return float(getattr(self._api, read)(self._handle, place))

    def __contains__(self, name: str) -> bool:
        return bool(self._api.gguf_find_tensor(self._handle, name.encode()) >= 0)

    def size(self, name: str) -> int:
        """How many numbers a tensor has."""
        place = self._place(name)
        kind = self._api.gguf_get_tensor_type(self._handle, place)
        bytes_ = int(self._api.gguf_get_tensor_size(self._handle, place))
        if kind in _PLAIN:
            return bytes_ // _PLAIN[kind].itemsize
        if kind in _PACKED:
            return bytes_ // _PACKED[kind].bytes * _PACKED[kind].numbers
        raise self._unfit(f"{name} is packed in a way that is not known here ({kind})")

    def numbers(self, name: str, out: Numbers | None = None) -> Numbers:
        """A tensor as one row of numbers, in a place that is given or in a new one."""
        if out is None:
            out = np.empty(self.size(name), dtype=np.float32)
        place = self._place(name)
        kind = self._api.gguf_get_tensor_type(self._handle, place)
        begin = self._start + self._api.gguf_get_tensor_offset(self._handle, place)
        raw = self._bytes[begin : begin + self._api.gguf_get_tensor_size(self._handle, place)]
        if kind in _PLAIN:
            out[:] = raw.view(_PLAIN[kind])
        else:
            unpack = getattr(self._api, _PACKED[kind].unpack)
            unpack(raw.ctypes.data, out.ctypes.data, out.size)
        return out

    def _place(self, name: str) -> int:
        place = int(self._api.gguf_find_tensor(self._handle, name.encode()))
        if place < 0:
            raise self._unfit(f"it has no tensor {name}")
        return place

    def _unfit(self, reason: str) -> ModelError:
        return ModelError(
            f"{self.file} cannot be computed in 32 bits: {reason}.",
            "Ask it with llama.cpp: gguf:PATH.",
        )


@contextmanager
def open_tensors(file: Path) -> Iterator[Tensors]:
    """The tensors of a file, while inside."""
    api = open_library()
    set_signatures(api, _SIGNATURES)
    handle = api.gguf_init_from_file(str(file).encode(), _Opening(True, None))
    if not handle:
        raise ModelError(
            f"{file} cannot be read as a GGUF file.",
            "The file may be damaged: fetch it again.",
        )
    try:
        yield Tensors(file, handle)
    finally:
        api.gguf_free(handle)

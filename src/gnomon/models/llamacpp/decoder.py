"""A decoder of Llama's shape in numpy: 32-bit numbers, and matrix products at the speed of BLAS.

llama.cpp's products take two and a half times as long on a processor whose wide registers its wheel
does not use (docs/decisions.md). One pass reads rows of tokens after a past that they share. The
weights come out of a GGUF file, read and unpacked by llama.cpp's own functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.errors import ModelError
from gnomon.models.llamacpp.library import open_header, set_signatures

Numbers = NDArray[np.float32]

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

    def __init__(self, file: Path, api: Any, handle: int) -> None:
        self.file, self._api, self._handle = file, api, handle
        self._start = api.gguf_get_data_offset(handle)
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
        kind, raw = self._raw(name)
        if kind in _PLAIN:
            return len(raw) // _PLAIN[kind].itemsize
        if kind in _PACKED:
            return len(raw) // _PACKED[kind].bytes * _PACKED[kind].numbers
        raise self._unfit(f"{name} is packed in a way that is not known here ({kind})")

    def numbers(self, name: str, out: Numbers | None = None) -> Numbers:
        """A tensor as one row of numbers, in a place that is given or in a new one."""
        if out is None:
            out = np.empty(self.size(name), dtype=np.float32)
        kind, raw = self._raw(name)
        if kind in _PLAIN:
            out[:] = raw.view(_PLAIN[kind])
        else:
            unpack = getattr(self._api, _PACKED[kind].unpack)
            unpack(raw.ctypes.data, out.ctypes.data, out.size)
        return out

    def _raw(self, name: str) -> tuple[int, NDArray[np.uint8]]:
        """How the numbers of a tensor are kept, and where."""
        api, handle = self._api, self._handle
        place = api.gguf_find_tensor(handle, name.encode())
        if place < 0:
            raise self._unfit(f"it has no tensor {name}")
        begin = self._start + api.gguf_get_tensor_offset(handle, place)
        end = begin + api.gguf_get_tensor_size(handle, place)
        return api.gguf_get_tensor_type(handle, place), self._bytes[begin:end]

    def _unfit(self, reason: str) -> ModelError:
        return ModelError(
            f"{self.file} cannot be computed in 32 bits: {reason}.",
            "Ask it with llama.cpp: gguf:PATH.",
        )


@contextmanager
def open_tensors(file: Path) -> Iterator[Tensors]:
    """The tensors of a file, while inside."""
    with open_header(file) as (api, handle):
        set_signatures(api, "unpacking")
        if not handle:
            raise ModelError(
                f"{file} cannot be read as a GGUF file.", "The file may be damaged: fetch it again."
            )
        yield Tensors(file, api, handle)


Integers = NDArray[np.int64]
BLOCK = 64  # rows of the feed-forward part whose numbers fit a processor's cache


class Past(NamedTuple):
    """Keys and values that were computed before, layer by layer.

    Each array has rows (or one for all), heads, tokens and the size of a head.
    """

    keys: list[Numbers]
    values: list[Numbers]

    @property
    def length(self) -> int:
        """How many tokens they stand for."""
        return int(self.keys[0].shape[2])

    def first(self, tokens: int) -> Past:
        """The first tokens only."""
        keys = [each[:, :, :tokens] for each in self.keys]
        return Past(keys, [each[:, :, :tokens] for each in self.values])

    def followed_by(self, own: Past) -> Past:
        """These tokens and those after them, for each row of the latter."""
        keys = [_joined(*each) for each in zip(self.keys, own.keys, strict=True)]
        return Past(keys, [_joined(*each) for each in zip(self.values, own.values, strict=True)])


class DecoderShape(NamedTuple):
    """The sizes of a decoder."""

    layers: int
    width: int
    heads: int
    key_heads: int  # each of which several heads share
    head: int
    turns: float  # the base of the angles by which positions turn keys
    least: float  # what is added to a mean before its root is taken


class Layer(NamedTuple):
    """The weights of one layer; matrices have a row for each number that they give."""

    before_attention: Numbers
    attention: Numbers  # queries, keys and values, one below the other
    output: Numbers
    before_feed_forward: Numbers
    widen: Numbers  # gate and value, one below the other
    narrow: Numbers


class RowBatch(NamedTuple):
    """Rows of tokens to read in one pass, filled up to the same length.

    A place is counted through all rows: row times length plus token. `sees` says for each row (or
    once for all) and token which of the past's tokens and the row's own it sees.
    """

    tokens: Integers
    positions: Integers
    sees: NDArray[np.bool_]
    own: Integers  # the places of tokens that do not only fill a row up, in rising order


class Decoder:
    """The weights in memory."""

    def __init__(self, file: Path) -> None:
        with open_tensors(file) as tensors:
            self.shape = _shape(tensors)
            self.embeddings = _stacked(tensors, ["token_embd"], self.shape.width)
            self.head = self.embeddings
            if "output.weight" in tensors:
                self.head = _stacked(tensors, ["output"], self.shape.width)
            self.norm = tensors.numbers("output_norm.weight")
            count = range(self.shape.layers)
            self.layers = [_layer(tensors, self.shape, number) for number in count]

    def read(self, rows: RowBatch, past: Past | None, places: Integers) -> tuple[Numbers, Past]:
        """One pass over rows: the last states at some places, and what to remember.

        What only fills rows up takes part in attention alone, where no token sees it.
        """
        shape = self.shape
        hidden = self.embeddings[rows.tokens.reshape(-1)[rows.own]]
        turn = _angles(rows.positions.reshape(-1)[rows.own], shape)
        hides = np.where(rows.sees, np.float32(0), np.float32(-np.inf))[:, None, None]
        remembered = Past([], [])
        for number, layer in enumerate(self.layers):
            normed = _normed(hidden, layer.before_attention, shape.least)
            mixed = normed @ layer.attention.T
            asked, keys, values = _split(mixed, rows, turn, shape)
            remembered.keys.append(keys)
            remembered.values.append(values)
            if past is not None:
                keys = _joined(past.keys[number], keys)
                values = _joined(past.values[number], values)
            found = _attend(asked, keys, values, hides)[rows.own]
            if number == shape.layers - 1:  # nothing but the head sees what follows
                wanted = np.searchsorted(rows.own, places)
                hidden, found = hidden[wanted], found[wanted]
            hidden += found @ layer.output.T
            normed = _normed(hidden, layer.before_feed_forward, shape.least)
            hidden += _gated(normed @ layer.widen.T) @ layer.narrow.T
        return hidden, remembered

    def logits(self, hidden: Numbers) -> Numbers:
        """What the last states say about the next token."""
        return _normed(hidden, self.norm, self.shape.least) @ self.head.T


def log_sums(logits: Numbers) -> NDArray[np.float64]:
    """The logarithm of the sum of each row's exponentials."""
    found = np.empty(len(logits))
    for place, row in enumerate(logits):  # one row fits a processor's cache
        top = row.max()
        found[place] = top + np.log(np.exp(row - top).sum(dtype=np.float64))
    return found


def _shape(tensors: Tensors) -> DecoderShape:
    width = int(tensors.setting("llama.embedding_length"))
    heads = int(tensors.setting("llama.attention.head_count"))
    return DecoderShape(
        layers=int(tensors.setting("llama.block_count")),
        width=width,
        heads=heads,
        key_heads=int(tensors.setting("llama.attention.head_count_kv", heads)),
        head=width // heads,
        turns=tensors.setting("llama.rope.freq_base", 10_000),
        least=tensors.setting("llama.attention.layer_norm_rms_epsilon"),
    )


def _layer(tensors: Tensors, shape: DecoderShape, number: int) -> Layer:
    at = f"blk.{number}."
    attention = _stacked(tensors, [f"{at}attn_q", f"{at}attn_k", f"{at}attn_v"], shape.width)
    turned = attention[: (shape.heads + shape.key_heads) * shape.head]
    turned[:] = _halves(turned, shape.head)
    return Layer(
        before_attention=tensors.numbers(f"{at}attn_norm.weight"),
        attention=attention,
        output=_stacked(tensors, [f"{at}attn_output"], shape.width),
        before_feed_forward=tensors.numbers(f"{at}ffn_norm.weight"),
        widen=_stacked(tensors, [f"{at}ffn_gate", f"{at}ffn_up"], shape.width),
        narrow=tensors.numbers(f"{at}ffn_down.weight").reshape(shape.width, -1),
    )


def _stacked(tensors: Tensors, names: Sequence[str], columns: int) -> Numbers:
    """Matrices one below the other, without a copy between."""
    sizes = [tensors.size(f"{name}.weight") for name in names]
    found = np.empty(sum(sizes), dtype=np.float32)
    begin = 0
    for name, size in zip(names, sizes, strict=True):
        tensors.numbers(f"{name}.weight", out=found[begin : begin + size])
        begin += size
    return found.reshape(-1, columns)


def _halves(matrix: Numbers, head: int) -> Numbers:
    """Rows that positions turn in pairs: neighbours in the file, here half a head apart."""
    pairs = matrix.reshape(-1, head // 2, 2, matrix.shape[1])
    return pairs.swapaxes(1, 2).reshape(matrix.shape)


def _normed(hidden: Numbers, weight: Numbers, least: float) -> Numbers:
    mean = np.einsum("ij,ij->i", hidden, hidden) / np.float32(hidden.shape[1])
    found: Numbers = hidden * (1 / np.sqrt(mean + np.float32(least)))[:, None]
    found *= weight
    return found


def _angles(positions: Integers, shape: DecoderShape) -> tuple[Numbers, Numbers]:
    """Cosines and sines by which positions turn keys: for each token, half the size of a head."""
    powers = np.arange(0, shape.head, 2) / shape.head
    angles = positions[:, None, None] * shape.turns**-powers
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def _split(
    mixed: Numbers, rows: RowBatch, turn: tuple[Numbers, Numbers], shape: DecoderShape
) -> tuple[Numbers, Numbers, Numbers]:
    """Queries, keys and values of rows: the first two turned, heads before tokens."""
    count, length = rows.tokens.shape
    mixed = mixed.reshape(len(mixed), -1, shape.head)
    turned = shape.heads + shape.key_heads
    grid = np.zeros((count * length, *mixed.shape[1:]), dtype=np.float32)
    grid[rows.own, :turned] = _turned(mixed[:, :turned], turn)
    grid[rows.own, turned:] = mixed[:, turned:]
    grid = grid.reshape(count, length, -1, shape.head).swapaxes(1, 2)

    asked = grid[:, : shape.heads] * np.float32(shape.head**-0.5)
    asked = asked.reshape(count, shape.key_heads, -1, length, shape.head)
    keys = np.ascontiguousarray(grid[:, shape.heads : turned])
    values = np.ascontiguousarray(grid[:, turned:])
    return asked, keys, values


def _turned(states: Numbers, turn: tuple[Numbers, Numbers]) -> Numbers:
    cosine, sine = turn
    half = states.shape[-1] // 2
    one, two = states[..., :half], states[..., half:]
    found = np.empty_like(states)
    np.multiply(one, cosine, out=found[..., :half])
    np.multiply(two, cosine, out=found[..., half:])
    found[..., :half] -= two * sine
    found[..., half:] += one * sine
    return found


def _joined(before: Numbers, own: Numbers) -> Numbers:
    spread = np.broadcast_to(before, (len(own), *before.shape[1:]))
    return np.concatenate([spread, own], axis=2)


def _attend(asked: Numbers, keys: Numbers, values: Numbers, hides: Numbers) -> Numbers:
    """The values that each token looks at, weighed; heads that share keys are asked together."""
    rows, groups, sharing, tokens, head = asked.shape
    scores: Numbers = asked.reshape(rows, groups, sharing * tokens, head) @ keys.swapaxes(2, 3)
    scores.reshape(rows, groups, sharing, tokens, -1)[...] += hides
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    found: Numbers = scores @ values
    found = found.reshape(rows, groups * sharing, tokens, head)
    return found.swapaxes(1, 2).reshape(rows * tokens, -1)


def _gated(wide: Numbers) -> Numbers:
    """SwiGLU: each value times its gate, gate / (1 + exp(-gate)); a block at a time."""
    half = wide.shape[1] // 2
    for begin in range(0, len(wide), BLOCK):
        gate = wide[begin : begin + BLOCK, :half]
        value = wide[begin : begin + BLOCK, half:]
        with np.errstate(over="ignore"):  # a gate that far below zero is shut
            damp = np.exp(-gate)
        damp += 1
        value *= gate
        value /= damp
    return wide[:, half:]

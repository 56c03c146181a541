"""llama.cpp by its C interface: tokens in, log-probabilities out.

The binding (xllamacpp) offers a server in Python but not the logits, so the few functions needed
are called in the library that it brings. How that lays out its blocks of values is checked when it
is opened: a library that differs is refused, never misread.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.errors import MissingExtraError, ModelError
from gnomon.models.transformers.rows import shared

# n_ctx, n_batch, n_ubatch and n_seq_max of llama_context_default_params()
DEFAULTS = (512, 2048, 512, 1)
CHUNK = 512  # tokens computed in one call

_int, _bool, _pointer, _text = ctypes.c_int32, ctypes.c_bool, ctypes.c_void_p, ctypes.c_char_p
_Log = ctypes.CFUNCTYPE(None, ctypes.c_int, _text, _pointer)


class _Parameters(ctypes.Structure):
    """A parameter block, larger than any version's: passed by value, its tail untouched."""

    _fields_ = (("fields", ctypes.c_uint32 * 256),)


class _Batch(ctypes.Structure):
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


_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "llama_backend_init": (None, []),
    "llama_log_set": (None, [_Log, _pointer]),
    "llama_model_default_params": (_Parameters, []),
    "llama_context_default_params": (_Parameters, []),
    "llama_model_load_from_file": (_pointer, [_text, _Parameters]),
    "llama_init_from_model": (_pointer, [_pointer, _Parameters]),
    "llama_model_free": (None, [_pointer]),
    "llama_free": (None, [_pointer]),
    "llama_set_n_threads": (None, [_pointer, _int, _int]),
    "llama_n_ctx": (ctypes.c_uint32, [_pointer]),
    "llama_n_batch": (ctypes.c_uint32, [_pointer]),
    "llama_get_memory": (_pointer, [_pointer]),
    "llama_memory_clear": (None, [_pointer, _bool]),
    "llama_memory_seq_rm": (_bool, [_pointer, _int, _int, _int]),
    "llama_batch_init": (_Batch, [_int, _int, _int]),
    "llama_batch_free": (None, [_Batch]),
    "llama_decode": (_int, [_pointer, _Batch]),
    "llama_get_logits_ith": (ctypes.POINTER(ctypes.c_float), [_pointer, _int]),
    "llama_model_n_ctx_train": (_int, [_pointer]),
    "llama_model_desc": (_int, [_pointer, _text, ctypes.c_size_t]),
    "llama_model_n_params": (ctypes.c_uint64, [_pointer]),
    "llama_model_has_encoder": (_bool, [_pointer]),
    "llama_model_get_vocab": (_pointer, [_pointer]),
    "llama_model_chat_template": (_text, [_pointer, _text]),
    "llama_vocab_n_tokens": (_int, [_pointer]),
    "llama_vocab_bos": (_int, [_pointer]),
    "llama_vocab_eos": (_int, [_pointer]),
    "llama_vocab_get_add_bos": (_bool, [_pointer]),
    "llama_vocab_get_text": (_text, [_pointer, _int]),
    "llama_vocab_is_eog": (_bool, [_pointer, _int]),
    "llama_detokenize": (_int, [_pointer, ctypes.POINTER(_int), _int, _text, _int, _bool, _bool]),
    "llama_tokenize": (_int, [_pointer, _text, _int, ctypes.POINTER(_int), _int, _bool, _bool]),
}


class Wanted(NamedTuple):
    """After so many tokens of a path: the tokens whose log-probability is asked for."""

    length: int
    tokens: tuple[int, ...]


class Llama:
    """One model in memory, with one sequence of cached tokens that every call shares."""

    def __init__(self, file: Path, *, context: int, threads: int) -> None:
        self._api = _library()
        _complaints.clear()
        self._model = self._api.llama_model_load_from_file(
            str(file).encode(), self._api.llama_model_default_params()
        )
        if not self._model:
            raise ModelError(
                f"{file} cannot be loaded by llama.cpp: {_last_complaint()}.",
                "The file may be cut short or of a newer format: "
                "fetch it again, or update xllamacpp.",
            )
        if self._api.llama_model_has_encoder(self._model):
            raise ModelError(
                f"{file} is an encoder-decoder model, which cannot be scored as a decoder.",
                "Load the original weights with hf:PATH.",
            )
        trained = self._api.llama_model_n_ctx_train(self._model)
        self.window = min(context, trained) if trained > 0 else context  # tokens that fit
        self._context = self._open_context(self.window, threads)
        self._chunk = int(self._api.llama_n_batch(self._context))
        self._memory = self._api.llama_get_memory(self._context)
        self._vocabulary = self._api.llama_model_get_vocab(self._model)
        self.parameters = int(self._api.llama_model_n_params(self._model))
        self.size = int(self._api.llama_vocab_n_tokens(self._vocabulary))
        # The tokens that begin and end a text, or -1.
        self.bos = int(self._api.llama_vocab_bos(self._vocabulary))
        self.eos = int(self._api.llama_vocab_eos(self._vocabulary))
        begins = self.bos >= 0 and self._api.llama_vocab_get_add_bos(self._vocabulary)
        self._opening = [self.bos] if begins else []  # what every text begins with
        self.cached: list[int] = []
        self.computed = 0  # tokens that the model has computed, for the curious and for tests

    def token_text(self, token: int) -> str:
        """A token as the vocabulary writes it; nothing if there is none."""
        if token < 0:
            return ""
        text = self._api.llama_vocab_get_text(self._vocabulary, token)
        return _decoded(text)

    def describe(self) -> str:
        """Architecture, size and quantisation, in llama.cpp's words."""
        buffer = ctypes.create_string_buffer(256)
        self._api.llama_model_desc(self._model, buffer, len(buffer))
        return _decoded(buffer.value)

    def chat_template(self) -> str:
        """The Jinja template of the model's conversations; empty if it has none."""
        return _decoded(self._api.llama_model_chat_template(self._model, None))

    def tokenize(self, text: str, *, special: bool, begin: bool = True) -> list[int]:
        """The tokens of a text, begun as the model wants it.

        `special` also reads control tokens such as <|im_end|>. A text is never ended, even where
        the file says so: what is scored or said goes on from it.
        """
        raw = text.encode()
        buffer = (_int * (len(raw) + 16))()
        count = self._api.llama_tokenize(
            self._vocabulary, raw, len(raw), buffer, len(buffer), False, special
        )
        if count < 0:
            raise ValueError("the text cannot be tokenized")
        tokens: list[int] = buffer[:count]
        return self._opening + tokens if begin else tokens

    def log_probabilities(self, path: Sequence[int], wanted: Sequence[Wanted]) -> list[list[float]]:
        """Walk along a path of tokens; at each place wanted, how likely the tokens wanted are next.

        Only what the path does not share with the last one is computed. Places are in rising order.
        """
        kept = self._forget_after(min(shared(self.cached, list(path)), wanted[0].length - 1))
        found: list[list[float]] = []
        places = {place.length: place.tokens for place in wanted}
        for begin in range(kept, len(path), self._chunk):
            end = min(begin + self._chunk, len(path))
            at = [length - 1 - begin for length in places if begin < length <= end]
            self._decode(path[begin:end], begin, at)
            found.extend(self._log_softmax(place, places[begin + place + 1]) for place in at)
        return found

    def reply(self, prompt: Sequence[int], most: int) -> list[int]:
        """The tokens that the model says after a prompt, always the likeliest one.

        It ends where the model does, after `most` tokens, or when its window is full.
        """
        begin = self._forget_after(min(shared(self.cached, list(prompt)), len(prompt) - 1))
        said: list[int] = []
        tokens = list(prompt[begin:])
        while len(said) < most:
            token = self._likeliest_after(tokens)
            is_end = self._api.llama_vocab_is_eog(self._vocabulary, token)
            if is_end or len(self.cached) == self.window:
                break
            said.append(token)
            tokens = [token]
        return said

    def text(self, tokens: Sequence[int]) -> str:
        """Tokens as text, without control tokens."""
        buffer = ctypes.create_string_buffer(16 + 256 * len(tokens))
        array = (_int * len(tokens))(*tokens)
        count = self._api.llama_detokenize(
            self._vocabulary, array, len(tokens), buffer, len(buffer), True, False
        )
        return _decoded(buffer.raw[: max(count, 0)]).strip()

    def close(self) -> None:
        """Free the memory. A second call does nothing."""
        context, model, self._context, self._model = self._context, self._model, None, None
        if context:
            self._api.llama_free(context)
        if model:
            self._api.llama_model_free(model)

    def _open_context(self, tokens: int, threads: int) -> Any:
        parameters = self._api.llama_context_default_params()
        parameters.fields[0], parameters.fields[1], parameters.fields[2] = tokens, CHUNK, CHUNK
        context = self._api.llama_init_from_model(self._model, parameters)
        if not context or not self._has_sizes(context, tokens):
            raise ModelError(
                f"llama.cpp cannot open a context of {tokens} tokens: {_last_complaint()}.",
                "Give a smaller one with --model-set context=1024, or update xllamacpp.",
            )
        self._api.llama_set_n_threads(context, threads, threads)
        return context

    def _has_sizes(self, context: Any, tokens: int) -> bool:
        """Has the context the sizes that were asked for? If not, the parameters were misread."""
        enough = self._api.llama_n_ctx(context) >= tokens
        return bool(enough and 0 < self._api.llama_n_batch(context) <= CHUNK)

    def _forget_after(self, length: int) -> int:
        """Keep that many cached tokens; none where the memory cannot be cut (recurrent models)."""
        if length >= len(self.cached):
            return length
        cut = length and self._api.llama_memory_seq_rm(self._memory, 0, length, -1)
        if not cut:
            self._api.llama_memory_clear(self._memory, True)
            length = 0
        del self.cached[length:]
        return length

    def _likeliest_after(self, tokens: Sequence[int]) -> int:
        """Compute more tokens; the likeliest one to come next."""
        last = 0
        for at in range(0, len(tokens), self._chunk):
            part = tokens[at : at + self._chunk]
            last = len(part) - 1
            self._decode(part, len(self.cached), [last])
        return int(self._logits(last).argmax())

    def _decode(self, tokens: Sequence[int], start: int, outputs: Sequence[int]) -> None:
        count = len(tokens)
        sequence = _int(0)
        token = np.asarray(tokens, dtype=np.int32)
        position = np.arange(start, start + count, dtype=np.int32)
        counts = np.ones(count, dtype=np.int32)
        sequences = np.full(count, ctypes.addressof(sequence), dtype=np.uintp)
        logits = np.zeros(count, dtype=np.int8)
        logits[list(outputs)] = 1
        batch = _Batch(
            count,
            token.ctypes.data,
            None,
            position.ctypes.data,
            counts.ctypes.data,
            sequences.ctypes.data,
            logits.ctypes.data,
        )
        status = self._api.llama_decode(self._context, batch)
        if status != 0:
            self._forget_after(0)
            raise RuntimeError(f"llama.cpp could not compute {count} tokens (status {status})")
        self.cached.extend(tokens)
        self.computed += count

    def _logits(self, place: int) -> NDArray[np.float32]:
        pointer = self._api.llama_get_logits_ith(self._context, place)
        return np.ctypeslib.as_array(pointer, (self.size,))

    def _log_softmax(self, place: int, tokens: Sequence[int]) -> list[float]:
        logits = self._logits(place)
        top = float(logits.max())
        norm = top + float(np.log(np.exp(logits - np.float32(top)).sum(dtype=np.float64)))
        return [float(logits[token]) - norm for token in tokens]


def _decoded(raw: bytes | None) -> str:
    return (raw or b"").decode("utf-8", "replace")


_complaints: list[str] = []
_WARNING, _ERROR = 3, 4  # ggml's levels


def _keep_complaint(level: int, text: bytes, _: Any) -> None:
    """llama.cpp's log goes nowhere, but its last complaints are kept for the error message."""
    line = _decoded(text).strip().removesuffix(".")
    if line and level in (_WARNING, _ERROR):
        _complaints[:] = [*_complaints[-4:], line]


_listen = _Log(_keep_complaint)  # must outlive the library, which keeps a pointer to it


def _last_complaint() -> str:
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
    raise _unfit("it has no shared library")


@cache
def _library() -> Any:
    """The binding's shared library, with the signatures of the functions used, checked."""
    try:
        with _patient_threads():
            library = ctypes.CDLL(str(library_file()))
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise _unfit(str(error)) from None
    check_layout(library)
    library.llama_log_set(_listen, None)
    library.llama_backend_init()
    return library


def check_layout(library: Any) -> None:
    """Refuse a library whose blocks of values are laid out in another way than is written here."""
    defaults = tuple(library.llama_context_default_params().fields[:4])
    if defaults != DEFAULTS:
        raise _unfit(f"a context's parameters begin with {defaults}, not {DEFAULTS}")

    batch = library.llama_batch_init(1, 0, 1)  # a batch of tokens, so without embeddings
    filled = (batch.token, batch.pos, batch.n_seq_id, batch.seq_id, batch.logits)
    if not all(filled) or batch.n_tokens or batch.embd:
        raise _unfit("a batch of tokens is laid out in another way")
    library.llama_batch_free(batch)


@contextmanager
def _patient_threads() -> Iterator[None]:
    """Let OpenMP's threads sleep soon while they wait, unless the user has set how they wait.

    By default they spin: on a busy machine one batch took 33 s of CPU that takes 0.8 s
    (docs/decisions.md).
    """
    if os.environ.keys() & {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"}:
        yield
        return
    os.environ["GOMP_SPINCOUNT"] = "300"
    try:
        yield
    finally:
        del os.environ["GOMP_SPINCOUNT"]


def _unfit(reason: str) -> ModelError:
    return ModelError(
        "The installed xllamacpp does not offer llama.cpp's C interface as Gnomon knows it: "
        f"{reason}.",
        "Install another version of it (2026.10 is known to work), or serve the file with "
        "llama.cpp's own server and ask that with -m openai.",
    )

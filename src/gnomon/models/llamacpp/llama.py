"""One model of llama.cpp in memory: tokens in, log-probabilities or likeliest tokens out.

All that is asked in a batch is a tree of tokens, gone through depth first with one cache, so every
shared beginning (instruction, examples, premises, pictures, choices that begin alike) is computed
once.
"""

import ctypes
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.errors import ModelError
from gnomon.models.choices import Query
from gnomon.models.llamacpp import library
from gnomon.models.llamacpp.decoder import log_sums
from gnomon.models.rows import shared

CHUNK = 512  # tokens computed in one call


class PathPlace(NamedTuple):
    """After so many tokens of a path: the tokens whose log-probability is asked for."""

    length: int
    tokens: tuple[int, ...]


class Llama:
    """One model in memory, with one sequence of cached tokens that every call shares."""

    def __init__(self, file: Path, *, context: int, threads: int) -> None:
        self._api = library.open_library()
        self._context: Any = None
        self._model: Any = self._load(file)
        trained = self._api.llama_model_n_ctx_train(self._model)
        self.window = min(context, trained) if trained > 0 else context  # tokens that fit
        self._open_context(threads)
        self._chunk = int(self._api.llama_n_batch(self._context))
        self._memory = self._api.llama_get_memory(self._context)
        self._vocabulary = self._api.llama_model_get_vocab(self._model)
        self.parameters = int(self._api.llama_model_n_params(self._model))
        self.size = int(self._api.llama_vocab_n_tokens(self._vocabulary))
        # The tokens that begin and end a text, or -1.
        self.bos = int(self._api.llama_vocab_bos(self._vocabulary))
        self.eos = int(self._api.llama_vocab_eos(self._vocabulary))
        begins = self.bos >= 0 and self._api.llama_vocab_get_add_bos(self._vocabulary)
        self.opening = [self.bos] if begins else []  # what every text begins with
        self.cached: list[int] = []
        self.computed = 0  # tokens that the model has computed, for the curious and for tests
        # With eyes: computes a path from a place up to the end of its last picture, says where.
        self.look: Callable[[Sequence[int], int], int] = lambda path, begin: begin

    def token_text(self, token: int) -> str:
        """A token as the vocabulary writes it; nothing if there is none."""
        if token < 0:
            return ""
        text = self._api.llama_vocab_get_text(self._vocabulary, token)
        return library.decoded(text)

    def describe(self) -> str:
        """Architecture, size and quantisation, in llama.cpp's words."""
        buffer = ctypes.create_string_buffer(256)
        self._api.llama_model_desc(self._model, buffer, len(buffer))
        return library.decoded(buffer.value)

    def chat_template(self) -> str:
        """The Jinja template of the model's conversations; empty if it has none."""
        return library.decoded(self._api.llama_model_chat_template(self._model, None))

    def tokenize(self, text: str, *, special: bool, begin: bool = True) -> list[int]:
        """The tokens of a text, begun as the model wants it.

        `special` also reads control tokens such as <|im_end|>. A text is never ended, even where
        the file says so: what is scored or said goes on from it.
        """
        raw = text.encode()
        buffer = (library.TOKEN * (len(raw) + 16))()
        count = self._api.llama_tokenize(
            self._vocabulary, raw, len(raw), buffer, len(buffer), False, special
        )
        if count < 0:
            raise ValueError("the text cannot be tokenized")
        tokens: list[int] = buffer[:count]
        return self.opening + tokens if begin else tokens

    def log_probabilities(
        self, path: Sequence[int], wanted: Sequence[PathPlace]
    ) -> list[list[float]]:
        """Walk along a path of tokens; at each place wanted, how likely the tokens wanted are next.

        Only what the path does not share with the last one is computed. Places are in rising order.
        """
        kept = self._forget_after(min(shared(self.cached, list(path)), wanted[0].length - 1))
        kept = self.look(path, kept)
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
        begin = self.look(prompt, begin)
        said: list[int] = []
        tokens = list(prompt[begin:])
        while len(said) < most:
            token = self._likeliest_after(tokens)
            if self.is_end(token) or len(self.cached) == self.window:
                break
            said.append(token)
            tokens = [token]
        return said

    def is_end(self, token: int) -> bool:
        """Whether a reply ends with this token."""
        return bool(self._api.llama_vocab_is_eog(self._vocabulary, token))

    def text(self, tokens: Sequence[int]) -> str:
        """Tokens as text, without control tokens."""
        buffer = ctypes.create_string_buffer(16 + 256 * len(tokens))
        array = (library.TOKEN * len(tokens))(*tokens)
        count = self._api.llama_detokenize(
            self._vocabulary, array, len(tokens), buffer, len(buffer), True, False
        )
        return library.decoded(buffer.raw[: max(count, 0)]).strip()

    def piece(self, token: int) -> str:
        """One token as it stands in a text, spaces and all."""
        buffer = ctypes.create_string_buffer(256)
        count = self._api.llama_token_to_piece(
            self._vocabulary, token, buffer, len(buffer), 0, True
        )
        return library.decoded(buffer.raw[: max(count, 0)])

    def close(self) -> None:
        """Free the memory. A second call does nothing."""
        context, model, self._context, self._model = self._context, self._model, None, None
        if context:
            self._api.llama_free(context)
        if model:
            self._api.llama_model_free(model)

    def read(self, tokens: Sequence[int]) -> None:
        """Compute more tokens, after which nothing is asked."""
        for at in range(0, len(tokens), self._chunk):
            self._decode(tokens[at : at + self._chunk], len(self.cached), [])

    def forget(self) -> int:
        """Empty the cache: no token is left."""
        self._api.llama_memory_clear(self._memory, True)
        self.cached.clear()
        return 0

    @property
    def handles(self) -> tuple[Any, Any]:
        """The library's own model and context, for eyes that work with them."""
        return self._model, self._context

    def _load(self, file: Path) -> Any:
        library.forget_complaints()
        parameters = self._api.llama_model_default_params()
        model = self._api.llama_model_load_from_file(str(file).encode(), parameters)
        if not model:
            raise ModelError(
                f"{file} cannot be loaded by llama.cpp: {library.last_complaint()}.",
                "The file may be cut short or of a newer format: "
                "fetch it again, or update xllamacpp.",
            )
        if self._api.llama_model_has_encoder(model):
            self._api.llama_model_free(model)
            raise ModelError(
                f"{file} is an encoder-decoder model, which cannot be scored as a decoder.",
                "Load the original weights with hf:PATH.",
            )
        return model

    def _open_context(self, threads: int) -> None:
        parameters = self._api.llama_context_default_params()
        parameters.fields[0], parameters.fields[1], parameters.fields[2] = self.window, CHUNK, CHUNK
        self._context = self._api.llama_init_from_model(self._model, parameters)
        opened = bool(self._context)
        if opened:  # with other sizes than were asked for, the parameters were misread
            chunk = self._api.llama_n_batch(self._context)
            opened = self._api.llama_n_ctx(self._context) >= self.window and 0 < chunk <= CHUNK
        if not opened:
            self.close()
            reason = library.last_complaint()
            raise ModelError(
                f"llama.cpp cannot open a context of {self.window} tokens: {reason}.",
                "Give a smaller one with --set context=1024, or update xllamacpp.",
            )
        self._api.llama_set_n_threads(self._context, threads, threads)

    def _forget_after(self, length: int) -> int:
        """Keep that many cached tokens; none where the memory cannot be cut (recurrent models)."""
        if length >= len(self.cached):
            return length
        cut = length and self._api.llama_memory_seq_rm(self._memory, 0, length, -1)
        if not cut:
            return self.forget()
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
        sequence = library.TOKEN(0)
        token = np.asarray(tokens, dtype=np.int32)
        position = np.arange(start, start + count, dtype=np.int32)
        counts = np.ones(count, dtype=np.int32)
        sequences = np.full(count, ctypes.addressof(sequence), dtype=np.uintp)
        logits = np.zeros(count, dtype=np.int8)
        logits[list(outputs)] = 1
        batch = library.Batch(
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
            self.forget()  # a part of it may have been computed
            raise RuntimeError(f"llama.cpp could not compute {count} tokens (status {status})")
        self.cached.extend(tokens)
        self.computed += count

    def _logits(self, place: int) -> NDArray[np.float32]:
        pointer = self._api.llama_get_logits_ith(self._context, place)
        return np.ctypeslib.as_array(pointer, (self.size,))

    def _log_softmax(self, place: int, tokens: Sequence[int]) -> list[float]:
        logits = self._logits(place)
        (norm,) = log_sums(logits[None])
        return [float(logits[token] - norm) for token in tokens]


# --- what is asked in a batch, as a tree of tokens -----------------------------------------------


Prefix = tuple[int, ...]
Known = dict[tuple[Prefix, int], float]  # (what stands before, token) -> log-probability


def path_scores(llama: Llama, queries: Sequence[Query]) -> list[list[float]]:
    """The log-probability of each continuation of each query, summed over its tokens."""
    known = _along_paths(llama, queries)
    found = []
    for query in queries:
        sums = []
        for tokens in query.continuations:
            sums.append(sum(known[step] for step in _steps(query.context, tokens)))
        found.append(sums)
    return found


def _along_paths(llama: Llama, queries: Sequence[Query]) -> Known:
    """The log-probability of each token of each continuation after what stands before it."""
    wanted: dict[Prefix, set[int]] = {}
    for query in queries:
        for tokens in query.continuations:
            for prefix, token in _steps(query.context, tokens):
                wanted.setdefault(prefix, set()).add(token)

    known: Known = {}
    for chain in chains(sorted(wanted)):
        places = [PathPlace(len(prefix), tuple(sorted(wanted[prefix]))) for prefix in chain]
        found = llama.log_probabilities(chain[-1], places)
        for prefix, place, values in zip(chain, places, found, strict=True):
            for token, value in zip(place.tokens, values, strict=True):
                known[prefix, token] = value
    return known


def chains(prefixes: Sequence[Prefix]) -> Iterator[list[Prefix]]:
    """Sorted prefixes cut into runs in which each continues the one before.

    A run is computed in one go.

    >>> list(chains([(1,), (1, 2), (1, 2, 3), (1, 4), (5,)]))
    [[(1,), (1, 2), (1, 2, 3)], [(1, 4)], [(5,)]]
    """
    chain: list[Prefix] = []
    for prefix in prefixes:
        if chain and prefix[: len(chain[-1])] != chain[-1]:
            yield chain
            chain = []
        chain.append(prefix)
    if chain:
        yield chain


def _steps(context: Sequence[int], tokens: Sequence[int]) -> Iterator[tuple[Prefix, int]]:
    """Each token of a continuation with what stands before it."""
    path = (*context, *tokens)
    for place in range(len(context), len(path)):
        yield path[:place], path[place]

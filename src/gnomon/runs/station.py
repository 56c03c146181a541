"""In a worker's process: one model, opened once, that is asked batch after batch.

Items come and answers go as bytes of msgpack, which are small and hold nothing but records.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from gnomon import registry
from gnomon.contracts import Model
from gnomon.errors import GnomonError
from gnomon.records import Answer, Item
from gnomon.registry import ModelSpec
from gnomon.runs.asking import Asker
from gnomon.runs.batches import Numbered
from gnomon.runs.sameness import model_files
from gnomon.runs.workers import About, about_model, opened_for

encode = msgspec.msgpack.Encoder().encode
_decode_items = msgspec.msgpack.Decoder(list[Item]).decode


class Reply(msgspec.Struct, array_like=True):
    """The answers to a batch, each with the place of its item in it."""

    answers: list[tuple[int, Answer]]
    seconds: float
    batch: int  # items that a batch may hold from now on
    description: dict[str, Any] | None  # if the model has something new to say of itself
    kept_replies: dict[str, int]  # by the model so far


class Ready(msgspec.Struct, array_like=True):
    """What the driver must know of a model that was opened, or prepared."""

    about: About
    budget: int
    batch: int


class Failure(msgspec.Struct, frozen=True):
    """Why a worker cannot go on: the error of the model, in words."""

    kind: str
    message: str
    hint: str = ""


decode_ready = msgspec.msgpack.Decoder(Ready).decode
decode_reply = msgspec.msgpack.Decoder(Reply).decode


def packed(batch: Sequence[Numbered]) -> bytes:
    """The items of a batch, without their numbers."""
    return encode([item for _, item in batch])


class Station:
    """A model and the questions to it. Nothing is loaded before `open`."""

    def __init__(self, spec: ModelSpec, *, run: str, blind: bool, folder: str) -> None:
        self._spec, self._run, self._blind = spec, run, blind
        self._model: Model | None = None
        self._said: dict[str, Any] = {}
        if os.path.isdir(folder):  # the driver's: paths of models and pictures begin there
            os.chdir(folder)

    def call(self, method: str, *arguments: Any) -> Any:
        """What a method gives, or a Failure: errors of the model travel as words."""
        try:
            return getattr(self, method)(*arguments)
        except GnomonError as error:
            return Failure(type(error).__name__, error.message, error.hint)
        except Exception as error:  # a model is a stranger's code and may fail in any way
            text = " ".join(str(error).split())
            return Failure("ModelError", f"{self._spec.spec}: {type(error).__name__}: {text}.")

    def hello(self) -> str:
        """Where the worker is, for people: it has been started."""
        return f"{socket.gethostname()}, process {os.getpid()}"

    def open(self) -> bytes:
        """Load the model."""
        self._model = opened_for(self._spec, self._run)
        self._files = model_files(self._spec)
        self._asker = Asker(self._model, blind=self._blind)
        return self._ready()

    def prepare(self, chunks: Iterable[bytes], benchmark: str) -> bytes:
        """Let the model see all items."""
        model: Any = self._model
        model.prepare(_items(chunks), registry.benchmark(benchmark))
        return self._ready()

    def sizes(self, items: bytes) -> list[int]:
        """The tokens of each item."""
        return [self._asker.size(item) for item in _decode_items(items)]

    def ask(self, items: bytes) -> bytes:
        """The answers to a batch."""
        assert self._model is not None
        batch = list(enumerate(_decode_items(items)))
        began = time.perf_counter()
        answers = self._asker.ask(batch)
        seconds = time.perf_counter() - began
        news = None
        said = msgspec.to_builtins(self._model.describe())
        if said != self._said:
            self._said = news = said
        return encode(Reply(answers, seconds, self._asker.batch, news, self._kept_replies()))

    def _kept_replies(self) -> dict[str, int]:
        return dict(getattr(self._model, "kept_replies", {}))

    def close(self) -> None:
        """Let go of the model."""
        close = getattr(self._model, "close", None)
        if close:
            close()

    def _ready(self) -> bytes:
        assert self._model is not None
        about = about_model(self._model, self._files)
        self._said = about.description
        return encode(Ready(about, self._asker.budget, self._asker.batch))


def _items(chunks: Iterable[bytes]) -> Iterator[Item]:
    for chunk in chunks:
        yield from _decode_items(chunk)

"""Who asks the model: this process itself (Local), or workers elsewhere (Worker).

The process of the run plans batches and is the only one that writes the log; workers know nothing
of it. Items and answers travel as bytes of msgpack, which hold nothing but records.
"""

import os
import socket
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gnomon import __version__, registry
from gnomon.contracts import TEXT, Benchmark, Model
from gnomon.errors import ModelError, UsageError
from gnomon.records import FORMS, Answer, Item
from gnomon.registry import ModelSpec
from gnomon.runs.batches import Asker, Numbered
from gnomon.runs.identity import model_files
from gnomon.runs.pace import WorkerPace

HOW = "Write a number of processes, ray, or ray:N: --workers 4, --workers ray:8."
MOST = 100_000  # more is a slip of the pen
Window = Sequence[Numbered]
Sized = tuple[Window, list[int]]  # with the size of each item
encode = msgspec.msgpack.Encoder().encode
_decode_items = msgspec.msgpack.Decoder(list[Item]).decode


@dataclass(frozen=True)
class WorkerPlan:
    """How many workers there are to be, and where; by default this process alone.

    No count means as many as a cluster has room for.
    """

    on_ray: bool = False
    count: int | None = 1
    cpus: float | None = None  # of each worker on Ray
    gpus: float | None = None

    @property
    def here(self) -> bool:
        """Whether the model is asked by this process itself."""
        return not self.on_ray and self.count == 1


def plan_workers(
    text: str | int = "1", *, cpus: float | None = None, gpus: float | None = None
) -> WorkerPlan:
    """What `--workers TEXT` asks for.

    >>> plan_workers("4").count, plan_workers("ray").count, plan_workers("ray:8", gpus=1).gpus
    (4, None, 1)
    """
    place, colon, number = str(text).partition(":")
    on_ray = place == "ray"
    if not on_ray:
        number = str(text)
    for each, name in ((cpus, "cpus_per_worker"), (gpus, "gpus_per_worker")):
        _check_share(each, name, on_ray=on_ray)
    if on_ray and not colon:
        return WorkerPlan(on_ray=True, count=None, cpus=cpus, gpus=gpus)
    if not number.isascii() or not number.isdigit() or not 0 < int(number[:9]) <= MOST:
        raise UsageError(f"--workers cannot be '{text}'.", HOW)
    return WorkerPlan(on_ray=on_ray, count=int(number), cpus=cpus, gpus=gpus)


def _check_share(share: float | None, name: str, *, on_ray: bool) -> None:
    if share is None:
        return
    if not on_ray:
        raise UsageError(
            f"{name} is for workers on Ray.", f"Add --workers ray, or leave out {name}."
        )
    if not 0 <= share < float("inf"):
        raise UsageError(f"A worker cannot have {share} of {name}.", "Give 0 or more.")


class ModelFacts(msgspec.Struct, kw_only=True):
    """What a worker says of the model that it has opened."""

    spec: str
    scale: str
    description: dict[str, Any]
    takes: list[str]
    sizes: bool  # it has a way of its own to count an item's tokens
    prepares: bool  # it must see all items first
    learns: bool  # its answers depend on all the items that it is prepared with
    keeps: bool  # it makes files, which go into the run's folder
    alone: str  # why only one process may ask it; empty if several may
    answered_before: bool
    kept_replies: dict[str, int] = {}  # of an earlier sitting that were used, by day
    lists: dict[str, bool] | None  # by form, whether it is shown a list of choices
    asking: dict[str, Any] = {}  # what the manifest keeps so that prompts can be shown
    files: dict[str, str]  # that it is made of, where the worker is; the driver knows its own
    version: str = __version__  # of Gnomon, where the worker is


def about_model(model: Model, files: dict[str, str]) -> ModelFacts:
    """What there is to say of a model that was opened, and that is made of these files."""
    lists_choices = getattr(model, "lists_choices", None)
    lists = None
    if lists_choices is not None:
        lists = {form: bool(lists_choices(form)) for form in FORMS}
    prepares = getattr(model, "prepare", None) is not None
    return ModelFacts(
        spec=model.spec,
        scale=model.scale,
        description=msgspec.to_builtins(model.describe()),
        takes=sorted(getattr(model, "takes", TEXT)),
        sizes=hasattr(model, "size"),
        prepares=prepares,
        learns=bool(getattr(model, "learns", prepares)),
        keeps=hasattr(model, "keep"),
        alone=str(getattr(model, "alone", "")),
        answered_before=bool(getattr(model, "answered_before", False)),
        kept_replies=dict(getattr(model, "kept_replies", {})),
        lists=lists,
        asking=msgspec.to_builtins(getattr(model, "asking", dict)()),
        files=files,
    )


def opened_for(model: Model | ModelSpec, run: str) -> Model:
    """The model, told which run it is asked for: what it keeps of another run is not used."""
    opened = model.open() if isinstance(model, ModelSpec) else model
    for_run = getattr(opened, "for_run", None)
    if for_run:
        for_run(run)
    return opened


def prepare_model(model: Model, items: Iterable[Item], benchmark: Benchmark) -> None:
    """Let a model that learns from the items see them."""
    prepare = getattr(model, "prepare", None)
    if prepare:
        prepare(items, benchmark)


def close_model(model: Model) -> None:
    """Let go of a model, if it holds anything."""
    close = getattr(model, "close", None)
    if close:
        close()


class Done(NamedTuple):
    """A batch that was asked: the answers with the numbers of their items."""

    batch: Sequence[Numbered]
    answers: list[tuple[int, Answer]]
    seconds: float  # that the model took


class Local:
    """This process is the only worker."""

    def __init__(self, model: Model | ModelSpec, *, run: str = "", blind: bool = False) -> None:
        self._model = opened_for(model, run)
        self._asker = Asker(self._model, blind=blind)
        self.budget = self._asker.budget

    @property
    def about(self) -> ModelFacts:
        """What the model says of itself now."""
        return about_model(self._model, {})

    @property
    def batch(self) -> int:
        """Fewer than at first when memory has run out."""
        return self._asker.batch

    def prepare(self, items: Iterable[Item], benchmark: Benchmark) -> None:
        """Let a model that learns from the items see them."""
        prepare_model(self._model, items, benchmark)

    def keep(self, folder: Path) -> None:
        """Tell a model that makes files where they go."""
        keep = getattr(self._model, "keep", None)
        if keep:
            keep(folder)

    def measured(self, windows: Iterable[Window]) -> Iterator[Sized]:
        """Each window with the size of each item."""
        size = self._asker.size
        for window in windows:
            yield window, [size(item) for _, item in window]

    def work(
        self, batches: Iterable[Sequence[Numbered]], *, answered: bool = False
    ) -> Iterator[list[Done]]:
        """Ask one batch after the other."""
        for batch in batches:
            began = time.perf_counter()
            answers = self._asker.ask(batch)
            yield [Done(batch, answers, time.perf_counter() - began)]

    def paces(self) -> tuple[list[WorkerPace], int, int]:
        """One process needs no list."""
        return [], 1, 0

    def close(self) -> None:
        """Close the model, however the run ended."""
        close_model(self._model)


def check_can_be_shared(about: ModelFacts) -> None:
    """Refuse a model that several workers cannot ask side by side."""
    reason = about.alone
    if about.keeps:
        reason = "it keeps its pictures in the run's folder"
    if reason:
        raise ModelError(
            f"{about.spec} can be asked by one process only: {reason}.", "Leave out --workers."
        )


class WorkerReady(msgspec.Struct, array_like=True):
    """What is to be known of a model that a worker has opened, or prepared."""

    about: ModelFacts
    budget: int
    batch: int


class WorkerAnswers(msgspec.Struct, array_like=True):
    """The answers to a batch, each with the place of its item in it."""

    answers: list[tuple[int, Answer]]
    seconds: float
    batch: int  # items that a batch may hold from now on
    description: dict[str, Any]  # what the model says of itself by now
    kept_replies: dict[str, int]  # that the model used so far


decode_ready = msgspec.msgpack.Decoder(WorkerReady).decode
decode_answers = msgspec.msgpack.Decoder(WorkerAnswers).decode


def packed(batch: Sequence[Numbered]) -> bytes:
    """The items of a batch, without their numbers."""
    return encode([item for _, item in batch])


class Worker:
    """In a worker's process: one model, opened once, that is asked batch after batch."""

    def __init__(self, spec: ModelSpec, run: str, blind: bool, folder: str) -> None:
        self._spec, self._run, self._blind = spec, run, blind
        self._model: Any = None
        if os.path.isdir(folder):  # of the run's process: paths of models and pictures begin there
            os.chdir(folder)

    def place(self) -> str:
        """Where the worker is, for people."""
        return f"{socket.gethostname()}, process {os.getpid()}"

    def open(self) -> bytes:
        """Load the model."""
        self._model = opened_for(self._spec, self._run)
        self._files = model_files(self._spec)
        self._asker = Asker(self._model, blind=self._blind)
        return self._ready()

    def prepare(self, chunks: Iterable[bytes], benchmark: str) -> bytes:
        """Let the model see all items."""
        items = (item for chunk in chunks for item in _decode_items(chunk))
        self._model.prepare(items, registry.benchmark(benchmark))
        return self._ready()

    def sizes(self, items: bytes) -> list[int]:
        """The tokens of each item."""
        return [self._asker.size(item) for item in _decode_items(items)]

    def ask(self, items: bytes) -> bytes:
        """The answers to a batch."""
        batch = list(enumerate(_decode_items(items)))
        began = time.perf_counter()
        answers = self._asker.ask(batch)
        seconds = time.perf_counter() - began
        description = msgspec.to_builtins(self._model.describe())
        kept_replies = dict(getattr(self._model, "kept_replies", {}))
        return encode(WorkerAnswers(answers, seconds, self._asker.batch, description, kept_replies))

    def close(self) -> None:
        """Let go of the model."""
        close_model(self._model)

    def _ready(self) -> bytes:
        about = about_model(self._model, self._files)
        return encode(WorkerReady(about, self._asker.budget, self._asker.batch))

"""Who asks the model: this process itself, or workers elsewhere. One contract for both.

The driver plans batches and is the only one that writes the log; workers know nothing of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from gnomon import __version__
from gnomon.contracts import TEXT, Benchmark, Model
from gnomon.errors import ModelError
from gnomon.records import FORMS, Answer, Item
from gnomon.registry import ModelSpec
from gnomon.runs.asking import Asker
from gnomon.runs.batches import Numbered
from gnomon.runs.pace import WorkerPace

Window = Sequence[Numbered]


class About(msgspec.Struct, kw_only=True):
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


def about_model(model: Model, files: dict[str, str]) -> About:
    """What there is to say of a model that was opened, and that is made of these files."""
    lists_choices = getattr(model, "lists_choices", None)
    lists = None
    if lists_choices is not None:
        lists = {form: bool(lists_choices(form)) for form in FORMS}
    prepares = getattr(model, "prepare", None) is not None
    return About(
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
        asking=_asking(model),
        files=files,
    )


def opened_for(model: Model | ModelSpec, run: str) -> Model:
    """The model, told which run it is asked for: what it keeps of another run is not used."""
    opened = model.open() if isinstance(model, ModelSpec) else model
    for_run = getattr(opened, "for_run", None)
    if for_run:
        for_run(run)
    return opened


def _asking(model: Model) -> dict[str, Any]:
    asking = getattr(model, "asking", None)
    if asking is None:
        return {}
    found: dict[str, Any] = msgspec.to_builtins(asking())
    return found


class Done(NamedTuple):
    """A batch that was asked: the answers with the numbers of their items."""

    batch: Sequence[Numbered]
    answers: list[tuple[int, Answer]]
    seconds: float  # that the model took


class Workers(Protocol):
    """Those that ask the model. They are told of all items, then given batches, then closed."""

    budget: int  # tokens a batch may hold

    @property
    def batch(self) -> int:
        """Items a batch may hold: fewer than at first when memory has run out."""
        ...

    @property
    def about(self) -> About:
        """The model as it is now: it may learn while it is asked what a server really does."""
        ...

    def prepare(self, items: Iterable[Item], benchmark: Benchmark) -> None:
        """Let a model that learns from the items see them."""
        ...

    def keep(self, folder: Path) -> None:
        """Tell a model that makes files where they go."""
        ...

    def measured(self, windows: Iterable[Window]) -> Iterator[tuple[Window, list[int]]]:
        """Each window of items with the size of each item, in tokens."""
        ...

    def work(
        self, batches: Iterable[Sequence[Numbered]], *, answered: bool = False
    ) -> Iterator[list[Done]]:
        """Ask all batches, in whatever order they come back; nothing now and then while waiting.

        `answered` says whether items of this run were answered before.
        """
        ...

    def paces(self) -> tuple[list[WorkerPace], int, int]:
        """What each worker did so far, how many there are to be, and how many died."""
        ...

    def close(self) -> None:
        """Let go of the model and the workers, however the run ended."""
        ...


class Local:
    """This process is the only worker."""

    def __init__(self, model: Model | ModelSpec, *, run: str = "", blind: bool = False) -> None:
        self._model = opened_for(model, run)
        self._asker = Asker(self._model, blind=blind)
        self.budget = self._asker.budget

    @property
    def about(self) -> About:
        """What the model says of itself now."""
        return about_model(self._model, {})

    @property
    def batch(self) -> int:
        """Fewer than at first when memory has run out."""
        return self._asker.batch

    def prepare(self, items: Iterable[Item], benchmark: Benchmark) -> None:
        """Let a model that learns from the items see them."""
        prepare = getattr(self._model, "prepare", None)
        if prepare:
            prepare(items, benchmark)

    def keep(self, folder: Path) -> None:
        """Tell a model that makes files where they go."""
        keep = getattr(self._model, "keep", None)
        if keep:
            keep(folder)

    def measured(self, windows: Iterable[Window]) -> Iterator[tuple[Window, list[int]]]:
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
        close = getattr(self._model, "close", None)
        if close:
            close()


def check_can_be_shared(about: About) -> None:
    """Refuse a model that several workers cannot ask side by side."""
    reason = about.alone
    if about.keeps:
        reason = "it keeps its pictures in the run's folder"
    if reason:
        raise ModelError(
            f"{about.spec} can be asked by one process only: {reason}.", "Leave out --workers."
        )

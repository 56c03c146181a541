"""How far a run or a training is: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from gnomon.contracts import Model
from gnomon.errors import inert
from gnomon.items.source import ItemSource
from gnomon.redaction import redact_command
from gnomon.registry import ModelSpec
from gnomon.runs.pace import duration
from gnomon.runs.progress import RunProgress, drawn_line, in_words, progress_line

if TYPE_CHECKING:
    from gnomon.runs import Run
    from gnomon.train.recipes import TrainingProgress

MINUTE = 60.0  # seconds between two plain lines
SHORT = 20.0  # seconds that are left of a run that writes none


@contextmanager
def live_line(title: str, *, quiet: bool) -> Iterator[Callable[[RunProgress], None]]:
    """A watcher for `engine.run` that draws one line on a terminal, and writes some elsewhere."""
    if quiet or sys.stderr.isatty():
        with progress_line(title, shown=not quiet) as watch:
            yield watch
        return
    yield PlainLines(title)


def ask_model(
    title: str, source: ItemSource, model: Model | ModelSpec, *, quiet: bool, **options: Any
) -> Run:
    """Ask as `gnomon.run` does, with a live line, and keep the command with the run."""
    from gnomon import api

    command = redact_command(shlex.join(["gnomon", *sys.argv[1:]]))
    with live_line(title, quiet=quiet) as watch:
        return api.run(
            source, model, watch=watch, stopping=tell_of_stopping, command=command, **options
        )


class PlainLines:
    """Writes a line of progress a minute, the first when the time that is left can be told.

    A run that is over within seconds writes none.
    """

    def __init__(self, title: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._title, self._clock = title, clock
        self._next: float | None = None

    def __call__(self, progress: RunProgress) -> None:
        """Write a line if one is due."""
        now = self._clock()
        left = progress.pace(now).seconds_left or 0.0
        is_first = self._next is None
        if is_first and left < SHORT:
            return
        if self._next is not None and now < self._next:
            return
        self._next = now + MINUTE
        print(inert(f"{self._title}: {in_words(progress, now)}"), file=sys.stderr, flush=True)


def tell_of_stopping() -> None:
    """Say what happens after the first Ctrl-C, which may take a while."""
    with suppress(RuntimeError):  # the signal came while something else was being printed
        print(
            "\ngnomon: finishing the batch; Ctrl-C again stops at once.",
            file=sys.stderr,
            flush=True,
        )


@contextmanager
def staged_lines(*, quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A watcher that draws a line for each stage on a terminal."""
    with ExitStack() as lines:
        drawn: dict[str, Callable[[int, int, str], None]] = {}

        def watch(stage: str, done: int, total: int) -> None:
            if quiet or not sys.stderr.isatty():
                return
            if stage not in drawn:
                lines.close()  # the line of the stage before
                drawn[stage] = lines.enter_context(drawn_line(stage))
            drawn[stage](done, total, f"{done:,}/{total:,}" if total else f"{done:,}")

        yield watch


# How far a training is: one live line on a terminal, a line for each evaluation elsewhere.


@contextmanager
def training_line(
    title: str, *, quiet: bool
) -> Iterator[Callable[[TrainingProgress], None] | None]:
    """A watcher for a training."""
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        yield _on_each_evaluation()
        return
    with drawn_line(title) as draw:
        yield lambda standing: draw(standing.step, standing.steps, standing_in_words(standing))


def _on_each_evaluation() -> Callable[[TrainingProgress], None]:
    """Prints a line whenever there are new scores, so that a log stays short."""
    last: list[int] = []

    def watch(standing: TrainingProgress) -> None:
        if standing.evaluated and standing.step not in last:
            last[:] = [standing.step]
            print(standing_in_words(standing), file=sys.stderr)

    return watch


def standing_in_words(standing: TrainingProgress) -> str:
    """Steps so far, loss, scores on dev, time still needed.

    >>> from gnomon.train.recipes import TrainingProgress
    >>> standing_in_words(TrainingProgress(step=40, steps=80, epoch=1, loss=0.5, best=0.75,
    ...                   scores={"accuracy": 0.75}, seconds_left=75.0))
    'step 40/80 · loss 0.5000 · dev accuracy 0.7500 · 1 min 15 s left'
    """
    if standing.doing:
        return standing.doing
    parts = [f"step {standing.step:,}/{standing.steps:,}", f"loss {standing.loss:.4f}"]
    for measure, value in standing.scores.items():
        parts.append(f"dev {measure} {value:.4f}")
    if standing.seconds_left:
        parts.append(f"{duration(standing.seconds_left)} left")
    return " · ".join(parts)

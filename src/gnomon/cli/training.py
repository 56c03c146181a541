"""How far a training is: one live line on a terminal, a line for each evaluation elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gnomon.cli.progress import bar_with_words
from gnomon.runs.pace import duration

if TYPE_CHECKING:
    from gnomon.train.kinds import TrainingProgress


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
    with bar_with_words(title) as show:
        yield lambda standing: show(standing.step, standing.steps, in_words(standing))


def _on_each_evaluation() -> Callable[[TrainingProgress], None]:
    """Prints a line whenever there are new scores, so that a log stays short."""
    last: list[int] = []

    def watch(standing: TrainingProgress) -> None:
        if standing.evaluated and standing.step not in last:
            last[:] = [standing.step]
            print(in_words(standing), file=sys.stderr)

    return watch


def in_words(standing: TrainingProgress) -> str:
    """Steps so far, loss, scores on dev, time still needed.

    >>> from gnomon.train.kinds import Standing
    >>> in_words(Standing(step=40, steps=80, epoch=1, loss=0.5, scores={"accuracy": 0.75},
    ...                   best=0.75, seconds_left=75.0))
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

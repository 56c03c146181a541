"""What the loop knows of that which learns, and what it gives back when it is done.

A Learner is a module of torch with its batches, its loss and its score. How the data are read and
how answers are put is its own affair; `train` (loop.py) does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

if TYPE_CHECKING:
    import torch

Batch = Any  # whatever the learner's own `loss` takes
Scores = dict[str, float]  # a figure for each measure


class Learner(Protocol):
    """What learns.

    A class may also have
      parameter_groups() -> list[dict]   as torch's optimizers take them (default: every parameter
                                         that is trained, vectors without weight decay)
      test() -> dict[str, Scores]        the scores of the best weights on parts that training never
                                         saw, by the name of the part (default: none)
    Both run without gradients and with dropout off, as `score` does.
    """

    module: torch.nn.Module
    batches_in_epoch: int | None  # none for a stream without end: the schedule must count steps

    def batches(self, epoch: int) -> Iterable[Batch]:
        """The batches of an epoch: the same for the same seed of order and epoch."""
        ...

    def loss(self, batch: Batch) -> torch.Tensor:
        """The mean loss of a batch."""
        ...

    def score(self) -> Scores:
        """Measures on the development part; the schedule names the one that chooses."""
        ...

    def save(self, folder: Path) -> None:
        """Write what `-m hf:FOLDER` or `-m probe:FOLDER` loads."""
        ...


class TrainingProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far training is, for whoever watches."""

    step: int
    steps: int
    epoch: int  # counted from 0
    loss: float  # of the latest step that was read
    scores: Scores  # of the latest evaluation
    best: float | None  # of the measure that chooses
    seconds_left: float | None
    evaluated: bool = False  # the scores are of this step
    doing: str = ""  # what is done before the first step, in a few words


Watch = Callable[[TrainingProgress], None]


class TrainingOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What training came to: in the folder's training.json, and the value of `train`."""

    steps: int  # that were taken
    epochs: float  # the same, in epochs
    best_step: int
    best: Scores  # on the development part, at the best step
    last_loss: float
    stopped_early: bool
    parameters: int
    trained_parameters: int
    tests: dict[str, Scores] = {}  # on parts that training never saw

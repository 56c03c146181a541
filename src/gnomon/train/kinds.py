"""What can be taught, by the word that a recipe's `kind` says. A new kind is one module and a line.

The module has a `KIND`: the shape of the recipe's data and of the section that bears the kind's
name, and two functions. `read` checks and reads all data before anything heavy is loaded;
`open_learner` loads the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

from gnomon.errors import check_known

if TYPE_CHECKING:
    import torch

    from gnomon.train.recipes import Recipe


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The section of a kind that has no settings of its own."""


@dataclass(frozen=True)
class Material:
    """What was read for a training, and what the folder's data.json says of it."""

    content: Any  # the kind's own
    digests: dict[str, Any] = field(default_factory=dict)  # plain JSON: counts and sha256 by part


class TrainingKind(NamedTuple):
    """One kind of training."""

    summary: str
    data: type[Any]  # the shape of the recipe's `data`
    settings: type[Any]  # and of the section with the kind's name
    read: Callable[[Recipe], Material]
    open_learner: Callable[[Recipe, Material], Learner] | None
    # instead of a learner: a kind with a loop of its own, which leaves a finished folder
    train: Callable[[Recipe, Material, Path, Watch | None], TrainingOutcome] | None = None
    shorthand: Mapping[str, str] = {}  # short names of fields for --set, and their paths
    scheme: str = "hf"  # how what it makes is asked: -m SCHEME:DIR
    # the card's results in words, else a table
    results: Callable[[TrainingOutcome], str] | None = None
    # settings that must be given again to ask as was taught: --set NAME=VALUE
    asked_with: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()  # on dev, by which the loop can choose the best weights


# kind -> module with a KIND
KINDS = {
    "classify": "gnomon.train.classify",
    "text": "gnomon.train.text",
    "probe": "gnomon.train.probe",
    "captions": "gnomon.train.captions.kind",
    "look": "gnomon.train.visual",
}


def kind(name: str) -> TrainingKind:
    """The kind of that name."""
    check_known("kind of training", name, KINDS)
    found: TrainingKind = import_module(KINDS[name]).KIND
    return found


def way_to_ask(recipe: Recipe, folder: str) -> str:
    """The options of `gnomon run` by which what a recipe makes is asked as it was taught."""
    shape = kind(recipe.kind)
    found = [f"-m {shape.scheme}:{folder}"]
    usual = shape.settings()
    for name in shape.asked_with:
        value = getattr(recipe.settings, name)
        if value != getattr(usual, name):
            shown = str(value).lower() if isinstance(value, bool) else value
            found.append(f"--set {name}={shown}")
    return " ".join(found)


# What the loop knows of that which learns, and what it gives back when it is done.
#
# A Learner is a module of torch with its batches, its loss and its score. How the data are read
# and how answers are put is its own affair; `train` (loop.py) does the rest.


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

    step: int = 0
    steps: int = 0
    epoch: int = 0  # counted from 0
    loss: float = 0.0  # of the latest step that was read
    scores: Scores = {}  # of the latest evaluation
    best: float | None = None  # of the measure that chooses
    seconds_left: float | None = None
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
    threads: list[int] = []  # of torch; several where it went on with another number
    tests: dict[str, Scores] = {}  # on parts that training never saw

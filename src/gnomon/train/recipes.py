"""Recipes of trainings: kinds, what is learnt, from what, how long, how fast, by which seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from math import ceil, isnan
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Protocol,
)

import msgspec
from msgspec import Meta

from gnomon.errors import DataError, UsageError, check_known, unknown
from gnomon.files import package_data, read_yaml, shaped
from gnomon.trust import check_content

if TYPE_CHECKING:
    import torch

# What can be taught, by the word that a recipe's `kind` says. A new kind is one module and a
# line.
#
# The module has a `KIND`: the shape of the recipe's data and of the section that bears the kind's
# name, and two functions. `read` checks and reads all data before anything heavy is loaded;
# `open_learner` loads the model.


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

    def loss(self, batch: Batch) -> torch.Tensor:
        """The mean loss of a batch."""

    def score(self) -> Scores:
        """Measures on the development part; the schedule names the one that chooses."""

    def save(self, folder: Path) -> None:
        """Write what `-m hf:FOLDER` or `-m probe:FOLDER` loads."""


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


Count = Annotated[int, Meta(ge=1)]
Whole = Annotated[int, Meta(ge=0)]
Positive = Annotated[float, Meta(gt=0)]
NotNegative = Annotated[float, Meta(ge=0)]
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]  # as numpy and torch take it
LAST = "last"  # as `best`: no measure chooses
LOWER = ("loss", "perplexity")  # measures of which less is better
Precision = Literal["float32", "bfloat16", "float16"]


class Seeds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Three draws that are independent of each other."""

    data: Seed = 0  # which items are drawn, and into which part
    order: Seed = 0  # the order of the items, and what dropout leaves out
    weights: Seed = 0  # the values that new weights begin with


class Schedule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long and how fast: the recipe's section `schedule`."""

    epochs: Whole = 3
    steps: Whole = 0  # instead of epochs, where not 0
    batch: Count = 16  # items in a batch; the learner follows it
    accumulate: Count = 1  # batches in a step
    learning_rate: Positive = 5e-5
    optimizer: Literal["adamw", "adam"] = "adamw"
    weight_decay: NotNegative = 0.0
    warmup: NotNegative = 0.0  # a share of all steps below 1, else a number of steps
    decay: Literal["linear", "constant"] = "linear"
    clip: NotNegative = 1.0  # the longest gradient; 0 for any length
    precision: Precision = "float32"
    patience: Whole = 0  # evaluations without a better score before stopping; 0 never stops early
    evaluate_every: Whole = 0  # in steps; 0 for the end of each epoch
    save_every: Whole = 0  # in steps; in any case with better weights and every minute
    best: str = "accuracy"  # the measure on dev that chooses the weights; `last` for the last ones
    better: Literal["", "higher", "lower"] = ""  # by default as fits the measure

    def steps_in_epoch(self, batches: int | None) -> int | None:
        """How many steps an epoch of so many batches has.

        >>> Schedule(accumulate=4).steps_in_epoch(10)
        3
        """
        return None if batches is None else ceil(batches / self.accumulate)

    def total_steps(self, batches: int | None) -> int:
        """How many steps there will be, if nothing stops earlier.

        >>> Schedule(epochs=2, accumulate=4).total_steps(10)
        6
        """
        if self.steps:
            return self.steps
        in_epoch = self.steps_in_epoch(batches)
        if in_epoch is None:
            raise UsageError(
                "How long an epoch of these data is, is not known.",
                "Count steps in the recipe's schedule, for instance steps: 10000.",
            )
        return self.epochs * in_epoch

    def rate(self, step: int, total: int) -> float:
        """The learning rate of a step, counted from 0.

        >>> schedule = Schedule(learning_rate=1.0, warmup=2)
        >>> [schedule.rate(step, 6) for step in range(6)]
        [0.0, 0.5, 1.0, 0.75, 0.5, 0.25]
        """
        warm = self.warmup if self.warmup >= 1 else self.warmup * total
        if step < warm:
            return self.learning_rate * step / warm
        if self.decay == "constant":
            return self.learning_rate
        return self.learning_rate * max(0.0, (total - step) / max(1.0, total - warm))

    def is_better(self, score: float, best: float | None) -> bool:
        """Whether a score is better than the best so far; one that is undefined never is.

        >>> Schedule(best="loss").is_better(2.0, 3.0)
        True
        """
        if best is None or isnan(best):
            return True
        prefers_lower = self.better == "lower" if self.better else self.best in LOWER
        return score < best if prefers_lower else score > best


BUILT_IN = "recipes"  # below gnomon/data
SECTIONS = ("kind", "model", "note", "data", "schedule", "seeds")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What is taught, as resolved: every field with its value."""

    name: str
    kind: str
    model: str  # what training begins with: a folder, a hub name, or what the kind says
    note: str  # for people: the card begins with it
    data: Any  # of the kind's own type
    settings: Any  # the same
    schedule: Schedule
    seeds: Seeds

    def plain(self) -> dict[str, Any]:
        """The recipe as plain data: what recipe.yaml holds.

        The learner sees every field, so two recipes that are alike here train alike.
        """
        found: dict[str, Any] = {
            "kind": self.kind,
            "model": self.model,
            "note": self.note,
            "data": self.data,
            self.kind: self.settings,
            "schedule": self.schedule,
            "seeds": self.seeds,
        }
        plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(found))  # no tuples
        return plain


def load_recipe(name: str | Path, changes: Sequence[str] = ()) -> Recipe:
    """The recipe of a YAML file, or the built-in one of that name, with KEY=VALUE changes.

    A key names a field by its path: schedule.epochs, data.train.per_group.
    """
    file = _file(str(name))
    content = read_yaml(file)
    if not isinstance(content, dict):
        sections = ", ".join(f"{section}:" for section in SECTIONS)
        hint = f"Begin it with {sections}; see docs/probing.md."
        raise DataError("a recipe has named sections.", hint, file=file)
    check_content(content, file, "--set {place}={value}")
    for change in changes:
        content = changed(content, _spelt_out(change, content.get("kind")))
    return recipe_of(content, name=file.stem, file=file)


def recipe_of(content: Mapping[str, Any], *, name: str = "", file: str | Path = "") -> Recipe:
    """The recipe that plain data say, checked."""
    said = content.get("kind")
    if not isinstance(said, str):
        raise DataError(
            "the recipe does not say what kind of training it is.",
            f"Write kind: with one of: {', '.join(KINDS)}.",
            file=file,
        )
    shape = kind(said)
    allowed = (*SECTIONS, said)
    for section in content:
        if section not in allowed:
            wrong = unknown("section of a recipe", str(section), allowed)
            raise DataError(wrong.message, wrong.hint, file=file)
    return Recipe(
        name=name,
        kind=said,
        model=_section(content, "model", str, file, default=""),
        note=_section(content, "note", str, file, default=""),
        data=_section(content, "data", shape.data, file),
        settings=_section(content, said, shape.settings, file),
        schedule=_section(content, "schedule", Schedule, file),
        seeds=_section(content, "seeds", Seeds, file),
    )


def built_in_recipes() -> list[str]:
    """The names of the recipes that come with Gnomon."""
    return sorted(file.stem for file in package_data(BUILT_IN).glob("*.yaml"))


def changed(content: Mapping[str, Any], change: str) -> dict[str, Any]:
    """Plain data with one field changed: PATH=VALUE, where VALUE is read as YAML.

    >>> changed({"schedule": {"epochs": 3}}, "schedule.epochs=5")
    {'schedule': {'epochs': 5}}
    """
    import yaml

    path, equals, text = change.partition("=")
    if not equals or not path:
        raise UsageError(f"'{change}' is not KEY=VALUE.", "For example: --set schedule.epochs=5")
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        value = text
    return _with(content, path.replace("-", "_").split("."), value, change)


def _spelt_out(change: str, said: object) -> str:
    """KEY=VALUE with the full path of a field that its kind has a short name for."""
    path, equals, value = change.partition("=")
    first, dot, rest = path.partition(".")
    in_own_section = bool(dot) and first == said  # a short name may be that of the kind
    if said not in KINDS or in_own_section:
        return change
    short = kind(str(said)).shorthand
    return f"{short.get(first, first)}{dot}{rest}{equals}{value}"


def _with(content: Any, path: Sequence[str], value: Any, change: str) -> dict[str, Any]:
    if not isinstance(content, Mapping):
        raise UsageError(
            f"'{change}' names a field of something that has none.",
            "Write the path of a field, such as schedule.epochs.",
        )
    first, rest = path[0], path[1:]
    if rest:
        value = _with(content.get(first) or {}, rest, value, change)
    return {**content, first: value}


def _file(name: str) -> Path:
    if name.endswith((".yaml", ".yml")) or "/" in name:
        return Path(name).expanduser()
    file = package_data(f"{BUILT_IN}/{name}.yaml")
    if not file.is_file():
        wrong = unknown("recipe", name, built_in_recipes())
        raise UsageError(wrong.message, f"{wrong.hint} Or give the path of a file: recipe.yaml.")
    return file


def _section(
    content: Mapping[str, Any], name: str, shape: type[Any], file: str | Path, default: Any = None
) -> Any:
    """One section, converted; a field that its shape lacks is refused with the nearest name."""
    value = content.get(name, default)
    hint = "Correct the recipe; docs/probing.md lists the fields."
    # not strict: YAML takes 1e-4 for a text
    return shaped({} if value is None else value, shape, "", hint, file, at=name, strict=False)

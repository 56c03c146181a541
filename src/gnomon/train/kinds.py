"""What can be taught, by the word that a recipe's `kind` says. A new kind is one module and a line.

The module has a `KIND`: the shape of the recipe's data and of the section that bears the kind's
name, and two functions. `read` checks and reads all data before anything heavy is loaded;
`open_learner` loads the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from gnomon.errors import check_known

if TYPE_CHECKING:
    from gnomon.train.learners import Learner, TrainingOutcome, Watch
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
    results: Callable[[TrainingOutcome], str] | None = (
        None  # the card's results in words, else a table
    )
    # settings that must be given again to ask as was taught: --model-set NAME=VALUE
    asked_with: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()  # on dev, by which the loop can choose the best weights


# kind -> module with a KIND
KINDS = {
    "classify": "gnomon.train.classify",
    "text": "gnomon.train.text",
    "probe": "gnomon.train.probe",
    "captions": "gnomon.train.captions.kind",
    "look": "gnomon.train.looking.kind",
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
            found.append(f"--model-set {name}={shown}")
    return " ".join(found)

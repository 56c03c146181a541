"""The kind `probe`: a linear layer on the vectors of a frozen model, and its control beside it.

The vectors are computed once (probing/features.py), both heads are trained on them in seconds
(probing/probes.py), and what they get right stands in training.json with intervals.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta

from gnomon.errors import UsageError
from gnomon.train.items import DEV
from gnomon.train.kinds import Material, TrainingKind
from gnomon.train.learners import TrainingOutcome, Watch
from gnomon.train.probedata import ProbeData, check_labels, read_probe_items, type_of
from gnomon.train.schedule import Schedule
from gnomon.vision.features import bytes_of

if TYPE_CHECKING:
    from gnomon.train.recipes import Recipe

MEASURE = "relaxed_accuracy"  # ViPhy's R-Acc
FOLLOWED = ("epochs", "batch", "learning_rate", "decay", "best", "optimizer", "clip")


class ProbeSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The recipe's section `probe`."""

    reading: str = ""  # first, last, mean or pooled; else as fits the kind of model
    most_tokens: Annotated[int, Meta(ge=0)] = 0  # what is longer is cut; 0 for the model's own
    wording: str = ""  # what is read of an item, with {text} and {context}; else both
    several: Literal["draw", "share"] = "draw"  # where several labels are right
    drop_last: bool = True  # leave out what does not fill the last batch of an epoch
    control_by: str = ""  # a tag: the control gives each of its values one label (else each item)
    dtype: str = "float32"  # of the frozen model
    device: str = ""
    features: str | bool = True  # keep the vectors: on (2 GB), off, or a size such as 8GB


def read(recipe: Recipe) -> Material:
    """The items of all parts, after a check of what the recipe says."""
    _check_schedule(recipe.schedule)
    bytes_of(str(recipe.settings.features))
    _check_wording(recipe.settings.wording)
    material = read_probe_items(recipe.data, recipe.seeds.data)
    if not material.content.items.parts.get(DEV):
        raise UsageError(
            "A probe chooses its best epoch on a development part, but there is none.",
            "Write data.parts.dev in the recipe, for instance by: group.",
        )
    check_labels(material.content.items)
    if recipe.settings.control_by:
        for members in material.content.items.every().values():
            for item in members:
                type_of(item, recipe.settings.control_by)
    return material


def train(recipe: Recipe, material: Material, folder: Path, watch: Watch | None) -> TrainingOutcome:
    """Compute the vectors, train both heads, and write the folder."""
    from gnomon.train.probetraining import train_probe

    return train_probe(recipe, material, folder, watch)


def in_words(outcome: TrainingOutcome) -> str:
    """The results for the card."""
    from gnomon.train.selectivity import results_in_words

    return results_in_words(outcome)


def _check_schedule(schedule: Schedule) -> None:
    """Refuse a setting of the schedule that a probe would not follow."""
    if schedule.best != MEASURE:
        raise UsageError(
            f"A probe chooses its best epoch by {MEASURE}, not by {schedule.best}.",
            f"Write best: {MEASURE} in the recipe's schedule.",
        )
    if schedule.optimizer != "adam" or schedule.clip or not schedule.epochs:
        raise UsageError(
            "A probe is trained for some epochs by plain Adam, without clipping.",
            "Write optimizer: adam, clip: 0 and epochs: 50 in the recipe's schedule.",
        )
    usual = Schedule()
    for name in Schedule.__struct_fields__:
        if name not in FOLLOWED and getattr(schedule, name) != getattr(usual, name):
            raise UsageError(
                f"A probe does not follow the schedule's {name}.",
                f"Leave it out. A probe follows {', '.join(FOLLOWED[:4])}.",
            )


def _check_wording(wording: str) -> None:
    if wording and wording.count("{text}") != 1:
        raise UsageError(
            f"The wording '{wording}' must hold {{text}} exactly once.",
            'For example: --set probe.wording="the {text}"',
        )


SHORTHAND = {"benchmark": "data.benchmark", "options": "data.options"}
KIND = TrainingKind(
    summary="a linear probe on a frozen model",
    data=ProbeData,
    settings=ProbeSettings,
    read=read,
    open_learner=None,
    train=train,
    shorthand=SHORTHAND,
    scheme="probe",
    results=in_words,
)

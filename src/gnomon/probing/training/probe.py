"""The kind `probe`: a linear layer on the vectors of a frozen model, and its control beside it.

The vectors are computed once (probing/features.py), both heads are trained on them in seconds
(probing/probes.py), and what they get right stands in training.json with intervals. A training that
was stopped starts anew on the vectors that are kept, and ends in the same weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta

from gnomon.errors import UsageError
from gnomon.probing.features import FeatureStore, Vectors, text_of
from gnomon.probing.probefolder import About, write_probe
from gnomon.probing.probes import (
    Epoch,
    Examples,
    Flags,
    Learnt,
    Settings,
    shuffled,
    shuffled_by_type,
    train_probes,
)
from gnomon.probing.training.items import DEV, Items
from gnomon.probing.training.kinds import Kind, Material
from gnomon.probing.training.learners import Outcome, Scores, Standing, Watch
from gnomon.probing.training.metrics import Line, MetricsLog
from gnomon.probing.training.probedata import ProbeData, read_probe_items
from gnomon.probing.training.schedule import Schedule
from gnomon.probing.training.selectivity import in_words, part_scores, train_scores
from gnomon.records import Item
from gnomon.vision.features import bytes_of

if TYPE_CHECKING:
    from gnomon.probing.training.recipes import Recipe

TOLD_EVERY = 10  # epochs, which take a blink
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
    return material


class _Heads(NamedTuple):
    """Probe and control after training, and the labels that the control was to learn."""

    learnt: dict[str, Learnt]
    history: list[Epoch]
    control_gold: Flags  # of the training items


def train(recipe: Recipe, material: Material, folder: Path, watch: Watch | None) -> Outcome:
    """Compute the vectors, train both heads, and write the folder."""
    from gnomon.models.transformers.backbones import open_backbone

    settings: ProbeSettings = recipe.settings
    name = recipe.model.removeprefix("hf:")
    backbone = open_backbone(
        f"hf:{name}",
        reading=settings.reading,
        most_tokens=settings.most_tokens,
        dtype=settings.dtype,
        device=settings.device,
    )
    store = FeatureStore(backbone, bytes_of(str(settings.features)))
    items: Items = material.content.items
    labels = labels_of(items.train)
    _check_labels(items, labels)
    vectors: dict[str, Vectors] = {}
    for part, members in items.every().items():
        texts = [text_of(item, backbone.mask, settings.wording) for item in members]
        vectors[part] = store.vectors(texts, _telling(part, watch))

    heads = _train_heads(recipe, items, vectors, labels, folder, watch)
    about = About(
        backbone=f"hf:{name}",
        seen=backbone.describe(),
        reading=backbone.reading,
        most_tokens=settings.most_tokens,
        wording=settings.wording,
        labels=labels,
        epochs={head: learnt.epoch for head, learnt in heads.learnt.items()},
        dev={head: learnt.score for head, learnt in heads.learnt.items()},
        train_sha256=material.digests["train"]["sha256"],
    )
    write_probe(folder, about, heads.learnt)

    scores = {}
    for part, members in items.parts.items():
        benchmark = material.content.benchmark
        scores[part] = part_scores(members, vectors[part], labels, heads.learnt, benchmark)
    gold = gold_of(items.train, labels)
    scores["train"] = train_scores(vectors["train"], gold, heads.control_gold, heads.learnt)
    return _outcome(recipe, heads, len(items.train), scores, backbone.describe()["parameters"])


def labels_of(items: Sequence[Item]) -> tuple[str, ...]:
    """All choices of the items, in the order in which they come."""
    found: dict[str, None] = {}
    for item in items:
        found |= dict.fromkeys(item.choices)
    return tuple(found)


def gold_of(items: Sequence[Item], labels: Sequence[str]) -> Flags:
    """[items, labels] which labels are right."""
    rows = []
    for item in items:
        rows.append([label in item.gold for label in labels])
    return np.array(rows, dtype=bool)


def _train_heads(
    recipe: Recipe,
    items: Items,
    vectors: dict[str, Vectors],
    labels: tuple[str, ...],
    folder: Path,
    watch: Watch | None,
) -> _Heads:
    own = _probe_settings(recipe)
    train, dev = items.train, items.parts[DEV]
    gold, dev_gold = gold_of(train, labels), gold_of(dev, labels)
    control, dev_control = _control(recipe, train, dev, gold, dev_gold)
    history: list[Epoch] = []

    def note(epoch: Epoch) -> None:
        history.append(epoch)
        if watch:
            watch(_standing(epoch, history, own, len(train)))

    learnt = train_probes(
        Examples(vectors["train"], np.stack([gold, control])),
        Examples(vectors[DEV], np.stack([dev_gold, dev_control])),
        own,
        note,
    )
    log = MetricsLog(folder)
    log.begin(0)
    log.add(_lines(history, own, len(train)))
    return _Heads(dict(zip(("probe", "control"), learnt, strict=True)), history, control)


def _control(
    recipe: Recipe, train: list[Item], dev: list[Item], gold: Flags, dev_gold: Flags
) -> tuple[Flags, Flags]:
    """The labels of the control: shuffled within each part, or drawn for each value of a tag."""
    tag, seed = recipe.settings.control_by, recipe.seeds.data
    if not tag:
        return shuffled(gold, seed), shuffled(dev_gold, seed + 1)
    both = [*train, *dev]
    for item in both:
        if not item.tags.get(tag):
            raise UsageError(
                f"The control is drawn by the tag '{tag}', which the item '{item.id}' lacks.",
                f"Choose one of: {', '.join(sorted(item.tags))}.",
            )
    drawn = shuffled_by_type(
        np.concatenate([gold, dev_gold]), [item.tags[tag] for item in both], seed
    )
    return drawn[: len(train)], drawn[len(train) :]


def _probe_settings(recipe: Recipe) -> Settings:
    schedule = recipe.schedule
    return Settings(
        epochs=schedule.epochs,
        batch=schedule.batch,
        learning_rate=schedule.learning_rate,
        decay=schedule.decay,
        several=recipe.settings.several,
        drop_last=recipe.settings.drop_last,
        seed_data=recipe.seeds.data,
        seed_order=recipe.seeds.order,
        seed_weights=recipe.seeds.weights,
    )


def _lines(history: Sequence[Epoch], settings: Settings, examples: int) -> list[Line]:
    """Two lines for each epoch: its mean loss, and the scores after it."""
    steps = settings.steps_in_epoch(examples)
    lines = []
    for each in history:
        step = each.epoch * steps
        rate = settings.rate(step - 1, examples)
        lines.append(Line(step=step, epoch=each.epoch, loss=each.losses[0], rate=rate))
        lines.append(Line(step=step, epoch=each.epoch, dev=_named(each)))
    return lines


def _named(epoch: Epoch) -> dict[str, float]:
    return {MEASURE: epoch.scores[0], "control": epoch.scores[1]}


def _standing(
    epoch: Epoch, history: Sequence[Epoch], settings: Settings, examples: int
) -> Standing:
    steps = settings.steps_in_epoch(examples)
    return Standing(
        step=epoch.epoch * steps,
        steps=settings.epochs * steps,
        epoch=epoch.epoch - 1,
        loss=epoch.losses[0],
        scores=_named(epoch),
        best=max(each.scores[0] for each in history),
        seconds_left=None,
        evaluated=epoch.epoch % TOLD_EVERY == 0,
    )


def _telling(part: str, watch: Watch | None) -> Callable[[int, int], None] | None:
    """Tells whoever watches how many texts of a part the frozen model has read."""
    if watch is None:
        return None

    def tell(known: int, total: int) -> None:
        doing = f"reading {part}: {known:,} of {total:,} texts"
        watch(
            Standing(
                step=0,
                steps=0,
                epoch=0,
                loss=0.0,
                scores={},
                best=None,
                seconds_left=None,
                doing=doing,
            )
        )

    return tell


def _outcome(
    recipe: Recipe, heads: _Heads, examples: int, scores: dict[str, Scores], frozen: int
) -> Outcome:
    steps = _probe_settings(recipe).steps_in_epoch(examples)
    probe = heads.learnt["probe"]
    trained = probe.weights.size + probe.bias.size
    return Outcome(
        steps=steps * len(heads.history),
        epochs=float(len(heads.history)),
        best_step=steps * probe.epoch,
        best=scores.pop(DEV),
        last_loss=heads.history[-1].losses[0],
        stopped_early=False,
        parameters=frozen + trained,
        trained_parameters=trained,
        tests=scores,
    )


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


def _check_labels(items: Items, labels: tuple[str, ...]) -> None:
    for part, members in items.parts.items():
        for item in members:
            strange = set(item.choices) - set(labels)
            if strange:
                raise UsageError(
                    f"The item '{item.id}' of {part} has the choice '{min(strange)}', which no "
                    "item of train has.",
                    "Give all parts the same options (such as prompt).",
                )


SHORTHAND = {"benchmark": "data.benchmark", "options": "data.options"}
KIND = Kind(
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

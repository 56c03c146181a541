"""Training a probe: vectors once, both heads in seconds, and what they get right of each part.

A training that was stopped starts anew on the vectors that are kept, and ends in the same weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.models.transformers.backbone import open_backbone
from gnomon.records import Item
from gnomon.train.features import FeatureStore, Vectors, text_of
from gnomon.train.items import DEV, Items
from gnomon.train.kinds import Material
from gnomon.train.learners import Outcome, Scores, Standing, Watch
from gnomon.train.metrics import Line, MetricsLog
from gnomon.train.probe import MEASURE, ProbeSettings
from gnomon.train.probedata import labels_of, type_of
from gnomon.train.probefolder import HEADS, About, write_probe
from gnomon.train.probes import (
    Epoch,
    Examples,
    Flags,
    Learnt,
    Settings,
    shuffled,
    shuffled_by_type,
    train_probes,
)
from gnomon.train.selectivity import part_scores, right_flags, train_scores
from gnomon.vision.features import bytes_of

if TYPE_CHECKING:
    from gnomon.train.recipes import Recipe

TOLD_EVERY = 10  # epochs, which take a blink


class _Parts(NamedTuple):
    """What the heads are trained on and measured by, of each part."""

    vectors: dict[str, Vectors]
    gold: dict[str, Flags]
    offered: dict[str, Flags]
    control: dict[str, Flags]  # what the control is to say

    def examples(self, part: str) -> Examples:
        """The examples of a part, for probe and control."""
        labels = np.stack([self.gold[part], self.control[part]])
        return Examples(self.vectors[part], labels, self.offered[part])


class _Heads(NamedTuple):
    """Probe and control after training, and how it went."""

    learnt: dict[str, Learnt]
    history: list[Epoch]


def train_probe(recipe: Recipe, material: Material, folder: Path, watch: Watch | None) -> Outcome:
    """Compute the vectors, train both heads, and write the folder."""
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
    vectors: dict[str, Vectors] = {}
    for part, members in items.every().items():
        texts = [text_of(item, backbone.mask, settings.wording) for item in members]
        vectors[part] = store.vectors(texts, _telling(part, watch))

    gold = {part: gold_of(members, labels) for part, members in items.every().items()}
    offered = {part: offered_of(members, labels) for part, members in items.every().items()}
    control = _control_labels(recipe, items, gold, offered)
    parts = _Parts(vectors, gold, offered, control)
    heads = _train_heads(recipe, parts, folder, watch)
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
    scores = _scores(material, parts, recipe, heads.learnt)
    return _outcome(recipe, heads, len(items.train), scores, backbone.describe()["parameters"])


def _scores(
    material: Material, parts: _Parts, recipe: Recipe, heads: dict[str, Learnt]
) -> dict[str, Scores]:
    """What both heads get right of each part; of train, each of its own labels.

    Labels that were shuffled among items are noise in other items, where the control is measured
    by the right ones. Labels by type carry over, and there it is measured by its own.
    """
    items: Items = material.content.items
    judged = parts.control if recipe.settings.control_by else parts.gold

    def right(head: str, part: str, gold: dict[str, Flags]) -> Flags:
        return right_flags(parts.vectors[part], gold[part], parts.offered[part], heads[head])

    scores = {}
    for part, members in items.parts.items():
        flags = {
            "probe": right("probe", part, parts.gold),
            "control": right("control", part, judged),
        }
        scores[part] = part_scores(members, flags, material.content.benchmark)
    scores["train"] = train_scores(
        right("probe", "train", parts.gold), right("control", "train", parts.control)
    )
    return scores


def gold_of(items: Sequence[Item], labels: Sequence[str]) -> Flags:
    """[items, labels] which labels are right."""
    rows = []
    for item in items:
        rows.append([label in item.gold for label in labels])
    return np.array(rows, dtype=bool)


def offered_of(items: Sequence[Item], labels: Sequence[str]) -> Flags:
    """[items, labels] which labels are among an item's choices."""
    rows = []
    for item in items:
        rows.append([label in item.choices for label in labels])
    return np.array(rows, dtype=bool)


def _train_heads(recipe: Recipe, parts: _Parts, folder: Path, watch: Watch | None) -> _Heads:
    own = _probe_settings(recipe)
    examples = len(parts.gold["train"])
    history: list[Epoch] = []

    def note(epoch: Epoch) -> None:
        history.append(epoch)
        if watch:
            watch(_standing(epoch, history, own, examples))

    learnt = train_probes(parts.examples("train"), parts.examples(DEV), own, note)
    log = MetricsLog(folder)
    log.begin(0)
    log.add(_lines(history, own, examples))
    return _Heads(dict(zip(HEADS, learnt, strict=True)), history)


def _control_labels(
    recipe: Recipe, items: Items, gold: dict[str, Flags], offered: dict[str, Flags]
) -> dict[str, Flags]:
    """What the control is to say: labels shuffled within each part, or drawn for each type."""
    tag, seed = recipe.settings.control_by, recipe.seeds.data
    if not tag:
        found = {}
        for number, (part, flags) in enumerate(gold.items()):
            found[part] = shuffled(flags, offered[part], seed + number)
        return found
    types = []
    for members in items.every().values():
        types += [type_of(item, tag) for item in members]
    every_gold = np.concatenate(list(gold.values()))
    every_offered = np.concatenate(list(offered.values()))
    drawn = shuffled_by_type(every_gold, every_offered, types, seed)
    ends = np.cumsum([len(flags) for flags in gold.values()])
    return dict(zip(gold, np.split(drawn, ends[:-1]), strict=True))


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

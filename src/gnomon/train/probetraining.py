"""Training a probe: vectors once, both heads in seconds, and what they get right of each part.

A training that was stopped starts anew on the vectors that are kept, and ends in the same weights.
"""

from collections.abc import Mapping, Sequence
from math import nan
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gnomon.contracts import Benchmark
from gnomon.keep import bytes_of
from gnomon.measures.classes import RELAXED_ACCURACY
from gnomon.measures.comparison import compare
from gnomon.measures.scoring import score
from gnomon.measures.table import Table
from gnomon.measures.units import Sharing
from gnomon.models.functions import majority
from gnomon.models.transformers.backbone import open_backbone
from gnomon.records import Answer, Item
from gnomon.train import probes
from gnomon.train.checkpoints import MetricsLine, MetricsLog
from gnomon.train.features import FeatureStore, Vectors, text_of
from gnomon.train.items import DEV, Items
from gnomon.train.probe import MEASURE, ProbeSettings, labels_of, type_of
from gnomon.train.probemodel import HEADS, ProbeDescription, write_probe
from gnomon.train.probes import Epoch, Examples, Flags, HeadSettings, Learnt
from gnomon.train.recipes import Material, Recipe, Scores, TrainingOutcome, TrainingProgress, Watch

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


def train_probe(
    recipe: Recipe, material: Material, folder: Path, watch: Watch | None
) -> TrainingOutcome:
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

        def tell(known: int, total: int, part: str = part) -> None:
            if watch:
                doing = f"reading {part}: {known:,} of {total:,} texts"
                watch(TrainingProgress(doing=doing))

        vectors[part] = store.vectors(texts, tell)

    gold = {part: gold_of(members, labels) for part, members in items.every().items()}
    offered = {part: offered_of(members, labels) for part, members in items.every().items()}
    control = _control_labels(recipe, items, gold, offered)
    parts = _Parts(vectors, gold, offered, control)
    heads, history = _train_heads(recipe, parts, folder, watch)
    about = ProbeDescription(
        backbone=f"hf:{name}",
        seen=backbone.describe(),
        reading=backbone.reading,
        most_tokens=settings.most_tokens,
        wording=settings.wording,
        labels=labels,
        epochs={head: learnt.epoch for head, learnt in heads.items()},
        dev={head: learnt.score for head, learnt in heads.items()},
        train_sha256=material.digests["train"]["sha256"],
    )
    write_probe(folder, about, heads)
    scores = _scores(material, parts, recipe, heads)
    steps = _probe_settings(recipe).steps_in_epoch(len(items.train))
    probe = heads["probe"]
    trained = probe.weights.size + probe.bias.size
    return TrainingOutcome(
        steps=steps * len(history),
        epochs=float(len(history)),
        best_step=steps * probe.epoch,
        best=scores.pop(DEV),
        last_loss=history[-1].losses[0],
        stopped_early=False,
        parameters=backbone.describe()["parameters"] + trained,
        trained_parameters=trained,
        tests=scores,
    )


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
        probe, control = right("probe", part, parts.gold), right("control", part, judged)
        flags = {"probe": probe, "control": control}
        scores[part] = part_scores(members, flags, material.content.benchmark)
    probe, control = right("probe", "train", parts.gold), right("control", "train", parts.control)
    scores["train"] = train_scores(probe, control)
    return scores


def gold_of(items: Sequence[Item], labels: Sequence[str]) -> Flags:
    """[items, labels] which labels are right."""
    return np.array([[label in item.gold for label in labels] for item in items], dtype=bool)


def offered_of(items: Sequence[Item], labels: Sequence[str]) -> Flags:
    """[items, labels] which labels are among an item's choices."""
    return np.array([[label in item.choices for label in labels] for item in items], dtype=bool)


def _train_heads(
    recipe: Recipe, parts: _Parts, folder: Path, watch: Watch | None
) -> tuple[dict[str, Learnt], list[Epoch]]:
    """Probe and control after training, and how it went."""
    own = _probe_settings(recipe)
    examples = len(parts.gold["train"])
    history: list[Epoch] = []

    def note(epoch: Epoch) -> None:
        history.append(epoch)
        if watch:
            watch(_standing(epoch, history, own, examples))

    learnt = probes.train_probes(parts.examples("train"), parts.examples(DEV), own, note)
    log = MetricsLog(folder)
    log.begin(0)
    log.add(_lines(history, own, examples))
    return dict(zip(HEADS, learnt, strict=True)), history


def _control_labels(
    recipe: Recipe, items: Items, gold: dict[str, Flags], offered: dict[str, Flags]
) -> dict[str, Flags]:
    """What the control is to say: labels shuffled within each part, or drawn for each type."""
    tag, seed = recipe.settings.control_by, recipe.seeds.data
    if not tag:
        found = {}
        for number, (part, flags) in enumerate(gold.items()):
            found[part] = probes.shuffled(flags, offered[part], seed + number)
        return found
    types = []
    for members in items.every().values():
        types += [type_of(item, tag) for item in members]
    every_gold = np.concatenate(list(gold.values()))
    every_offered = np.concatenate(list(offered.values()))
    drawn = probes.shuffled_by_type(every_gold, every_offered, types, seed)
    ends = np.cumsum([len(flags) for flags in gold.values()])
    return dict(zip(gold, np.split(drawn, ends[:-1]), strict=True))


def _probe_settings(recipe: Recipe) -> HeadSettings:
    schedule = recipe.schedule
    return HeadSettings(
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


def _lines(history: Sequence[Epoch], settings: HeadSettings, examples: int) -> list[MetricsLine]:
    """Two lines for each epoch: its mean loss, and the scores after it."""
    steps = settings.steps_in_epoch(examples)
    lines = []
    for each in history:
        step = each.epoch * steps
        rate = settings.rate(step - 1, examples)
        lines.append(MetricsLine(step=step, epoch=each.epoch, loss=each.losses[0], rate=rate))
        lines.append(MetricsLine(step=step, epoch=each.epoch, dev=_named(each)))
    return lines


def _named(epoch: Epoch) -> dict[str, float]:
    return {MEASURE: epoch.scores[0], "control": epoch.scores[1]}


def _standing(
    epoch: Epoch, history: Sequence[Epoch], settings: HeadSettings, examples: int
) -> TrainingProgress:
    steps = settings.steps_in_epoch(examples)
    return TrainingProgress(
        step=epoch.epoch * steps,
        steps=settings.epochs * steps,
        epoch=epoch.epoch - 1,
        loss=epoch.losses[0],
        scores=_named(epoch),
        best=max(each.scores[0] for each in history),
        evaluated=epoch.epoch % TOLD_EVERY == 0,
    )


# What a probe gets right, beside its control: each with an interval over independent units.
#
# Selectivity is the difference of the two on the same items (Hewitt and Liang 2019): a control
# that does well says that the probe can learn anything by heart, and then what it gets right says
# little about the model below it.


FIGURES = {
    "relaxed_accuracy": "the probe gets {} right",
    "majority": "the label that is right most often {}",
    "control": "the control {}",
}


def part_scores(
    items: Sequence[Item], right: Mapping[str, Flags], benchmark: Benchmark | None
) -> Scores:
    """Relaxed accuracy of probe, control and the most frequent label; and the selectivity.

    `right` says of each head which items it gets right, by the labels that it is measured by.
    """
    tables = {}
    for name, flags in right.items():
        tables[name] = _table(items, _as_answers(items, flags), name, benchmark)
    tables["majority"] = _table(items, _most_frequent(items), "majority", benchmark)
    found: Scores = {}
    for name, table in tables.items():
        one = score(table, RELAXED_ACCURACY)
        measure = "relaxed_accuracy" if name == "probe" else name
        _add(found, measure, one.value, one.low, one.high)
    (gap,) = compare([tables["probe"], tables["control"]], RELAXED_ACCURACY, draws=0)
    _add(found, "selectivity", gap.difference, gap.low, gap.high)
    return found


def right_flags(vectors: Vectors, gold: Flags, offered: Flags, learnt: Learnt) -> Flags:
    """For each example, whether the most probable of the labels that it offers is a right one."""
    return probes.picked_right(probes.label_probabilities(vectors, learnt), gold, offered)


def results_in_words(outcome: TrainingOutcome) -> str:
    """The results of a probe for its card: a paragraph for each part, what was tested first."""
    parts = {**outcome.tests, "dev (which chose the epoch, and so flatters)": outcome.best}
    train = parts.pop("train")
    told = []
    for part, scores in parts.items():
        figures = [words.format(_shown(scores, name)) for name, words in FIGURES.items()]
        gap = _shown(scores, "selectivity", unit=" points")
        told.append(f"On {part}, {', '.join(figures)}. Selectivity: {gap}.")
    told.append(
        "The control is the same probe, trained on random labels. Of its own training labels it "
        f"has {100 * train['control_on_its_labels']:.1f} % right, which it can only have learnt by "
        f"heart; the probe has {100 * train['relaxed_accuracy']:.1f} % of the right ones."
    )
    return "\n\n".join(told)


def _shown(scores: Scores, name: str, unit: str = " %") -> str:
    value, low, high = (scores.get(key, nan) for key in (name, f"{name}_low", f"{name}_high"))
    return f"{100 * value:.1f}{unit} [{100 * low:.1f}, {100 * high:.1f}]"


def train_scores(probe: Flags, control: Flags) -> Scores:
    """How much of its own training labels each head has learnt: what it holds by heart."""
    return {
        "relaxed_accuracy": float(probe.mean()),
        "control_on_its_labels": float(control.mean()),
    }


def _as_answers(items: Sequence[Item], right: Flags) -> list[Answer]:
    """Answers that are right where they should be: a table then knows units and intervals."""
    found = []
    for item, is_right in zip(items, right.tolist(), strict=True):
        choice = item.gold[0] if is_right else None
        found.append(Answer(item=item.id, choice=choice))
    return found


def _most_frequent(items: Sequence[Item]) -> list[Answer]:
    """The answers of the baseline, which looks at the labels of the items themselves."""
    baseline = majority("")
    baseline.prepare(items, None)  # type: ignore[arg-type, misc]  # looks at the items alone
    return baseline.answer(items)


def _table(
    items: Sequence[Item], answers: Sequence[Answer], name: str, benchmark: Benchmark | None
) -> Table:
    rows = zip(items, answers, strict=True)
    if benchmark is None:
        return Table.of(rows, model=name)
    return Table.of(rows, benchmark=benchmark.name, model=name, sharing=Sharing.of(benchmark))


def _add(
    found: Scores, name: str, value: float | None, low: float | None, high: float | None
) -> None:
    """A figure and its interval, where they are known."""
    for key, number in ((name, value), (f"{name}_low", low), (f"{name}_high", high)):
        if number is not None:
            found[key] = number

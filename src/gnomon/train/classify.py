"""Finetuning a classifier of sentence pairs: premises and hypothesis in, a label out.

This is how NLI models are made and, in SpaceNLI (section 4.2.3), taught from a few samples of each
pattern. Where several labels are right, the loss is that of their joint probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from gnomon.errors import DataError, UsageError
from gnomon.grouped import chunks
from gnomon.records import Item
from gnomon.train import pretrained
from gnomon.train.items import ItemData, Items, read_material
from gnomon.train.recipes import Material, Recipe, Scores, TrainingKind

if TYPE_CHECKING:
    import torch


class ClassifySettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The recipe's section `classify`."""

    labels: tuple[str, ...] = ("entailment", "neutral", "contradiction")  # in a new head's order
    # tokens of a pair, where the model reads so many; what is longer is cut
    longest: Annotated[int, Meta(ge=16)] = 256
    freeze: Annotated[int, Meta(ge=0)] = 0  # the embeddings and so many lower layers stay as is
    device: str = ""
    lora: pretrained.Lora | None = None


def read(recipe: Recipe) -> Material:
    """The items, each a pair with labels of the set."""
    material = read_material(recipe.data, recipe.seeds.data)
    items: Items = material.content
    for part, members in items.every().items():
        for item in members:
            _check(item, part, recipe.settings.labels)
    return material


def _check(item: Item, part: str, labels: Sequence[str]) -> None:
    if item.form != "entailment":
        raise UsageError(
            f"A classifier of pairs learns from items of the form entailment, but '{item.id}' of "
            f"{part} is a {item.form}.",
            "Write kind: text for other forms.",
        )
    for label in item.gold:
        if label not in labels:
            raise DataError(
                f"the item '{item.id}' of {part} has the label '{label}', which is not in the set.",
                f"The recipe's classify.labels are {', '.join(labels)}: add it there.",
            )


def open_learner(recipe: Recipe, material: Material) -> ClassifyLearner:
    """Load the model with a head for the labels."""
    settings: ClassifySettings = recipe.settings
    config = pretrained.load_config(recipe.model)
    labels = order_of_head(config, recipe.model, settings.labels)
    loaded = pretrained.load_pretrained(
        recipe.model,
        "AutoModelForSequenceClassification",
        weights_seed=recipe.seeds.weights,
        device=settings.device,
        id2label=dict(enumerate(labels)),
        label2id={label: place for place, label in enumerate(labels)},
    )
    pretrained.set_padding(loaded)
    pretrained.freeze_below(loaded.model, settings.freeze)
    loaded = pretrained.with_lora(loaded, settings.lora, "nli", seed=recipe.seeds.weights)
    return ClassifyLearner(loaded, material.content, recipe, labels)


def order_of_head(config: Any, name: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    """The labels in the order of the model's own head, where it has one for them.

    Its weights are kept, so that the recipe's order would give its classes wrong names.
    """
    from gnomon.models.transformers.nli import known_order

    makes: Sequence[str] = config.architectures or ()
    if not any(make.endswith("ForSequenceClassification") for make in makes):
        return labels
    own = known_order(config, name)
    return own if set(own) == set(labels) else labels


class ClassifyLearner(pretrained.FinetunedModel):
    """A sequence classifier, its items and how they are put."""

    def __init__(
        self, loaded: pretrained.Pretrained, items: Items, recipe: Recipe, labels: Sequence[str]
    ) -> None:
        super().__init__(loaded, items, recipe)
        self.labels = labels
        self.longest = min(self.settings.longest, loaded.longest or self.settings.longest)

    def loss(self, batch: Sequence[Item]) -> torch.Tensor:
        """The negative log of the probability of the right labels."""
        inputs, right = self.inputs(batch)
        return _negative_log(self.module(**inputs).logits.float(), right).mean()

    def inputs(self, items: Sequence[Item]) -> tuple[Any, torch.Tensor]:
        """Items as the model takes them, and for each which labels are right."""
        import torch

        premises = [" ".join(item.context.split()) for item in items]
        texts = [item.text for item in items]
        encoded = self.tokenizer(
            premises,
            texts,
            padding=True,
            truncation=True,
            max_length=self.longest,
            return_tensors="pt",
        )
        rows = []
        for item in items:
            rows.append([label in item.gold for label in self.labels])
        return encoded.to(self.device), torch.tensor(rows, device=self.device)

    def scores(self, items: Sequence[Item]) -> Scores:
        """Accuracy and the mean loss."""
        if not items:
            return {}
        correct, loss = 0, 0.0
        by_length = sorted(items, key=lambda item: len(item.context) + len(item.text))
        for batch in chunks(by_length, 64):
            inputs, right = self.inputs(batch)
            logits = self.module(**inputs).logits.float()
            picked = logits.argmax(-1, keepdim=True)
            correct += int(right.gather(1, picked).sum())
            loss += float(_negative_log(logits, right).sum())
        return {"accuracy": correct / len(items), "loss": loss / len(items)}


def _negative_log(logits: torch.Tensor, right: torch.Tensor) -> Any:
    """Of the joint probability of the right labels; with one label, the cross-entropy."""
    of_right = logits.masked_fill(~right, float("-inf"))
    return logits.logsumexp(-1) - of_right.logsumexp(-1)


KIND = TrainingKind(
    "a classifier of sentence pairs",
    ItemData,
    ClassifySettings,
    read,
    open_learner,
    measures=("accuracy", "loss"),
)

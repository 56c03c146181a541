"""Finetuning a model of language with labels as text: decoders, encoder-decoders, masked models.

It is put the items by a prompt, as it will be asked, and learns to write the right label. Where
several are right, one is drawn for each item and epoch.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from gnomon.errors import UsageError
from gnomon.grouped import chunks
from gnomon.models.prompts.library import Prompt, load_prompt
from gnomon.records import Item
from gnomon.train import pretrained
from gnomon.train.items import ItemData, Items, read_material
from gnomon.train.recipes import Material, Recipe, Scores, TrainingKind

if TYPE_CHECKING:
    import torch


class TextSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The recipe's section `text`."""

    prompt: str = ""  # a prompt's name or file; by default that of the kind of model
    wording: int = 1
    shots: int | None = None  # of the prompt's worked examples; by default all
    chat: bool | None = None  # as a conversation; by default where there is a chat template
    device: str = ""
    lora: pretrained.Lora | None = None


class Lesson(NamedTuple):
    """An item, and the word for it that is right."""

    item: Item
    word: str


def read(recipe: Recipe) -> Material:
    """The items; that the prompt can put them is seen before anything is loaded."""
    material = read_material(recipe.data, recipe.seeds.data)
    settings: TextSettings = recipe.settings
    if settings.prompt:
        prompt = _prompt(settings, settings.prompt)
        items: Items = material.content
        for members in items.every().values():
            for item in members:
                prompt.parts(item)
    return material


def _prompt(settings: TextSettings, name: str) -> Prompt:
    return load_prompt(name, settings.wording).with_shots(settings.shots)


def _converses(wanted: bool | None, kind: str, tokenizer: Any) -> bool:
    """Whether items are put as a conversation: as hf: does it, since it will ask the model."""
    possible = kind == "causal" and bool(getattr(tokenizer, "chat_template", None))
    if wanted and not possible:
        raise UsageError(
            "text.chat is true, but the model has no chat template.",
            "Leave it out of the recipe.",
        )
    return possible if wanted is None else wanted


def open_learner(recipe: Recipe, material: Material) -> TextLearner:
    """Load the model, of the kind that its config says."""
    settings: TextSettings = recipe.settings
    seed = recipe.seeds.weights
    loaded, kind = pretrained.load_writer(recipe.model, seed, settings.device)
    loaded = pretrained.with_lora(loaded, settings.lora, kind, seed=seed)
    return TextLearner(loaded, kind, material.content, recipe)


class TextLearner(pretrained.FinetunedModel):
    """A model of language, its items and how they are put."""

    def __init__(
        self, loaded: pretrained.Pretrained, kind: str, items: Items, recipe: Recipe
    ) -> None:
        from gnomon.train.writers import CHAT_PROMPT, PROMPTS, WRITERS

        super().__init__(loaded, items, recipe)
        settings: TextSettings = recipe.settings
        converses = _converses(settings.chat, kind, self.tokenizer)
        usual = CHAT_PROMPT if converses else PROMPTS[kind]
        self.prompt = _prompt(settings, settings.prompt or usual)
        how = {"chat": True} if converses else {}
        self.writer: Any = WRITERS[kind](self.module, self.tokenizer, self.prompt, **how)

    def lessons(self, items: list[Item], draw: Random) -> list[Lesson]:
        """Each item with a word that is right."""
        return [Lesson(item, self._word(item, draw)) for item in items]

    def loss(self, batch: Sequence[Lesson]) -> torch.Tensor:
        """The negative log of the probability of the right words."""
        items, words = zip(*batch, strict=True)
        logs: torch.Tensor = self.writer.logs(items, words)
        return -logs.mean()

    def _word(self, item: Item, draw: Random) -> str:
        """The first word of a label that is right."""
        label = item.gold[0] if len(item.gold) == 1 else draw.choice(item.gold)
        return self.prompt.answers(item)[item.choices.index(label)][0]

    def scores(self, items: Sequence[Item]) -> Scores:
        """As the model is asked: a model that is asked keeps what it computed, so a new one."""
        if not items:
            return {}
        asker = self.writer.asker()
        correct = 0
        for asked in chunks(items, asker.batch):
            for item, answer in zip(asked, asker.answer(asked), strict=True):
                correct += answer.choice in item.gold
        return {"accuracy": correct / len(items)}


KIND = TrainingKind(
    "a model of language that writes labels (causal, seq2seq, masked)",
    ItemData,
    TextSettings,
    read,
    open_learner,
    measures=("accuracy",),
    asked_with=("prompt", "wording", "shots", "chat"),
)

"""A model that learns to say whether a caption is true of a picture: kind `look`.

The paper's settings are plain: cross-entropy over false and true, AdamW on all weights alike, no
schedule, no clipping, accuracy on dev every 100 steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy

from gnomon.models.comparison import TRUE
from gnomon.models.transformers.loading import quiet
from gnomon.records import Item
from gnomon.train.items import DEV, Items
from gnomon.train.looking.models import Looker
from gnomon.train.looking.recipe import LookSettings
from gnomon.train.looking.shows import Gallery
from gnomon.train.schedule import Schedule

IN_A_PASS = 16  # items that are scored together, as in the authors' code


class LookBatch(NamedTuple):
    """Items that are learnt together: which of the training part."""

    epoch: int
    number: int
    items: NDArray[np.int64]


class LookLearner:
    """A model with its items and their pictures."""

    def __init__(
        self, looker: Looker, items: Items, settings: LookSettings, schedule: Schedule, seed: int
    ) -> None:
        self.module, self.looker, self.items = looker.model, looker, items
        self.settings, self.schedule, self.seed = settings, schedule, seed
        self.gallery = Gallery(looker.show)
        self.batches_in_epoch: int | None = ceil(len(items.train) / schedule.batch)

    def parameter_groups(self) -> list[dict[str, Any]]:
        """All weights decay alike, as with torch's defaults."""
        return [{"params": list(self.module.parameters())}]

    def batches(self, epoch: int) -> Iterator[LookBatch]:
        """All items in an order of the epoch's own."""
        order = np.random.default_rng([self.seed, epoch]).permutation(len(self.items.train))
        size = self.schedule.batch
        for number, start in enumerate(range(0, len(order), size)):
            yield LookBatch(epoch, number, order[start : start + size])

    def loss(self, batch: LookBatch) -> torch.Tensor:
        """The cross-entropy over false and true."""
        if self.settings.like_paper:
            self.module.train(not self._was_evaluated(batch))
        items = [self.items.train[number] for number in batch.items]
        return cross_entropy(self._logits(items), self._truth(items))

    def score(self) -> dict[str, float]:
        """Accuracy and loss on the development part."""
        return self._scored(self.items.parts.get(DEV, []))

    def test(self) -> dict[str, dict[str, float]]:
        """The same on every other part."""
        return self.items.scored(self._scored)

    def save(self, folder: Path) -> None:
        """Weights, config, tokenizer and processor, as transformers loads them."""
        with quiet():
            self.module.save_pretrained(folder)
            self.looker.tokenizer.save_pretrained(folder)
            if self.looker.processor is not None:
                self.looker.processor.save_pretrained(folder)

    def _scored(self, items: Sequence[Item]) -> dict[str, float]:
        if not items:
            return {}
        right, loss = 0, 0.0
        for start in range(0, len(items), IN_A_PASS):
            some = items[start : start + IN_A_PASS]
            logits = self._logits(some)
            truth = self._truth(some)
            right += int((logits.argmax(-1) == truth).sum())
            loss += float(cross_entropy(logits, truth, reduction="sum"))
        return {"accuracy": right / len(items), "loss": loss / len(items)}

    def _logits(self, items: Sequence[Item]) -> torch.Tensor:
        """For each item, those of false and true."""
        texts = self._tokens([item.text for item in items])
        seen = self.gallery.batch([item.images[0] for item in items])
        inputs = {name: tensor.to(self.module.device) for name, tensor in {**texts, **seen}.items()}
        logits: torch.Tensor = getattr(self.module(**inputs), self.looker.output)
        return logits.float()

    def _truth(self, items: Sequence[Item]) -> torch.Tensor:
        """1 for each caption that is true of its picture, else 0."""
        truth = [item.gold[0] in TRUE for item in items]
        return torch.tensor(truth, device=self.module.device).long()

    def _tokens(self, texts: list[str]) -> dict[str, torch.Tensor]:
        """Captions of one length, with what tells the padding; the authors' ViLT is not told."""
        shows_padding = self.settings.like_paper and self.looker.processor is not None
        made = self.looker.tokenizer(
            texts,
            padding="max_length" if shows_padding else True,
            truncation=True,
            max_length=self.settings.length,
            return_tensors="pt",
        )
        if shows_padding:
            made.pop("attention_mask")
        return dict(made)

    def _was_evaluated(self, batch: LookBatch) -> bool:
        """Whether dev was scored in this epoch before the batch.

        The authors switch dropout on at the start of an epoch, and off at each evaluation.
        """
        every = self.schedule.evaluate_every
        if not every:
            return False
        begun = batch.epoch * ceil(len(self.items.train) / self.schedule.batch)
        return (begun + batch.number) // every > begun // every

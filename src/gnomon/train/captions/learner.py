"""A masked language model that learns from captions: kind `captions`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from gnomon.train.captions.corpus import Captions, Corpus
from gnomon.train.captions.masking import hide, page
from gnomon.train.captions.packing import PackedRows, packed_rows, padded_rows
from gnomon.train.captions.perplexity import Unigrams, losses, perplexity
from gnomon.train.captions.recipe import CaptionSettings
from gnomon.train.captions.tokenizing import marks_of

ORDER, PACKING, MASKS = range(3)  # what is drawn, each from a stream of its own
TESTED = "captions held out"


class CaptionBatch(NamedTuple):
    """Rows that are read together; what is hidden is drawn by epoch and number."""

    epoch: int
    number: int
    rows: NDArray[np.int64]


class CaptionLearner:
    """The captions held out come in two halves: one chooses the best weights, one tests them."""

    def __init__(
        self, model: Any, corpus: Corpus, settings: CaptionSettings, batch: int, seed: int
    ) -> None:
        self.module, self.corpus, self.settings = model, corpus, settings
        self.seed, self.batch = seed, batch
        self.marks = marks_of(corpus.tokenizer, special=settings.special_tokens)
        self.rows = self._rows()
        self.batches_in_epoch: int | None = ceil(self.rows.total / batch)
        self.words = ordinary_tokens(corpus.tokenizer)
        self.unigrams = Unigrams(corpus.training, len(corpus.tokenizer))

    def batches(self, epoch: int) -> Iterator[CaptionBatch]:
        """All rows in an order of the epoch's own."""
        order = self._draw(ORDER, epoch).permutation(self.rows.total)
        for number, start in enumerate(range(0, len(order), self.batch)):
            yield CaptionBatch(epoch, number, order[start : start + self.batch])

    def loss(self, batch: CaptionBatch) -> torch.Tensor:
        """The mean over the hidden tokens."""
        rows = [self._captions(row) for row in batch.rows]
        draw = self._draw(MASKS, batch.epoch, batch.number)
        filled = page(rows, self.marks)
        riddle = hide(filled, self.settings.masked, self.marks.mask, self.words, draw)
        return losses(self.module, riddle).mean()

    def score(self) -> dict[str, float]:
        """The perplexity of the first half, and that of word counts on the same tokens."""
        return self._scored(self.corpus.development)

    def test(self) -> dict[str, dict[str, float]]:
        """The same of the other half."""
        return {TESTED: self._scored(self.corpus.test)}

    def save(self, folder: Path) -> None:
        """Weights, config and tokenizer, as transformers loads them."""
        self.module.save_pretrained(folder)
        self.corpus.tokenizer.save_pretrained(folder)

    def _scored(self, captions: Captions) -> dict[str, float]:
        found = perplexity(self.module, captions, self.marks, self.settings.masked)
        return {"perplexity": found, "unigram_perplexity": self.unigrams.perplexity(captions)}

    def _rows(self) -> PackedRows:
        captions = self.corpus.training
        if self.settings.layout == "padded":
            return padded_rows(len(captions))
        sizes = captions.sizes + len(self.marks.last)
        room = self.settings.length - len(self.marks.first)
        return packed_rows(sizes, room, self._draw(PACKING))

    def _captions(self, row: int) -> Sequence[NDArray[np.int32]]:
        return [self.corpus.training[number] for number in self.rows.captions(row)]

    def _draw(self, *what: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, *what])


def ordinary_tokens(tokenizer: Any) -> NDArray[np.int64]:
    """All tokens but the special ones."""
    everything = np.arange(len(tokenizer))
    return np.setdiff1d(everything, tokenizer.all_special_ids)

"""How well held-out captions are foretold: by a model that reads, and by word counts alone.

Every token is hidden once, about one in seven at a time, and the model tells it from the others.
The perplexity is the exponential of the mean negative log-probability of the hidden tokens. A
unigram model tells the same tokens by how often each occurs in training, whatever stands around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp
from typing import Any

import numpy as np
import torch

from gnomon.train.captions.corpus import Captions
from gnomon.train.captions.masking import Riddle, page, sweep
from gnomon.train.captions.tokenizing import Marks

ROWS = 64  # captions in one pass
COUNTED = 2**20  # tokens that are counted at once
MOST_SURPRISE = 700.0  # its exponential is still a number; weights that went astray exceed it


class Unigrams:
    """Tokens by how often each occurs in training, plus one, since a token may be new."""

    def __init__(self, training: Captions, vocabulary: int) -> None:
        counts = np.ones(vocabulary)
        for start in range(0, len(training.tokens), COUNTED):
            some = training.tokens[start : start + COUNTED]
            counts += np.bincount(some, minlength=vocabulary)
        self._surprise = np.log(counts.sum()) - np.log(counts)

    def perplexity(self, held_out: Captions) -> float:
        """Of tokens that were not counted."""
        return exp(float(self._surprise[held_out.tokens].mean()))


def perplexity(model: Any, held_out: Captions, marks: Marks, share: float) -> float:
    """By a masked model, in evaluation mode."""
    total, count = 0.0, 0
    for riddle in _riddles(held_out, marks, share):
        total += float(losses(model, riddle).double().sum())
        count += len(riddle.truth)
    return exp(min(total / count, MOST_SURPRISE))


def losses(model: Any, riddle: Riddle) -> torch.Tensor:
    """The negative log-probability of each token that is to be told."""
    device = model.device
    inputs = {
        "input_ids": torch.from_numpy(riddle.shown).to(device),
        "attention_mask": torch.from_numpy(riddle.there).long().to(device),
    }
    asked = torch.from_numpy(riddle.asked).to(device)
    logits = model(**inputs).logits[asked].float()
    truth = torch.from_numpy(riddle.truth).to(device)
    return torch.nn.functional.cross_entropy(logits, truth, reduction="none")


def _riddles(held_out: Captions, marks: Marks, share: float) -> Iterator[Riddle]:
    """Captions of about one length together, so that little is padded."""
    order = np.argsort(held_out.sizes, kind="stable")
    for start in range(0, len(order), ROWS):
        rows = [[held_out[number]] for number in order[start : start + ROWS]]
        yield from sweep(page(rows, marks), share, marks.mask)

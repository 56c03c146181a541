"""A masked language model that learns from captions: kind `captions`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, exp
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from gnomon.train.captions.corpus import Captions, Corpus, Marks, marks_of
from gnomon.train.captions.kind import CaptionSettings

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
        training = self.corpus.training
        rows = []
        for row in batch.rows:
            rows.append([training[number] for number in self.rows.captions(row)])
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

    def _draw(self, *what: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, *what])


def ordinary_tokens(tokenizer: Any) -> NDArray[np.int64]:
    """All tokens but the special ones."""
    everything = np.arange(len(tokenizer))
    return np.setdiff1d(everything, tokenizer.all_special_ids)


# What is hidden from a model: anew in every batch of training, every token once when it is
# tested.
#
# As in BERT (Devlin et al. 2019, 3.1), 15 % of the tokens are to be told; of these 80 % are
# masked, 10 % are other words, and 10 % stay as they are.


MASKED, OTHER = 0.8, 0.1  # of the tokens to be told; the rest stay


class Page(NamedTuple):
    """Rows of tokens of one length: which of them are no padding, and which are of captions."""

    tokens: NDArray[np.int64]
    there: NDArray[np.bool_]
    words: NDArray[np.bool_]


class Riddle(NamedTuple):
    """What a model is shown, and which tokens it has to tell."""

    shown: NDArray[np.int64]
    there: NDArray[np.bool_]
    asked: NDArray[np.bool_]
    truth: NDArray[np.int64]  # of those asked, in the order of rows


def page(rows: Sequence[Sequence[NDArray[np.integer]]], marks: Marks) -> Page:
    """Rows of captions with their marks, filled up to the longest."""
    marked = len(marks.first), len(marks.last)
    widths = [marked[0] + sum(map(len, row)) + len(row) * marked[1] for row in rows]
    tokens = np.full((len(rows), max(widths)), marks.pad, dtype=np.int64)
    words = np.zeros(tokens.shape, dtype=np.bool_)
    for number, row in enumerate(rows):
        place = len(marks.first)
        tokens[number, :place] = marks.first
        for caption in row:
            end = place + len(caption)
            tokens[number, place:end] = caption
            words[number, place:end] = True
            place = end + len(marks.last)
            tokens[number, end:place] = marks.last
    there = np.arange(tokens.shape[1]) < np.array(widths)[:, None]
    return Page(tokens, there, words)


def hide(
    page: Page, share: float, mask: int, others: NDArray[np.int64], draw: np.random.Generator
) -> Riddle:
    """Hide a share of the words of a page; at least one, so that there is something to learn."""
    asked = (draw.random(page.tokens.shape) < share) & page.words
    if not asked.any():
        places = np.flatnonzero(page.words)
        asked.flat[draw.choice(places)] = True

    fate = draw.random(page.tokens.shape)
    shown = page.tokens.copy()
    shown[asked & (fate < MASKED)] = mask
    changed = asked & (fate >= MASKED) & (fate < MASKED + OTHER)
    shown[changed] = draw.choice(others, size=int(changed.sum()))
    return Riddle(shown, page.there, asked, page.tokens[asked])


def sweep(page: Page, share: float, mask: int) -> Iterator[Riddle]:
    """Every word of a page hidden once: of each row about such a share at a time."""
    times = max(1, round(1 / share))
    place = np.cumsum(page.words, axis=1) + np.arange(len(page.words))[:, None]
    for turn in range(times):
        asked = page.words & (place % times == turn)
        rows = asked.any(axis=1)
        if not rows.any():
            continue
        shown = np.where(asked, mask, page.tokens)[rows]
        yield Riddle(shown, page.there[rows], asked[rows], page.tokens[asked])


# Captions in rows: each in one of its own, or as many as a row has room for.


class PackedRows(NamedTuple):
    """Which captions stand in each row: stretches of an order."""

    order: NDArray[np.int64]
    starts: NDArray[np.int64]  # of each row, and the end of the last

    @property
    def total(self) -> int:
        """How many rows there are."""
        return len(self.starts) - 1

    def captions(self, row: int) -> NDArray[np.int64]:
        """The numbers of the captions of a row."""
        return self.order[self.starts[row] : self.starts[row + 1]]


def padded_rows(count: int) -> PackedRows:
    """A row for each caption."""
    return PackedRows(np.arange(count), np.arange(count + 1))


def packed_rows(sizes: NDArray[np.int64], room: int, draw: np.random.Generator) -> PackedRows:
    """Rows of whole captions in an order that is drawn, each with at most so many tokens.

    `sizes` are the tokens of each caption with the mark behind it. A caption has a row to itself if
    it is longer than the room.
    """
    order = draw.permutation(len(sizes))
    starts = _starts(sizes[order].tolist(), room)
    return PackedRows(order, np.array(starts, dtype=np.int64))


def _starts(sizes: Sequence[int], room: int) -> list[int]:
    """Where rows begin if they are filled one after the other.

    >>> _starts([3, 4, 5, 9, 1], room=8)
    [0, 2, 3, 4, 5]
    """
    starts = [0]
    used = 0
    for number, size in enumerate(sizes):
        if used and used + size > room:
            starts.append(number)
            used = 0
        used += size
    return [*starts, len(sizes)]


# How well held-out captions are foretold: by a model that reads, and by word counts alone.
#
# Every token is hidden once, about one in seven at a time, and the model tells it from the
# others. The perplexity is the exponential of the mean negative log-probability of the hidden
# tokens. A unigram model tells the same tokens by how often each occurs in training, whatever
# stands around it.


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

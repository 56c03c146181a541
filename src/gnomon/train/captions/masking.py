"""What is hidden from a model: anew in every batch of training, every token once when it is tested.

As in BERT (Devlin et al. 2019, 3.1), 15 % of the tokens are to be told; of these 80 % are masked,
10 % are other words, and 10 % stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.train.captions.tokenizing import Marks

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
    widths = [_width(row, marks) for row in rows]
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


def _width(row: Sequence[NDArray[np.integer]], marks: Marks) -> int:
    return len(marks.first) + sum(map(len, row)) + len(row) * len(marks.last)

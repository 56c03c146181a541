"""What the planner plans, computed by a decoder in numpy; and replies, the likeliest token each.

Nothing here depends on what else is asked: a text gives the same scores to 1e-5 in any batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from gnomon.models.choices import take
from gnomon.models.llamacpp.blas import side_by_side
from gnomon.models.llamacpp.decoder import Decoder, Integers, Past, Rows, log_sums
from gnomon.models.memory import keep_freed_memory
from gnomon.models.planner import Planner, Room, Task
from gnomon.models.transformers.masks import ancestors, filled

ROOM = Room(1024, 256)  # more tokens: less of the time goes into arranging weights for BLAS
CHUNK = 512  # tokens of a long text that are read at once
REPLIES = 32  # that are written at once: each step reads all weights, for one as for many


class Scorer(Planner[Past]):
    """Scores continuations with a decoder."""

    def __init__(self, decoder: Decoder, *, threads: int) -> None:
        super().__init__(ROOM)
        keep_freed_memory()
        self.decoder = decoder
        self.threads = threads

    def read_prefix(self, tokens: Sequence[int]) -> Past:
        """Keys and values of a text."""
        (past,) = side_by_side(self._read_all, [tokens], self.threads)
        return past

    def shorten(self, prefix: Past, tokens: int) -> Past:
        """Keys and values of the first tokens only."""
        return prefix.first(tokens)

    def compute(self, tasks: Iterable[Task], prefix: Past | None) -> Iterator[list[float]]:
        """For each task, in order, the log-probabilities that it wants."""

        def work(task: Task) -> list[float]:
            return _log_probabilities(self.decoder, task, prefix)

        yield from side_by_side(work, list(tasks), self.threads)

    def replies(
        self, prompts: Sequence[Sequence[int]], room: Sequence[int], is_end: Callable[[int], bool]
    ) -> list[list[int]]:
        """After each prompt the likeliest tokens, up to an end or as many as there is room for."""
        order = sorted(range(len(prompts)), key=lambda number: len(prompts[number]))
        cut = [order[begin : begin + REPLIES] for begin in range(0, len(order), REPLIES)]

        def work(numbers: Sequence[int]) -> list[list[int]]:
            return _replies(self.decoder, take(prompts, numbers), take(room, numbers), is_end)

        found: dict[int, list[int]] = {}
        for numbers, said in zip(cut, side_by_side(work, cut, self.threads), strict=True):
            found |= zip(numbers, said, strict=True)
        return [found[number] for number in range(len(prompts))]

    def _read_all(self, tokens: Sequence[int]) -> Past:
        past: Past | None = None
        for begin in range(0, len(tokens), CHUNK):
            ids = np.array([tokens[begin : begin + CHUNK]])
            positions = np.arange(begin, begin + ids.size)[None]
            sees = np.arange(begin + ids.size) <= positions.T
            rows = Rows(ids, positions, sees[None], np.arange(ids.size))
            _, own = self.decoder.read(rows, past, None)
            past = _followed(past, own)
        if past is None:
            raise ValueError("a text without tokens cannot be read")
        return past


def _followed(past: Past | None, own: Past) -> Past:
    return own if past is None else past.followed_by(own)


def _own(sizes: Integers, length: int) -> Integers:
    """The places of rows of so many tokens that were filled up to a length."""
    return np.flatnonzero(np.arange(length) < sizes[:, None])


def _log_probabilities(decoder: Decoder, task: Task, prefix: Past | None) -> list[float]:
    batch = task.batch
    length = len(batch[0].tokens)
    sizes = np.array([len(row.tokens) for row in batch])
    ids = np.array([filled(row.tokens, length) for row in batch])
    positions = np.array([filled(row.depths, length) for row in batch])
    sees = ancestors(batch, length)
    if prefix is not None:
        positions += prefix.length
        sees = np.pad(sees, ((0, 0), (0, 0), (prefix.length, 0)), constant_values=True)
    hidden, _ = decoder.read(Rows(ids, positions, sees, _own(sizes, length)), prefix, task.places)
    logits = decoder.logits(hidden)
    found = logits[task.which, task.tokens] - log_sums(logits)[task.which]
    return [float(each) for each in found]


def _replies(
    decoder: Decoder,
    prompts: Sequence[Sequence[int]],
    room: Sequence[int],
    is_end: Callable[[int], bool],
) -> list[list[int]]:
    sizes = np.array([len(prompt) for prompt in prompts])
    longest = int(sizes.max())
    ids = np.array([filled(list(prompt), longest) for prompt in prompts])
    positions = np.broadcast_to(np.arange(longest), ids.shape)
    sees = np.tri(longest, dtype=bool)[None]
    rows = np.arange(len(prompts))
    read = Rows(ids, positions, sees, _own(sizes, longest))
    hidden, past = decoder.read(read, None, rows * longest + sizes - 1)

    said: list[list[int]] = [[] for _ in prompts]
    writing = set(range(len(prompts)))
    known = positions < sizes[:, None]  # what is remembered beyond that only fills a row up
    while True:
        likeliest = decoder.logits(hidden).argmax(axis=1)
        for row in sorted(writing):
            token = int(likeliest[row])
            if len(said[row]) == room[row] or is_end(token):
                writing.discard(row)
            else:
                said[row].append(token)
        if not writing:
            return said
        known = np.pad(known, ((0, 0), (0, 1)), constant_values=True)
        step = Rows(likeliest[:, None], sizes[:, None], known[:, None], rows)
        hidden, own = decoder.read(step, past, rows)
        past = past.followed_by(own)
        sizes += 1

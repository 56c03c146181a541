"""Log-probabilities of continuations, planned for whatever computes them: no token twice.

A planner cuts queries into families with a common prefix, into rows and into batches, and sums what
comes back. What computes (torch, numpy) says how a prefix is read and a batch is computed. Plain
rows are the reference: each text is read by itself; in trees the scores are the same.
"""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from gnomon.grouped import grouped
from gnomon.models.choices import Query, read_tokens
from gnomon.models.rows import (
    QueryPart,
    TokenRow,
    WantedToken,
    batches,
    families,
    plain_rows,
    portions,
    rows,
)

PREFIXES_KEPT = 4
TOKENS_KEPT = 16384  # of all prefixes together

Prefix = TypeVar("Prefix")


class Room(NamedTuple):
    """How much is computed at once, at most."""

    tokens: int
    outputs: int  # places whose logits are asked for


class PassTask(NamedTuple):
    """Rows to compute in one pass, padded to the first one's length, and what is asked of them.

    A place is counted through the batch: row times length plus token. The log-probability of
    `tokens[i]` is asked for at the place `places[which[i]]`.
    """

    batch: list[TokenRow]
    wanted: list[WantedToken]
    places: np.ndarray
    which: np.ndarray
    tokens: list[int]
    packed: bool = False  # to be computed without padding, and what rows begin with alike once

    def add_to(self, result: list[list[float]], found: Sequence[float]) -> None:
        """Add the log-probabilities that were asked for to those of each query and choice."""
        for want, value in zip(self.wanted, found, strict=True):
            result[want.query][want.choice] += value


class Planner(ABC, Generic[Prefix]):
    """Scores continuations: what it computes with is for its children to say."""

    def __init__(
        self,
        room: Room,
        *,
        trees: bool = True,
        packed: bool = False,
        limit: int = 0,
        by_length: bool = False,
    ) -> None:
        self.trees = trees
        self.packed = packed  # whether rows of a tree are computed without padding
        self.tokens, self.outputs = room
        self.prefixes: OrderedDict[tuple[int, ...], Prefix] = OrderedDict()
        self._limit = limit  # tokens of a text in a tree, 0 for any number
        self._by_length = by_length  # whether rows of a batch must have the same length

    @abstractmethod
    def read_prefix(self, tokens: Sequence[int]) -> Prefix:
        """Read a text that others begin with."""

    @abstractmethod
    def shorten(self, prefix: Prefix, tokens: int) -> Prefix:
        """The first tokens only of a prefix."""

    @abstractmethod
    def compute(self, tasks: Iterable[PassTask], prefix: Prefix | None) -> Iterator[list[float]]:
        """For each task, in order, the log-probabilities that it wants."""

    def most_rows(self, prefix: Prefix, longest: int) -> int | None:
        """How many rows of that length may follow a prefix in one pass."""
        return None

    def score(self, queries: Sequence[Query]) -> list[list[float]]:
        """For each query the log-probability of each continuation, summed over its tokens."""
        result = [[0.0] * len(query.continuations) for query in queries]
        in_trees: list[QueryPart] = []
        in_rows: list[QueryPart] = []
        for part in portions(queries, self.outputs):
            fits = not self._limit or read_tokens(part.query) < self._limit
            if self.trees and fits:
                in_trees.append(part)
            else:
                in_rows.append(part)

        self._score_trees(in_trees, result)
        self._score_rows(in_rows, result)
        return result

    def _score_rows(self, parts: Sequence[QueryPart], result: list[list[float]]) -> None:
        made = list(plain_rows([part.query for part in parts]))
        groups = [made]
        if self._by_length:
            groups = list(grouped(made, lambda row: len(row.tokens)).values())
        for group in groups:
            cut = batches(group, tokens=self.tokens, outputs=self.outputs)
            self._add([task_of(batch) for batch in cut], None, result, parts)

    def _score_trees(self, parts: Sequence[QueryPart], result: list[list[float]]) -> None:
        queries = [part.query for part in parts]
        for family in families(queries, list(self.prefixes)):
            prefix = self._prefix(family.prefix, keep=len(family.members) > 1)
            made = list(rows(queries, family))
            most = None
            if prefix is not None:
                most = self.most_rows(prefix, max(len(row.tokens) for row in made))
            room = {"tokens": self.tokens, "outputs": self.outputs}
            cut = batches(made, **room, most=most, packed=self.packed)
            tasks = [task_of(batch)._replace(packed=self.packed) for batch in cut]
            self._add(tasks, prefix, result, parts)

    def _prefix(self, tokens: Sequence[int], *, keep: bool) -> Prefix | None:
        """A prefix, read once; a shorter one is cut from a longer one."""
        if not tokens:
            return None
        wanted = tuple(tokens)
        for old, kept in self.prefixes.items():
            if old[: len(wanted)] != wanted:
                continue
            self.prefixes.move_to_end(old)
            if len(old) == len(wanted):
                return kept
            return self.shorten(kept, len(wanted))

        prefix = self.read_prefix(wanted)
        if keep:
            self.prefixes[wanted] = prefix
            self._forget()
        return prefix

    def _forget(self) -> None:
        """Drop the prefixes that were used longest ago, all but one if need be."""
        while len(self.prefixes) > 1:
            too_many = len(self.prefixes) > PREFIXES_KEPT
            if not too_many and sum(map(len, self.prefixes)) <= TOKENS_KEPT:
                return
            self.prefixes.popitem(last=False)

    def _add(
        self,
        tasks: Sequence[PassTask],
        prefix: Prefix | None,
        result: list[list[float]],
        parts: Sequence[QueryPart],
    ) -> None:
        """Compute tasks and add what they say about each continuation's tokens to the result."""
        for task, found in zip(tasks, self.compute(tasks, prefix), strict=True):
            for want, value in zip(task.wanted, found, strict=True):
                part = parts[want.query]
                result[part.number][part.first + want.choice] += value


def task_of(batch: list[TokenRow]) -> PassTask:
    """What is asked of a batch, whose first row is its longest."""
    length = len(batch[0].tokens)
    wanted: list[WantedToken] = []
    flat: list[int] = []
    for number, row in enumerate(batch):
        wanted += row.wanted
        flat += [number * length + want.node for want in row.wanted]
    places, which = np.unique(flat, return_inverse=True)
    return PassTask(batch, wanted, places, which, [want.token for want in wanted])

"""The scoring core: log-probabilities of continuations, with logits only where they are asked for.

Plain rows are the reference: each text is read by itself. Where a model may be asked in trees
(`trees` tries it), `rows` plans trees with prefixes that they share, so that no token is computed
twice; `passes` computes either. The scores are the same.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from gnomon.models.choices import Query
from gnomon.models.transformers.limits import longest_tree, on_cpu, rotation_limit
from gnomon.models.transformers.passes import Layers, forward, read_prefix
from gnomon.models.transformers.rows import (
    Part,
    Row,
    Wanted,
    batches,
    families,
    plain_rows,
    portions,
    rows,
)

PREFIXES_KEPT = 4
TOKENS_KEPT = 16384  # of all prefixes together
SPREAD = 256 * 2**20  # bytes that one layer's prefix may take, spread over the rows of a batch


class Pass(NamedTuple):
    """How much is computed at once, at most."""

    tokens: int
    outputs: int  # places whose logits are asked for


PASS_ON_CPU = Pass(1024, 256)  # fits its cache
PASS_ON_GPU = Pass(16384, 2048)  # fills it


class Scorer:
    """Scores continuations with a decoder-only language model of transformers."""

    def __init__(
        self, model: Any, *, trees: bool = False, tokens: int = 0, outputs: int = 0
    ) -> None:
        size = PASS_ON_CPU if on_cpu(model) else PASS_ON_GPU
        self.model = model
        self.device = next(model.parameters()).device
        self.trees = trees
        self.tokens = tokens or size.tokens
        self.outputs = outputs or size.outputs
        self.prefixes: OrderedDict[tuple[int, ...], Layers] = OrderedDict()
        self._limit = longest_tree(model.config)
        self._by_length = rotation_limit(model.config) is not None

    def score(self, queries: Sequence[Query]) -> list[list[float]]:
        """For each query the log-probability of each continuation, summed over its tokens."""
        result = [[0.0] * len(query.continuations) for query in queries]
        in_trees: list[Part] = []
        in_rows: list[Part] = []
        for part in portions(queries, self.outputs):
            if self.trees and self._fits_a_tree(part.query):
                in_trees.append(part)
            else:
                in_rows.append(part)

        self._score_trees(in_trees, result)
        self._score_rows(in_rows, result)
        return result

    def _score_rows(self, parts: Sequence[Part], result: list[list[float]]) -> None:
        made = list(plain_rows([part.query for part in parts]))
        groups = [made]
        if self._by_length:
            groups = _of_one_length(made)
        for group in groups:
            for batch in batches(group, tokens=self.tokens, outputs=self.outputs):
                self._add(batch, None, result, parts)

    def _score_trees(self, parts: Sequence[Part], result: list[list[float]]) -> None:
        queries = [part.query for part in parts]
        for family in families(queries, list(self.prefixes)):
            prefix = self._prefix(family.prefix, keep=len(family.members) > 1)
            made = list(rows(queries, family))
            most = _most_rows(prefix, made)
            for batch in batches(made, tokens=self.tokens, outputs=self.outputs, most=most):
                self._add(batch, prefix, result, parts)

    def _fits_a_tree(self, query: Query) -> bool:
        if not self._limit:
            return True
        return len(query.context) + max(map(len, query.continuations)) <= self._limit

    def _prefix(self, tokens: Sequence[int], *, keep: bool) -> Layers | None:
        """Keys and values of a prefix, computed once; a shorter one is cut from a longer one."""
        if not tokens:
            return None
        wanted = tuple(tokens)
        for old, layers in self.prefixes.items():
            if old[: len(wanted)] != wanted:
                continue
            self.prefixes.move_to_end(old)
            if len(old) == len(wanted):
                return layers
            return [layer.first(len(wanted)) for layer in layers]

        layers = read_prefix(self.model, wanted)
        if keep:
            self.prefixes[wanted] = layers
            self._forget()
        return layers

    def _forget(self) -> None:
        """Drop the prefixes that were used longest ago, all but one if need be."""
        while len(self.prefixes) > 1:
            too_many = len(self.prefixes) > PREFIXES_KEPT
            if not too_many and sum(map(len, self.prefixes)) <= TOKENS_KEPT:
                return
            self.prefixes.popitem(last=False)

    def _add(
        self,
        batch: list[Row],
        prefix: Layers | None,
        result: list[list[float]],
        parts: Sequence[Part],
    ) -> None:
        """Compute a batch and add what it says about each continuation's tokens to the result."""
        length = len(batch[0].tokens)
        wanted: list[Wanted] = []
        flat: list[int] = []
        for number, row in enumerate(batch):
            wanted += row.wanted
            flat += [number * length + want.node for want in row.wanted]
        places, which = np.unique(flat, return_inverse=True)
        logits = forward(self.model, batch, prefix, torch.as_tensor(places, device=self.device))

        at = torch.as_tensor(which, device=self.device)
        tokens = torch.tensor([want.token for want in wanted], device=self.device)
        found = (logits[at, tokens] - _log_sums(logits)[at]).tolist()
        for want, value in zip(wanted, found, strict=True):
            part = parts[want.query]
            result[part.number][part.first + want.choice] += value


def _log_sums(logits: torch.Tensor) -> torch.Tensor:
    """The logarithm of the sum of each row's exponentials; a CPU's cache holds a few rows."""
    rows = 8 if logits.device.type == "cpu" else len(logits)
    return torch.cat([part.logsumexp(-1) for part in logits.split(rows)])


def _most_rows(prefix: Layers | None, made: Sequence[Row]) -> int | None:
    """How many rows may share a prefix in one pass: attention takes a copy of it for each."""
    if prefix is None or not made:
        return None
    keys = prefix[0].keys
    _, heads, offset, size = keys.shape
    longest = offset + max(len(row.tokens) for row in made)
    row_bytes = 2 * keys.element_size() * heads * size * longest
    return max(1, int(SPREAD // row_bytes))


def _of_one_length(made: list[Row]) -> list[list[Row]]:
    groups: dict[int, list[Row]] = {}
    for row in made:
        groups.setdefault(len(row.tokens), []).append(row)
    return list(groups.values())

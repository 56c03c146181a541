"""The scoring core: log-probabilities of continuations, with every token computed once and logits
only where asked.

`rows` plans trees of tokens with prefixes that they share, `passes` computes them. Models that
cannot take trees (checked once, by trying) are given plain rows; the scores are the same.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from gnomon.errors import ModelError
from gnomon.models.transformers.passes import Layers, forward, read_prefix
from gnomon.models.transformers.rows import (
    Family,
    Query,
    Row,
    batches,
    families,
    plain_rows,
    portions,
    rows,
)

PREFIXES_KEPT = 4
TOKENS_KEPT = 16384  # of all prefixes together
SPREAD = (
    256 * 2**20
)  # bytes that one layer's prefix may take for a moment, spread over the rows of a batch


Part = tuple[
    int, int, Query
]  # a query's number, the first of its choices that are asked, these choices


class Scorer:
    """Scores continuations with a decoder-only language model of transformers."""

    def __init__(
        self, model: Any, *, tokens: int = 0, outputs: int = 0, trees: bool | None = None
    ) -> None:
        self.model = model
        self.device = next(model.parameters()).device
        small = self.device.type == "cpu"
        self.tokens = tokens or (
            1024 if small else 16384
        )  # a pass should fit the cache of a CPU, and fill a GPU
        self.outputs = outputs or (256 if small else 2048)
        self.trees = trees  # none: not known yet
        self.prefixes: OrderedDict[tuple[int, ...], Layers] = OrderedDict()

    def score(self, queries: Sequence[Query]) -> list[list[float]]:
        """For each query the log-probability of each of its continuations, summed over its
        tokens."""
        if self.trees is None:
            self.trees = takes_trees(self.model)
        result = [[0.0] * len(query.continuations) for query in queries]
        asked = list(portions(queries, self.outputs))
        limit = _limit(self.model.config)
        short = [part for part in asked if self.trees and (not limit or _length(part[2]) <= limit)]
        for prefix, made in self._planned([query for _, _, query in short]):
            for batch in batches(
                made, tokens=self.tokens, outputs=self.outputs, most=_most(prefix, made)
            ):
                self._add(batch, prefix, result, short)
        taken = set(map(id, short))
        long = [part for part in asked if id(part) not in taken]
        plain = list(plain_rows([query for _, _, query in long]))
        for made in _of_one_length(plain) if _first_trained_on(self.model.config) else [plain]:
            for batch in batches(made, tokens=self.tokens, outputs=self.outputs):
                self._add(batch, None, result, long)
        return result

    def _planned(self, queries: Sequence[Query]) -> Iterator[tuple[Layers | None, list[Row]]]:
        for family in families(queries, list(self.prefixes)):
            yield (
                self._prefix(family.prefix, keep=len(family.members) > 1),
                list(rows(queries, family)),
            )

    def _prefix(self, tokens: Sequence[int], *, keep: bool) -> Layers | None:
        """Keys and values of a prefix, computed once and kept; a shorter one is cut from a longer
        one."""
        if not tokens:
            return None
        wanted = tuple(tokens)
        for old, layers in self.prefixes.items():
            if old[: len(wanted)] == wanted:
                self.prefixes.move_to_end(old)
                return (
                    layers
                    if len(old) == len(wanted)
                    else [layer.first(len(wanted)) for layer in layers]
                )
        layers = read_prefix(self.model, wanted)
        if keep:
            self.prefixes[wanted] = layers
        while len(self.prefixes) > 1 and (
            len(self.prefixes) > PREFIXES_KEPT or sum(map(len, self.prefixes)) > TOKENS_KEPT
        ):
            self.prefixes.popitem(last=False)
        return layers

    def _add(
        self,
        batch: list[Row],
        prefix: Layers | None,
        result: list[list[float]],
        parts: Sequence[Part],
    ) -> None:
        wanted = [(place, want) for place, row in enumerate(batch) for want in row.wanted]
        length = len(batch[0].tokens)
        places, which = np.unique(
            [place * length + want.node for place, want in wanted], return_inverse=True
        )
        logits = forward(self.model, batch, prefix, torch.as_tensor(places, device=self.device))
        at = torch.as_tensor(which, device=self.device)
        tokens = torch.tensor([want.token for _, want in wanted], device=self.device)
        found = (logits[at, tokens] - _log_sums(logits)[at]).tolist()
        for (_, want), value in zip(wanted, found, strict=True):
            number, first, _ = parts[want.query]
            result[number][first + want.choice] += value


def takes_trees(model: Any) -> bool:
    """Does the model give the same hidden states in a tree with a shared prefix as in plain rows?
    Tried, not guessed.

    A model that ignores positions or masks (recurrent ones, some with position biases) fails and is
    asked plainly.
    """
    size = int(model.config.get_text_config().vocab_size)
    tokens = [(7919 * i + 13) % size for i in range(12)]
    queries = [
        Query(tokens[:6], [tokens[6:9], tokens[9:12]]),
        Query([*tokens[:4], tokens[8]], [tokens[:3]]),
    ]
    plain: dict[tuple[int, int, int], torch.Tensor] = {}
    for row in plain_rows(queries):
        plain |= _hidden(model, [row], None)
    quantised = any(
        "quantized" in type(part).__module__ for part in model.modules()
    )  # by what a whole batch needs
    tolerance = 0.1 if quantised or model.dtype != torch.float32 else 1e-3
    alike = _alike_states(
        plain[0, 0, 0], plain[0, 1, 0], tolerance
    )  # the same place, before texts that differ
    if not alike and not quantised:
        raise ModelError(
            "The model is no decoder: what it reads at a place depends on what stands after it.",
            "Ask it as what it is: --model-set kind=masked, seq2seq or nli.",
        )
    try:
        prefix = read_prefix(model, tokens[:3])
        tree: dict[tuple[int, int, int], torch.Tensor] = {}
        for number, query in enumerate(queries):
            for row in rows([Query(query.context[3:], query.continuations)], Family([], [0])):
                tree |= {
                    (number, *key[1:]): value
                    for key, value in _hidden(model, [row], prefix).items()
                }
    except Exception:
        return False
    return all(_alike_states(tree[key], value, tolerance) for key, value in plain.items())


def _alike_states(one: torch.Tensor, other: torch.Tensor, tolerance: float) -> bool:
    return bool(torch.norm(one - other) <= tolerance * torch.norm(other))


def _hidden(
    model: Any, batch: list[Row], prefix: Layers | None
) -> dict[tuple[int, int, int], torch.Tensor]:
    """What the head is given at each wanted place (or says, if it is not known), by query, choice,
    number of token."""
    seen: list[torch.Tensor] = []
    places = torch.tensor(
        [want.node for want in batch[0].wanted], device=next(model.parameters()).device
    )
    head = model.get_output_embeddings()
    hook = (
        head.register_forward_hook(lambda _, args, __: seen.append(args[0][0]))
        if head is not None
        else None
    )
    try:
        logits = forward(model, batch, prefix, places)
    finally:
        if hook is not None:
            hook.remove()
    states = seen[0].float() if seen else logits
    count: dict[tuple[int, int], int] = {}
    found = {}
    for want, state in zip(batch[0].wanted, states, strict=True):
        key = (want.query, want.choice)
        count[key] = count.get(key, -1) + 1
        found[(*key, count[key])] = state
    return found


def _log_sums(logits: torch.Tensor) -> torch.Tensor:
    """The logarithm of the sum of each row's exponentials; on a CPU by a few rows, which its cache
    can hold."""
    rows = 8 if logits.device.type == "cpu" else len(logits)
    return torch.cat([part.logsumexp(-1) for part in logits.split(rows)])


def _most(prefix: Layers | None, made: Sequence[Row]) -> int | None:
    """How many rows may share a prefix in one pass: attention takes a copy of it for each."""
    if prefix is None or not made:
        return None
    keys = prefix[0].keys
    row = (
        2
        * keys.element_size()
        * keys.shape[1]
        * keys.shape[3]
        * (keys.shape[2] + max(len(r.tokens) for r in made))
    )
    return max(1, int(SPREAD // row))


def _limit(config: Any) -> int:
    """Up to how many tokens any text is read alike, 0 if without limit.

    Within a sliding window a sliding layer sees what a full one sees. Rotary embeddings of the
    types dynamic and longrope turn otherwise as soon as a batch holds a text longer than those that
    the model was first trained on.
    """
    text = config.get_text_config()
    kinds = getattr(text, "layer_types", None)
    slides = not kinds or any("sliding" in kind or "chunked" in kind for kind in kinds)
    names = ("sliding_window", "attention_chunk_size", "window_size") if slides else ()
    sizes = [getattr(text, name, None) for name in names] + [_first_trained_on(config)]
    return min((size for size in sizes if isinstance(size, int) and size > 0), default=0)


def _first_trained_on(config: Any) -> int | None:
    """The length beyond which rotary embeddings turn otherwise, none if they do not."""
    text = config.get_text_config()
    rotary = getattr(text, "rope_parameters", None) or getattr(text, "rope_scaling", None) or {}
    if rotary.get("rope_type") not in ("dynamic", "longrope"):
        return None
    size = rotary.get("original_max_position_embeddings") or getattr(
        text, "max_position_embeddings", None
    )
    return int(size) if size else None


def _of_one_length(made: list[Row]) -> list[list[Row]]:
    groups: dict[int, list[Row]] = {}
    for row in made:
        groups.setdefault(len(row.tokens), []).append(row)
    return list(groups.values())


def _length(query: Query) -> int:
    return len(query.context) + max(len(continuation) for continuation in query.continuations)

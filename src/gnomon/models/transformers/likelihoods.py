"""The scoring core of decoders in torch: what the planner plans, computed by `passes`.

Whether a model may be asked in trees of tokens is tried by `trees`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch

from gnomon.models.memory import keep_freed_memory
from gnomon.models.planner import PassTask, Planner, Room
from gnomon.models.transformers.limits import longest_tree, on_cpu, rotation_limit
from gnomon.models.transformers.packing import compute_logits
from gnomon.models.transformers.passes import Layers, read_prefix

SPREAD = 256 * 2**20  # bytes that one layer's prefix may take, spread over the rows of a batch

ROOM_ON_CPU = Room(1024, 256)  # fits its cache
ROOM_ON_GPU = Room(16384, 2048)  # fills it


class TorchScorer(Planner[Layers]):
    """Scores continuations with a decoder-only language model of transformers."""

    def __init__(
        self,
        model: Any,
        *,
        trees: bool = False,
        packed: bool = False,
        tokens: int = 0,
        outputs: int = 0,
    ) -> None:
        usual = ROOM_ON_CPU if on_cpu(model) else ROOM_ON_GPU
        room = Room(tokens or usual.tokens, outputs or usual.outputs)
        by_length = rotation_limit(model.config) is not None
        limit = longest_tree(model.config)
        super().__init__(room, trees=trees, packed=packed, limit=limit, by_length=by_length)
        if on_cpu(model):
            keep_freed_memory()
        self.model = model
        self.device = next(model.parameters()).device

    def read_prefix(self, tokens: Sequence[int]) -> Layers:
        """Keys and values of a text."""
        return read_prefix(self.model, tokens)

    def shorten(self, prefix: Layers, tokens: int) -> Layers:
        """Keys and values of the first tokens only."""
        return [layer.first(tokens) for layer in prefix]

    def most_rows(self, prefix: Layers, longest: int) -> int | None:
        """How many rows may share a prefix in one pass: attention takes a copy of it for each."""
        keys = prefix[0].keys
        _, heads, offset, size = keys.shape
        row_bytes = 2 * keys.element_size() * heads * size * (offset + longest)
        return max(1, int(SPREAD // row_bytes))

    def compute(self, tasks: Iterable[PassTask], prefix: Layers | None) -> Iterator[list[float]]:
        """For each task, in order, the log-probabilities that it wants."""
        for task in tasks:
            logits = compute_logits(self.model, task, prefix)
            which = torch.as_tensor(task.which, device=self.device)
            tokens = torch.tensor(task.tokens, device=self.device)
            found = logits[which, tokens] - log_sums(logits)[which]
            yield found.tolist()


def log_sums(logits: torch.Tensor) -> torch.Tensor:
    """The logarithm of the sum of each row's exponentials; a CPU's cache holds a few rows."""
    rows = 8 if logits.device.type == "cpu" else len(logits)
    return torch.cat([part.logsumexp(-1) for part in logits.split(rows)])

"""The scoring core of decoders in torch, and whether a model may be asked in trees of tokens.

That is tried once, on a few tokens, against plain rows. A model that ignores positions or masks
(recurrent ones, some with position biases) would give other scores in a tree. Plain rows are what
every model is trained on, so they are right by definition.
"""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch

from gnomon.errors import ModelError, ModelWarning
from gnomon.models.choices import Query
from gnomon.models.machine import keep_freed_memory
from gnomon.models.planner import PassTask, Planner, Room, task_of
from gnomon.models.rows import QueryFamily, TokenRow, plain_rows, rows
from gnomon.models.transformers.loading import longest_tree, on_cpu, rotation_limit
from gnomon.models.transformers.passes import (
    Layers,
    compute_logits,
    may_be_packed,
    read_prefix,
    rows_that_fit,
    wanted_logs,
)

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

    def read_prefix(self, tokens: Sequence[int]) -> Layers:
        """Keys and values of a text."""
        return read_prefix(self.model, tokens)

    def shorten(self, prefix: Layers, tokens: int) -> Layers:
        """Keys and values of the first tokens only."""
        return [layer.first(tokens) for layer in prefix]

    def most_rows(self, prefix: Layers, longest: int) -> int | None:
        """How many rows may share a prefix in one pass: attention takes a copy of it for each."""
        return rows_that_fit(prefix[0].keys, longest)

    def compute(self, tasks: Iterable[PassTask], prefix: Layers | None) -> Iterator[list[float]]:
        """For each task, in order, the log-probabilities that it wants."""
        for task in tasks:
            yield wanted_logs(compute_logits(self.model, task, prefix), task)


# --- may a model be asked in trees of tokens? Tried once, on a few tokens, against plain rows ----


# what models raise that cannot take a mask, positions or a cache of ours
REFUSALS = (AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
SHARED = 3  # tokens that the tried queries share, as a prefix

Key = tuple[int, int, int]  # query, choice, number of the choice's token
States = dict[Key, torch.Tensor]


class TreeUse(NamedTuple):
    """How a model may be asked: in trees of tokens, and with the rows of a batch packed."""

    trees: bool
    packed: bool = False


def try_trees(model: Any, wanted: bool | None, spec: str) -> TreeUse:
    """How to ask the model: in trees where it may be, unless the user says otherwise.

    Where it may not be, a warning says so, or an error if trees were asked for. Packed rows are
    tried first; a model that cannot take them may still read trees that are padded.
    """
    queries = _tried(model)
    plain = _states(model, [[row] for row in plain_rows(queries)], None)
    _check_decoder(model, plain, spec)
    if wanted is False:
        return TreeUse(trees=False)
    if may_be_packed(model) and not _trouble(model, queries, plain, packed=True):
        return TreeUse(trees=True, packed=True)

    trouble = _trouble(model, queries, plain, packed=False)
    if trouble and wanted:
        raise ModelError(
            f"{spec} cannot be asked in trees: {trouble}.", "Leave out --set trees=yes."
        )
    if trouble:
        warnings.warn(
            f"{spec} is asked in plain rows, which are as exact but slower: in trees {trouble}.",
            ModelWarning,
            stacklevel=4,
        )
    return TreeUse(trees=not trouble)


def _trouble(model: Any, queries: Sequence[Query], plain: States, *, packed: bool) -> str:
    """What is wrong with trees for this model; empty if they give what plain rows give."""
    own = [Query(query.context[SHARED:], query.continuations) for query in queries]
    batch = list(rows(own, QueryFamily([], list(range(len(own))))))
    batch.sort(key=lambda row: len(row.tokens), reverse=True)
    try:
        prefix = read_prefix(model, queries[0].context[:SHARED])
        found = _states(model, [batch], prefix, packed=packed)
    except REFUSALS as error:
        return f"it fails ({first_line(error)})"

    tolerance = _tolerance(model)
    worst = max(_difference(found[key], state) for key, state in plain.items())
    if worst <= tolerance:
        return ""
    return f"its hidden states differ by {worst:.2g} of their size"


def first_line(error: Exception) -> str:
    """What an error says, in a few words."""
    lines = str(error).splitlines() or [type(error).__name__]
    return lines[0][:100].rstrip(".")


def _check_decoder(model: Any, plain: States, spec: str) -> None:
    """Refuse a model whose state at a place depends on what stands after it."""
    if _is_quantised(model):
        return  # what it computes depends on the whole batch in any case
    after_one, after_other = plain[0, 0, 0], plain[0, 1, 0]
    if _difference(after_one, after_other) > _tolerance(model):
        raise ModelError(
            f"{spec} is not a decoder: what it reads at one place depends on what comes after it.",
            "Ask it as what it is: --set kind=masked, seq2seq or nli.",
        )


def _tried(model: Any) -> list[Query]:
    """Two questions that share a beginning; the first has two answers."""
    size = int(model.config.get_text_config().vocab_size)
    tokens = [(7919 * i + 13) % size for i in range(12)]
    return [
        Query(tokens[:6], [tokens[6:9], tokens[9:12]]),
        Query([*tokens[:4], tokens[8]], [tokens[:3]]),
    ]


def _tolerance(model: Any) -> float:
    exact = model.dtype == torch.float32 and not _is_quantised(model)
    return 1e-3 if exact else 0.1


def _is_quantised(model: Any) -> bool:
    return any("quantized" in type(part).__module__ for part in model.modules())


def _difference(one: torch.Tensor, other: torch.Tensor) -> float:
    """How far two states are apart, as a share of their size; beyond all bounds for no numbers."""
    found = float(torch.norm(one - other) / torch.norm(other).clamp_min(1e-12))
    return found if found == found else float("inf")


def _states(
    model: Any, cut: Iterable[list[TokenRow]], prefix: Layers | None, *, packed: bool = False
) -> States:
    """What the model's head is given at each wanted place, batch by batch.

    Of a model that does not say where its head is, what the head says.
    """
    found: States = {}
    count: dict[tuple[int, int], int] = {}
    for batch in cut:
        task = task_of(batch)._replace(packed=packed)
        states = _states_at(model, task, prefix)
        for want, which in zip(task.wanted, task.which, strict=True):
            choice = (want.query, want.choice)
            place = count.get(choice, 0)
            count[choice] = place + 1
            found[*choice, place] = states[which]
    return found


def _states_at(model: Any, task: PassTask, prefix: Layers | None) -> torch.Tensor:
    seen: list[torch.Tensor] = []
    head = model.get_output_embeddings()
    if head is None:
        return compute_logits(model, task, prefix)

    hook = head.register_forward_hook(lambda _, args, __: seen.append(args[0][0]))
    try:
        logits = compute_logits(model, task, prefix)
    finally:
        hook.remove()
    return seen[0].float() if seen else logits
